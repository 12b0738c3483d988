import * as vscode from 'vscode';
import { attentionOf, openFindings } from '../../core/access/model.ts';
import type { AccessMetadata } from '../../core/access/resources.ts';
import type { AccessData } from '../accessData.ts';
import { type AccessTarget, targetOfUri } from '../accessTarget.ts';
import type { ChangeMarks } from '../changeMarks.ts';

/** Marks at the end of a row: what changed since a snapshot, what access rules found, what needs attention. The tooltip says it in words. */
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
    const marks = [this.#changeOf(uri), this.#findingsOf(target), this.#attentionOf(target)].filter(isDefined);
    const [first] = marks;
    if (!first) return undefined;
    // VS Code takes two characters. What needs attention comes last: the icon of the row and its words say it too.
    const badge = marks.map(({ letter }) => letter).slice(0, 2);
    const tooltip = marks.map(({ text }) => text);
    return new vscode.FileDecoration(badge.join(''), tooltip.join('\n'), new vscode.ThemeColor(first.colour));
  }

  #changeOf(uri: vscode.Uri): Mark | undefined {
    switch (this.#marks.of(uri)) {
      case 'added':
        return mark('A', vscode.l10n.t('Added since the snapshot'), 'gitDecoration.addedResourceForeground');
      case 'changed':
        return mark('M', vscode.l10n.t('Changed since the snapshot'), 'gitDecoration.modifiedResourceForeground');
      default:
        return undefined;
    }
  }

  #attentionOf(target: AccessTarget): Mark | undefined {
    const metadata = this.#metadataOf(target);
    const attention = metadata && attentionOf(metadata);
    if (attention === 'error') return mark('!', vscode.l10n.t('In error'), 'list.errorForeground');
    return attention && mark('!', vscode.l10n.t('Degraded'), 'list.warningForeground');
  }

  #findingsOf(target: AccessTarget): Mark | undefined {
    const model = this.#data.last(target.organization)?.model;
    const entry =
      target.kind === 'group' ? model?.group(target.key) : target.kind === 'role' && model?.role(target.key);
    const found = model && entry ? openFindings(model, entry) : [];
    if (found.length === 0) return undefined;
    return mark('F', found.map(({ message }) => message).join('\n'), 'list.warningForeground');
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

/** One thing that a row is marked with. */
interface Mark {
  readonly letter: string;
  readonly text: string;
  readonly colour: string;
}

function mark(letter: string, text: string, colour: string): Mark {
  return { letter, text, colour };
}

function isDefined<T>(value: T | undefined): value is T {
  return value !== undefined;
}
