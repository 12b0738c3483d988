import * as vscode from 'vscode';
import { commands } from '../../ids.ts';

/** "Explain with Rolecall" in the lightbulb of a problem. */
export function registerProblemActions(): vscode.Disposable {
  return vscode.languages.registerCodeActionsProvider(
    [{ scheme: 'file' }, { scheme: 'untitled' }, { scheme: 'vscode-remote' }],
    {
      provideCodeActions: ({ uri }, range, { diagnostics }) => {
        if (diagnostics.length === 0) return [];
        const title = vscode.l10n.t('Explain with Rolecall');
        const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
        action.command = {
          title,
          command: commands.explainProblem,
          arguments: [uri, new vscode.Range(range.start, range.end)],
        };
        return [action];
      },
    },
    { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
  );
}
