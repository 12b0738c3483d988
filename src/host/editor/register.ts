import * as vscode from 'vscode';
import { commands } from '../../ids.ts';
import { onFirstUse, registerCommand, registerCommands } from '../commands.ts';
import type { AnswersDeps } from './answer.ts';
import type { EditorDeps } from './runConversationWithProgress.ts';

/** The commands about the editor's text: Ask, Explain, Rewrite…, and Generate Commit Message. */
export function registerEditorCommands(deps: EditorDeps & AnswersDeps): vscode.Disposable {
  const { askAboutSelection, explainSelection, explainProblem, showReasoning } = commands;
  const { rewriteSelection, applyRewrite, discardRewrite } = commands;
  const answers = onFirstUse(async () => {
    const { Answers } = await import('./answer.ts');
    return new Answers(deps);
  });
  const rewrites = onFirstUse(async () => {
    const { Rewrites } = await import('./rewrite.ts');
    return new Rewrites(deps);
  });
  return vscode.Disposable.from(
    answers,
    rewrites,
    registerProblemActions(),
    registerCommands([askAboutSelection, explainSelection, explainProblem, showReasoning], deps.log, async () => {
      const { askCommands } = await import('./askAboutSelection.ts');
      return askCommands({ ...deps, answers: await answers() });
    }),
    registerCommands(
      [rewriteSelection, applyRewrite, discardRewrite],
      deps.log,
      async () => (await rewrites()).commands,
    ),
    registerCommand(commands.generateCommitMessage, deps.log, async (source) => {
      const { generateCommitMessage } = await import('./commitMessage.ts');
      await generateCommitMessage(deps, source);
    }),
  );
}

/** "Explain with Rolecall" in the lightbulb of a problem. */
function registerProblemActions(): vscode.Disposable {
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
