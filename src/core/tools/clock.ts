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
export async function withinTime(promise: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
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
