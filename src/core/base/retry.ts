import { delay } from './abort.ts';
import { RolecallError } from './errors.ts';

export interface RetryPolicy {
  /** The number of tries, including the first. */
  readonly attempts: number;
  /** The longest pause before the second try, in milliseconds; doubles each time. */
  readonly baseMs: number;
  /** The longest pause, whatever the server asks. */
  readonly maxMs: number;
}

/** Reading again has no side effects: a few tries over some seconds. */
export const READ_RETRIES: RetryPolicy = { attempts: 4, baseMs: 400, maxMs: 15_000 };

/** Called before each pause, so that the user can see why it takes longer. */
export type RetryListener = (error: RolecallError, attempt: number, pauseMs: number) => void;

/**
 * Runs `work` again while it fails in a way that may pass: `server` (500 "may be transient" in the specification,
 * 502–504 of a proxy) and `rateLimited`. Exponential back-off with full jitter; `Retry-After` is followed within
 * bounds.
 */
export async function withRetries<T>(
  work: () => Promise<T>,
  policy: RetryPolicy,
  signal: AbortSignal,
  onRetry: RetryListener = () => {},
  random: () => number = Math.random,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RolecallError) || attempt >= policy.attempts) throw error;
      if (error.kind !== 'server' && error.kind !== 'rateLimited') throw error;
      const retryAfterMs = error.details.retryAfterMs;
      // To wait for less than that would only be refused again.
      if (retryAfterMs !== undefined && retryAfterMs > policy.maxMs) throw error;
      const wait = retryAfterMs ?? Math.min(policy.maxMs, policy.baseMs * 2 ** (attempt - 1)) * random();
      onRetry(error, attempt, wait);
      await delay(wait, signal);
    }
  }
}
