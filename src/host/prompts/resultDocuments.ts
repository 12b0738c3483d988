import { createHash } from 'node:crypto';
import * as vscode from 'vscode';

export const RESULT_SCHEME = 'rolecall-prompt';

/** Read-only documents by their addresses. Whoever makes one updates and closes it. */
export class ResultDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #closed = new vscode.EventEmitter<vscode.Uri>();
  /** The user has closed the last tab of a document. */
  readonly onDidClose = this.#closed.event;
  readonly #disposables: vscode.Disposable;

  constructor() {
    this.#disposables = vscode.Disposable.from(
      this.#changed,
      this.#closed,
      vscode.workspace.registerTextDocumentContentProvider(RESULT_SCHEME, this),
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
        for (const uri of closed.flatMap(({ input }) => urisOf(input))) {
          if (tabsOf(uri).length > 0 || !this.#texts.delete(uri.toString())) continue;
          this.#closed.fire(uri);
        }
      }),
    );
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return (
      this.#texts.get(uri.toString()) ?? vscode.l10n.t('This result is no longer available. Run the prompt again.')
    );
  }

  put(uri: vscode.Uri, text: string): void {
    if (this.#texts.get(uri.toString()) === text) return;
    this.#texts.set(uri.toString(), text);
    this.#changed.fire(uri);
  }

  /** Two texts side by side; a new pair replaces that of the same title. */
  async showDifference(before: string, after: string, title: string): Promise<void> {
    const folder = createHash('sha256').update(title).digest('hex').slice(0, 12);
    const at = (name: string) => vscode.Uri.from({ scheme: RESULT_SCHEME, path: `/${folder}/${name}.txt` });
    const [left, right] = [at('before'), at('after')];
    this.put(left, before);
    this.put(right, after);
    await vscode.commands.executeCommand('vscode.diff', left, right, title);
  }

  /** Forgets every text and closes its editors. */
  async closeAll(): Promise<void> {
    const uris = [...this.#texts.keys()].map((key) => vscode.Uri.parse(key));
    this.#texts.clear();
    for (const uri of uris) this.#changed.fire(uri);
    const tabs = uris.flatMap(tabsOf);
    if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
  }

  dispose(): void {
    this.#texts.clear();
    this.#disposables.dispose();
  }
}

function tabsOf(uri: vscode.Uri): vscode.Tab[] {
  return vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter(({ input }) => urisOf(input).some((each) => each.toString() === uri.toString()));
}

function urisOf(input: unknown): readonly vscode.Uri[] {
  const uris =
    input instanceof vscode.TabInputText
      ? [input.uri]
      : input instanceof vscode.TabInputTextDiff
        ? [input.original, input.modified]
        : [];
  return uris.filter(({ scheme }) => scheme === RESULT_SCHEME);
}
