import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';

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
  if (!(await isThere(uri))) await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
  const document = await vscode.workspace.openTextDocument(uri);
  if (document.getText() !== text) await vscode.workspace.applyEdit(editOf(document, text));
  await document.save();
  return vscode.window.showTextDocument(document);
}

export async function isThere(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}

/** A file of that organization in the first folder of the workspace. */
export function fileFor(organization: string, kind = 'access'): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (!folder) throw new RolecallError('invalidRequest', vscode.l10n.t('Open a folder first: the file is kept in it.'));
  return vscode.Uri.joinPath(folder, `${organization.replace(/[^\w.-]+/g, '_')}.${kind}.yaml`);
}
