/** Runs `work` with all deadlines cut down to a moment. @returns the deadlines that were set, in milliseconds. */
export async function withShortDeadlines(work: () => Promise<unknown>): Promise<number[]> {
  const timeout = AbortSignal.timeout;
  const set: number[] = [];
  AbortSignal.timeout = (ms) => {
    set.push(ms);
    return timeout.call(AbortSignal, 15);
  };
  try {
    await work();
  } finally {
    AbortSignal.timeout = timeout;
  }
  return set;
}
