/** A JSON object whose members are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object that `text` is the JSON of, or `undefined` when it is not the JSON of an object. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isJsonObject(value) ? value : undefined;
}

/** The value that `text` is the JSON of, or `undefined` when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

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

/** A tool call as a model wrote it, read once: `parsed` is what runs; it is not parsed again. */
export interface ToolCall {
  /** Unique within the conversation: results are matched to calls by it. */
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it; `{}` where an empty text means that there are no arguments. */
  readonly arguments: string;
  /** The arguments of a call that may run. */
  readonly parsed?: Readonly<Record<string, unknown>>;
  /** Why this call must not run: a plain sentence for the user. Absent exactly when `parsed` is set. */
  readonly problem?: string;
}
