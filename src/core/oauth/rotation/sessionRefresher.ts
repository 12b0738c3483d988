import * as l10n from '@vscode/l10n';
import { raceWithSignal, withTimeout } from '../../base/abort.ts';
import { asRolecallError, cancelled, RolecallError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Session } from '../session.ts';
import { type BackOff, LONGEST_MS } from './backOff.ts';
import type { Lease } from './mutex.ts';
import type { CurrentSession, SharedSessionState } from './reconcile.ts';
import { tokenExpired } from './reconcile.ts';
import { rotate, type StoredState } from './rotate.ts';
import { type Refresh, readTokenStatus } from './sendRefreshToken.ts';
import type { SharedState } from './sharedState.ts';
import type { Timeouts } from './timeouts.ts';
import type { WindowSession } from './windowSession.ts';
import { isFresh } from './windowSession.ts';

/** Longest pause before asking again for a mutex whose holder did not answer: it may exit at any moment. */
const HOLDER_PAUSE_MS = 2000;

export interface SessionRefresherDeps {
  readonly window: WindowSession;
  readonly sharedState: SharedState;
  readonly backOff: BackOff;
  readonly prepareRefresh: () => Promise<Refresh>;
  readonly addSecret: (secret: string | undefined) => void;
  readonly log: Log;
  readonly now: () => number;
  readonly timeouts: Timeouts;
  /** Runs it after everything that this window is doing to the shared session. */
  readonly enqueue: <T>(work: () => Promise<T>) => Promise<T>;
  /** Applies what was found in file and store. */
  readonly applyState: (state: SharedSessionState) => void;
}

interface InFlightRefresh {
  readonly newerThan: number;
  /** For the callers: the session, or the error that it takes too long. */
  readonly session: Promise<Session>;
  /** Resolves when the refresh is over, whether or not it succeeded. */
  readonly end: Promise<void>;
  readonly superseded: AbortController;
}

/** What a refresh needs, from the window whose turn it is. */
interface Turn {
  readonly lease: Lease;
  readonly refresh: Refresh;
}

/** Refreshes the session of one window, or takes over what another window has refreshed. */
export class SessionRefresher {
  readonly #deps: SessionRefresherDeps;
  readonly #closing = new AbortController();
  /** The generation known when this window gave way to another's sign-in; that sign-in will have a higher one. */
  #gaveWayAt: number | undefined;
  #inFlight: InFlightRefresh | undefined;
  /** Set while the refresh takes longer than its callers wait. */
  #timeoutError: RolecallError | undefined;

  constructor(deps: SessionRefresherDeps) {
    this.#deps = deps;
  }

  /**
   * A fresh session newer than the generation `newerThan`. One refresh at a time, however many callers wait for it; it
   * goes on when they give up.
   *
   * @throws RolecallError `timeout` when it takes longer than anybody should wait; it goes on.
   */
  async sessionNewerThan(newerThan: number): Promise<Session> {
    for (let flight = this.#inFlight; flight && flight.newerThan < newerThan; flight = this.#inFlight) {
      await flight.session.catch(() => {}); // Its callers get the error.
      if (this.#inFlight === flight) return flight.session; // It hangs, and nothing else can begin before it ends.
    }
    this.#inFlight ??= this.#begin(newerThan);
    return this.#inFlight.session;
  }

  /** Ends a refresh under way that a sign-in or sign-out makes unnecessary; its callers get `cancelled`. */
  supersede(): void {
    this.#inFlight?.superseded.abort();
  }

  /** The same for a sign-in of another window, which gets the next turn. */
  giveWayToAnother(): void {
    if (this.#inFlight) this.#gaveWayAt = this.#deps.window.generation;
    this.supersede();
  }

  /**
   * Called when this window closes: the token is not sent after that. A refresh that was sent is finished, because no
   * other window gets its answer. Resolves when it is stored.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#inFlight?.end;
  }

  #begin(newerThan: number): InFlightRefresh {
    const superseded = new AbortController();
    this.#timeoutError = undefined;
    const result = this.#deps
      .enqueue(() => this.#refresh(newerThan, superseded.signal))
      .finally(() => {
        this.#inFlight = undefined;
      });
    const session = this.#withCallerTimeout(result);
    session.catch(() => {}); // Perhaps nothing awaits it; state and log report it.
    const end = result.then(
      () => {},
      () => {},
    );
    return { newerThan, session, end, superseded };
  }

  async #withCallerTimeout(result: Promise<Session>): Promise<Session> {
    const session = await withTimeout(result, this.#deps.timeouts.callerWait);
    if (session) return session;
    const { window, log } = this.#deps;
    const error = new RolecallError(
      'timeout',
      l10n.t(
        'Refreshing the session is taking too long, because the identity service is slow or does not respond. Try again in a moment.',
      ),
    );
    log.warn(error.message);
    this.#timeoutError = error;
    if (window.current && window.state.kind === 'refreshing') window.setOffline(window.current, error);
    throw error;
  }

  async #refresh(newerThan: number, superseded: AbortSignal): Promise<Session> {
    const { window, sharedState, applyState, now } = this.#deps;
    if (superseded.aborted || this.#closing.signal.aborted) throw cancelled(superseded.reason);
    const isSufficient = ({ session }: CurrentSession) => session.generation > newerThan && isFresh(session, now());
    await this.#untilSignedIn(AbortSignal.any([superseded, this.#closing.signal]));
    await sharedState.open();
    applyState(await sharedState.shared.read());
    const current = window.require();
    const { generation, refreshToken } = current.session;
    if (isSufficient(current)) return current.session;
    if (refreshToken === undefined) throw window.end(current, tokenExpired());
    await readTokenStatus({ ...this.#deps, shared: sharedState.shared }, generation).catch((waiting: unknown) => {
      throw this.#handleFailure(current, asRolecallError(waiting), LONGEST_MS);
    });
    if (this.#timeoutError) window.setOffline(current, this.#timeoutError);
    else window.setRefreshing(current);
    const turn = await this.#awaitTurn(current, isSufficient, superseded);
    if (turn) {
      const { state, isNewGeneration } = await this.#rotate(turn, current, isSufficient, superseded);
      await turn.lease.release(); // The next window can read the file.
      if (isNewGeneration) await sharedState.peers.broadcast(state.generation);
      applyState(state);
    }
    return window.require().session;
  }

  /** Waits for the sign-in of the window that this one gave way to, instead of competing with it. */
  async #untilSignedIn(stop: AbortSignal): Promise<void> {
    const before = this.#gaveWayAt;
    this.#gaveWayAt = undefined;
    const { window, timeouts } = this.#deps;
    if (before === undefined || window.generation > before) return;
    let unsubscribe = () => {};
    const news = new Promise<true>((resolve) => {
      unsubscribe = window.onDidChange(() => window.generation > before && resolve(true));
    });
    await withTimeout(news, timeouts.peerSilence, stop).finally(unsubscribe);
  }

  async #rotate(
    { lease, refresh }: Turn,
    current: CurrentSession,
    isSufficient: (current: CurrentSession) => boolean,
    superseded: AbortSignal,
  ): Promise<StoredState> {
    try {
      const deps = { ...this.#deps, refresh, shared: this.#deps.sharedState.shared, closing: this.#closing.signal };
      return await rotate(deps, lease, current, isSufficient, superseded);
    } catch (error) {
      await lease.release();
      throw this.#handleFailure(current, asRolecallError(error), LONGEST_MS);
    }
  }

  /** @returns `undefined` when another window was faster. */
  async #awaitTurn(
    current: CurrentSession,
    isSufficient: (current: CurrentSession) => boolean,
    superseded: AbortSignal,
  ): Promise<Turn | undefined> {
    const { window, sharedState, prepareRefresh } = this.#deps;
    const stop = new AbortController();
    const unsubscribe = window.onDidChange(() => {
      const latest = window.current;
      // What ended or was signed out elsewhere needs no refresh either.
      if (latest !== current && (!latest || window.state.kind === 'ended' || isSufficient(latest))) stop.abort();
    });
    try {
      const signal = AbortSignal.any([stop.signal, superseded, this.#closing.signal]);
      const refresh = await raceWithSignal(prepareRefresh(), signal);
      return { refresh, lease: await sharedState.mutex.acquire(signal) };
    } catch (thrown) {
      if (superseded.aborted || this.#closing.signal.aborted) throw cancelled(thrown);
      if (stop.signal.aborted) return undefined;
      throw this.#handleFailure(current, asRolecallError(thrown), HOLDER_PAUSE_MS);
    } finally {
      unsubscribe();
    }
  }

  /** A refresh that failed does not sign out. */
  #handleFailure(current: CurrentSession, error: RolecallError, longestPauseMs: number): RolecallError {
    const { window, backOff, log, now } = this.#deps;
    if (error.kind === 'cancelled' || (window.state.kind === 'offline' && window.state.error === error)) return error;
    log.warn(`The session could not be refreshed: ${error.message}`);
    if (window.current?.session.generation !== current.session.generation) return error;
    if (error.kind === 'configuration') {
      return window.end(current, { reason: 'configuration', sentence: error.message });
    }
    if (!backOff.pendingError(now())) backOff.recordFailure(error, now(), longestPauseMs);
    window.setOffline(current, error);
    return error;
  }
}
