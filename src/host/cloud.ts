import * as vscode from 'vscode';
import { type Connection, connectionKey, type TokenSource } from '../core/base/connection.ts';
import { RolecallError } from '../core/base/errors.ts';
import type { Fetch } from '../core/base/http.ts';
import type { Log } from '../core/base/log.ts';
import type { IdentityClient } from '../core/identity/identityClient.ts';
import type { AuthorizationServer } from '../core/oauth/authorizationServer.ts';
import type { TokenManagerDeps } from '../core/oauth/rotation/sharedSessionService.ts';
import { TokenManager } from '../core/oauth/rotation/tokenManager.ts';
import { describeError } from './showError.ts';

/** Returns one connection's client secret; asks the user if `interactive`. */
export type ClientSecretSource = (connection: Connection, interactive: boolean) => Promise<string | undefined>;

/** Where one connection's session is kept, where the windows that share it agree, and how long they wait for each other. */
export interface SessionStorage
  extends Pick<TokenManagerDeps, 'store' | 'state' | 'storeName' | 'timeouts'>,
    vscode.Disposable {}

export interface CloudDeps {
  readonly connection: Connection;
  readonly storage: SessionStorage;
  readonly clientSecret: ClientSecretSource;
  /** The token for the inference service alone, if the user has entered one. */
  readonly inferenceToken?: (connection: Connection) => Promise<string | undefined>;
  readonly fetch: Fetch;
  readonly log: Log;
  readonly addSecret: (secret: string | undefined) => void;
}

/** The operations of the identity service; their code is loaded with the first call. */
export type IdentityOperations = Pick<IdentityClient, 'groups' | 'roles' | 'organizations'>;

/** The two services of one connection, with its session. */
export class Cloud implements vscode.Disposable {
  readonly connection: Connection;
  readonly key: string;
  readonly tokenManager: TokenManager;
  readonly identity: IdentityOperations;
  readonly #deps: CloudDeps;
  readonly #changed = new vscode.EventEmitter<void>();
  /** The state of the session has changed. */
  readonly onDidChange = this.#changed.event;
  /** Where its session is kept. */
  readonly storage: SessionStorage;
  /** For requests to the inference service. */
  readonly inference: TokenSource;
  #loaded: Promise<void> | undefined;
  #inferenceToken: string | undefined;
  #hasClientSecret = false;
  #server: { readonly secret: string | undefined; readonly server: AuthorizationServer } | undefined;

  constructor(deps: CloudDeps) {
    const { connection, storage, log } = deps;
    this.#deps = deps;
    this.storage = storage;
    this.connection = connection;
    this.key = connectionKey(connection);
    this.tokenManager = new TokenManager({
      ...storage,
      connection,
      prepareRefresh: async () => {
        const server = await this.authorizationServer(false);
        return (refreshToken, signal) => server.refresh(refreshToken, signal);
      },
      addSecret: deps.addSecret,
      log,
      now: Date.now,
    });
    const identity = async () => {
      const { IdentityClient } = await import('../core/identity/identityClient.ts');
      const { fetch } = deps;
      return new IdentityClient({
        fetch,
        identityUrl: connection.identityUrl,
        tokens: this.tokenManager,
        log,
        now: Date.now,
      });
    };
    const explained = async <T>(ask: () => Promise<T>): Promise<T> => {
      try {
        return await ask();
      } catch (error) {
        throw this.explain(error);
      }
    };
    this.identity = {
      groups: (...args) => explained(async () => (await identity()).groups(...args)),
      roles: (...args) => explained(async () => (await identity()).roles(...args)),
      organizations: (...args) => explained(async () => (await identity()).organizations(...args)),
    };
    let wasSignedIn = false;
    this.tokenManager.onDidChange(({ kind }) => {
      // A sign-out reaches every window; the change of a secret does not.
      if (kind === 'signedOut' && wasSignedIn) this.#inferenceToken = undefined;
      wasSignedIn = this.tokenManager.session !== undefined;
      this.#changed.fire();
    });
    this.inference = {
      accessToken: async (signal) => this.#inferenceToken ?? this.tokenManager.accessToken(signal),
      refreshAfter401: async (token, signal) => {
        if (token !== this.#inferenceToken) return this.tokenManager.refreshAfter401(token, signal);
        await this.readInferenceToken(); // Another window may have a new one.
        if (this.#inferenceToken !== token) return this.#inferenceToken ?? this.tokenManager.accessToken(signal);
        throw new RolecallError(
          'configuration',
          vscode.l10n.t('The inference service no longer accepts its token. Enter a new one.'),
          { remedy: { kind: 'setInferenceToken' } },
        );
      },
    };
  }

  /** The error to show for a failed request: a sandbox that cannot be reached has ended, and only another one helps. */
  explain(error: unknown): unknown {
    const isLost = error instanceof RolecallError && error.kind === 'offline' && this.connection.id === 'sandbox';
    if (!isLost) return error;
    const message = vscode.l10n.t('The sandbox is no longer running. Start another one with Try the Sandbox.');
    return new RolecallError('offline', message, {
      cause: error,
      details: error.details,
      remedy: { kind: 'startSandbox' },
    });
  }

  /**
   * Identifies the account at the inference service; `undefined` while signed out. When it changes, earlier data must
   * not be shown or used.
   */
  get inferenceAccount(): string | undefined {
    return this.#inferenceToken === undefined ? this.tokenManager.session?.account.id : 'token';
  }

  /** Whether a client secret is stored, as far as this window knows. */
  get hasClientSecret(): boolean {
    return this.#hasClientSecret;
  }

  /**
   * To be called after the client secret may have changed. Never throws: whatever needs it reports why it cannot be
   * read.
   */
  async readClientSecret(): Promise<void> {
    const { connection, clientSecret, log } = this.#deps;
    try {
      this.#setHasClientSecret((await clientSecret(connection, false)) !== undefined);
    } catch (error) {
      log.debug(`The client secret cannot be read: ${describeError(error)}`);
    }
  }

  #setHasClientSecret(has: boolean): void {
    if (has === this.#hasClientSecret) return;
    this.#hasClientSecret = has;
    this.#changed.fire();
  }

  /**
   * To be called after the token of the inference service may have changed. Never throws: without it the session is
   * used.
   */
  async readInferenceToken(): Promise<void> {
    const { connection, inferenceToken, addSecret, log } = this.#deps;
    const before = this.#inferenceToken;
    try {
      this.#inferenceToken = await inferenceToken?.(connection);
    } catch (error) {
      log.warn(`The inference service’s own token cannot be read: ${describeError(error)}`);
    }
    addSecret(this.#inferenceToken);
    if (before !== this.#inferenceToken) this.#changed.fire();
  }

  /** Reads the stored session, once; resolves when the state is known. */
  load(): Promise<void> {
    this.#loaded ??= Promise.resolve()
      .then(() => Promise.all([this.tokenManager.load(), this.readInferenceToken(), this.readClientSecret()]))
      .then(() => {});
    return this.#loaded;
  }

  async authorizationServer(interactive: boolean): Promise<AuthorizationServer> {
    const { connection, clientSecret, fetch, log, addSecret } = this.#deps;
    if (connection.clientId === '') {
      throw new RolecallError(
        'configuration',
        vscode.l10n.t(
          'Set rolecall.identity.clientId to the ID of your registered client, or sign in with a service token.',
        ),
        { remedy: { kind: 'changeSetting', setting: 'identity.clientId' } },
      );
    }
    const secret = await clientSecret(connection, interactive);
    addSecret(secret);
    this.#setHasClientSecret(secret !== undefined);
    const { AuthorizationServer } = await import('../core/oauth/authorizationServer.ts'); // Heavy, and rarely needed.
    // One for each secret, because it caches the discovery.
    if (!this.#server || this.#server.secret !== secret) {
      this.#server = { secret, server: new AuthorizationServer({ fetch, log, connection, clientSecret: secret }) };
    }
    return this.#server.server;
  }

  dispose(): void {
    void this.close(); // Never rejects.
  }

  /** Like `dispose`; resolves when nothing of the session is in this window alone. See {@link TokenManager.dispose}. */
  async close(): Promise<void> {
    this.#changed.dispose();
    const { log } = this.#deps;
    await this.tokenManager
      .dispose()
      .catch((error: unknown) => log.debug(`The shared session could not be closed properly: ${String(error)}`));
    this.storage.dispose();
  }
}
