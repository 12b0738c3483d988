import * as vscode from 'vscode';

const SCHEME = 'rolecall-diagnosis';

/** The last diagnosis as a read-only Markdown document, which a new one replaces. Nothing is written to the disk. */
export class DiagnosisDocument implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  readonly #uri = vscode.Uri.from({ scheme: SCHEME, path: `/${vscode.l10n.t('Sign-In Diagnosis')}.md` });
  #text = '';

  provideTextDocumentContent(): string {
    return this.#text;
  }

  async show(text: string): Promise<void> {
    this.#text = text;
    this.#changed.fire(this.#uri); // It may be open from the last time.
    const document = await vscode.workspace.openTextDocument(this.#uri);
    await vscode.window.showTextDocument(document, { preview: false });
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}
