import * as vscode from 'vscode';
import { fileExists } from './watchedFiles.ts';

export interface DraftOptions {
  /** Where it is to be saved: the first folder of the workspace unless given. */
  readonly folder?: vscode.Uri;
  /** Where the cursor stands, in UTF-16 units; 0 unless given. */
  readonly cursor?: number;
  readonly column?: vscode.ViewColumn;
}

/**
 * Opens a file that is not saved yet, under a name that is free in its folder, so that Save needs no dialog.
 *
 * @param name without the `extension`, which begins with a dot and can have several.
 */
export async function openDraft(
  name: string,
  extension: string,
  text: string,
  { folder: chosenFolder, cursor = 0, column }: DraftOptions = {},
): Promise<void> {
  const folder = chosenFolder ?? vscode.workspace.workspaceFolders?.[0]?.uri;
  const uri = folder
    ? await freeUri(folder, name, extension)
    : vscode.Uri.from({ scheme: 'untitled', path: `${name}${extension}` });
  const document = await vscode.workspace.openTextDocument(uri);
  const edit = new vscode.WorkspaceEdit();
  edit.replace(uri, new vscode.Range(0, 0, document.lineCount, 0), text);
  await vscode.workspace.applyEdit(edit);
  const position = document.positionAt(cursor);
  const selection = new vscode.Selection(position, position);
  await vscode.window.showTextDocument(document, { selection, ...(column !== undefined && { viewColumn: column }) });
}

async function freeUri(folder: vscode.Uri, name: string, extension: string): Promise<vscode.Uri> {
  const open = new Set(vscode.workspace.textDocuments.map(({ uri }) => uri.path));
  for (let count = 1; ; count += 1) {
    const uri = vscode.Uri.joinPath(folder, `${name}${count === 1 ? '' : `-${count}`}${extension}`);
    if (!open.has(uri.path) && !(await fileExists(uri).catch(() => false))) return uri.with({ scheme: 'untitled' });
  }
}
