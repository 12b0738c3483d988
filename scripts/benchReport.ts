import type { Figure } from '../test/bench/figure.ts';

/** One line of JSON, always with the same members in the same order. */
export function jsonLine({ name, value, unit, against, ratio, aim, higherIsBetter }: Figure): string {
  return JSON.stringify({ name, value: short(value), unit, against, ratio: short(ratio), aim, higherIsBetter });
}

/** A table with one row for each rival, the figures of one name together. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map((figure, n) => {
    const isNew = figure.name !== figures[n - 1]?.name;
    const { aim, higherIsBetter, ratio } = figure;
    return [
      isNew ? figure.name : '',
      isNew ? `${short(figure.value)} ${figure.unit}` : '',
      `${short(ratio)} ×`,
      aim === undefined ? '' : `${higherIsBetter ? '≥' : '≤'} ${aim}`,
      aim === undefined ? '' : isReached(figure) ? 'reached' : 'missed',
      figure.against,
    ];
  });
  const all = [['', 'Rolecall', 'ratio', 'aim', '', 'against'], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** True also where nothing is promised. */
export function isReached({ ratio, aim, higherIsBetter }: Figure): boolean {
  if (aim === undefined) return true;
  return higherIsBetter ? ratio >= aim : ratio <= aim;
}

/** Three digits that count. */
function short(value: number): number {
  return Number(value.toPrecision(3));
}
