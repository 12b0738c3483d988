import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import { readToHost, type ToPage, versioned } from '../../webview/answer/protocol.ts';
import { describe } from '../showError.ts';
import { type AnswerHead, type AnswerPiece, type AnswerPlace, markdownOf } from './answer.ts';
import { render } from './markdown.ts';

type Part = ToPage['parts'][number];

interface Shown {
  readonly pieces: readonly AnswerPiece[];
  readonly isWhole: boolean;
}

/** One answer, rendered in a tab. Closing the tab stops it. */
export class AnswerPanel implements AnswerPlace {
  readonly #panel: vscode.WebviewPanel;
  readonly #log: Log;
  readonly #head: AnswerHead;
  readonly #closed = new AbortController();
  readonly closed = this.#closed.signal;
  /** VS Code ends the page while it is out of sight; it says when it has begun again. */
  #isReady = false;
  #isRendering = false;
  #wanted: Shown = { pieces: [], isWhole: false };
  /** What the pieces became last time: only the last of them grows. */
  #parts: readonly { readonly piece: AnswerPiece; readonly part: Part }[] = [];
  #rendered: ToPage | undefined;

  constructor(panel: vscode.WebviewPanel, log: Log, head: AnswerHead = { heading: '', about: '' }) {
    this.#panel = panel;
    this.#log = log;
    this.#head = head;
    panel.onDidDispose(() => this.#closed.abort());
    panel.onDidChangeViewState(() => {
      if (!panel.visible) this.#isReady = false;
    });
    panel.webview.onDidReceiveMessage((message: unknown) => {
      if (readToHost(message) === undefined) return;
      this.#isReady = true;
      this.#post();
    });
  }

  get isActive(): boolean {
    return this.#panel.active;
  }

  get text(): string {
    return markdownOf(this.#wanted.pieces).text;
  }

  show(pieces: readonly AnswerPiece[], isWhole: boolean): void {
    this.#wanted = { pieces, isWhole };
    void this.#render(); // Never rejects.
  }

  /** Emptied before it is closed: a tab may take a moment to go. */
  close(): void {
    this.#closed.abort();
    this.#rendered = undefined;
    this.#panel.webview.html = '';
    this.#panel.dispose();
  }

  /** Renders the newest text until there is none newer: while one is rendered, those that follow become one. */
  async #render(): Promise<void> {
    if (this.#isRendering) return;
    this.#isRendering = true;
    let done: Shown | undefined;
    while (done !== this.#wanted && !this.closed.aborted) {
      done = this.#wanted;
      this.#parts = await Promise.all(done.pieces.map(async (piece, at) => this.#partOf(piece, at)));
      if (this.closed.aborted) break;
      const picture = vscode.l10n.t('Picture: {0}', '{0}');
      this.#rendered = {
        type: 'answer',
        ...this.#head,
        parts: this.#parts.map(({ part }) => part),
        isWhole: done.isWhole,
        picture,
      };
      this.#post();
    }
    this.#isRendering = false;
  }

  async #partOf(piece: AnswerPiece, at: number) {
    const before = this.#parts[at];
    if (before?.piece === piece) return before;
    return { piece, part: 'own' in piece ? piece : { html: await this.#htmlOf(piece.markdown) } };
  }

  async #htmlOf(text: string): Promise<string> {
    try {
      return await render(text);
    } catch (error) {
      this.#log.warn(`The answer is shown as plain text: ${describe(error)}`);
      return `<pre>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</pre>`;
    }
  }

  #post(): void {
    if (!this.#isReady || this.#rendered === undefined) return;
    void this.#panel.webview.postMessage(versioned(this.#rendered)); // A page that is gone meanwhile asks again.
  }
}
