/**
 * Tests whether a glob fits a whole text: `*` any characters, `?` one. Takes the earliest place for each piece between stars, so it never
 * goes back: in time linear in the text for each piece.
 */
export function globTest(glob: string): (text: string) => boolean {
  const [first = new Piece(''), ...rest] = glob.split('*').map((piece) => new Piece(piece));
  const last = rest.pop();
  if (last === undefined) return (text) => text.length === first.length && first.fitsAt(text, 0);
  const pieces = rest.filter(({ length }) => length > 0);
  return (text) => {
    const end = text.length - last.length;
    if (end < first.length || !first.fitsAt(text, 0) || !last.fitsAt(text, end)) return false;
    let at = first.length;
    for (const piece of pieces) {
      const found = piece.findIn(text, at, end);
      if (found < 0) return false;
      at = found + piece.length;
    }
    return true;
  };
}

/** Tests whether one of several globs fits. */
export function anyGlobTest(globs: readonly string[]): (text: string) => boolean {
  const tests = globs.map(globTest);
  return (text) => {
    for (const fits of tests) if (fits(text)) return true;
    return false;
  };
}

/** What stands between two stars. */
class Piece {
  readonly length: number;
  readonly #text: string;
  /** Without `?`, which takes any character. */
  readonly #isExact: boolean;

  constructor(text: string) {
    this.#text = text;
    this.length = text.length;
    this.#isExact = !text.includes('?');
  }

  fitsAt(text: string, at: number): boolean {
    if (this.length === 0) return true;
    if (this.#isExact) return text.startsWith(this.#text, at);
    for (let i = 0; i < this.length; i += 1) if (this.#text[i] !== '?' && this.#text[i] !== text[at + i]) return false;
    return true;
  }

  /** Where it fits first between `from` and `end`; negative where it does not. */
  findIn(text: string, from: number, end: number): number {
    if (this.#isExact) {
      const found = text.indexOf(this.#text, from);
      return found + this.length > end ? -1 : found;
    }
    for (let at = from; at + this.length <= end; at += 1) if (this.fitsAt(text, at)) return at;
    return -1;
  }
}

export function isGlob(text: string): boolean {
  return /[*?]/.test(text);
}
