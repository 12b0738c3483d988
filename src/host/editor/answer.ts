import type { AnswerPart } from '../answerText.ts';
import { escapeMarkdown } from '../escapeMarkdown.ts';
import { closingFence } from '../fenced.ts';

/** Showing an answer lays all of it out anew: not with each token. */
const REFRESH_MS = 80;

/** Where an answer is shown while it grows. */
export interface AnswerPlace {
  /** @param markdown all of it so far; untrusted */
  show(markdown: string, isWhole: boolean): void;
  /** Aborts when nobody looks at the answer any more, or nobody may. */
  readonly closed: AbortSignal;
}

/** What stands above an answer: plain text. */
export interface AnswerHead {
  readonly heading: string;
  /** Who was asked about what. */
  readonly about: string;
}

/** One growing answer, as Markdown. */
export class Answer {
  readonly #place: AnswerPlace;
  #text = '';
  #quoting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(place: AnswerPlace) {
    this.#place = place;
  }

  get closed(): AbortSignal {
    return this.#place.closed;
  }

  /**
   * Adds a part: reasoning as a quotation, Rolecall's own lines in italics. Neither lands in a block of code that the model
   * has left open.
   */
  write(part: Exclude<AnswerPart, { kind: 'progress' }>): void {
    if (part.kind === 'text') this.append((this.#quoting ? '\n\n' : '') + part.text);
    else if (part.kind === 'reasoning') {
      const begin = this.#quoting ? '' : `${closingFence(this.#text)}\n\n> `;
      this.append(begin + part.text.replaceAll('\n', '\n> '));
    } else this.append(`${closingFence(this.#text)}\n\n*${escapeMarkdown(part.text)}*\n\n`);
    this.#quoting = part.kind === 'reasoning';
  }

  append(markdown: string): void {
    this.#text += markdown;
    this.#timer ??= setTimeout(() => this.#show(false), REFRESH_MS);
  }

  /** Nothing more comes: shows all of it now. */
  end(): void {
    this.#show(true);
  }

  #show(isWhole: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#place.show(this.#text, isWhole);
  }
}
