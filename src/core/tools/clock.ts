import { cancelled, RolecallError } from '../base/errors.ts';

/** Time as a value, so that tests need not wait. */
export interface Clock {
  /** Milliseconds that never run backwards. */
  now(): number;
  /** Calls back once after `ms`; the function returned prevents it. */
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** True when `promise` was fulfilled before `ms` passed. Rejects as `promise` does. */
export async function settlesWithin(promise: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  let prevent: () => void = () => {};
  const late = new Promise<false>((resolve) => {
    prevent = clock.after(ms, () => resolve(false));
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    prevent();
  }
}

/**
 * Waits for work that cannot be ended from outside, at most `timeoutMs` milliseconds. Afterwards, and after an abort, it
 * may still go on; its result is ignored.
 *
 * @throws {RolecallError} `cancelled` after an abort, `timeout` when the time passed; what the work is rejected with.
 */
export function withTimeLimit<T>(
  work: PromiseLike<T>,
  {
    timeoutMs,
    signal,
    clock = systemClock,
  }: { readonly timeoutMs: number; readonly signal: AbortSignal; readonly clock?: Clock },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      prevent();
      signal.removeEventListener('abort', abort);
    };
    const abort = (): void => {
      done();
      reject(cancelled(signal.reason));
    };
    const prevent = clock.after(timeoutMs, () => {
      done();
      const message = `Timed out after ${timeoutMs / 1000} seconds, the time limit of the tool. It may still be running.`;
      reject(new RolecallError('timeout', message));
    });
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    work.then(
      (value) => {
        done();
        resolve(value);
      },
      (error: unknown) => {
        done();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
