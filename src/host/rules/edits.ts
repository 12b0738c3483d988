import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import { fileExists } from '../watchedFiles.ts';

/** The smallest change that makes a document this text: markers and the cursor elsewhere stay. */
export function editOf(document: vscode.TextDocument, text: string): vscode.WorkspaceEdit {
  const before = document.getText();
  let start = 0;
  while (start < before.length && before[start] === text[start]) start += 1;
  let end = 0;
  while (end < Math.min(before.length, text.length) - start && before.at(-1 - end) === text.at(-1 - end)) end += 1;
  const edit = new vscode.WorkspaceEdit();
  const range = new vscode.Range(document.positionAt(start), document.positionAt(before.length - end));
  edit.replace(document.uri, range, text.slice(start, text.length - end));
  return edit;
}

/** Writes a new file, or changes one that is there so that the change can be undone; shows it. */
export async function writeFile(uri: vscode.Uri, text: string): Promise<vscode.TextEditor> {
  if (!(await fileExists(uri))) await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
  const document = await vscode.workspace.openTextDocument(uri);
  if (document.getText() !== text) await vscode.workspace.applyEdit(editOf(document, text));
  await document.save();
  return vscode.window.showTextDocument(document);
}

/** A file of that organization in the first folder of the workspace. */
export function organizationFile(organization: string, kind = 'access'): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (!folder) throw new RolecallError('invalidRequest', vscode.l10n.t('Open a folder first: the file is kept in it.'));
  return vscode.Uri.joinPath(folder, nameFor(organization, kind));
}

function nameFor(organization: string, kind: string): string {
  return `${organization.replace(/[^\w.-]+/g, '_')}.${kind}.yaml`;
}

/** Opens a file of access rules that is not saved yet, under a name that is free in the first folder: Save needs no dialog. */
export async function openDraft(organization: string, text: string): Promise<void> {
  const uri = await freeDraft(organization);
  const document = await vscode.workspace.openTextDocument(uri);
  const editor = await vscode.window.showTextDocument(document);
  await vscode.workspace.applyEdit(editOf(document, text));
  editor.selection = new vscode.Selection(0, 0, 0, 0);
}

async function freeDraft(organization: string): Promise<vscode.Uri> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (!folder) return vscode.Uri.from({ scheme: 'untitled', path: nameFor(organization, 'access') });
  const open = new Set(vscode.workspace.textDocuments.map(({ uri }) => uri.path));
  for (let count = 1; ; count += 1) {
    const uri = vscode.Uri.joinPath(folder, nameFor(count === 1 ? organization : `${organization}-${count}`, 'access'));
    if (!open.has(uri.path) && !(await fileExists(uri))) return uri.with({ scheme: 'untitled' });
  }
}
