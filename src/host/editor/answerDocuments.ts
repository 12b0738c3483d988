import * as vscode from 'vscode';
import type { AnswerPart } from '../answerText.ts';

const SCHEME = 'rolecall-answer';
/** A document that changes with each token makes the editor lay out the whole text each time. */
const REFRESH_MS = 80;
/** Answers kept for documents that are still open; the oldest go first. */
const MAX_KEPT = 20;

/** Read-only documents that grow while an answer arrives. */
export class AnswerDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  #count = 0;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? '';
  }

  /** Opens an empty document beside the active editor. */
  async open(title: string): Promise<AnswerDocument> {
    this.#count += 1;
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${title} ${this.#count}.md` });
    this.#texts.set(uri.toString(), '');
    for (const key of this.#texts.keys()) {
      if (this.#texts.size <= MAX_KEPT) break;
      this.#texts.delete(key);
    }
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, {
      viewColumn: vscode.ViewColumn.Beside,
      preview: false,
      preserveFocus: true,
    });
    return new AnswerDocument(uri, (text) => {
      this.#texts.set(uri.toString(), text);
      this.#changed.fire(uri);
    });
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}

/** One growing answer. */
export class AnswerDocument {
  readonly uri: vscode.Uri;
  readonly #show: (text: string) => void;
  #text = '';
  #quoting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(uri: vscode.Uri, show: (text: string) => void) {
    this.uri = uri;
    this.#show = show;
  }

  /** Adds a part as Markdown: reasoning as a quotation, Rolecall's own lines in italics. */
  write(part: Exclude<AnswerPart, { kind: 'progress' }>): void {
    if (part.kind === 'line') this.append(`\n\n*${part.text}*\n\n`);
    else if (part.kind === 'text') this.append((this.#quoting ? '\n\n' : '') + part.text);
    else this.append((this.#quoting ? '' : '\n\n> ') + part.text.replaceAll('\n', '\n> '));
    this.#quoting = part.kind === 'reasoning';
  }

  append(text: string): void {
    this.#text += text;
    this.#timer ??= setTimeout(() => this.flush(), REFRESH_MS);
  }

  /** Shows all of it now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#show(this.#text);
  }
}
