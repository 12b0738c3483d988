/** One measured figure, beside a rival that was measured in the same run on the same machine. */
export interface Figure {
  /** What was measured, of Rolecall. */
  readonly name: string;
  /** In `unit`; the median of several rounds. */
  readonly value: number;
  readonly unit: string;
  /** The rival, or the floor below which nothing can go. */
  readonly against: string;
  /** `value` divided by the rival's. */
  readonly ratio: number;
  /**
   * The ratio wanted: at least this where higher is better, at most this where it is not. Nothing fails by it. Absent where
   * nothing is promised.
   */
  readonly aim?: number;
  readonly higherIsBetter: boolean;
}

export type Bench = () => Promise<Figure[]>;

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
