import type { Tokenizer } from './tokenizer.ts';

/** A piece of an answer: fixed text, or alternative wordings, none of which is the beginning of another. */
export type Segment = string | readonly string[];

/**
 * What the guide is going to write, as a language model: at each position, it gives the probabilities of the tokens
 * that continue a wording. All wordings of a segment are equally probable as long as they are possible.
 */
export class Script {
  readonly #segments: readonly (readonly (readonly number[])[])[];
  readonly #endOfText: number;
  #segment = 0;
  #position = 0;
  #wordings: readonly (readonly number[])[];

  constructor(segments: readonly Segment[], tokenizer: Tokenizer) {
    this.#segments = segments
      .map((segment) => (typeof segment === 'string' ? [segment] : segment).map((wording) => tokenizer.encode(wording)))
      .filter((wordings) => wordings.some((wording) => wording.length > 0));
    for (const wordings of this.#segments)
      if (wordings.some((wording) => wordings.some((other) => other !== wording && isPrefix(wording, other))))
        throw new Error(
          `One wording begins another: ${wordings.map((wording) => tokenizer.decode(wording)).join(' | ')}`,
        );
    this.#endOfText = tokenizer.endOfText;
    this.#wordings = this.#segments[0] ?? [];
  }

  /**
   * The probabilities of the next token. After the last segment, only the end of the text is possible. Returns
   * `undefined` if another token has been written instead of the end.
   */
  next(): ReadonlyMap<number, number> | undefined {
    if (this.#segment > this.#segments.length) return undefined;
    if (this.#segment === this.#segments.length) return new Map([[this.#endOfText, 1]]);
    const next = new Map<number, number>();
    for (const wording of this.#wordings) {
      const id = wording[this.#position] as number;
      next.set(id, (next.get(id) ?? 0) + 1 / this.#wordings.length);
    }
    return next;
  }

  /**
   * Moves on after a token is written. A token that no wording has here counts as that of the first possible wording.
   */
  advance(id: number): void {
    const matching = this.#wordings.filter((wording) => wording[this.#position] === id);
    this.#wordings = matching.length > 0 ? matching : this.#wordings.slice(0, 1);
    this.#position++;
    if ((this.#wordings[0]?.length ?? 0) > this.#position) return;
    this.#segment++;
    this.#position = 0;
    this.#wordings = this.#segments[this.#segment] ?? [];
  }
}

const isPrefix = (prefix: readonly number[], whole: readonly number[]): boolean =>
  prefix.length <= whole.length && prefix.every((id, index) => id === whole[index]);

/** What a model is going to answer, before any token is chosen. */
export interface Plan {
  readonly reasoning: readonly Segment[] | undefined;
  /** `free` if the n-gram model writes the content alone, `undefined` if there is no content, only tool calls. */
  readonly content: readonly Segment[] | 'free' | undefined;
  readonly calls: readonly PlannedCall[];
  /** The token ids that the model continues. */
  readonly history: readonly number[];
}

export interface PlannedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}
