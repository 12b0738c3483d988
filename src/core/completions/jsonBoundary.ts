/**
 * Follows the brackets and quotes of JSON text that comes in pieces. Finds its end without parsing it, which would
 * cost the length of the whole for every piece.
 */
export class JsonBoundaryScanner {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** `behind` a value that is whole; `broken` when more follows it, or when the text begins with anything but a bracket. */
  state: 'before' | 'within' | 'behind' | 'broken' = 'before';

  follow(piece: string): void {
    for (let at = 0; at < piece.length && this.state !== 'broken'; at++) {
      const code = piece.charCodeAt(at);
      if (this.#isInString) this.#followString(code);
      else if (code > SPACE) this.#followSyntax(code);
    }
  }

  #followString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === BACKSLASH) this.#isEscaped = true;
    else if (code === QUOTE) this.#isInString = false;
  }

  #followSyntax(code: number): void {
    const opens = code === OPEN_BRACE || code === OPEN_BRACKET;
    if (this.state === 'behind' || (this.state === 'before' && !opens)) this.state = 'broken';
    else if (opens) this.#depth++;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) this.#depth--;
    else if (code === QUOTE) this.#isInString = true;
    if (this.state !== 'broken') this.state = this.#depth === 0 ? 'behind' : 'within';
  }
}

const SPACE = 0x20;
const [QUOTE, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];

/** True for the beginning of an object or a list whose end is missing. */
export function isTruncatedJson(text: string): boolean {
  const outline = new JsonBoundaryScanner();
  outline.follow(text);
  return outline.state === 'before' || outline.state === 'within';
}
