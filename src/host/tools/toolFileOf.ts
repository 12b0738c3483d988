import * as vscode from 'vscode';
import { TOOL_FILE } from '../../ids.ts';

/** Where the tool file of a folder is, or would be. */
export function toolFileOf(folder: vscode.WorkspaceFolder): vscode.Uri {
  return vscode.Uri.joinPath(folder.uri, TOOL_FILE);
}

/** Whether `uri` is the tool file of `folder`. */
export function isToolFile(uri: vscode.Uri, folder: vscode.WorkspaceFolder): boolean {
  return toolFileOf(folder).toString() === uri.toString();
}

/** Whether there is something to read in this window; also true of a file that cannot be read. */
export async function hasToolFile(): Promise<boolean> {
  const folders = vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []) : [];
  const found = await Promise.all(
    folders.map(async (folder) => {
      try {
        await vscode.workspace.fs.stat(toolFileOf(folder));
        return true;
      } catch (error) {
        return !isFileNotFound(error);
      }
    }),
  );
  return found.includes(true);
}

export function isFileNotFound(error: unknown): boolean {
  return error instanceof vscode.FileSystemError && error.code === 'FileNotFound';
}
