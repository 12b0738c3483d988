/** How many times as much as `npm test` does; 1 unless ROLECALL_DEEP says. */
export const DEEP = Number(process.env.ROLECALL_DEEP) || 1;

/**
 * How often a property is tried: a few times in every run of the tests, whose seeds differ, and as often as is asked for
 * on demand.
 */
export function runs(count: number): { readonly numRuns: number } {
  return { numRuns: count * DEEP };
}
