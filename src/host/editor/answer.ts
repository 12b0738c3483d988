import type * as vscode from 'vscode';
import { answerPanel } from '../../ids.ts';
import type { AnswerPart } from '../answerText.ts';
import { ownerOf } from '../cancellation.ts';
import type { Clouds } from '../clouds.ts';
import { closingFence } from '../markdown.ts';
import type { AnswerPiece, OpenPage, OpenPages } from '../pages.ts';

/** Each update renders the whole answer again, so not every token causes one. */
const REFRESH_MS = 80;

/** Plain text above an answer. */
export interface AnswerHeader {
  readonly heading: string;
  /** The model and the subject of the question. */
  readonly about: string;
}

export interface AnswersDeps {
  readonly clouds: Pick<Clouds, 'active' | 'onDidChange'>;
  readonly pages: OpenPages;
}

/** Answers beside the editor. They belong to the account that asked and close when another account becomes active, or none. */
export class Answers implements vscode.Disposable {
  readonly #deps: AnswersDeps;
  readonly #open = new Set<OpenPage<never>>();
  readonly #subscription: vscode.Disposable;
  #owner: string;

  constructor(deps: AnswersDeps) {
    this.#deps = deps;
    this.#owner = ownerOf(deps.clouds);
    this.#subscription = deps.clouds.onDidChange(() => this.#follow());
  }

  /** Opens an empty answer beside the active editor, which keeps the focus. */
  async open(title: string, head: AnswerHeader = { heading: '', about: '' }): Promise<StreamedAnswer> {
    const pages = await this.#deps.pages();
    const page = pages.open<never>({ kind: answerPanel, title, icon: 'comment-discussion', column: 'beside' });
    this.#open.add(page);
    page.closed.addEventListener('abort', () => this.#open.delete(page), { once: true });
    return new StreamedAnswer(page, head);
  }

  #follow(): void {
    const owner = ownerOf(this.#deps.clouds);
    if (owner === this.#owner) return;
    this.#owner = owner;
    this.#closeAll();
  }

  #closeAll(): void {
    for (const page of [...this.#open]) page.close();
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#closeAll();
  }
}

/** One growing answer. */
export class StreamedAnswer {
  readonly #page: Pick<OpenPage<never>, 'show' | 'closed'>;
  readonly #head: AnswerHeader;
  readonly #pieces: AnswerPiece[] = [];
  #quoting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(page: Pick<OpenPage<never>, 'show' | 'closed'>, head: AnswerHeader = { heading: '', about: '' }) {
    this.#page = page;
    this.#head = head;
  }

  get closed(): AbortSignal {
    return this.#page.closed;
  }

  /** Adds a part. Reasoning becomes a quotation, after the end of a code block that the model has left open. */
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

  /** Ends the answer and shows the rest of it now. */
  end(): void {
    this.#show(true);
  }

  /** The Markdown of the last piece, if it is the model's. */
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
    this.#page.show({ ...this.#head, pieces: [...this.#pieces], isWhole });
  }
}
