import * as vscode from 'vscode';
import { attentionOf, openFindings } from '../../core/access/model.ts';
import type { AccessMetadata } from '../../core/access/resources.ts';
import type { AccessData } from '../accessData.ts';
import { type AccessTarget, targetOfUri } from '../accessTarget.ts';
import type { ChangeMarks } from '../changeMarks.ts';

/** Marks at the end of a row: what changed since a snapshot, else what needs attention. Their tooltips say it in words. */
export class TreeDecorations implements vscode.FileDecorationProvider, vscode.Disposable {
  readonly #data: AccessData;
  readonly #marks: ChangeMarks;
  readonly #changed = new vscode.EventEmitter<vscode.Uri[]>();
  readonly onDidChangeFileDecorations = this.#changed.event;
  readonly #disposables: vscode.Disposable[];
  /** What VS Code was given, by URI: it is notified only of changes. */
  readonly #given = new Map<string, { readonly uri: vscode.Uri; readonly tooltip: string }>();

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
    const given = this.#decorationOf(uri);
    this.#given.set(uri.toString(), { uri, tooltip: tooltipOf(given) });
    return given;
  }

  #tell(): void {
    const changed = [...this.#given.values()]
      .filter(({ uri, tooltip }) => tooltipOf(this.#decorationOf(uri)) !== tooltip)
      .map(({ uri }) => uri);
    for (const uri of changed) this.#given.delete(uri.toString()); // VS Code asks again for what it still shows.
    if (changed.length > 0) this.#changed.fire(changed);
  }

  #decorationOf(uri: vscode.Uri): vscode.FileDecoration | undefined {
    const target = targetOfUri(uri);
    if (!target || target.connection !== this.#data.session?.cloud.key) return undefined;
    const mark = this.#marks.of(uri);
    if (mark === 'added') {
      return decoration('A', vscode.l10n.t('Added since the snapshot'), 'gitDecoration.addedResourceForeground');
    }
    if (mark === 'changed') {
      return decoration('M', vscode.l10n.t('Changed since the snapshot'), 'gitDecoration.modifiedResourceForeground');
    }
    const metadata = this.#metadataOf(target);
    const attention = metadata && attentionOf(metadata);
    if (attention === 'error') return decoration('!', vscode.l10n.t('In error'), 'list.errorForeground');
    if (attention) return decoration('!', vscode.l10n.t('Degraded'), 'list.warningForeground');
    const found = this.#findingsOf(target);
    return found === undefined ? undefined : decoration('F', found, 'list.warningForeground');
  }

  #findingsOf(target: AccessTarget): string | undefined {
    const model = this.#data.last(target.organization)?.model;
    const entry =
      target.kind === 'group' ? model?.group(target.key) : target.kind === 'role' && model?.role(target.key);
    const found = model && entry ? openFindings(model, entry) : [];
    return found.map(({ message }) => message).join('\n') || undefined;
  }

  #metadataOf(target: AccessTarget): AccessMetadata | undefined {
    const model = this.#data.last(target.organization)?.model;
    if (target.kind === 'group') return model?.group(target.key)?.group.metadata;
    return target.kind === 'role' ? model?.role(target.key)?.role?.metadata : undefined;
  }

  dispose(): void {
    vscode.Disposable.from(...this.#disposables).dispose();
  }
}

/** No two decorations have the same. */
function tooltipOf(given: vscode.FileDecoration | undefined): string {
  return given?.tooltip ?? '';
}

function decoration(badge: string, tooltip: string, colour: string): vscode.FileDecoration {
  return new vscode.FileDecoration(badge, tooltip, new vscode.ThemeColor(colour));
}
