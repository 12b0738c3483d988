import { RolecallError } from '../../base/errors.ts';

/** Kinds of failures after which a refresh is tried again. */
export const TRANSIENT_KINDS = ['offline', 'timeout', 'server', 'rateLimited', 'protocol', 'unexpected'] as const;

/** A failure, as the windows report it to each other in the refresh journal. */
export interface SharedFailure {
  /** The generation whose refresh failed. */
  readonly generation: number;
  readonly kind: (typeof TRANSIENT_KINDS)[number];
  readonly message: string;
  /** When it failed, and until when no window tries again by itself; milliseconds since the epoch. */
  readonly at: number;
  readonly until: number;
  /** The number of failures in a row, including this one. */
  readonly times: number;
}

/** The longest pause without a request of the server, in milliseconds. */
export const LONGEST_MS = 60_000;
/** The longest pause that a server may ask for, in milliseconds. */
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
  /** When the user last asked to try again. Failures of other windows from before that don't count. */
  #askedAt = 0;

  /** @param firstMs The longest first pause. Each further failure doubles it. */
  constructor(random: () => number, firstMs: number) {
    this.#random = random;
    this.#firstMs = firstMs;
  }

  recordFailure(error: RolecallError, now: number, longestMs = LONGEST_MS): void {
    const pause = Math.min(longestMs, this.#firstMs * 2 ** this.#failures) * (0.5 + this.#random() / 2);
    const retryAfterMs = Math.min(error.details.retryAfterMs ?? 0, LONGEST_ASKED_MS);
    this.#failures += 1;
    this.#until = now + Math.max(pause, retryAfterMs);
    this.#error = error;
  }

  /** The failure that {@link recordFailure} has just recorded, for the other windows. */
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

  /** The user asks: the next try is allowed at once, whatever failed before in any window. */
  retryNow(now: number): void {
    this.reset();
    this.#askedAt = now;
  }

  reset(): void {
    this.#failures = 0;
    this.#until = 0;
    this.#error = undefined;
  }

  /** The error to report while the next try has to wait. */
  pendingError(now: number): RolecallError | undefined {
    return isAhead(this.#until, now) ? this.#error : undefined;
  }
}

/** A clock that was set back must not keep anybody waiting for hours. */
function isAhead(until: number, now: number): boolean {
  return now < until && until <= now + LONGEST_ASKED_MS;
}
