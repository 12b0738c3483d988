import { within } from '../../base/abort.ts';
import { asRolecallError, cancelled, RolecallError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Session, TokenGrant } from '../session.ts';
import { type BackOff, LONGEST_MS } from './backOff.ts';
import type { Found, Held } from './choose.ts';
import { EXPIRED } from './endReason.ts';
import type { Hold } from './exclusion.ts';
import { isFresh } from './lifetime.ts';
import type { Limits } from './limits.ts';
import { rotate, type Stored } from './rotate.ts';
import type { Sharing } from './sharing.ts';
import { fateOf } from './spend.ts';
import type { WindowSession } from './windowSession.ts';

/** Longest pause before asking again for an exclusion whose holder did not answer: it may die any moment. */
const HOLDER_PAUSE_MS = 2000;

export interface RenewalsDeps {
  readonly window: WindowSession;
  readonly sharing: Sharing;
  readonly backOff: BackOff;
  readonly refresh: (refreshToken: string, signal: AbortSignal) => Promise<TokenGrant>;
  readonly learn: (secret: string | undefined) => void;
  readonly log: Log;
  readonly now: () => number;
  readonly limits: Limits;
  /** After whatever this window does to the shared session at the moment. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Takes what was found in file and store. */
  readonly apply: (found: Found) => void;
}

interface Flight {
  readonly beyond: number;
  /** What its callers get: the session, or that it takes too long. */
  readonly answer: Promise<Session>;
  /** Resolves when it is over, however it went. */
  readonly end: Promise<void>;
  readonly superseded: AbortController;
}

/** Renews the session of one window, or takes the renewal of another. */
export class Renewals {
  readonly #deps: RenewalsDeps;
  readonly #closing = new AbortController();
  /** What this window knew when it gave way to the sign-in of another, which is stored above that. */
  #gaveWayAt: number | undefined;
  #flight: Flight | undefined;
  /** The renewal under way takes longer than its callers wait. */
  #tooLong: RolecallError | undefined;

  constructor(deps: RenewalsDeps) {
    this.#deps = deps;
  }

  /**
   * A session newer than the generation `beyond`, and fresh. One renewal at a time, however many wait for it, and none
   * is stopped because somebody gave up waiting.
   *
   * @throws RolecallError `timeout` when it takes longer than anybody should wait; it goes on.
   */
  async beyond(beyond: number): Promise<Session> {
    for (let flight = this.#flight; flight && flight.beyond < beyond; flight = this.#flight) {
      await flight.answer.catch(() => {}); // Its callers are told.
      if (this.#flight === flight) return flight.answer; // It hangs, and nothing else can begin before it ends.
    }
    this.#flight ??= this.#begin(beyond);
    return this.#flight.answer;
  }

  /** Ends a renewal under way, for a sign-in or sign-out that makes it needless; its callers get `cancelled`. */
  giveWay(): void {
    this.#flight?.superseded.abort();
  }

  /** The same for a sign-in of another window, which gets the next turn. */
  giveWayToAnother(): void {
    if (this.#flight) this.#gaveWayAt = this.#deps.window.generation;
    this.giveWay();
  }

  /**
   * This window closes: what was not sent yet is not sent, and a renewal that was is finished, for nobody else gets its
   * answer. Resolves when it is stored.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#flight?.end;
  }

  #begin(beyond: number): Flight {
    const superseded = new AbortController();
    this.#tooLong = undefined;
    const result = this.#deps
      .inTurn(() => this.#renew(beyond, superseded.signal))
      .finally(() => {
        this.#flight = undefined;
      });
    const answer = this.#inTime(result);
    answer.catch(() => {}); // Perhaps nobody waits; state and log tell.
    const end = result.then(
      () => {},
      () => {},
    );
    return { beyond, answer, end, superseded };
  }

  async #inTime(result: Promise<Session>): Promise<Session> {
    const session = await within(result, this.#deps.limits.caller);
    if (session) return session;
    const { window, log } = this.#deps;
    const error = new RolecallError(
      'timeout',
      'Renewing the sign-in is taking too long: the identity service is slow or does not answer. Try again in a moment.',
    );
    log.warn(error.message);
    this.#tooLong = error;
    if (window.held && window.state.kind === 'refreshing') window.offline(window.held, error);
    throw error;
  }

  async #renew(beyond: number, superseded: AbortSignal): Promise<Session> {
    const { window, sharing, apply, now } = this.#deps;
    if (superseded.aborted || this.#closing.signal.aborted) throw cancelled(superseded.reason);
    const enough = ({ session }: Held) => session.generation > beyond && isFresh(session, now());
    await this.#untilSignedIn(AbortSignal.any([superseded, this.#closing.signal]));
    await sharing.open();
    apply(await sharing.shared.read());
    const held = window.require();
    const { generation, refreshToken } = held.session;
    if (enough(held)) return held.session;
    if (refreshToken === undefined) throw window.end(held, EXPIRED);
    await fateOf({ ...this.#deps, shared: sharing.shared }, generation).catch((waiting: unknown) => {
      throw this.#survive(held, asRolecallError(waiting), LONGEST_MS);
    });
    if (this.#tooLong) window.offline(held, this.#tooLong);
    else window.refreshing(held);
    const hold = await this.#turn(held, enough, superseded);
    if (hold) {
      const { found, isNews } = await this.#rotate(hold, held, enough, superseded);
      await hold.release(); // Whoever waits for the exclusion can read the file.
      if (isNews) await sharing.peers.push(found.generation);
      apply(found);
    }
    return window.require().session;
  }

  /** Does not race the window that this one gave way to. */
  async #untilSignedIn(stop: AbortSignal): Promise<void> {
    const before = this.#gaveWayAt;
    this.#gaveWayAt = undefined;
    const { window, limits } = this.#deps;
    if (before === undefined || window.generation > before) return;
    let unsubscribe = () => {};
    const news = new Promise<true>((resolve) => {
      unsubscribe = window.onDidChange(() => window.generation > before && resolve(true));
    });
    await within(news, limits.silence, stop).finally(unsubscribe);
  }

  async #rotate(hold: Hold, held: Held, enough: (held: Held) => boolean, superseded: AbortSignal): Promise<Stored> {
    try {
      const deps = { ...this.#deps, shared: this.#deps.sharing.shared, closing: this.#closing.signal };
      return await rotate(deps, hold, held, enough, superseded);
    } catch (error) {
      await hold.release();
      throw this.#survive(held, asRolecallError(error), LONGEST_MS);
    }
  }

  /** @returns `undefined` when another window was faster. */
  async #turn(held: Held, enough: (held: Held) => boolean, superseded: AbortSignal): Promise<Hold | undefined> {
    const { window, sharing } = this.#deps;
    const stop = new AbortController();
    const unsubscribe = window.onDidChange(() => {
      const latest = window.held;
      // What ended or was signed out elsewhere needs no renewal either.
      if (latest !== held && (!latest || window.state.kind === 'ended' || enough(latest))) stop.abort();
    });
    try {
      return await sharing.exclusion.acquire(AbortSignal.any([stop.signal, superseded, this.#closing.signal]));
    } catch (thrown) {
      if (superseded.aborted || this.#closing.signal.aborted) throw cancelled(thrown);
      if (stop.signal.aborted) return undefined;
      throw this.#survive(held, asRolecallError(thrown), HOLDER_PAUSE_MS);
    } finally {
      unsubscribe();
    }
  }

  /** A renewal that failed signs nobody out. */
  #survive(held: Held, error: RolecallError, longestPauseMs: number): RolecallError {
    const { window, backOff, log, now } = this.#deps;
    if (error.kind === 'cancelled' || (window.state.kind === 'offline' && window.state.error === error)) return error;
    log.warn(`The sign-in could not be renewed: ${error.message}`);
    if (window.held?.session.generation !== held.session.generation) return error;
    if (error.kind === 'configuration') {
      return window.end(held, { reason: 'configuration', sentence: error.message });
    }
    if (!backOff.waiting(now())) backOff.failed(error, now(), longestPauseMs);
    window.offline(held, error);
    return error;
  }
}
