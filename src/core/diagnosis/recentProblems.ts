import type { Log } from '../base/log.ts';
import { truncate } from '../base/text.ts';
import type { LoggedProblem } from './facts.ts';

const KEPT = 5;
const MAX_LENGTH = 500;

/**
 * A log that remembers the last warnings and errors. It belongs below the redacting log, so that it remembers no
 * secret.
 */
export class RecentProblems implements Log {
  readonly #inner: Log;
  readonly #now: () => number;
  #problems: readonly LoggedProblem[] = [];

  constructor(inner: Log, now: () => number) {
    this.#inner = inner;
    this.#now = now;
  }

  /** The newest last. */
  get all(): readonly LoggedProblem[] {
    return this.#problems;
  }

  trace(message: string): void {
    this.#inner.trace(message);
  }

  debug(message: string): void {
    this.#inner.debug(message);
  }

  info(message: string): void {
    this.#inner.info(message);
  }

  warn(message: string): void {
    this.#keep('warning', message);
    this.#inner.warn(message);
  }

  error(message: string): void {
    this.#keep('error', message);
    this.#inner.error(message);
  }

  #keep(level: LoggedProblem['level'], message: string): void {
    const [line = ''] = message.split('\n', 1); // The rest is a stack trace, which is in the log.
    this.#problems = [...this.#problems, { at: this.#now(), level, message: truncate(line, MAX_LENGTH) }].slice(-KEPT);
  }
}
