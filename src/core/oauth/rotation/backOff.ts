import type { RolecallError } from '../../base/errors.ts';

const FIRST_MS = 1000;
/** No pause of our own is longer, in milliseconds. */
export const LONGEST_MS = 60_000;
/** A server may ask for more than our longest pause, to this limit. */
const LONGEST_ASKED_MS = 5 * 60_000;

/** When a failed renewal may be tried again: exponential with jitter, so that several windows do not hammer in step. */
export class BackOff {
  readonly #random: () => number;
  #failures = 0;
  #until = 0;
  #error: RolecallError | undefined;

  constructor(random: () => number) {
    this.#random = random;
  }

  failed(error: RolecallError, now: number, longestMs = LONGEST_MS): void {
    const pause = Math.min(longestMs, FIRST_MS * 2 ** this.#failures) * (0.5 + this.#random() / 2);
    const asked = Math.min(error.facts.retryAfterMs ?? 0, LONGEST_ASKED_MS);
    this.#failures += 1;
    this.#until = now + Math.max(pause, asked);
    this.#error = error;
  }

  reset(): void {
    this.#failures = 0;
    this.#until = 0;
    this.#error = undefined;
  }

  /** Why the next try has to wait, if it has to. */
  waiting(now: number): RolecallError | undefined {
    return now < this.#until ? this.#error : undefined;
  }
}
