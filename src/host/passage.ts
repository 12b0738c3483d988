import * as vscode from 'vscode';
import { fenced } from './markdown.ts';

/** A part of a document, or all of it. */
export interface Passage {
  readonly document: vscode.TextDocument;
  readonly range: vscode.Range;
  /** Path and lines, for users. */
  readonly title: string;
  readonly text: string;
}

/** The selection of an editor, or the whole document without one. */
export function passageOf({ document, selection }: Pick<vscode.TextEditor, 'document' | 'selection'>): Passage {
  const all = document.validateRange(new vscode.Range(0, 0, Number.MAX_SAFE_INTEGER, 0));
  const range = selection.isEmpty ? all : new vscode.Range(selection.start, selection.end);
  const title = vscode.workspace.asRelativePath(document.uri) + (selection.isEmpty ? '' : ` ${linesOf(range)}`);
  return { document, range, title, text: document.getText(range) };
}

/** `(3)` or `(3–7)`. A range that ends before the first character of a line holds nothing of that line. */
export function linesOf({ start, end }: vscode.Range): string {
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return start.line === last ? `(${last + 1})` : `(${start.line + 1}–${last + 1})`;
}

/** The passage as part of a message. */
export function passageMessage({ title, text, document }: Passage): string {
  return fenced(title, text, document.languageId);
}

/** The editor's problems for the passage, as part of a message; empty if there are none. */
export function problemsMessage({ document, range }: Pick<Passage, 'document' | 'range'>): string {
  const diagnostics = vscode.languages.getDiagnostics(document.uri).filter((each) => range.intersection(each.range));
  if (diagnostics.length === 0) return '';
  const shown = diagnostics.slice(0, MAX_PROBLEMS).map(problemLine);
  return [vscode.l10n.t('The editor reports:'), ...shown].join('\n');
}

const MAX_PROBLEMS = 20;

export function problemLine({ range, message, source }: vscode.Diagnostic): string {
  return `- ${linesOf(range)} ${source === undefined ? '' : `${source}: `}${message.replace(/\s+/g, ' ')}`;
}
