import { waitFor } from '../base/abort.ts';
import type { Connection } from '../base/connection.ts';
import { Emitter } from '../base/emitter.ts';
import { asRolecallError, RolecallError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { oneAtATime } from '../base/oneAtATime.ts';
import type { TokenSource } from '../base/tokenSource.ts';
import {
  type Account,
  asStorageError,
  isFresh,
  readSession,
  refuseNewerVersion,
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
  /** The access token could not be renewed just now, for whatever reason: the session stands. */
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
  /** Uses of the store: the write of a rotation cannot land after a later sign-out. */
  readonly #inTurn = oneAtATime();
  #state: SessionState = { kind: 'starting' };
  #session: Session | undefined;
  #rotation: { readonly of: Session; readonly result: Promise<Session> } | undefined;
  /** What {@link session} was rotated to while the store does not take it: the only living pair of tokens. */
  #unstored: Session | undefined;
  #reading: Promise<void> | undefined;

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
  load(): Promise<void> {
    return this.#inTurn(async () => {
      try {
        const stored = readSession(await this.#deps.store.read(), this.#deps.connection);
        if (!stored || !this.#session || isNews(stored, this.#session)) this.#use(stored);
      } catch (error) {
        this.#session = undefined;
        this.#unstored = undefined;
        this.#setState({ kind: 'storeUnavailable', error: asStorageError(error) });
      }
    });
  }

  /** Takes over the session of a finished sign-in. @throws RolecallError `storage`: then nothing has changed. */
  adopt(session: Session): Promise<void> {
    return this.#inTurn(async () => {
      // Above what other windows may still hold, so that they see which one is the living one.
      const generation = Math.max(session.generation, (this.#session?.generation ?? 0) + 1);
      const adopted = { ...session, generation };
      refuseNewerVersion(await this.#stored());
      await this.#write(adopted);
      this.#use(adopted);
    });
  }

  /**
   * Signs out: locally, for the services offer no revocation.
   *
   * @throws RolecallError `storage`: then the session is still stored, and nobody is told otherwise.
   */
  forget(): Promise<void> {
    return this.#inTurn(async () => {
      try {
        await this.#deps.store.clear();
      } catch (error) {
        throw asStorageError(error);
      }
      this.#use(undefined);
    });
  }

  async accessToken(signal: AbortSignal): Promise<string> {
    const session = this.#session ?? (await waitFor(this.#read(), signal));
    this.#refuseEnded();
    if (isFresh(session, this.#deps.now()) && this.#unstored === undefined) return session.accessToken;
    return (await waitFor(this.#rotate(session), signal)).accessToken;
  }

  async rejected(token: string, signal: AbortSignal): Promise<string | undefined> {
    const session = this.#session ?? (await waitFor(this.#read(), signal));
    this.#refuseEnded();
    if (session.accessToken !== token) return session.accessToken;
    if (session.refreshToken === undefined) {
      this.#end(session, new RolecallError('sessionEnded', 'The service no longer accepts this sign-in.'));
      return undefined;
    }
    return (await waitFor(this.#rotate(session), signal)).accessToken;
  }

  /** The session where none is known yet: reads the store if it was not read, or could not be (the user unlocked it). */
  async #read(): Promise<Session> {
    if (this.#state.kind !== 'signedOut') {
      this.#reading ??= this.load().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#current();
  }

  #current(): Session {
    if (this.#session) return this.#session;
    if (this.#state.kind === 'storeUnavailable') throw this.#state.error;
    throw new RolecallError('signedOut', 'You are not signed in.');
  }

  #refuseEnded(): void {
    if (this.#state.kind === 'ended') throw this.#state.error;
  }

  #rotate(session: Session): Promise<Session> {
    if (this.#rotation?.of === session) return this.#rotation.result;
    // Begun after it is kept: whoever hears of `refreshing` and asks for a token joins in.
    const result = Promise.resolve()
      .then(() => this.#rotateOnce(session))
      .finally(() => {
        if (this.#rotation?.of === session) this.#rotation = undefined;
      });
    this.#rotation = { of: session, result };
    return result;
  }

  async #rotateOnce(session: Session): Promise<Session> {
    if (this.#session !== session) return this.#current();
    let rotated: Session;
    try {
      rotated = this.#unstored ?? (await this.#renew(session));
    } catch (error) {
      if (this.#session !== session) return this.#current(); // Signed in anew meanwhile: that one serves.
      throw error;
    }
    return this.#inTurn(() => this.#replace(session, rotated));
  }

  /** Stores what `session` was rotated to before anyone uses it, unless the user has signed out or in meanwhile. */
  async #replace(session: Session, rotated: Session): Promise<Session> {
    if (this.#session !== session) return this.#current();
    this.#unstored = rotated;
    try {
      await this.#write(rotated);
    } catch (error) {
      const failure = asStorageError(error);
      this.#setState({ kind: 'storeUnavailable', error: failure });
      throw failure;
    }
    this.#deps.log.info(`Access token renewed (generation ${rotated.generation}).`);
    this.#use(rotated);
    return rotated;
  }

  async #renew(session: Session): Promise<Session> {
    const { refresh, now } = this.#deps;
    if (session.refreshToken === undefined) {
      throw this.#end(session, new RolecallError('sessionEnded', 'The sign-in has expired.'));
    }
    this.#setState({ kind: 'refreshing', account: session.account });
    let grant: TokenGrant;
    try {
      // No caller's signal: a rotation that was begun is finished, else the new pair is lost.
      grant = await refresh(session.refreshToken, new AbortController().signal);
    } catch (error) {
      throw this.#survive(session, asRolecallError(error));
    }
    return rotatedSession(session, grant, now());
  }

  /** A refresh that failed signs nobody out, unless the service said that the session is over. */
  #survive(session: Session, error: RolecallError): RolecallError {
    this.#deps.log.warn(`The access token could not be renewed: ${error.message}`);
    if (this.#session !== session) return error;
    if (error.kind === 'sessionEnded') return this.#end(session, error);
    this.#setState({ kind: 'offline', account: session.account, error });
    return error;
  }

  #end(session: Session, error: RolecallError): RolecallError {
    if (this.#session === session) this.#setState({ kind: 'ended', account: session.account, error });
    return error;
  }

  async #stored(): Promise<string | undefined> {
    try {
      return await this.#deps.store.read();
    } catch (error) {
      throw asStorageError(error);
    }
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
    this.#unstored = undefined;
    this.#setState(session ? { kind: 'signedIn', account: session.account } : { kind: 'signedOut' });
  }

  #setState(state: SessionState): void {
    this.#state = state;
    this.#changes.fire(state);
  }
}

/** Not what is known already, nor older: a rotation under way builds on the very object. */
function isNews(stored: Session, known: Session): boolean {
  if (stored.account.id !== known.account.id) return true;
  return stored.generation >= known.generation && stored.accessToken !== known.accessToken;
}
