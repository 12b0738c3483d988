import { waitFor } from '../base/abort.ts';
import type { Connection } from '../base/connection.ts';
import { Emitter } from '../base/emitter.ts';
import { asRolecallError, RolecallError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { TokenSource } from '../base/tokenSource.ts';
import {
  type Account,
  isFresh,
  readSession,
  rotatedSession,
  type Session,
  type TokenGrant,
  writeSession,
} from './session.ts';

/** Where the one session of a connection is kept at rest: in the editor, its SecretStorage. */
export interface SessionStore {
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
  clear(): Promise<void>;
}

export type SessionState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'signedOut' }
  | { readonly kind: 'signedIn'; readonly account: Account }
  | { readonly kind: 'refreshing'; readonly account: Account }
  | { readonly kind: 'offline'; readonly account: Account; readonly error: RolecallError }
  | { readonly kind: 'ended'; readonly account: Account; readonly error: RolecallError }
  | { readonly kind: 'storeUnavailable'; readonly error: RolecallError };

export interface TokenKeeperDeps {
  readonly connection: Connection;
  readonly store: SessionStore;
  /** Spends the refresh token at the token endpoint. */
  readonly refresh: (refreshToken: string, signal: AbortSignal) => Promise<TokenGrant>;
  /** Tells the log which values to hide. */
  readonly learn: (secret: string | undefined) => void;
  readonly log: Log;
  readonly now: () => number;
}

/**
 * Holds the session of one connection and gives valid access tokens. A fresh token costs no I/O. A rotation runs once
 * however many callers wait for it, is not stopped when one of them gives up, and is stored before anyone uses it.
 */
export class TokenKeeper implements TokenSource {
  readonly #deps: TokenKeeperDeps;
  readonly #changes = new Emitter<SessionState>();
  #state: SessionState = { kind: 'starting' };
  #session: Session | undefined;
  #rotation: Promise<Session> | undefined;

  constructor(deps: TokenKeeperDeps) {
    this.#deps = deps;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The living session, for the editor's Accounts menu. */
  get session(): Session | undefined {
    return this.#state.kind === 'ended' ? undefined : this.#session;
  }

  onDidChange(listener: (state: SessionState) => void): () => void {
    return this.#changes.on(listener);
  }

  /** Reads the store: at start, and when it has changed under us. Never throws: the state tells. */
  async load(): Promise<void> {
    try {
      const stored = readSession(await this.#deps.store.read(), this.#deps.connection);
      if (stored && this.#session && stored.generation < this.#session.generation && isSame(stored, this.#session))
        return;
      this.#use(stored);
    } catch (error) {
      this.#session = undefined;
      this.#setState({ kind: 'storeUnavailable', error: asStorageError(error) });
    }
  }

  /** Takes over the session of a finished sign-in. */
  async adopt(session: Session): Promise<void> {
    await this.#write(session);
    this.#use(session);
  }

  /** Signs out: locally, for the services offer no revocation. */
  async forget(): Promise<void> {
    try {
      await this.#deps.store.clear();
    } catch (error) {
      throw asStorageError(error);
    } finally {
      this.#use(undefined);
    }
  }

  async accessToken(signal: AbortSignal): Promise<string> {
    const session = this.#requireSession();
    if (isFresh(session, this.#deps.now())) return session.accessToken;
    return (await waitFor(this.#rotate(session), signal)).accessToken;
  }

  async rejected(token: string, signal: AbortSignal): Promise<string | undefined> {
    const session = this.#requireSession();
    if (session.accessToken !== token) return session.accessToken;
    if (session.refreshToken === undefined) {
      this.#end(session, new RolecallError('sessionEnded', 'The service no longer accepts this sign-in.'));
      return undefined;
    }
    return (await waitFor(this.#rotate(session), signal)).accessToken;
  }

  #requireSession(): Session {
    if (this.#state.kind === 'ended' || this.#state.kind === 'storeUnavailable') throw this.#state.error;
    if (!this.#session) throw new RolecallError('signedOut', 'You are not signed in.');
    return this.#session;
  }

  #rotate(session: Session): Promise<Session> {
    this.#rotation ??= this.#rotateOnce(session).finally(() => {
      this.#rotation = undefined;
    });
    return this.#rotation;
  }

  async #rotateOnce(session: Session): Promise<Session> {
    const { refresh, log, now } = this.#deps;
    if (session.refreshToken === undefined) {
      throw this.#end(session, new RolecallError('sessionEnded', 'The sign-in has expired.'));
    }
    this.#setState({ kind: 'refreshing', account: session.account });
    let grant: TokenGrant;
    try {
      // No caller's signal: a rotation that was begun is finished, else the new pair is lost.
      grant = await refresh(session.refreshToken, new AbortController().signal);
    } catch (error) {
      return this.#survive(session, asRolecallError(error));
    }
    if (this.#session !== session) throw new RolecallError('signedOut', 'You signed out meanwhile.');
    const rotated = rotatedSession(session, grant, now());
    await this.#write(rotated);
    log.info(`Access token renewed (generation ${rotated.generation}).`);
    this.#use(rotated);
    return rotated;
  }

  /** A refresh that failed signs nobody out, unless the service said that the session is over. */
  #survive(session: Session, error: RolecallError): Session {
    this.#deps.log.warn(`The access token could not be renewed: ${error.message}`);
    if (this.#session !== session) throw error;
    if (error.kind === 'sessionEnded' || error.kind === 'configuration') throw this.#end(session, error);
    this.#setState({ kind: 'offline', account: session.account, error });
    throw error;
  }

  #end(session: Session, error: RolecallError): RolecallError {
    if (this.#session === session) this.#setState({ kind: 'ended', account: session.account, error });
    return error;
  }

  async #write(session: Session): Promise<void> {
    this.#deps.learn(session.accessToken);
    this.#deps.learn(session.refreshToken);
    try {
      await this.#deps.store.write(writeSession(session));
    } catch (error) {
      throw asStorageError(error);
    }
  }

  #use(session: Session | undefined): void {
    this.#deps.learn(session?.accessToken);
    this.#deps.learn(session?.refreshToken);
    this.#session = session;
    this.#setState(session ? { kind: 'signedIn', account: session.account } : { kind: 'signedOut' });
  }

  #setState(state: SessionState): void {
    this.#state = state;
    this.#changes.fire(state);
  }
}

function isSame(a: Session, b: Session): boolean {
  return a.account.id === b.account.id;
}

function asStorageError(error: unknown): RolecallError {
  if (error instanceof RolecallError) return error;
  return new RolecallError(
    'storage',
    'The editor’s secret store (the system keyring) cannot be used. Unlock it and try again; nothing was signed out.',
    { cause: error },
  );
}
