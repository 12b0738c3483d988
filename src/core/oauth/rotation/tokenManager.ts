import * as l10n from '@vscode/l10n';
import { createSerialQueue, raceWithSignal } from '../../base/abort.ts';
import type { TokenSource } from '../../base/connection.ts';
import { asRolecallError, cancelled, isCancelled, RolecallError } from '../../base/errors.ts';
import type { Session } from '../session.ts';
import { BackOff } from './backOff.ts';
import type { ClaimFiles } from './claimFiles.ts';
import type { SharedSessionState } from './reconcile.ts';
import { tokenExpired } from './reconcile.ts';
import type { SharedSessionService, TokenManagerDeps } from './sharedSessionService.ts';
import { DEFAULT_TIMEOUTS, type Timeouts } from './timeouts.ts';
import { isFresh, isUnexpired, type SessionState, WindowSession, withExpiry } from './windowSession.ts';

/** If a token that was refreshed after a 401 is refused as well, it is not refreshed again for this long, in milliseconds. */
const REFUSED_AGAIN_MS = 30_000;

/**
 * Holds the session of one connection for one window and gives valid access tokens. All windows of one operating-system
 * user share the session: one of them refreshes it for all. A fresh token costs no I/O, and the code that refreshes is loaded
 * when it is first needed, because every window of the editor creates a token manager when it starts.
 */
export class TokenManager implements TokenSource {
  readonly #deps: TokenManagerDeps;
  readonly #timeouts: Timeouts;
  #service: SharedSessionService | undefined;
  readonly #backOff: BackOff;
  readonly #window: WindowSession;
  /** Refresh, sign-in and sign-out of this window, one after the other. */
  readonly #enqueue = createSerialQueue();
  /** The last sign-in or sign-out of this window. */
  #lastStore: Promise<unknown> = Promise.resolve();
  #refreshedAfter401: { readonly token: string; readonly at: number } | undefined;
  /** When the file was last read, and when it changed; by the clock of `performance`. */
  #readAt = 0;
  #changedAt = 0;
  #readTimer: NodeJS.Timeout | undefined;
  #rereads = 0;
  #rereadTimer: NodeJS.Timeout | undefined;
  #loading: Promise<void> | undefined;
  #isDisposed = false;

  constructor(deps: TokenManagerDeps) {
    this.#deps = deps;
    this.#timeouts = deps.timeouts ?? DEFAULT_TIMEOUTS;
    this.#backOff = new BackOff(deps.random ?? Math.random, this.#timeouts.firstPause);
    this.#window = new WindowSession(deps.addSecret, this.#backOff);
  }

  get state(): SessionState {
    return this.#window.state;
  }

  /** The current session, for the editor's Accounts menu. */
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

  /** Reads file and store: at start, when the store has changed, after settings changed. Never throws. */
  load(): Promise<void> {
    this.#loading ??= this.#enqueue(async () => {
      this.#loading = undefined; // A later caller may know of something newer.
      try {
        const { shared } = await (await this.#createService()).open();
        this.#apply(await shared.readAll(), true);
      } catch (error) {
        this.#handleReadError(error);
      }
    });
    return this.#loading;
  }

  /**
   * Takes over the session of a finished sign-in, for every window.
   *
   * @throws RolecallError `storage`, `timeout` (another window is stopped in the middle of a refresh).
   */
  async signIn(session: Session): Promise<void> {
    const current = withExpiry(session, this.#deps.now());
    this.#deps.addSecret(session.accessToken);
    this.#deps.addSecret(session.refreshToken);
    this.#service?.supersede();
    await this.#store(async () => {
      this.#apply(await (await this.#createService()).signIn(current), true);
    });
  }

  /** Signs out every window. Only locally, because the services offer no revocation. @throws RolecallError `storage` */
  async signOut(): Promise<void> {
    this.#service?.supersede();
    await this.#store(async () => {
      const { state, isInStore } = await (await this.#createService()).signOut();
      this.#apply(state, true);
      if (isInStore) return;
      throw new RolecallError(
        'storage',
        l10n.t(
          'You are signed out, but the last session could not be removed from the secret store (the system keyring). Unlock it and sign out again.',
        ),
      );
    });
  }

  /**
   * The claims for what happens once for all windows. @throws RolecallError `storage` when the folder cannot be used.
   */
  async claims(): Promise<ClaimFiles> {
    const { claims } = await (await this.#createService()).open();
    return claims;
  }

  /** The user asks for something now: a refresh that failed is tried again at once, not after its pause. */
  retryNow(): void {
    this.#backOff.retryNow(this.#deps.now());
  }

  /** To be called when a sign-in begins in this window. @returns what ends that state. */
  beginSignIn(): () => void {
    return this.#window.beginSignIn();
  }

  async accessToken(signal: AbortSignal): Promise<string> {
    if (this.#isUnknown) await raceWithSignal(this.load(), signal);
    const current = this.#window.require();
    const now = this.#deps.now();
    const { generation, accessToken, refreshToken } = current.session;
    if (isFresh(current.session, now)) return accessToken;
    if (isUnexpired(current, now)) {
      // A caller whose token is rejected, because its successor is on the way, calls `refreshAfter401`.
      if (refreshToken !== undefined && !this.#backOff.pendingError(now))
        this.#sessionNewerThan(generation).catch(() => {}); // State and log report it.
      return accessToken;
    }
    return (await this.#refreshedSession(generation, signal)).accessToken;
  }

  async refreshAfter401(token: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#isUnknown) await raceWithSignal(this.load(), signal);
    const { session } = this.#window.require();
    if (session.accessToken !== token) return session.accessToken;
    const last = this.#refreshedAfter401;
    if (last?.token === token && this.#deps.now() - last.at < REFUSED_AGAIN_MS) return undefined;
    if (session.refreshToken === undefined) return this.#handleRejectedServiceToken(session);
    const { accessToken } = await this.#refreshedSession(session.generation, signal);
    this.#refreshedAfter401 = { token: accessToken, at: this.#deps.now() };
    return accessToken;
  }

  /**
   * Stops listening and watching; from now on, a call that needs more than a fresh token fails with `cancelled`.
   * Resolves when work under way is stored: a refresh that was sent, a sign-in, a sign-out.
   */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    clearTimeout(this.#rereadTimer);
    clearTimeout(this.#readTimer);
    await Promise.all([this.#service?.close(), this.#lastStore]);
  }

  async #createService(): Promise<SharedSessionService> {
    const { SharedSessionService } = await import('./sharedSessionService.ts');
    if (this.#isDisposed) throw cancelled();
    this.#service ??= new SharedSessionService({
      ...this.#deps,
      window: this.#window,
      backOff: this.#backOff,
      enqueue: (work) => this.#enqueue(work),
      applyState: (state) => this.#apply(state),
      onGeneration: async (generation) => {
        if (generation > this.#window.generation) await this.#readFile();
      },
      onFile: () => this.#fileChanged(),
      onStore: () => void this.load(), // Never rejects.
    });
    return this.#service;
  }

  async #refreshedSession(newerThan: number, signal: AbortSignal): Promise<Session> {
    try {
      return await raceWithSignal(this.#sessionNewerThan(newerThan), signal);
    } catch (error) {
      const isSuperseded = isCancelled(error) && !signal.aborted && !this.#isDisposed;
      if (!isSuperseded) throw error;
      await raceWithSignal(
        this.#enqueue(async () => {}),
        signal,
      ); // The sign-in or sign-out of this window that superseded it.
      const { session } = this.#window.require();
      // A sign-in of another window is stored before the next refresh begins.
      return session.generation > newerThan ? session : this.#refreshedSession(newerThan, signal);
    }
  }

  async #sessionNewerThan(generation: number): Promise<Session> {
    return (await this.#createService()).sessionNewerThan(generation);
  }

  /** True when nothing was read yet, or could not be: the user may have unlocked the keyring meanwhile. */
  get #isUnknown(): boolean {
    const { kind } = this.#window.state;
    return this.#window.current === undefined && (kind === 'starting' || kind === 'storeUnavailable');
  }

  /** The service refused a token that can't be refreshed: another window may have a new one. */
  async #handleRejectedServiceToken(refused: Session): Promise<string | undefined> {
    await this.#enqueue(() => this.#readFile());
    const current = this.#window.require();
    if (current.session.accessToken !== refused.accessToken) return current.session.accessToken;
    this.#window.end(current, tokenExpired());
    return undefined;
  }

  /** Usually another window has announced the change before, and there is nothing left to read. */
  #fileChanged(): void {
    this.#changedAt = performance.now();
    this.#readTimer ??= setTimeout(() => {
      this.#readTimer = undefined;
      if (this.#readAt < this.#changedAt) void this.#enqueue(() => this.#readFile()); // Never rejects.
    }, this.#timeouts.fileChange).unref();
  }

  async #readFile(): Promise<void> {
    if (this.#isDisposed) return;
    this.#readAt = performance.now();
    try {
      this.#apply(await (await this.#createService()).read());
    } catch (error) {
      this.#handleReadError(error);
    }
  }

  #apply(state: SharedSessionState, anew = false): void {
    if (state.kind === 'unreadable' && state.reason === 'otherKey') this.#scheduleReread();
    else this.#rereads = 0;
    this.#window.applyState(state, anew);
  }

  #handleReadError(thrown: unknown): void {
    if (this.#isDisposed) return;
    const error = asRolecallError(thrown);
    if (!this.#window.setUnavailable(error)) this.#deps.log.warn(`The shared session was not read: ${error.message}`);
  }

  /** On the desktop the store shows the key of another window's sign-in a little later than the file. */
  #scheduleReread(): void {
    const pause = this.#timeouts.keyRereadDelays[this.#rereads];
    if (pause === undefined || this.#isDisposed) return;
    this.#rereads += 1;
    clearTimeout(this.#rereadTimer);
    this.#rereadTimer = setTimeout(() => void this.#readFile(), pause).unref(); // Never rejects.
  }

  #store(work: () => Promise<void>): Promise<void> {
    const turn = this.#enqueue(work);
    this.#lastStore = turn.catch(() => {}); // The caller gets the error.
    return turn;
  }
}
