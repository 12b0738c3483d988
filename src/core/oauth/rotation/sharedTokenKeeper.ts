import { waitFor } from '../../base/abort.ts';
import type { Connection, TokenSource } from '../../base/connection.ts';
import { asRolecallError, cancelled, isCancelled, RolecallError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Session, TokenGrant } from '../session.ts';
import { BackOff } from './backOff.ts';
import type { Found } from './choose.ts';
import type { Claims } from './claims.ts';
import { EXPIRED } from './endReason.ts';
import { isAlive, isFresh, justIssued } from './lifetime.ts';
import { LIMITS, type Limits } from './limits.ts';
import type { Protocol } from './protocol.ts';
import type { SessionState } from './sessionState.ts';
import type { SessionStore } from './sessionStore.ts';
import type { SharedParts } from './sharedParts.ts';
import { WindowSession } from './windowSession.ts';

export interface SharedTokenKeeperDeps {
  readonly connection: Connection;
  readonly store: SessionStore;
  /** Spends the refresh token at the token endpoint. */
  readonly refresh: (refreshToken: string, signal: AbortSignal) => Promise<TokenGrant>;
  /** Tells the log which values to hide. */
  readonly learn: (secret: string | undefined) => void;
  readonly log: Log;
  readonly now: () => number;
  /** Where the windows of this user agree; `stateRoot` of this machine unless given. */
  readonly state?: string;
  /**
   * Tells apart the secret stores of one user's editors, which do not see each other's secrets: for example the editor's
   * URI scheme (`vscode`, `vscode-insiders`).
   */
  readonly storeName?: string;
  readonly protocol?: Protocol;
  readonly random?: () => number;
  readonly limits?: Limits;
}

/** A token that was renewed because of a 401 and is refused as well is not renewed again for so long, in milliseconds. */
const REFUSED_AGAIN_MS = 30_000;

/**
 * Holds the session of one connection for one window and gives valid access tokens. All windows of one operating-system
 * user share the session: one of them renews it, for all. A fresh token costs no I/O, and nothing is read of the code
 * behind this door before it is needed: every window of the editor makes a keeper when it starts.
 */
export class SharedTokenKeeper implements TokenSource {
  readonly #deps: SharedTokenKeeperDeps;
  readonly #limits: Limits;
  #parts: SharedParts | undefined;
  readonly #backOff: BackOff;
  readonly #window: WindowSession;
  /** Renewal, sign-in and sign-out of this window, one after the other. */
  #queue: Promise<unknown> = Promise.resolve();
  /** The last sign-in or sign-out of this window. */
  #storing: Promise<unknown> = Promise.resolve();
  #renewedFor401: { readonly token: string; readonly at: number } | undefined;
  /** When the file was last read, and when it changed; by the clock of `performance`. */
  #readAt = 0;
  #changedAt = 0;
  #reading: NodeJS.Timeout | undefined;
  #looks = 0;
  #look: NodeJS.Timeout | undefined;
  #loading: Promise<void> | undefined;
  #isDisposed = false;

  constructor(deps: SharedTokenKeeperDeps) {
    this.#deps = deps;
    this.#limits = deps.limits ?? LIMITS;
    this.#backOff = new BackOff(deps.random ?? Math.random, this.#limits.firstPause);
    this.#window = new WindowSession(deps.learn, this.#backOff);
  }

  get state(): SessionState {
    return this.#window.state;
  }

  /** The living session, for the editor's Accounts menu. */
  get session(): Session | undefined {
    return this.#window.session;
  }

  /** The highest generation seen: of sessions, ends and sign-outs. */
  get generation(): number {
    return this.#window.generation;
  }

  onDidChange(listener: (state: SessionState) => void): () => void {
    return this.#window.onDidChange(listener);
  }

  /** Reads file and store: at start, when the store has changed under us, after settings changed. Never throws. */
  load(): Promise<void> {
    this.#loading ??= this.#inTurn(async () => {
      this.#loading = undefined; // Whoever asks from now on may know of something newer.
      try {
        const { shared } = await (await this.#makeParts()).open();
        this.#apply(await shared.readAll(), true);
      } catch (error) {
        this.#cannotRead(error);
      }
    });
    return this.#loading;
  }

  /**
   * Takes over the session of a finished sign-in, for every window.
   *
   * @throws RolecallError `storage`, `timeout` (another window is stopped in the middle of a renewal).
   */
  async adopt(session: Session): Promise<void> {
    const held = justIssued(session, this.#deps.now());
    this.#deps.learn(session.accessToken);
    this.#deps.learn(session.refreshToken);
    this.#parts?.giveWay();
    await this.#store(async () => {
      this.#apply(await (await this.#makeParts()).signIn(held), true);
    });
  }

  /** Signs out every window: locally, for the services offer no revocation. @throws RolecallError `storage` */
  async forget(): Promise<void> {
    this.#parts?.giveWay();
    await this.#store(async () => {
      const { found, kept } = await (await this.#makeParts()).signOut();
      this.#apply(found, true);
      if (kept) return;
      throw new RolecallError(
        'storage',
        'You are signed out, but the secret store (the system keyring) did not let go of the last sign-in. Unlock it and sign out again.',
      );
    });
  }

  /** What happens once for all windows. @throws RolecallError `storage` when the folder cannot be used. */
  async claims(): Promise<Claims> {
    const { claims } = await (await this.#makeParts()).open();
    return claims;
  }

  /** Somebody asks for something now: a renewal that failed is tried again at once, and not after its pause. */
  tryNow(): void {
    this.#backOff.tryNow(this.#deps.now());
  }

  /** A sign-in is under way in this window. @returns what ends that state. */
  signingIn(): () => void {
    return this.#window.signingIn();
  }

  async accessToken(signal: AbortSignal): Promise<string> {
    if (this.#isUnknown) await waitFor(this.load(), signal);
    const held = this.#window.require();
    const now = this.#deps.now();
    const { generation, accessToken, refreshToken } = held.session;
    if (isFresh(held.session, now)) return accessToken;
    if (isAlive(held, now)) {
      // Whoever is refused with it, because its successor is under way, asks `rejected`.
      if (refreshToken !== undefined && !this.#backOff.waiting(now)) this.#renewBeyond(generation).catch(() => {}); // State and log tell.
      return accessToken;
    }
    return (await this.#renewed(generation, signal)).accessToken;
  }

  async rejected(token: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#isUnknown) await waitFor(this.load(), signal);
    const { session } = this.#window.require();
    if (session.accessToken !== token) return session.accessToken;
    const last = this.#renewedFor401;
    if (last?.token === token && this.#deps.now() - last.at < REFUSED_AGAIN_MS) return undefined;
    if (session.refreshToken === undefined) return this.#withoutRenewal(session);
    const { accessToken } = await this.#renewed(session.generation, signal);
    this.#renewedFor401 = { token: accessToken, at: this.#deps.now() };
    return accessToken;
  }

  /**
   * Stops listening and watching; from now on whoever needs more than a fresh token is told that this is `cancelled`. Resolves
   * when what is under way is stored: a renewal that was sent, a sign-in, a sign-out.
   */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    clearTimeout(this.#look);
    clearTimeout(this.#reading);
    await Promise.all([this.#parts?.close(), this.#storing]);
  }

  async #makeParts(): Promise<SharedParts> {
    const { SharedParts } = await import('./sharedParts.ts');
    if (this.#isDisposed) throw cancelled();
    this.#parts ??= new SharedParts({
      ...this.#deps,
      window: this.#window,
      backOff: this.#backOff,
      inTurn: (work) => this.#inTurn(work),
      apply: (found) => this.#apply(found),
      onGeneration: async (generation) => {
        if (generation > this.#window.generation) await this.#readFile();
      },
      onFile: () => this.#fileChanged(),
      onStore: () => void this.load(), // Never rejects.
    });
    return this.#parts;
  }

  async #renewed(beyond: number, signal: AbortSignal): Promise<Session> {
    try {
      return await waitFor(this.#renewBeyond(beyond), signal);
    } catch (error) {
      const isSuperseded = isCancelled(error) && !signal.aborted && !this.#isDisposed;
      if (!isSuperseded) throw error;
      await waitFor(this.#queue, signal); // The sign-in or sign-out of this window that took its place.
      const { session } = this.#window.require();
      // That of another window is stored before the next renewal gets its turn.
      return session.generation > beyond ? session : this.#renewed(beyond, signal);
    }
  }

  async #renewBeyond(generation: number): Promise<Session> {
    return (await this.#makeParts()).renewBeyond(generation);
  }

  /** Nothing was read yet, or could not be: the user may have unlocked the keyring meanwhile. */
  get #isUnknown(): boolean {
    const { kind } = this.#window.state;
    return this.#window.held === undefined && (kind === 'starting' || kind === 'storeUnavailable');
  }

  /** A token that cannot be renewed was refused: another window may have a new one. */
  async #withoutRenewal(refused: Session): Promise<string | undefined> {
    await this.#inTurn(() => this.#readFile());
    const held = this.#window.require();
    if (held.session.accessToken !== refused.accessToken) return held.session.accessToken;
    this.#window.end(held, EXPIRED);
    return undefined;
  }

  /** Most often another window says so itself, and this is needless by then. */
  #fileChanged(): void {
    this.#changedAt = performance.now();
    this.#reading ??= setTimeout(() => {
      this.#reading = undefined;
      if (this.#readAt < this.#changedAt) void this.#inTurn(() => this.#readFile()); // Never rejects.
    }, this.#limits.fileChange).unref();
  }

  async #readFile(): Promise<void> {
    if (this.#isDisposed) return;
    this.#readAt = performance.now();
    try {
      this.#apply(await (await this.#makeParts()).read());
    } catch (error) {
      this.#cannotRead(error);
    }
  }

  #apply(found: Found, anew = false): void {
    if (found.kind === 'unreadable' && found.reason === 'otherKey') this.#lookAgain();
    else this.#looks = 0;
    this.#window.apply(found, anew);
  }

  #cannotRead(thrown: unknown): void {
    if (this.#isDisposed) return;
    const error = asRolecallError(thrown);
    if (!this.#window.unavailable(error)) this.#deps.log.warn(`The shared session was not read: ${error.message}`);
  }

  /** On the desktop the store shows the key of another window's sign-in a little later than the file. */
  #lookAgain(): void {
    const pause = this.#limits.keyLooks[this.#looks];
    if (pause === undefined || this.#isDisposed) return;
    this.#looks += 1;
    clearTimeout(this.#look);
    this.#look = setTimeout(() => void this.#readFile(), pause).unref(); // Never rejects.
  }

  #store(work: () => Promise<void>): Promise<void> {
    const turn = this.#inTurn(work);
    this.#storing = turn.catch(() => {}); // The caller is told.
    return turn;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work);
    this.#queue = turn.catch(() => {}); // The caller is told.
    return turn;
  }
}
