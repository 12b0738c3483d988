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
