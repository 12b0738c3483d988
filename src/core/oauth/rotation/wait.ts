import { cancelled } from '../../base/errors.ts';

/**
 * The value of `work`, or `undefined` when it takes longer than `ms` milliseconds; the work itself goes on.
 *
 * @throws RolecallError `cancelled` when `signal` says so first.
 */
export async function within<T>(work: Promise<T>, ms: number, signal?: AbortSignal): Promise<T | undefined> {
  if (signal?.aborted) throw cancelled(signal.reason);
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

/** The `code` of a system error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
