import * as vscode from 'vscode';
import type { Fetch } from '../../core/base/http.ts';
import type { Log } from '../../core/base/log.ts';
import { commands } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import type { Handlers } from '../commands.ts';
import { showInformationMessage } from '../dialogs.ts';
import type { Settings } from '../settings.ts';
import type { ClientSecrets } from './clientSecret.ts';
import type { InferenceTokens } from './inferenceTokens.ts';
import { SignInLinks } from './links.ts';
import { ServiceTokens } from './serviceTokens.ts';
import { SignIn } from './signIn.ts';
import { SignOut } from './signOut.ts';
import { showSessionMenu } from './statusBar.ts';

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

export interface SessionCommandsDeps {
  readonly clouds: Clouds;
  readonly signIn: Pick<SignIn, 'run' | 'choose' | 'paste' | 'copyAddress' | 'cancel' | 'isWaiting'>;
  readonly signOut: Pick<SignOut, 'ask'>;
  readonly clientSecrets: ClientSecrets;
  readonly inferenceTokens: InferenceTokens;
  /** Called after a sign-in to the configured services by a command. */
  readonly signedIn: () => Promise<unknown>;
}

/** The commands for the session. */
export function sessionCommands(deps: SessionCommandsDeps) {
  const { clouds, signIn, signOut, clientSecrets, inferenceTokens } = deps;
  const begin = async (how: (cloud: Cloud) => Promise<unknown>): Promise<void> => {
    const cloud = clouds.require();
    await cloud.load();
    await how(cloud);
    if (cloud.connection.id !== 'sandbox') await deps.signedIn();
  };
  /** The configured services; the sandbox brings what it needs. */
  const configured = (cloud: Cloud): Cloud | undefined => {
    if (cloud.connection.id !== 'sandbox') return cloud;
    void showInformationMessage(vscode.l10n.t('The sandbox has its own client secret and tokens.')); // No buttons, so nothing to wait for.
    return undefined;
  };
  return {
    [commands.signIn]: () => begin((cloud) => signIn.run(cloud)),
    [commands.signInWith]: () => begin((cloud) => signIn.choose(cloud)),
    [commands.pasteSignInAddress]: () => signIn.paste(),
    [commands.copySignInAddress]: () => signIn.copyAddress(),
    [commands.cancelSignIn]: () => signIn.cancel(),
    [commands.showSession]: () => showSessionMenu(clouds, signIn.isWaiting),
    [commands.signOut]: () => signOut.ask(clouds.require()),
    [commands.setClientSecret]: async () => {
      const cloud = configured(clouds.require());
      if (!cloud) return;
      await clientSecrets.ask(cloud.connection);
      await cloud.readClientSecret();
      await cloud.load();
      if (cloud.tokenManager.session || signIn.isWaiting) return;
      const now = vscode.l10n.t('Sign In');
      const chosen = await showInformationMessage(vscode.l10n.t('Client secret stored.'), now);
      if (chosen === now) await begin((current) => signIn.run(current));
    },
    [commands.forgetClientSecret]: async () => {
      const cloud = configured(clouds.require());
      if (!cloud) return;
      await clientSecrets.forget(cloud.connection);
      await cloud.readClientSecret();
      void showInformationMessage(
        vscode.l10n.t('Client secret forgotten. You will be asked for it when it is next needed.'),
      ); // No buttons, so nothing to wait for.
    },
    [commands.setInferenceToken]: async () => {
      const cloud = configured(clouds.require());
      if (!cloud) return;
      await inferenceTokens.ask(cloud.connection);
      await cloud.readInferenceToken();
    },
    [commands.forgetInferenceToken]: async () => {
      const cloud = configured(clouds.require());
      if (!cloud) return;
      await inferenceTokens.forget(cloud.connection);
      await cloud.readInferenceToken();
      void showInformationMessage(
        vscode.l10n.t('Inference token forgotten. The inference service uses your sign-in again.'),
      ); // No buttons, so nothing to wait for.
    },
  } satisfies Partial<Handlers>;
}
