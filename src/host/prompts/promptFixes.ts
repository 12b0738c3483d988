import * as vscode from 'vscode';
import { placeholderKind } from '../../core/prompts/placeholders.ts';
import { isPromptFile } from './promptPattern.ts';
import { PROBLEM_SOURCE } from './promptProblems.ts';

interface Fix {
  readonly title: string;
  readonly range: vscode.Range;
  readonly text: string;
}

/** What mends a problem, by its code. Only where there is one thing that it can mean. */
const fixes: Readonly<Record<string, (document: vscode.TextDocument, range: vscode.Range) => Fix | undefined>> = {
  unquotedPlaceholder: (document, range) => ({
    title: vscode.l10n.t('Put Quotes Around This Text'),
    range,
    text: JSON.stringify(document.getText(range)),
  }),
  notPlaceholder: (document, range) => {
    const [, name] = /^\{\{\s*(.*?)\s*\}\}$/.exec(document.getText(range)) ?? [];
    if (name === undefined || placeholderKind(name) !== 'variable') return undefined;
    return { title: vscode.l10n.t('Remove the Blanks'), range, text: `{{${name}}}` };
  },
  comment: (document, range) => {
    const line = document.lineAt(range.start.line);
    const [, before = '', value] = /^(\s*(?:- +)*(?:[\w$-]+: +)?)([^"'|>\s].*?)\s*$/.exec(line.text) ?? [];
    if (value === undefined) return undefined;
    const start = new vscode.Position(line.lineNumber, before.length);
    const whole = new vscode.Range(start, start.translate(0, value.length));
    return { title: vscode.l10n.t('Put Quotes Around This Text'), range: whole, text: JSON.stringify(value) };
  },
  needsLogprobs: (document, range) => {
    const { text } = document.lineAt(range.start.line);
    const before = text.slice(0, range.start.character);
    // In braces, the keys stand in one line.
    const separator = before.trim() === '' ? `\n${before}` : ', ';
    return {
      title: vscode.l10n.t('Add logprobs: true'),
      range: new vscode.Range(range.start, range.start),
      text: `logprobs: true${separator}`,
    };
  },
};

export class PromptFixes implements vscode.CodeActionProvider {
  provideCodeActions(
    document: vscode.TextDocument,
    _range: vscode.Range,
    { diagnostics }: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    if (!isPromptFile(document.uri)) return [];
    return diagnostics.flatMap((diagnostic) => {
      if (diagnostic.source !== PROBLEM_SOURCE || typeof diagnostic.code !== 'string') return [];
      const fix = fixes[diagnostic.code]?.(document, diagnostic.range);
      if (!fix) return [];
      const action = new vscode.CodeAction(fix.title, vscode.CodeActionKind.QuickFix);
      action.edit = new vscode.WorkspaceEdit();
      action.edit.replace(document.uri, fix.range, fix.text);
      action.diagnostics = [diagnostic];
      action.isPreferred = true;
      return [action];
    });
  }
}
