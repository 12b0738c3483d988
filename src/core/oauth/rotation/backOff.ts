import { RolecallError } from '../../base/errors.ts';

/** Kinds of failures after which a refresh is tried again. */
export const TRANSIENT_KINDS = ['offline', 'timeout', 'server', 'rateLimited', 'protocol', 'unexpected'] as const;

/** A failure as the windows tell each other of it, in the refresh journal. */
export interface SharedFailure {
  /** Which refresh failed: that of this generation. */
  readonly generation: number;
  readonly kind: (typeof TRANSIENT_KINDS)[number];
  readonly message: string;
  /** When it failed, and until when no window tries again by itself; milliseconds since the epoch. */
  readonly at: number;
  readonly until: number;
  /** How often in a row, this one included. */
  readonly times: number;
}

/** No pause of our own is longer, in milliseconds. */
export const LONGEST_MS = 60_000;
/** A server may ask for more than our longest pause, to this limit. */
const LONGEST_ASKED_MS = 5 * 60_000;

/**
 * When a failed refresh may be tried again: exponential with jitter. The windows share it, so that a dead service is not
 * asked by one after the other.
 */
export class BackOff {
  readonly #random: () => number;
  readonly #firstMs: number;
  #failures = 0;
  #until = 0;
  #error: RolecallError | undefined;
  /** What failed before that is forgotten. */
  #askedAt = 0;

  /** @param firstMs The first pause at its longest; each failure in a row doubles it. */
  constructor(random: () => number, firstMs: number) {
    this.#random = random;
    this.#firstMs = firstMs;
  }

  recordFailure(error: RolecallError, now: number, longestMs = LONGEST_MS): void {
    const pause = Math.min(longestMs, this.#firstMs * 2 ** this.#failures) * (0.5 + this.#random() / 2);
    const asked = Math.min(error.details.retryAfterMs ?? 0, LONGEST_ASKED_MS);
    this.#failures += 1;
    this.#until = now + Math.max(pause, asked);
    this.#error = error;
  }

  /** What just {@link recordFailure}, for the other windows. */
  toSharedFailure(generation: number, error: RolecallError, now: number): SharedFailure {
    const { message } = error;
    const kind = TRANSIENT_KINDS.find((passing) => passing === error.kind) ?? 'unexpected';
    return { generation, kind, message, at: now, until: this.#until, times: this.#failures };
  }

  /** Another window's failure counts like one of ours, unless the user has asked to try again since. */
  applySharedFailure(failure: SharedFailure, now: number): void {
    if (!isAhead(failure.until, now) || failure.at <= this.#askedAt || failure.until <= this.#until) return;
    this.#failures = failure.times;
    this.#until = failure.until;
    this.#error = new RolecallError(failure.kind, failure.message);
  }

  /** The user asks: the next try is now, whatever failed before in any window. */
  retryNow(now: number): void {
    this.reset();
    this.#askedAt = now;
  }

  reset(): void {
    this.#failures = 0;
    this.#until = 0;
    this.#error = undefined;
  }

  /** Why the next try has to wait, if it has to. */
  pendingError(now: number): RolecallError | undefined {
    return isAhead(this.#until, now) ? this.#error : undefined;
  }
}

/** A clock that was set back must not keep anybody waiting for hours. */
function isAhead(until: number, now: number): boolean {
  return now < until && until <= now + LONGEST_ASKED_MS;
}
