import * as vscode from 'vscode';
import { attentionOf, openFindings } from '../../core/access/model.ts';
import type { AccessData } from '../accessData.ts';
import { targetOfUri } from '../accessTarget.ts';
import type { ChangeMarks } from '../changeMarks.ts';

/**
 * Marks at the end of a row: changes since a snapshot, findings of access rules, and what needs attention. The tooltip
 * has them in words.
 */
export class TreeDecorations implements vscode.FileDecorationProvider, vscode.Disposable {
  readonly #data: AccessData;
  readonly #marks: ChangeMarks;
  readonly #changed = new vscode.EventEmitter<vscode.Uri[]>();
  readonly onDidChangeFileDecorations = this.#changed.event;
  readonly #disposables: vscode.Disposable[];
  /** The decorations that VS Code has, by URI: it is notified only of changes. */
  readonly #decorations = new Map<string, { readonly uri: vscode.Uri; readonly tooltip: string }>();

  constructor(data: AccessData, marks: ChangeMarks) {
    this.#data = data;
    this.#marks = marks;
    const tell = () => this.#tell();
    this.#disposables = [
      this.#changed,
      data.onDidChange(tell),
      marks.onDidChange(tell),
      vscode.window.registerFileDecorationProvider(this),
    ];
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (targetOfUri(uri) === undefined) return undefined;
    const decoration = this.#decorationOf(uri);
    this.#decorations.set(uri.toString(), { uri, tooltip: tooltipOf(decoration) });
    return decoration;
  }

  #tell(): void {
    const changed = [...this.#decorations.values()]
      .filter(({ uri, tooltip }) => tooltipOf(this.#decorationOf(uri)) !== tooltip)
      .map(({ uri }) => uri);
    for (const uri of changed) this.#decorations.delete(uri.toString()); // VS Code asks again for what it still shows.
    if (changed.length > 0) this.#changed.fire(changed);
  }

  #decorationOf(uri: vscode.Uri): vscode.FileDecoration | undefined {
    const target = targetOfUri(uri);
    if (!target || target.connection !== this.#data.session?.cloud.key) return undefined;
    const model = this.#data.last(target.organization)?.model;
    const group = target.kind === 'group' ? model?.group(target.key) : undefined;
    const role = target.kind === 'role' ? model?.role(target.key) : undefined;
    const entry = group ?? role;
    const findings = model && entry ? openFindings(model, entry) : [];
    const metadata = (group?.group ?? role?.role)?.metadata;
    const change = this.#marks.of(uri);
    const attention = metadata && attentionOf(metadata);
    const marks: Mark[] = [];
    if (change === 'added')
      marks.push(['A', vscode.l10n.t('Added since the snapshot'), 'gitDecoration.addedResourceForeground']);
    if (change === 'changed')
      marks.push(['M', vscode.l10n.t('Changed since the snapshot'), 'gitDecoration.modifiedResourceForeground']);
    const colour = attention === 'error' ? 'list.errorForeground' : 'list.warningForeground';
    if (findings.length > 0) marks.push(['F', findings.map(({ message }) => message).join('\n'), colour]);
    if (attention)
      marks.push(['!', attention === 'error' ? vscode.l10n.t('In error') : vscode.l10n.t('Degraded'), colour]);
    const [first] = marks;
    if (!first) return undefined;
    // VS Code takes two characters. What needs attention comes last: the icon of the row and its words say it too.
    const [letters, texts] = [marks.map(([letter]) => letter), marks.map(([, text]) => text)];
    return new vscode.FileDecoration(letters.join('').slice(0, 2), texts.join('\n'), new vscode.ThemeColor(first[2]));
  }

  dispose(): void {
    vscode.Disposable.from(...this.#disposables).dispose();
  }
}

/** No two decorations have the same. */
function tooltipOf(decoration: vscode.FileDecoration | undefined): string {
  return decoration?.tooltip ?? '';
}

/** One mark of a row: its letter, words, color. */
type Mark = readonly [string, string, string];
