import { asRolecallError, type RolecallError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Session, TokenGrant } from '../session.ts';
import { type BackOff, LONGEST_MS } from './backOff.ts';
import type { Found, Held } from './choose.ts';
import { EXPIRED } from './endReason.ts';
import type { Hold } from './exclusion.ts';
import { isFresh } from './lifetime.ts';
import type { Limits } from './limits.ts';
import { rotate } from './rotate.ts';
import type { Sharing } from './sharing.ts';
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

/** Renews the session of one window, or takes the renewal of another. */
export class Renewals {
  readonly #deps: RenewalsDeps;
  #flight: { readonly beyond: number; readonly result: Promise<Session> } | undefined;

  constructor(deps: RenewalsDeps) {
    this.#deps = deps;
  }

  /**
   * A session newer than the generation `beyond`, and fresh. One renewal at a time, however many wait for it, and none
   * is stopped because somebody gave up waiting.
   */
  async beyond(beyond: number): Promise<Session> {
    while (this.#flight && this.#flight.beyond < beyond) await this.#flight.result.catch(() => {}); // Its callers are told.
    this.#flight ??= {
      beyond,
      result: this.#deps
        .inTurn(() => this.#renew(beyond))
        .finally(() => {
          this.#flight = undefined;
        }),
    };
    return this.#flight.result;
  }

  async #renew(beyond: number): Promise<Session> {
    const { window, sharing, backOff, apply, now } = this.#deps;
    const enough = ({ session }: Held) => session.generation > beyond && isFresh(session, now());
    await sharing.open();
    apply(await sharing.shared.read());
    const held = window.require();
    if (enough(held)) return held.session;
    if (held.session.refreshToken === undefined) throw window.end(held, EXPIRED);
    const waiting = backOff.waiting(now());
    if (waiting) throw waiting;
    window.refreshing(held);
    const hold = await this.#turn(held, enough);
    if (hold) {
      const found = await this.#rotate(hold, held, enough);
      await hold.release(); // Before it is used: whoever waits can see that it is stored.
      apply(found);
    }
    return window.require().session;
  }

  async #rotate(hold: Hold, held: Held, enough: (held: Held) => boolean): Promise<Found> {
    try {
      return await rotate({ ...this.#deps, ...this.#deps.sharing }, hold, held, enough);
    } catch (error) {
      await hold.release();
      throw this.#survive(held, asRolecallError(error), LONGEST_MS);
    }
  }

  /** @returns `undefined` when another window was faster. */
  async #turn(held: Held, enough: (held: Held) => boolean): Promise<Hold | undefined> {
    const { window, sharing } = this.#deps;
    const stop = new AbortController();
    const unsubscribe = window.onDidChange(() => {
      const now = window.held;
      // What ended or was signed out elsewhere needs no renewal either.
      if (now !== held && (!now || window.state.kind === 'ended' || enough(now))) stop.abort();
    });
    try {
      return await sharing.exclusion.acquire(stop.signal);
    } catch (error) {
      if (stop.signal.aborted) return undefined;
      throw this.#survive(held, asRolecallError(error), HOLDER_PAUSE_MS);
    } finally {
      unsubscribe();
    }
  }

  /** A renewal that failed signs nobody out. */
  #survive(held: Held, error: RolecallError, longestPauseMs: number): RolecallError {
    const { window, backOff, log, now } = this.#deps;
    log.warn(`The sign-in could not be renewed: ${error.message}`);
    if (window.held?.session.generation !== held.session.generation) return error;
    if (error.kind === 'configuration') {
      return window.end(held, { reason: 'configuration', sentence: error.message });
    }
    backOff.failed(error, now(), longestPauseMs);
    window.offline(held, error);
    return error;
  }
}
