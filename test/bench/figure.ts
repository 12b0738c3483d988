/** One measured figure, beside a rival that was measured in the same run on the same machine. */
export interface Figure {
  /** What was measured, of Rolecall. */
  readonly name: string;
  /** In `unit`; the median of several rounds. */
  readonly value: number;
  readonly unit: string;
  /** The rival, the floor below which nothing can go, or the limit that is promised. */
  readonly against: string;
  /** `value` divided by the rival's, or by the limit. */
  readonly ratio: number;
  /**
   * The ratio wanted: at least this where higher is better, at most this where it is not. Nothing fails by it. Absent where
   * nothing is promised.
   */
  readonly aim?: number;
  readonly higherIsBetter: boolean;
}

/** A figure of which a limit is promised, in its own unit, whatever others take. */
export function withinLimit(name: string, value: number, unit: string, limit: number): Figure {
  const against = `the limit of ${limit} ${unit}`;
  return { name, value, unit, against, ratio: value / limit, aim: 1, higherIsBetter: false };
}

export type Bench = () => Promise<Figure[]>;

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
