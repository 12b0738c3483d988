import { delay } from '../base/abort.ts';

const CONCURRENCY = 4;

/**
 * What runs of several files share: how many requests go on at one time, in the order in which they were added, and until when
 * the service asked to wait.
 */
export class RequestQueue {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  /** By `performance.now`, which never runs backwards. */
  #pausedUntil = 0;

  /** @param concurrency requests at one time. */
  constructor(concurrency = CONCURRENCY) {
    this.#free = Math.max(1, concurrency);
  }

  /** Does the work when it is its turn. */
  async add<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  /** Nothing is sent for so long: the service would only refuse it too. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
  }

  /** Until the service can be asked again. @throws RolecallError `cancelled`. */
  async paused(signal: AbortSignal): Promise<void> {
    for (let left = this.#left(); left > 0; left = this.#left()) await delay(left, signal);
  }

  #left(): number {
    return this.#pausedUntil - performance.now();
  }
}
