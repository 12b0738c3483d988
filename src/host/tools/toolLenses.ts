import * as vscode from 'vscode';
import { commands } from '../../ids.ts';
import { isToolFile, TOOL_FILE } from './toolFiles.ts';

/** A link above each tool of a tool file that runs it. */
export class ToolLenses implements vscode.CodeLensProvider {
  /** A file that is in sight when trust is given gets its links then. */
  readonly onDidChangeCodeLenses = vscode.workspace.onDidGrantWorkspaceTrust;

  static register(): vscode.Disposable {
    return vscode.languages.registerCodeLensProvider({ pattern: `**/${TOOL_FILE}` }, new ToolLenses());
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const folder = vscode.workspace.getWorkspaceFolder(document.uri);
    if (!vscode.workspace.isTrusted || !folder || !isToolFile(document.uri, folder)) return [];
    const { readToolFile } = await import('../../core/tools/toolFile.ts');
    return readToolFile(document.getText(), { folder: folder.uri.fsPath }).tools.map(({ name, place }) => {
      const at = new vscode.Position(place.line, place.column);
      return new vscode.CodeLens(new vscode.Range(at, at), {
        title: vscode.l10n.t('$(play) Run this tool'),
        tooltip: vscode.l10n.t('Asks for its arguments, then as it would ask for a model'),
        command: commands.runWorkspaceTool,
        arguments: [document.uri, name],
      });
    });
  }
}
