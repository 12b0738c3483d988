import * as vscode from 'vscode';
import { TOOL_FILE } from '../../ids.ts';
import { exists } from '../watchedFiles.ts';

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
        return await exists(toolFileOf(folder));
      } catch {
        return true;
      }
    }),
  );
  return found.includes(true);
}
