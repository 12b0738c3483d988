import * as vscode from 'vscode';
import { asRolecallError, RolecallError } from '../../core/base/errors.ts';
import { joinSentences, oneLine, truncateWithEllipsis } from '../../core/base/text.ts';
import { commands } from '../../ids.ts';
import { AnswerStats, closingLine } from '../answerText.ts';
import { chatUnavailable } from '../chatView.ts';
import type { Handlers } from '../commands.ts';
import { showInputBox } from '../dialogs.ts';
import { isTruncated, truncationLine } from '../markdown.ts';
import { type Passage, passageMessage, passageOf, problemLine } from '../passage.ts';
import type { Answers } from './answer.ts';
import {
  type AnsweringModel,
  assertSameOwner,
  type EditorDeps,
  resolveAnsweringModel,
  runConversationWithProgress,
} from './runConversationWithProgress.ts';

export interface AskDeps extends EditorDeps {
  readonly answers: Answers;
}

/** Commands that answer a question about the selection, or the whole file, beside the editor. */
export function askCommands(deps: AskDeps) {
  return {
    [commands.askAboutSelection]: () => askAboutSelection(deps),
    [commands.explainSelection]: () => explainSelection(deps),
    [commands.explainProblem]: (...args) => explainProblem(deps, args),
    [commands.showReasoning]: (text) => showReasoning(deps.answers, text),
  } satisfies Partial<Handlers>;
}

/**
 * The passage of the active editor, or of the only visible one while something else has the focus, for example an answer
 * beside it.
 *
 * @throws RolecallError when no editor is open.
 */
export function activePassage(): Passage {
  const inSight = vscode.window.visibleTextEditors.filter(({ viewColumn }) => viewColumn !== undefined);
  const editor = vscode.window.activeTextEditor ?? (inSight.length === 1 ? inSight[0] : undefined);
  if (editor) return passageOf(editor);
  throw new RolecallError('invalidRequest', vscode.l10n.t('Open a file and select some text first.'));
}

async function askAboutSelection(deps: AskDeps): Promise<void> {
  const passage = activePassage();
  const answering = await resolveAnsweringModel(deps);
  const question = await showInputBox({
    title: vscode.l10n.t('Ask {0} about {1}', answering.model.label, passage.title),
    placeHolder: vscode.l10n.t('What does this do?'),
    ignoreFocusOut: true,
    validateInput: (value) => (value.trim() === '' ? vscode.l10n.t('Enter a question.') : undefined),
  });
  if (question === undefined) return;
  await answerBeside(deps, answering, { heading: question, passage, question });
}

async function explainSelection(deps: AskDeps): Promise<void> {
  const passage = activePassage();
  await answerBeside(deps, await resolveAnsweringModel(deps), {
    heading: vscode.l10n.t('Explanation'),
    passage,
    question: vscode.l10n.t('Explain this: what it does, how it does it, and what is easily overlooked.'),
  });
}

/** The number of lines before and after a problem that the model gets. */
const AROUND = 20;

/** @param args document and range from the lightbulb; without them the problem at the cursor. */
async function explainProblem(deps: AskDeps, [uri, range]: readonly unknown[]): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const document = uri instanceof vscode.Uri ? await vscode.workspace.openTextDocument(uri) : editor?.document;
  const place = range instanceof vscode.Range ? range : editor?.selection;
  const diagnostics =
    document && vscode.languages.getDiagnostics(document.uri).filter((each) => place?.intersection(each.range));
  if (!document || !place || !diagnostics || diagnostics.length === 0) {
    throw new RolecallError('invalidRequest', vscode.l10n.t('There is no problem at the cursor.'));
  }
  const first = new vscode.Position(Math.max(0, place.start.line - AROUND), 0);
  const around = document.validateRange(new vscode.Range(first, new vscode.Position(place.end.line + AROUND + 1, 0)));
  const passage = passageOf({ document, selection: new vscode.Selection(around.start, around.end) });
  await answerBeside(deps, await resolveAnsweringModel(deps), {
    heading: truncateWithEllipsis(joinSentences(diagnostics.map(({ message }) => oneLine(message))), MAX_HEADING),
    passage,
    question: [
      vscode.l10n.t('Explain these problems that the editor reports, and how to solve them:'),
      ...diagnostics.map(problemLine),
    ].join('\n'),
  });
}

/** In UTF-16 units. */
const MAX_HEADING = 200;

async function showReasoning(answers: Answers, text: unknown): Promise<void> {
  if (typeof text !== 'string') return; // Only Rolecall's own button passes a text.
  const answer = await answers.open(vscode.l10n.t('Reasoning'));
  answer.append(text);
  answer.end();
}

interface Question {
  readonly heading: string;
  readonly passage: Passage;
  readonly question: string;
}

/** @throws the error of the request; what arrived before it stays visible. */
async function answerBeside(
  deps: AskDeps,
  answering: AnsweringModel,
  { heading, passage, question }: Question,
): Promise<void> {
  const { model } = answering;
  const file = passage.document.uri.path.split('/').at(-1) ?? '';
  const about = `${model.label} · ${passage.title}`;
  assertSameOwner(deps.clouds, answering);
  const answer = await deps.answers.open(vscode.l10n.t('Answer: {0}', file), { heading, about });
  assertSameOwner(deps.clouds, answering);
  if (isTruncated(passage.text)) answer.write({ kind: 'line', text: truncationLine(passage.title) });
  try {
    const stats = new AnswerStats();
    const end = await runConversationWithProgress(deps, {
      ...answering,
      stats,
      messages: [{ role: 'user', content: `${question}\n\n${passageMessage(passage)}` }],
      toolRegistry: await deps.openTools({ whileAsking: stats.whileAsking }),
      closed: answer.closed,
      write: (part) => answer.write(part),
    });
    const text = end.reason === 'cancelled' ? vscode.l10n.t('Stopped.') : closingLine(end);
    if (text !== undefined) answer.write({ kind: 'line', text });
    for (const other of stats.others) answer.append(`\n\n---\n\n${other}`);
    if (end.reason === 'failed') {
      answer.write({
        kind: 'line',
        text: vscode.l10n.t('The answer was interrupted: {0}', asRolecallError(end.error).message),
      });
      throw end.error;
    }
    answer.write({ kind: 'footer', text: stats.summary(model.label) });
    const noChat = await chatUnavailable();
    if (noChat) answer.write({ kind: 'line', text: noChat.reason });
  } finally {
    answer.end();
  }
}
