import * as vscode from 'vscode';
import type { Clouds } from '../clouds.ts';
import { ownerOf } from '../ownerOf.ts';
import { type AnswerPiece, type AnswerPlace, markdownOf } from './answer.ts';
import { answerColumn } from './answerColumn.ts';

const SCHEME = 'rolecall-answer';
/** Answers kept after their editors were closed, for "Reopen Closed Editor"; the oldest go first. */
const MAX_CLOSED = 20;

interface Kept {
  text: string;
  /** Lines of Rolecall's own. */
  ownLines: readonly number[];
  /** Aborted when nobody looks at the answer any more, or nobody may. */
  readonly closed: AbortController;
}

/**
 * Answers as text: read-only documents that grow while an answer arrives. They belong to the account that asked: when another one is on the
 * stage, or none, they are emptied.
 */
export class AnswerDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #kept = new Map<string, Kept>();
  /** What tells Rolecall's own lines from a model's text, which could look like them otherwise. */
  readonly #own = vscode.window.createTextEditorDecorationType({
    before: {
      contentText: 'Rolecall',
      color: new vscode.ThemeColor('badge.foreground'),
      backgroundColor: new vscode.ThemeColor('badge.background'),
      margin: '0 0.6em 0 0',
    },
  });
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: vscode.Disposable;
  readonly #clouds: Pick<Clouds, 'active' | 'onDidChange'>;
  #owner: string;
  #count = 0;

  constructor(clouds: Pick<Clouds, 'active' | 'onDidChange'>) {
    this.#clouds = clouds;
    this.#owner = ownerOf(clouds);
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => this.#leave(closed)),
      clouds.onDidChange(() => this.#follow()),
      vscode.window.onDidChangeVisibleTextEditors(() => this.#markOwn()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (this.#kept.has(document.uri.toString())) this.#markOwn();
      }),
      this.#own,
    );
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#kept.get(uri.toString())?.text ?? '';
  }

  /** Opens an empty document beside the active editor; where none is open, in its place. */
  async open(title: string): Promise<AnswerPlace & { readonly uri: vscode.Uri }> {
    this.#count += 1;
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${title} ${this.#count}.md` });
    const kept: Kept = { text: '', ownLines: [], closed: new AbortController() };
    this.#forgetOldest();
    this.#kept.set(uri.toString(), kept);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, {
      viewColumn: answerColumn(),
      preview: false,
      preserveFocus: true,
    });
    const show = (pieces: readonly AnswerPiece[]) => {
      if (this.#kept.get(uri.toString()) !== kept) return; // It was emptied, and what still arrives is nobody's.
      Object.assign(kept, markdownOf(pieces));
      this.#changed.fire(uri);
    };
    return { uri, show, closed: kept.closed.signal };
  }

  /** Closing the last view of an answer stops it; its text stays for a while. */
  #leave(closed: readonly vscode.Tab[]): void {
    for (const { input } of closed) {
      if (input instanceof vscode.TabInputText && !isShown(input.uri)) {
        this.#kept.get(input.uri.toString())?.closed.abort();
      }
    }
  }

  #markOwn(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const kept = this.#kept.get(editor.document.uri.toString());
      if (kept)
        editor.setDecorations(
          this.#own,
          kept.ownLines.map((line) => new vscode.Range(line, 0, line, 0)),
        );
    }
  }

  #forgetOldest(): void {
    const closed = [...this.#kept].filter(([, kept]) => kept.closed.signal.aborted);
    for (const [key] of closed.slice(0, Math.max(0, closed.length - MAX_CLOSED))) {
      if (!isShown(vscode.Uri.parse(key))) this.#kept.delete(key); // It may have been opened again.
    }
  }

  #follow(): void {
    const owner = ownerOf(this.#clouds);
    if (owner === this.#owner) return;
    this.#owner = owner;
    const kept = [...this.#kept];
    this.#kept.clear();
    for (const [key, { closed }] of kept) {
      closed.abort();
      this.#changed.fire(vscode.Uri.parse(key));
    }
  }

  dispose(): void {
    for (const { closed } of this.#kept.values()) closed.abort();
    this.#subscriptions.dispose();
    this.#changed.dispose();
  }
}

function isShown(uri: vscode.Uri): boolean {
  return vscode.window.tabGroups.all.some(({ tabs }) =>
    tabs.some(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === uri.toString()),
  );
}
