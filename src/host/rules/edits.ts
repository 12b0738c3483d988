import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import { openDraft } from '../drafts.ts';
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

/** Writes a new file, or changes an existing one so that the change can be undone; shows it. */
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
  if (!folder)
    throw new RolecallError('invalidRequest', vscode.l10n.t('Open a folder first. The file is saved in it.'));
  return vscode.Uri.joinPath(folder, `${fileName(organization)}.${kind}.yaml`);
}

function fileName(organization: string): string {
  return organization.replace(/[^\w.-]+/g, '_');
}

/** Opens a file of access rules that is not saved yet. */
export function openAccessDraft(organization: string, text: string): Promise<void> {
  return openDraft(fileName(organization), '.access.yaml', text);
}
