import * as vscode from 'vscode';
import type { TextRange } from '../../core/base/errors.ts';
import { oneLine } from '../../core/base/text.ts';
import { ACCESS_FILE_SCHEMA } from '../../core/rules/accessFile.ts';
import { CAMPAIGN_SCHEMA } from '../../core/rules/campaign.ts';
import { findingsOf } from '../../core/rules/checkAccess.ts';
import { acceptDrift } from '../../core/rules/declare.ts';
import { DECLARED } from '../../core/rules/drift.ts';
import { type Finding, fingerprintOf, groupsOf, rolesOf, sortedFindings } from '../../core/rules/findings.ts';
import { type CompletionItem, schemaCompletions, schemaHover } from '../../core/rules/languageService.ts';
import { commands, DIAGNOSTIC_SOURCE } from '../../ids.ts';
import type { AccessData, ReadOrganization } from '../accessData.ts';
import { escapeMarkdown } from '../markdown.ts';
import { targetOfEntry } from '../pickTarget.ts';
import { rangesIn } from './accessDiagnostics.ts';
import { ACCESS_FILE_GLOB, type AccessFiles, type CheckedDocument } from './accessFiles.ts';
import { editOf } from './edits.ts';

const KINDS: Readonly<Record<CompletionItem['kind'], vscode.CompletionItemKind>> = {
  key: vscode.CompletionItemKind.Property,
  value: vscode.CompletionItemKind.EnumMember,
  group: vscode.CompletionItemKind.Module,
  role: vscode.CompletionItemKind.Constant,
  person: vscode.CompletionItemKind.User,
  rule: vscode.CompletionItemKind.Reference,
  organization: vscode.CompletionItemKind.Folder,
};

export const CAMPAIGN_FILE_GLOB = '**/*.review.yaml';

/** Completion with names that were really read, and hover. */
export function registerRuleLanguage(data: AccessData): vscode.Disposable {
  const schemas = [
    { pattern: ACCESS_FILE_GLOB, schema: ACCESS_FILE_SCHEMA },
    { pattern: CAMPAIGN_FILE_GLOB, schema: CAMPAIGN_SCHEMA },
  ];
  const modelOf = (text: string) => {
    const [, organization = ''] = /^organization:[ \t]*["']?([^"'\r\n#]*?)["']?[ \t]*(?:#.*)?$/m.exec(text) ?? [];
    return data.last(organization)?.model;
  };
  return vscode.Disposable.from(
    ...schemas.flatMap(({ pattern, schema }) => [
      vscode.languages.registerCompletionItemProvider(
        { pattern },
        {
          provideCompletionItems(document, position) {
            const text = document.getText();
            const organizations = data.all.map(({ model }) => model.organization);
            const completions = schemaCompletions(text, document.offsetAt(position), schema, {
              model: modelOf(text),
              organizations,
            });
            if (!completions) return undefined;
            const range = rangesIn(text)(completions.place);
            return completions.items.map(({ label, kind, insert, detail }) => {
              const item = new vscode.CompletionItem(label, KINDS[kind]);
              item.insertText = insert;
              item.filterText = insert;
              item.range = range;
              if (detail !== undefined) item.detail = detail;
              return item;
            });
          },
        },
        ...[' ', '[', ',', '"'],
      ),
      vscode.languages.registerHoverProvider(
        { pattern },
        {
          provideHover(document, position) {
            const text = document.getText();
            const hover = schemaHover(text, document.offsetAt(position), schema, modelOf(text));
            if (!hover) return undefined;
            const lines = hover.lines.map((line) => new vscode.MarkdownString(escapeMarkdown(line)));
            return new vscode.Hover(lines, rangesIn(text)(hover.place));
          },
        },
      ),
    ]),
  );
}

/** Fixes for the problems of a file, and actions for findings: waive, accept, show. Nothing changes the cloud. */
export class QuickFixes implements vscode.CodeActionProvider, vscode.Disposable {
  readonly #files: AccessFiles;
  readonly #data: AccessData;
  readonly #registration: vscode.Disposable;
  /** The editor asks at every move of the cursor. */
  #last:
    | { readonly document: vscode.TextDocument; readonly version: number; readonly checked: CheckedDocument }
    | undefined;

  constructor(files: AccessFiles, data: AccessData) {
    this.#files = files;
    this.#data = data;
    this.#registration = vscode.languages.registerCodeActionsProvider({ pattern: ACCESS_FILE_GLOB }, this, {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    });
  }

  provideCodeActions(
    document: vscode.TextDocument,
    range: vscode.Range,
    { diagnostics }: Pick<vscode.CodeActionContext, 'diagnostics'>,
  ): vscode.CodeAction[] {
    const own = diagnostics.filter(({ source }) => source === DIAGNOSTIC_SOURCE);
    if (own.length === 0) return [];
    const { file, unread, result } = this.#check(document);
    const rangeOf = rangesIn(document.getText());
    const isHere = (place: TextRange) => rangeOf(place).intersection(range) !== undefined;
    const problems = result?.check.problems ?? [...file.problems, ...(unread ? [unread] : [])];
    const fixes = problems.filter(isHere).flatMap(({ fixes = [] }) =>
      fixes.map(({ title, edits }) => {
        const edit = new vscode.WorkspaceEdit();
        for (const { text, ...place } of edits) edit.replace(document.uri, rangeOf(place), text);
        return fix(oneLine(title), { edit });
      }),
    );
    if (!result) return fixes;
    const here = sortedFindings(findingsOf(result.check).filter(({ place }) => isHere(place)));
    const findings = here.filter(({ waiver }) => waiver === undefined);
    // Many findings of a rule have one place: the first few are named.
    const shown = here.slice(0, 5);
    return [
      ...fixes,
      ...shown.flatMap((finding) => this.#fixesOf(document, finding, result.read, shown.length > 1)),
      ...copy(findings),
    ];
  }

  #fixesOf(
    document: vscode.TextDocument,
    finding: Finding,
    read: ReadOrganization,
    isOneOfMany: boolean,
  ): vscode.CodeAction[] {
    const about = isOneOfMany ? `: ${finding.message}` : '';
    const entry = groupsOf(finding)[0] ?? rolesOf(finding)[0];
    const show =
      entry === undefined
        ? []
        : [
            fix(vscode.l10n.t('Go to Group or Role') + about, {
              command: commandOf(commands.reveal, { target: targetOfEntry(read, entry) }),
            }),
          ];
    if (finding.waiver) return show;
    if (finding.rule !== DECLARED) {
      const waive = commandOf(commands.addWaiver, document.uri, fingerprintOf(finding));
      return [fix(vscode.l10n.t('Add Waiver…') + about, { command: waive }), ...show];
    }
    try {
      const text = acceptDrift(document.getText(), finding, read.model);
      return [fix(vscode.l10n.t('Update Declaration to Match') + about, { edit: editOf(document, text) }), ...show];
    } catch {
      return show; // The file has mistakes, which Problems shows.
    }
  }

  #check(document: vscode.TextDocument): CheckedDocument {
    const { version } = document;
    const last = this.#last;
    const organization = last?.checked.result?.read.model.organization;
    const isCurrent =
      last?.document === document &&
      last.version === version &&
      (organization === undefined ? false : this.#data.last(organization)?.model === last.checked.result?.read.model);
    if (last && isCurrent) return last.checked;
    const checked = this.#files.checkText(document.uri, document.getText());
    this.#last = { document, version, checked };
    return checked;
  }

  dispose(): void {
    this.#registration.dispose();
  }
}

/** The steps to take in the cloud: Rolecall changes nothing there. */
function copy(findings: readonly Finding[]): vscode.CodeAction[] {
  const drift = findings.filter(({ rule }) => rule === DECLARED);
  if (drift.length === 0) return [];
  const text = drift.map(({ message }) => `- [ ] ${message}`).join('\n');
  return [fix(vscode.l10n.t('Copy as To-Do List'), { command: commandOf(commands.copyToDo, text) })];
}

function fix(title: string, more: Partial<Pick<vscode.CodeAction, 'edit' | 'command'>>): vscode.CodeAction {
  return Object.assign(new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix), more);
}

function commandOf(command: string, ...args: readonly unknown[]): vscode.Command {
  return { command, title: '', arguments: [...args] };
}
