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

/** Letters to add, take away or change (Levenshtein), as far as it is below `limit`. */
function distance(one: string, other: string, limit: number): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const change = one[i - 1] === other[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + change));
    }
    if (Math.min(...next) >= limit) return limit;
    row = next;
  }
  return row[other.length] ?? limit;
}
