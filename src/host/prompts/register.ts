import * as vscode from 'vscode';
import { onFirstUse, type PromptCommandId, registerCommands } from '../commands.ts';
import { EXCLUDED_GLOB } from '../watchedFiles.ts';
import { isPromptFile, PROMPT_GLOB } from './promptPattern.ts';
import type { PromptsDeps } from './prompts.ts';

/**
 * Prompt files in their editors and in the Test view. A window without any loads nothing of it, and gets no Test view because
 * of it: whether there is one is a search by name, as VS Code does for `workspaceContains`.
 */
export function registerPrompts(deps: PromptsDeps): vscode.Disposable {
  const prompts = onFirstUse(async () => {
    const { Prompts } = await import('./prompts.ts');
    return new Prompts(deps);
  });
  // A failure is reported when a command needs this.
  const load = () => void prompts().catch(() => {});
  const look = ({ uri }: vscode.TextDocument) => isPromptFile(uri) && load();
  const search = async () => (await vscode.workspace.findFiles(PROMPT_GLOB, EXCLUDED_GLOB, 1)).length > 0 && load();
  vscode.workspace.textDocuments.forEach(look);
  void search().catch(() => {}); // No search, no Test view until one is opened.
  // Their names stand in the manifest, and need not be read again by every window.
  const ids = (deps.extension.packageJSON.contributes.commands as readonly { command: PromptCommandId }[])
    .map(({ command }) => command)
    .filter((command) => command.includes('Prompt'));
  return vscode.Disposable.from(
    prompts,
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidChangeWorkspaceFolders(search),
    registerCommands(ids, deps.log, async () => (await prompts()).commands),
  );
}
