import * as l10n from '@vscode/l10n';

/** The one among `known` that was probably meant; nothing where none is near, or where it is the same. */
export function nearest(typed: string, known: Iterable<string>): string | undefined {
  const wanted = typed.toLowerCase();
  const limit = Math.min(3, Math.max(1, Math.floor(typed.length / 3)));
  let best: string | undefined;
  let least = limit + 1;
  for (const candidate of known) {
    if (candidate === typed || Math.abs(candidate.length - typed.length) >= least) continue;
    const far = distance(wanted, candidate.toLowerCase(), least);
    if (far < least) [best, least] = [candidate, far];
  }
  return best;
}

/** A sentence about an unknown name, followed by what was probably meant. */
export function didYouMean(sentence: string, meant: string | undefined): string {
  return meant === undefined ? sentence : `${sentence} ${l10n.t('Did you mean "{0}"?', meant)}`;
}

/** Letters to add, take away or change, and neighbors to swap (optimal string alignment), as far as it is below `limit`. */
function distance(one: string, other: string, limit: number): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  let before = row;
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const change = one[i - 1] === other[j - 1] ? 0 : 1;
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + change, swapped));
    }
    // A swap reaches over one row.
    if (Math.min(...next, ...row) >= limit) return limit;
    [before, row] = [row, next];
  }
  return row[other.length] ?? limit;
}
