import { cancelled, type ErrorFacts, RolecallError } from '../base/errors.ts';

/** Three time limits of one request, in milliseconds. Any byte, a keep-alive too, starts the running one again. */
export interface Deadlines {
  /** From sending the request to the headers of the answer. Without streaming, `firstEventMs` stands in its place. */
  readonly connectMs: number;
  /** From the headers to the first event of the answer. */
  readonly firstEventMs: number;
  /** Silence in the middle of the answer. */
  readonly idleMs: number;
}

/** Each is shorter than the 300 s after which `fetch` gives up by itself, in words that help nobody. */
export const defaultDeadlines: Deadlines = { connectMs: 120_000, firstEventMs: 280_000, idleMs: 240_000 };

/**
 * One abort signal for the user's Stop and for the deadline that runs at the moment. A deadline counts only while
 * something is awaited from the service: a consumer that takes its time is not the service's silence.
 */
export class Watch {
  readonly #controller = new AbortController();
  readonly #user: AbortSignal;
  readonly #onStop: () => void;
  #timer: NodeJS.Timeout | undefined;
  #waiting = false;

  constructor(user: AbortSignal) {
    this.#user = user;
    this.#onStop = () => this.#controller.abort(cancelled(user.reason));
    user.addEventListener('abort', this.#onStop, { once: true });
    if (user.aborted) this.#onStop();
  }

  /** Aborted with a `RolecallError` (`cancelled`, `timeout`), or with what {@link arm} was given. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Replaces the running deadline. `reason` becomes the reason of the signal when it passes. */
  arm(ms: number, reason: unknown): void {
    clearTimeout(this.#timer);
    this.#waiting = true;
    this.#timer = setTimeout(() => {
      if (this.#waiting) this.#controller.abort(reason);
    }, ms);
  }

  /** Starts the running deadline again, from now. */
  restart(): void {
    this.#waiting = true;
    this.#timer?.refresh();
  }

  /** What was awaited has come. */
  pause(): void {
    this.#waiting = false;
  }

  /** Aborts what still runs, and lets go of the timer and the user's signal. */
  dispose(): void {
    clearTimeout(this.#timer);
    this.#user.removeEventListener('abort', this.#onStop);
    this.#controller.abort(cancelled());
  }
}

/** The error of a deadline that passed. */
export function timedOut(message: string, deadline?: ErrorFacts['deadline']): RolecallError {
  return new RolecallError('timeout', message, deadline === undefined ? {} : { facts: { deadline } });
}
