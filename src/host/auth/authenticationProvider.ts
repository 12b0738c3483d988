import * as vscode from 'vscode';
import { asRolecallError, isCancelled } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { authenticationProvider } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import { describeError } from '../showError.ts';
import type { SignIn } from './signIn.ts';
import type { SignOut } from './signOut.ts';

/** Longest wait for a token that must be refreshed first: VS Code asks while it draws menus. */
const REFRESH_WAIT_MS = 10_000;

/**
 * Rolecall's accounts in VS Code's Accounts menu. One session per connection. The identity service's scope map is empty
 * (specification, Authentication), so any session answers any requested scopes.
 */
export class RolecallAuthenticationProvider implements vscode.AuthenticationProvider, vscode.Disposable {
  readonly #clouds: Clouds;
  readonly #signIn: Pick<SignIn, 'run'>;
  readonly #signOut: Pick<SignOut, 'runAndNotify'>;
  readonly #log: Log;
  readonly #changed = new vscode.EventEmitter<vscode.AuthenticationProviderAuthenticationSessionsChangeEvent>();
  readonly onDidChangeSessions = this.#changed.event;
  readonly #subscription: vscode.Disposable;
  #sessions = new Map<string, vscode.AuthenticationSession>();

  constructor(clouds: Clouds, signIn: Pick<SignIn, 'run'>, signOut: Pick<SignOut, 'runAndNotify'>, log: Log) {
    this.#clouds = clouds;
    this.#signOut = signOut;
    this.#signIn = signIn;
    this.#log = log;
    this.#subscription = clouds.onDidChange(() => this.#announce());
  }

  static register(...deps: ConstructorParameters<typeof RolecallAuthenticationProvider>): vscode.Disposable {
    const provider = new RolecallAuthenticationProvider(...deps);
    return vscode.Disposable.from(
      provider,
      vscode.authentication.registerAuthenticationProvider(authenticationProvider, 'Rolecall', provider, {
        supportsMultipleAccounts: true,
      }),
    );
  }

  async getSessions(
    scopes: readonly string[] | undefined,
    options: vscode.AuthenticationProviderSessionOptions,
  ): Promise<vscode.AuthenticationSession[]> {
    await Promise.all(this.#clouds.all.map((cloud) => cloud.load()));
    await Promise.all(this.#clouds.all.map((cloud) => this.#refresh(cloud)));
    const sessions = this.#clouds.all.flatMap((cloud) => sessionOf(cloud, scopes));
    return sessions.filter(({ account }) => !options.account || account.id === options.account.id);
  }

  async createSession(scopes: readonly string[]): Promise<vscode.AuthenticationSession> {
    const cloud = this.#clouds.require();
    await this.#signIn.run(cloud);
    const session = sessionOf(cloud, scopes)[0];
    if (!session) throw new Error(vscode.l10n.t('The sign-in ended before it could be used.'));
    return session;
  }

  async removeSession(sessionId: string): Promise<void> {
    const cloud = this.#clouds.all.find((candidate) => sessionOf(candidate, undefined)[0]?.id === sessionId);
    if (cloud) await this.#signOut.runAndNotify(cloud);
  }

  async #refresh(cloud: Cloud): Promise<void> {
    if (!cloud.tokenManager.session) return;
    try {
      await cloud.tokenManager.accessToken(AbortSignal.timeout(REFRESH_WAIT_MS));
    } catch (error) {
      // Offline or ended, which the state shows; a session that still exists is listed.
      if (!isCancelled(error))
        this.#log.debug(`Sessions listed without a refresh: ${describeError(asRolecallError(error))}`);
    }
  }

  /** Reports to VS Code what changed since the last event. */
  #announce(): void {
    const now = new Map(
      this.#clouds.all.flatMap((cloud) => sessionOf(cloud, undefined)).map((session) => [session.id, session]),
    );
    const before = this.#sessions;
    this.#sessions = now;
    const added = [...now.values()].filter(({ id }) => !before.has(id));
    const removed = [...before.values()].filter(({ id }) => !now.has(id));
    const changed = [...now.values()].filter(({ id, accessToken }) => {
      const old = before.get(id);
      return old !== undefined && old.accessToken !== accessToken;
    });
    if (added.length + removed.length + changed.length > 0) this.#changed.fire({ added, removed, changed });
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
  }
}

function sessionOf(cloud: Cloud, scopes: readonly string[] | undefined): vscode.AuthenticationSession[] {
  const { session } = cloud.tokenManager;
  if (!session) return [];
  const { connection } = cloud;
  return [
    {
      // Another account is another session: VS Code then sees one removed and one added.
      id: `${cloud.key}|${session.account.id}`,
      accessToken: session.accessToken,
      account: {
        id: `${cloud.key}|${session.account.id}`,
        label:
          connection.id === 'sandbox' ? vscode.l10n.t('{0} (sandbox)', session.account.label) : session.account.label,
      },
      scopes: scopes ?? connection.scope.split(/\s+/).filter((scope) => scope !== ''),
    },
  ];
}
