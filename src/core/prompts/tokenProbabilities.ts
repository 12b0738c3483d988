import type { TextRange } from '../base/errors.ts';
import { type ChosenToken, groupTokens, type Logprobs, probability } from '../completions/completion.ts';

/** A range of an answer and its probability. Several tokens if they form one character together. */
export interface TokenPlace extends TextRange {
  /** The probability of all its tokens, 0 to 1. */
  readonly probability: number;
  readonly tokens: Logprobs;
}

/** Finds the tokens of an answer in its text while it arrives. Each token is looked at once. */
export class TokenLocator {
  readonly #places: TokenPlace[] = [];
  /** Tokens whose character is not complete. */
  #open: ChosenToken[] = [];
  #end = 0;
  #sum = 0;
  #count = 0;

  /** In the order of the text, in UTF-16 units. */
  get places(): readonly TokenPlace[] {
    return this.#places;
  }

  /**
   * The perplexity of the tokens so far: the number of tokens between which the model hesitated on average. 1 is
   * certain.
   */
  get perplexity(): number | undefined {
    return this.#count === 0 ? undefined : Math.exp(-this.#sum / this.#count);
  }

  /** @returns the new places. */
  add(logprobs: Logprobs): readonly TokenPlace[] {
    const before = this.#places.length;
    for (const token of logprobs) {
      this.#sum += token.logprob;
      this.#count++;
    }
    const groups = groupTokens([...this.#open, ...logprobs]);
    const last = groups.at(-1);
    // Half a character decodes to a replacement character: the rest may be in the next piece.
    const isOpen = last?.tokens.at(-1)?.bytes !== undefined && last.text.endsWith('\uFFFD');
    this.#open = isOpen ? [...last.tokens] : [];
    for (const { text, tokens } of isOpen ? groups.slice(0, -1) : groups) this.#place(text, tokens);
    return this.#places.slice(before);
  }

  /** Places the remaining tokens when the answer has ended. */
  end(): readonly TokenPlace[] {
    const before = this.#places.length;
    for (const { text, tokens } of groupTokens(this.#open)) this.#place(text, tokens);
    this.#open = [];
    return this.#places.slice(before);
  }

  #place(text: string, tokens: Logprobs): void {
    const start = this.#end;
    this.#end += text.length;
    // Tokens that are no text, such as the end of the answer, have no place in it.
    if (text === '') return;
    const product = tokens.reduce((whole, token) => whole * probability(token), 1);
    this.#places.push({ start, end: this.#end, probability: product, tokens });
  }
}

/**
 * The places of an answer's tokens in its text. Empty if they don't form that text: a stop text is cut off, a special
 * token is not shown, and a color at the wrong place would be wrong. Tokens that the text lacks only at its end are
 * left out.
 */
export function locateTokens(text: string, logprobs: Logprobs): readonly TokenPlace[] {
  const locator = new TokenLocator();
  locator.add(logprobs);
  locator.end();
  const spelled = groupTokens(logprobs)
    .map((group) => group.text)
    .join('');
  if (!spelled.startsWith(text)) return [];
  return locator.places.filter(({ end }) => end <= text.length);
}

/** The bounds below which a token is marked, from the most likely. Tokens above the first are not marked. */
export const MARKED_BELOW: readonly number[] = [0.9, 0.5, 0.2];

/** In lines and UTF-16 units, from 0. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** The word of a token, without the blanks around it. */
export interface TokenMark {
  readonly start: TextPosition;
  readonly end: TextPosition;
}

/** Some marks of an answer, by the index of their bound in {@link MARKED_BELOW}. */
export type MarkBlock = readonly (readonly TokenMark[])[];

/** The number of marks in a block: an editor draws a whole block anew when one is added. */
const BLOCK = 100;

/**
 * The marks of an answer while it arrives. Each token is handled once, and only the last block grows: an editor that
 * draws block by block has as little to do for the last token of an answer as for the first.
 */
export class TokenMarks {
  readonly places: readonly TokenPlace[];
  readonly #blocks: TokenMark[][][] = [];
  #size = BLOCK;
  #count = 0;
  #at = { offset: 0, line: 0, column: 0 };
  #end: TextPosition = { line: 0, column: 0 };

  /** @param places of the answer; the list only grows. */
  constructor(places: readonly TokenPlace[]) {
    this.places = places;
  }

  get blocks(): readonly MarkBlock[] {
    return this.#blocks;
  }

  /** The end of the last mark. */
  get end(): TextPosition {
    return this.#end;
  }

  /** Adds new marks. @param length the length of the text that is shown. */
  update(text: string, length = text.length): void {
    for (; this.#count < this.places.length; this.#count += 1) {
      const place = this.places[this.#count];
      if (!place || place.end > length) return;
      const level = MARKED_BELOW.findLastIndex((bound) => place.probability < bound);
      if (level < 0) continue;
      const token = text.slice(place.start, place.end);
      const word = token.trim();
      if (word === '') continue; // Lines under blanks would be taken for a word.
      const start = place.start + token.indexOf(word);
      this.#add(level, { start: this.#positionAt(text, start), end: this.#positionAt(text, start + word.length) });
    }
  }

  #add(level: number, mark: TokenMark): void {
    if (this.#size === BLOCK) {
      this.#blocks.push(MARKED_BELOW.map(() => []));
      this.#size = 0;
    }
    this.#blocks.at(-1)?.[level]?.push(mark);
    this.#size += 1;
    this.#end = mark.end;
  }

  /** For increasing offsets only: it continues where it was. */
  #positionAt(text: string, offset: number): TextPosition {
    let { offset: at, line, column } = this.#at;
    for (; at < offset; at += 1) {
      const code = text.charCodeAt(at);
      const ends = code === 10 || (code === 13 && text.charCodeAt(at + 1) !== 10);
      column = ends ? 0 : column + 1;
      if (ends) line += 1;
    }
    this.#at = { offset: at, line, column };
    return { line, column };
  }
}
