import { cancelled } from './errors.ts';

/** Waits for `work` until `signal` aborts. The work itself goes on: others may wait for it too. */
export async function raceWithSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    work.catch(() => {}); // Nobody awaits `work` here any more: its rejection must not count as unhandled.
    throw cancelled(signal.reason);
  }
  let stop = () => {};
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = () => reject(cancelled(signal.reason));
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/**
 * The value of `work`, or `undefined` when it takes longer than `ms` milliseconds; the work itself goes on.
 *
 * @throws RolecallError `cancelled` when `signal` says so first.
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, signal?: AbortSignal): Promise<T | undefined> {
  if (signal?.aborted) {
    work.catch(() => {}); // Nobody awaits `work` here any more.
    throw cancelled(signal.reason);
  }
  let timer: NodeJS.Timeout | undefined;
  let stop = () => {};
  const late = new Promise<undefined>((resolve, reject) => {
    timer = setTimeout(() => resolve(undefined), ms);
    stop = () => reject(cancelled(signal?.reason));
    signal?.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** Resolves after `ms` milliseconds, or rejects with `cancelled`. */
export async function delay(ms: number, signal: AbortSignal): Promise<void> {
  await withTimeout(new Promise<never>(() => {}), ms, signal);
}

/** @returns a function that runs works one after the other, in the order of the calls, whether or not each succeeds. */
export function createSerialQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => {}); // The caller of that work gets its error.
    return result;
  };
}
