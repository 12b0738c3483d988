import * as vscode from 'vscode';
import { withTimeout } from '../core/base/abort.ts';
import { cancelled } from '../core/base/errors.ts';
import type { AccessData, ActiveSession } from './accessData.ts';

const SCHEME = 'rolecall';
/** The most documents whose text is kept; the oldest lose theirs. */
const MAX_KEPT = 40;

/** The data of a document. */
interface Origin {
  readonly session: ActiveSession;
  readonly model: { readonly organization: string };
}

/** Read-only documents made of access data. They close with their organization and session. */
export class VirtualDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #disposables: vscode.Disposable[];

  readonly #data: AccessData;
  readonly #scheme: string;

  constructor(data: AccessData, scheme = SCHEME) {
    this.#data = data;
    this.#scheme = scheme;
    this.#disposables = [
      this.#changed,
      vscode.workspace.registerTextDocumentContentProvider(scheme, this),
      data.onDidChange((change) => {
        // The texts are dropped at once; VS Code closes the tabs later.
        if (change.kind === 'session') void this.clear();
        if (change.kind === 'removed') void this.clear(change.organization);
      }),
    ];
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? vscode.l10n.t('This document is no longer available. Open it again.');
  }

  /**
   * Gives a text made of `read` an address. The extension of `name` decides its language. A document of that name shows
   * the new text.
   *
   * @throws RolecallError `cancelled` when it belongs to a session that is over.
   */
  put({ session, model }: Origin, name: string, text: string): vscode.Uri {
    if (session !== this.#data.session) throw cancelled();
    const path = `${folderOf(model.organization)}${pathPart(name)}`;
    const uri = vscode.Uri.from({ scheme: this.#scheme, path });
    const key = uri.toString();
    this.#texts.delete(key); // The newest is last.
    this.#texts.set(key, text);
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= MAX_KEPT) break;
      this.#texts.delete(oldest);
    }
    this.#changed.fire(uri); // VS Code may still have the earlier text.
    return uri;
  }

  async show(read: Origin, name: string, text: string): Promise<vscode.TextEditor> {
    const document = await vscode.workspace.openTextDocument(this.put(read, name, text));
    if (document.getText() !== text) await changeOf(document);
    return vscode.window.showTextDocument(document, { preview: false });
  }

  /** Forgets every text, or those about one organization, and closes their editors. */
  async clear(organization?: string): Promise<void> {
    const folder = organization === undefined ? '/' : folderOf(organization);
    const isCleared = ({ scheme, path }: vscode.Uri) => scheme === this.#scheme && path.startsWith(folder);
    for (const uri of [...this.#texts.keys()].map((key) => vscode.Uri.parse(key)).filter(isCleared)) {
      this.#texts.delete(uri.toString());
      this.#changed.fire(uri);
    }
    const tabs = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(({ input }) => urisOf(input).some(isCleared));
    if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
  }

  dispose(): void {
    vscode.Disposable.from(...this.#disposables).dispose();
    this.#texts.clear();
  }
}

function folderOf(organization: string): string {
  return `/${pathPart(organization)}/`;
}

function pathPart(text: string): string {
  return text.replaceAll('/', '∕');
}

function urisOf(input: unknown): readonly vscode.Uri[] {
  if (input instanceof vscode.TabInputText) return [input.uri];
  return input instanceof vscode.TabInputTextDiff ? [input.original, input.modified] : [];
}

/** Resolves when VS Code has a new text, or after a moment without one. */
async function changeOf(document: vscode.TextDocument): Promise<void> {
  let subscription: vscode.Disposable | undefined;
  const changed = new Promise<void>((resolve) => {
    subscription = vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.document === document) resolve();
    });
  });
  await withTimeout(changed, 1000);
  subscription?.dispose();
}
