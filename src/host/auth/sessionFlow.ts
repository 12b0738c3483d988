import type * as vscode from 'vscode';
import type { Fetch } from '../../core/base/http.ts';
import type { Log } from '../../core/base/log.ts';
import type { Clouds } from '../clouds.ts';
import type { Settings } from '../settings.ts';
import type { ClientSecrets } from './clientSecret.ts';
import type { InferenceTokens } from './inferenceTokens.ts';
import { SignInLinks } from './links.ts';
import { ServiceTokens } from './serviceTokens.ts';
import { sessionCommands } from './sessionCommands.ts';
import { SignIn } from './signIn.ts';
import { SignOut } from './signOut.ts';

export interface SessionFlowDeps {
  readonly clouds: Clouds;
  readonly settings: Settings;
  readonly secrets: vscode.SecretStorage;
  readonly clientSecrets: ClientSecrets;
  readonly inferenceTokens: InferenceTokens;
  /** See `SessionCommandsDeps.signedIn`. */
  readonly signedIn: () => Promise<unknown>;
  readonly fetch: Fetch;
  readonly addSecret: (secret: string | undefined) => void;
  readonly log: Log;
}

/** Everything that signs in or out on request. */
export class SessionFlow implements vscode.Disposable {
  readonly links: SignInLinks;
  readonly signIn: SignIn;
  readonly signOut: SignOut;
  readonly commands: ReturnType<typeof sessionCommands>;
  readonly #following: vscode.Disposable;

  constructor(deps: SessionFlowDeps) {
    const { clouds, settings, secrets, inferenceTokens, fetch, addSecret, log } = deps;
    this.links = new SignInLinks({ clouds, storage: secrets, addSecret, log });
    const serviceTokens = new ServiceTokens({ settings, fetch, addSecret, log });
    this.signIn = new SignIn({ links: this.links, serviceTokens, addSecret, log });
    this.signOut = new SignOut(inferenceTokens, log);
    this.commands = sessionCommands({ ...deps, signIn: this.signIn, signOut: this.signOut });
    this.#following = this.signIn.cancelWhenRemoved(clouds);
  }

  dispose(): void {
    this.#following.dispose();
  }
}
