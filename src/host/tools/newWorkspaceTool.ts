import * as vscode from 'vscode';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import { fileExists } from '../watchedFiles.ts';
import type { ToolFiles } from './toolFiles.ts';
import { toolFileOf } from './toolFiles.ts';

/**
 * New Workspace Tool: adds a commented example to the tool file of a folder, which is created if there is none, and
 * selects its name. A file with unsaved changes stays unsaved; undo removes the tool.
 */
export async function newWorkspaceTool(files: Pick<ToolFiles, 'all'>): Promise<void> {
  const folder = await pickFolder();
  const usedNames = (await files.all()).map(({ definition }) => definition.name);
  const { addTool } = await import('../../core/tools/newTool.ts');
  const uri = toolFileOf(folder);
  if (!(await fileExists(uri))) {
    // Written whole: an empty file would be a mistake in Problems for a moment.
    const { name, edits } = addTool('', usedNames);
    await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(edits.map(({ text }) => text).join('')));
    select(await vscode.window.showTextDocument(uri), `"name": "${name}"`, name);
    return;
  }
  const document = await vscode.workspace.openTextDocument(uri);
  const editor = await vscode.window.showTextDocument(document);
  // The command acts on whatever editor is active.
  if (!document.isDirty && vscode.window.activeTextEditor?.document === document) {
    // Read again: the editor refuses to save over a change that it has not heard of, even if the text is the same. This
    // also covers a file that it read while it was being written.
    await vscode.commands.executeCommand('workbench.action.files.revert');
  }
  const wasDirty = document.isDirty;
  const { name, edits } = addTool(document.getText(), usedNames);
  const edit = new vscode.WorkspaceEdit();
  for (const { offset, length, text } of edits) {
    edit.replace(uri, new vscode.Range(document.positionAt(offset), document.positionAt(offset + length)), text);
  }
  if (!(await vscode.workspace.applyEdit(edit))) {
    throw new RolecallError('tool', vscode.l10n.t('The tool file could not be changed.'));
  }
  select(editor, `"name": "${name}"`, name);
  if (!wasDirty && !(await document.save())) {
    throw new RolecallError('tool', vscode.l10n.t('The tool file could not be saved.'));
  }
}

/** Selects `word` within the last `text` of the document. */
function select(editor: vscode.TextEditor, text: string, word: string): void {
  const at = editor.document.getText().lastIndexOf(text);
  if (at === -1) return;
  const start = at + text.lastIndexOf(word);
  const range = new vscode.Range(editor.document.positionAt(start), editor.document.positionAt(start + word.length));
  editor.selection = new vscode.Selection(range.start, range.end);
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

async function pickFolder(): Promise<vscode.WorkspaceFolder> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const [only] = folders;
  if (!only) {
    throw new RolecallError('invalidRequest', vscode.l10n.t('Open a folder first. Tools belong to a workspace.'));
  }
  if (folders.length === 1) return only;
  const picked = await vscode.window.showWorkspaceFolderPick();
  if (!picked) throw cancelled();
  return picked;
}
