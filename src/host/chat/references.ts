import * as vscode from 'vscode';
import { fenced } from '../fenced.ts';

/** The user's words, followed by what was attached to them. */
export async function promptWithReferences(request: vscode.ChatRequest): Promise<string> {
  const attachments = await Promise.all(request.references.map(({ value }) => attachment(value)));
  return [request.prompt, ...attachments.filter((text) => text !== undefined)].join('\n\n');
}

async function attachment(value: unknown): Promise<string | undefined> {
  if (typeof value === 'string') return fenced(vscode.l10n.t('Attachment'), value, '');
  const uri = value instanceof vscode.Location ? value.uri : value;
  if (!(uri instanceof vscode.Uri)) return undefined;
  const name = vscode.workspace.asRelativePath(uri);
  try {
    const document = await vscode.workspace.openTextDocument(uri);
    const range = value instanceof vscode.Location ? value.range : undefined;
    const lines = range ? ` (${range.start.line + 1}–${range.end.line + 1})` : '';
    return fenced(name + lines, document.getText(range), document.languageId);
  } catch {
    return vscode.l10n.t('{0} was attached but cannot be read as text.', name);
  }
}
