/** @returns a function that runs works one after the other, in the order of the calls, whatever becomes of each. */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => {}); // The caller of that work sees how it failed.
    return result;
  };
}
