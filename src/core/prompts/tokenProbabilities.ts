import type { TextRange } from '../base/errors.ts';
import { type ChosenToken, groupTokens, type Logprobs, probability } from '../completions/completion.ts';

/** A stretch of an answer and how likely it was. Several tokens where these spell one character together. */
export interface TokenPlace extends TextRange {
  /** Of all its tokens, 0 to 1. */
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

  /** Of the tokens so far: between how many the model hesitated on average. 1 is certain. */
  get perplexity(): number | undefined {
    return this.#count === 0 ? undefined : Math.exp(-this.#sum / this.#count);
  }

  /** @returns the places that are new. */
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

  /** Places what was left over when the answer ended. */
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
 * Where the tokens of an answer stand in its text. Empty where they don't spell that text: a stop text is cut off, a special
 * token is not shown, and a colour at the wrong place would be a lie. What the text lacks only at its end is left out.
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

/** The bounds below which a token is marked, from the most likely. What is above the first stays as it is. */
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

/** Marks in a block: an editor draws all of one anew when one is added. */
const BLOCK = 100;

/**
 * What is to be marked in an answer while it arrives. Each token is looked at once, and only the last block grows: an editor that
 * draws block by block has as much to do for the last token of an answer as for the first.
 */
export class TokenMarks {
  readonly places: readonly TokenPlace[];
  readonly #blocks: TokenMark[][][] = [];
  #size = BLOCK;
  #count = 0;
  #at = { offset: 0, line: 0, column: 0 };
  #end: TextPosition = { line: 0, column: 0 };

  /** @param places those of the answer; they are only added to. */
  constructor(places: readonly TokenPlace[]) {
    this.places = places;
  }

  get blocks(): readonly MarkBlock[] {
    return this.#blocks;
  }

  /** Of the last mark. */
  get end(): TextPosition {
    return this.#end;
  }

  /** Adds what is new. @param length how much of the answer is shown. */
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

  /** Later offsets only: it goes on where it was. */
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
