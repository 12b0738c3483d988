import * as vscode from 'vscode';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import { isFileNotFound, TOOL_FILE } from './toolFiles.ts';

const EXAMPLE = `{
  // Programs of this workspace that @rolecall may ask to run. You are asked before anything runs.
  "tools": [
    {
      "name": "count_words",
      // The model decides by this sentence when to use the tool.
      "description": "Counts the words of a file of this workspace.",
      "parameters": {
        "type": "object",
        "properties": {
          "file": { "type": "string", "description": "Path of the file, relative to the workspace folder" }
        },
        "required": ["file"]
      },
      "run": {
        "kind": "process",
        // Each \${parameter} becomes exactly one argument: there is no shell. Values that begin with "-" are refused
        // unless a "--" stands before them.
        "command": ["wc", "-w", "--", "\${file}"],
        "timeoutSeconds": 10
      }
    }
  ]
}
`;

/** New Workspace Tool: opens the tool file of a folder, written with a commented example when there is none. */
export async function newWorkspaceTool(): Promise<void> {
  const folder = await pickFolder();
  const uri = vscode.Uri.joinPath(folder.uri, TOOL_FILE);
  if (!(await exists(uri))) await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(EXAMPLE));
  await vscode.window.showTextDocument(uri);
}

async function pickFolder(): Promise<vscode.WorkspaceFolder> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const [only] = folders;
  if (!only) {
    throw new RolecallError('invalidRequest', vscode.l10n.t('Open a folder first: tools belong to a workspace.'));
  }
  if (folders.length === 1) return only;
  const picked = await vscode.window.showWorkspaceFolderPick();
  if (!picked) throw cancelled();
  return picked;
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch (error) {
    if (isFileNotFound(error)) return false;
    throw error; // What cannot be looked at must not be overwritten.
  }
}
