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

/**
 * Tests whether a glob fits a whole text: `*` any characters, `?` one. Takes the earliest place for each piece between stars, so it never
 * goes back: in time linear in the text for each piece.
 */
export function globTest(glob: string): (text: string) => boolean {
  const [first = '', ...rest] = glob.split('*');
  const last = rest.pop();
  if (last === undefined) return (text) => text.length === first.length && fitsAt(text, 0, first);
  const pieces = rest.filter((piece) => piece !== '');
  if (pieces.length === 0 && !glob.includes('?')) {
    const least = first.length + last.length;
    return (text) => text.length >= least && text.startsWith(first) && text.endsWith(last);
  }
  return (text) => {
    const end = text.length - last.length;
    if (end < first.length || !fitsAt(text, 0, first) || !fitsAt(text, end, last)) return false;
    let at = first.length;
    for (const piece of pieces) {
      const found = findPiece(text, piece, at, end);
      if (found < 0) return false;
      at = found + piece.length;
    }
    return true;
  };
}

function fitsAt(text: string, at: number, piece: string): boolean {
  if (!piece.includes('?')) return text.startsWith(piece, at);
  for (let i = 0; i < piece.length; i += 1) if (piece[i] !== '?' && piece[i] !== text[at + i]) return false;
  return true;
}

function findPiece(text: string, piece: string, from: number, end: number): number {
  if (!piece.includes('?')) {
    const found = text.indexOf(piece, from);
    return found + piece.length > end ? -1 : found;
  }
  for (let at = from; at + piece.length <= end; at += 1) if (fitsAt(text, at, piece)) return at;
  return -1;
}

export function isGlob(text: string): boolean {
  return /[*?]/.test(text);
}
