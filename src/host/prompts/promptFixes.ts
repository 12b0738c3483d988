import * as vscode from 'vscode';
import type { PromptProblem } from '../../core/prompts/yamlText.ts';
import { promptOf } from './promptFiles.ts';
import { isPromptFile } from './promptPattern.ts';
import { PROBLEM_SOURCE } from './promptProblems.ts';

/** Offers what the problems of a prompt file bring along. */
export class PromptFixes implements vscode.CodeActionProvider {
  readonly #problemsOf: (uri: vscode.Uri) => readonly PromptProblem[];

  /** @param problemsOf those that are shown. */
  constructor(problemsOf: (uri: vscode.Uri) => readonly PromptProblem[]) {
    this.#problemsOf = problemsOf;
  }

  provideCodeActions(
    document: vscode.TextDocument,
    _range: vscode.Range,
    { diagnostics }: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    if (!isPromptFile(document.uri)) return [];
    const prompt = promptOf(document);
    const problems = this.#problemsOf(document.uri);
    return diagnostics.flatMap((diagnostic) => {
      if (diagnostic.source !== PROBLEM_SOURCE) return [];
      const { fix } =
        problems.find(
          (each) =>
            each.code === diagnostic.code &&
            each.message === diagnostic.message &&
            prompt.rangeOf(each).isEqual(diagnostic.range),
        ) ?? {};
      if (!fix) return [];
      const action = new vscode.CodeAction(fix.title, vscode.CodeActionKind.QuickFix);
      action.edit = new vscode.WorkspaceEdit();
      action.edit.replace(document.uri, prompt.rangeOf(fix), fix.text);
      action.diagnostics = [diagnostic];
      action.isPreferred = true;
      return [action];
    });
  }
}
