import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import type { LoopEnd } from '../../core/tools/loopTypes.ts';
import { commands } from '../../ids.ts';
import { answerPart, endingLine } from '../answerText.ts';
import { signalOf } from '../cancellation.ts';
import type { Clouds } from '../clouds.ts';
import { registerCommand } from '../commands.ts';
import { converse, type Toolbox } from '../conversation.ts';
import { fenced } from '../fenced.ts';
import type { ModelCatalog } from '../modelCatalog.ts';
import type { RequestDeps } from '../modelRequest.ts';
import { usableModels } from '../selectModel.ts';
import type { AnswerDocument, AnswerDocuments } from './answerDocuments.ts';

export interface AskDeps extends RequestDeps {
  readonly clouds: Clouds;
  readonly catalog: ModelCatalog;
  readonly openTools: () => Promise<Toolbox>;
  readonly documents: AnswerDocuments;
}

/** Ask About Selection…: a question about the selected text, answered into a document beside. */
export function registerAskAboutSelection(deps: AskDeps): vscode.Disposable {
  return registerCommand(commands.askAboutSelection, deps.log, () => ask(deps));
}

async function ask(deps: AskDeps): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.selection.isEmpty) {
    throw new RolecallError('invalidRequest', vscode.l10n.t('Select the text to ask about first.'));
  }
  const cloud = deps.clouds.require();
  const [first] = await usableModels(deps.clouds, deps.catalog);
  const model = deps.catalog.picked ?? first;
  const { document, selection } = editor;
  const question = await vscode.window.showInputBox({
    title: vscode.l10n.t('Ask {0} about the selection', model.label),
    placeHolder: vscode.l10n.t('What does this do?'),
    ignoreFocusOut: true,
    validateInput: (value) => (value.trim() === '' ? vscode.l10n.t('Type a question.') : undefined),
  });
  if (question === undefined) return;
  const lines = `${vscode.workspace.asRelativePath(document.uri)} (${selection.start.line + 1}–${selection.end.line + 1})`;
  const content = `${question}\n\n${fenced(lines, document.getText(selection), document.languageId)}`;
  const answer = await deps.documents.open(vscode.l10n.t('Answer'));
  answer.append(`# ${question}\n\n*${model.label} · ${lines}*\n\n`);
  await vscode.window.withProgress(
    {
      location: vscode.ProgressLocation.Notification,
      title: vscode.l10n.t('{0} is answering…', model.label),
      cancellable: true,
    },
    async (progress, token) => {
      const toolbox = await deps.openTools();
      const messages = [{ role: 'user', content }];
      const events = converse({ ...deps, cloud, model, messages, toolbox }, signalOf(token));
      await write(events, answer, progress);
    },
  );
}

async function write(
  events: ReturnType<typeof converse>,
  answer: AnswerDocument,
  progress: vscode.Progress<{ message?: string }>,
): Promise<void> {
  try {
    for (;;) {
      const next = await events.next();
      if (next.done) {
        finish(next.value, answer);
        return;
      }
      const part = answerPart(next.value);
      if (part?.kind === 'progress') progress.report({ message: part.text });
      else if (part) answer.write(part);
    }
  } finally {
    answer.flush();
  }
}

/** @throws what the request failed with; what came before stays in the document. */
function finish(end: LoopEnd, answer: AnswerDocument): void {
  const text = end.reason === 'cancelled' ? vscode.l10n.t('Stopped.') : endingLine(end);
  if (text !== undefined) answer.write({ kind: 'line', text });
  if (end.reason === 'failed') throw end.error;
}
