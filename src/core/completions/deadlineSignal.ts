import { cancelled, type ErrorDetails, RolecallError } from '../base/errors.ts';

/** Three time limits of one request, in milliseconds. */
export interface Deadlines {
  /** From sending the request to the headers of the answer. Without streaming, `firstEventMs` takes its place. */
  readonly connectMs: number;
  /**
   * From the headers to the first piece of the answer, whatever keep-alives come. Also from one piece to the next while
   * keep-alives come, unless `idleMs` is longer.
   */
  readonly firstEventMs: number;
  /** Silence in the middle of the answer; any byte ends it, including a keep-alive. */
  readonly idleMs: number;
}

/** Each is shorter than the 300 s after which `fetch` gives up by itself, with an unhelpful message. */
export const defaultDeadlines: Deadlines = { connectMs: 120_000, firstEventMs: 280_000, idleMs: 240_000 };

/** A limit on the time that is spent waiting for the service. */
export interface Deadline {
  readonly ms: number;
  /** Creates the reason of the signal when time is up: an error costs a stack trace, and most requests need none. */
  readonly reason: () => unknown;
  /** What resets it: any byte, or only a piece of the answer. Without it, nothing does. */
  readonly resetBy?: 'byte' | 'piece';
}

/**
 * One abort signal for the user's Stop and for the limits that are running. Time counts only while something is
 * awaited from the service: a slow consumer is not the service's silence.
 */
export class DeadlineSignal {
  readonly #controller = new AbortController();
  readonly #user: AbortSignal;
  readonly #onStop: () => void;
  #limits: { readonly limit: Deadline; endsAt: number }[] = [];
  /** Milliseconds waited before `#since`, when the current wait began. The limits end at a point of this clock. */
  #waited = 0;
  #since: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(user: AbortSignal) {
    this.#user = user;
    this.#onStop = () => this.#controller.abort(cancelled(user.reason));
    user.addEventListener('abort', this.#onStop, { once: true });
    if (user.aborted) this.#onStop();
  }

  /** Aborted with a `RolecallError` (`cancelled`, `timeout`), or with the reason of the limit that passed. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Replaces the running limits and starts the clock. */
  arm(...limits: readonly Deadline[]): void {
    this.#since ??= performance.now();
    const now = this.#now();
    this.#limits = limits.map((limit) => ({ limit, endsAt: now + limit.ms }));
    this.#schedule();
  }

  /** Continues to count: more bytes are awaited. */
  restart(): void {
    this.#since ??= performance.now();
    this.reset('byte');
  }

  /** Resets the limits that `by` resets. */
  reset(by: 'byte' | 'piece'): void {
    const now = this.#now();
    for (const entry of this.#limits) if (entry.limit.resetBy === by) entry.endsAt = now + entry.limit.ms;
    if (!this.#timer) this.#schedule();
  }

  /** Stops counting: the awaited bytes have arrived. */
  pause(): void {
    this.#waited = this.#now();
    this.#since = undefined;
  }

  /** Aborts running work, and releases the timer and the user's signal. */
  dispose(): void {
    this.#limits = [];
    clearTimeout(this.#timer);
    this.#user.removeEventListener('abort', this.#onStop);
    this.#controller.abort(cancelled());
  }

  #now(): number {
    return this.#waited + (this.#since === undefined ? 0 : performance.now() - this.#since);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const next = Math.min(...this.#limits.map(({ endsAt }) => endsAt)) - this.#now();
    this.#timer = Number.isFinite(next) ? setTimeout(() => this.#check(), Math.max(1, next)) : undefined;
  }

  /** A limit may have been reset since the timer was set: setting the timer again for every packet would cost more. */
  #check(): void {
    this.#timer = undefined;
    if (this.#since === undefined) return; // The next wait sets the timer again.
    const now = this.#now();
    const expired = this.#limits.find(({ endsAt }) => endsAt <= now);
    if (expired) this.#controller.abort(expired.limit.reason());
    else this.#schedule();
  }
}

/** The error of a deadline that passed. */
export function timeoutError(message: string, deadline?: ErrorDetails['deadline']): RolecallError {
  return new RolecallError('timeout', message, deadline === undefined ? {} : { details: { deadline } });
}
