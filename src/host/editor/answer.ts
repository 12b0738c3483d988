import type { AnswerPart } from '../answerText.ts';
import { escapeMarkdown } from '../escapeMarkdown.ts';
import { closingFence } from '../fenced.ts';

/** Showing an answer lays all of it out anew: not with each token. */
const REFRESH_MS = 80;

/** A piece of an answer: Markdown of a model, or a line of Rolecall's own. Whose it is, no text decides. */
export type AnswerPiece = { readonly markdown: string } | { readonly own: string };

/** Where an answer is shown while it grows. */
export interface AnswerPlace {
  /** @param pieces all of it so far; untrusted */
  show(pieces: readonly AnswerPiece[], isWhole: boolean): void;
  /** Aborts when nobody looks at the answer any more, or nobody may. */
  readonly closed: AbortSignal;
}

/** What stands above an answer: plain text. */
export interface AnswerHead {
  readonly heading: string;
  /** Who was asked about what. */
  readonly about: string;
}

/** An answer as one text, in which lines of Rolecall's own are in italics, and the numbers of those lines. */
export function markdownOf(pieces: readonly AnswerPiece[]): { readonly text: string; readonly ownLines: number[] } {
  let text = '';
  let last = '';
  const ownLines: number[] = [];
  for (const piece of pieces) {
    if ('own' in piece) {
      text += `${closingFence(last)}\n\n`; // Not into a block of code that the model has left open.
      ownLines.push(text.split('\n').length - 1);
      text += `*${escapeMarkdown(piece.own.replace(/\s+/g, ' '))}*\n\n`;
    } else text += piece.markdown;
    last = 'own' in piece ? '' : piece.markdown;
  }
  return { text, ownLines };
}

/** One growing answer. */
export class Answer {
  readonly #place: AnswerPlace;
  readonly #pieces: AnswerPiece[] = [];
  #quoting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(place: AnswerPlace) {
    this.#place = place;
  }

  get closed(): AbortSignal {
    return this.#place.closed;
  }

  /** Adds a part: reasoning as a quotation, behind a block of code that the model has left open. */
  write(part: Exclude<AnswerPart, { kind: 'progress' }>): void {
    if (part.kind === 'text') this.append((this.#quoting ? '\n\n' : '') + part.text);
    else if (part.kind === 'reasoning') {
      const begin = this.#quoting ? '' : `${closingFence(this.#markdown)}\n\n> `;
      this.append(begin + part.text.replaceAll('\n', '\n> '));
    } else {
      this.#pieces.push({ own: part.text });
      this.#showSoon();
    }
    this.#quoting = part.kind === 'reasoning';
  }

  append(markdown: string): void {
    const joined = this.#markdown + markdown;
    if (this.#markdown !== '') this.#pieces.pop();
    this.#pieces.push({ markdown: joined });
    this.#showSoon();
  }

  /** Nothing more comes: shows all of it now. */
  end(): void {
    this.#show(true);
  }

  /** Of the last piece, if it is a model's. */
  get #markdown(): string {
    const last = this.#pieces.at(-1);
    return last && 'markdown' in last ? last.markdown : '';
  }

  #showSoon(): void {
    this.#timer ??= setTimeout(() => this.#show(false), REFRESH_MS);
  }

  #show(isWhole: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#place.show([...this.#pieces], isWhole);
  }
}
