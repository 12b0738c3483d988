import type { Tokenizer } from './tokenizer.ts';

/** A piece of an answer: fixed text, or wordings of which one is to be written (none the beginning of another). */
export type Segment = string | readonly string[];

/**
 * What the guide means to write, as a model over tokens: at every place it gives the probabilities of the tokens that
 * continue a wording, all wordings of a segment being equally probable until they part ways.
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

  /** Probabilities of the next token; the end of the text after the last segment; undefined when that was passed over. */
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

  /** Takes note of the written token. One that no wording has stands for the first wording's token at this place. */
  advance(id: number): void {
    const agreeing = this.#wordings.filter((wording) => wording[this.#position] === id);
    this.#wordings = agreeing.length > 0 ? agreeing : this.#wordings.slice(0, 1);
    this.#position++;
    if ((this.#wordings[0]?.length ?? 0) > this.#position) return;
    this.#segment++;
    this.#position = 0;
    this.#wordings = this.#segments[this.#segment] ?? [];
  }
}

const isPrefix = (prefix: readonly number[], whole: readonly number[]): boolean =>
  prefix.length <= whole.length && prefix.every((id, index) => id === whole[index]);

/** What a model means to answer to one request, before a token is chosen. */
export interface Plan {
  readonly reasoning: readonly Segment[] | undefined;
  /** `free`: the n-gram model alone; undefined: no content at all, only calls. */
  readonly content: readonly Segment[] | 'free' | undefined;
  readonly calls: readonly PlannedCall[];
  /** Token ids that stand before the content in the model's eyes. */
  readonly history: readonly number[];
}

export interface PlannedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}
