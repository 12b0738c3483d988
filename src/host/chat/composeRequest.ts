import * as vscode from 'vscode';
import type { ChatMessage } from '../../core/completions/request.ts';
import { chatCommands } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import type { Briefing, ToolFileProblem } from '../conversation.ts';
import { isTruncated, truncationLine } from '../markdown.ts';
import type { Model } from '../modelCatalog.ts';
import { type Passage, passageMessage, passageOf, problemsMessage } from '../passage.ts';
import { isSuggested } from './followUps.ts';
import {
  type AskedQuestions,
  attachedReferences,
  earlierTurns,
  promptWithReferences,
  sessionHash,
  type WrittenQuestion,
} from './history.ts';
import { attachedImages, userMessage } from './images.ts';
import { remarksOn } from './remarks.ts';

/** The text before the question with `/access`. */
export type BriefAccess = (callsTools: boolean, signal: AbortSignal) => Promise<Briefing>;

/** The request for one question, and what the user is told about it. */
export interface ComposedRequest {
  readonly messages: readonly ChatMessage[];
  /** The question with what was attached, without images. */
  readonly question: string;
  /** Files and passages that are part of it. */
  readonly references: readonly (vscode.Uri | vscode.Location)[];
  /** Sentences for the user about how this is answered. */
  readonly remarks: readonly string[];
  /** See {@link EarlierTurns.answered}. */
  readonly earlierTools: ReadonlySet<string>;
}

interface Composing {
  readonly request: vscode.ChatRequest;
  readonly context: vscode.ChatContext;
  readonly cloud: Cloud;
  readonly model: Model;
  readonly questions: AskedQuestions;
  readonly briefAccess: BriefAccess;
  /** The problems in the files that define tools. */
  readonly problems: readonly ToolFileProblem[];
}

/** Gathers the messages of one question. @throws RolecallError `cancelled` at an abort. */
export async function composeRequest(
  { request, context, cloud, model, questions, briefAccess, problems }: Composing,
  signal: AbortSignal,
): Promise<ComposedRequest> {
  const isAccess = request.command === chatCommands.access;
  const [earlier, briefing, { text: question, passage, cut }, attached] = await Promise.all([
    earlierTurns(context, sessionHash(cloud), questions, model.vision),
    isAccess ? briefAccess(model.tools !== false, signal) : undefined,
    questionOf(request, isSuggested(request, context)),
    attachedImages(request.references),
  ]);
  const images = model.vision ? attached.filter(({ part }) => part) : [];
  const unsentImages = attached.filter((image) => !images.includes(image)).map(({ name }) => name);
  const unsent = [...new Set([...earlier.unsent, ...unsentImages])];
  const { followsAnotherAccount } = earlier;
  const remarks = remarksOn({ request, cloud, model, followsAnotherAccount, problems, unsent });
  return {
    messages: [
      ...(briefing ? [{ role: 'system' as const, content: briefing.instructions }] : []),
      ...earlier.messages,
      userMessage(question, images),
    ],
    question,
    references: [
      ...request.references
        .map(({ value }) => value)
        .filter((value) => value instanceof vscode.Uri || value instanceof vscode.Location),
      ...(passage ? [new vscode.Location(passage.document.uri, passage.range)] : []),
    ],
    remarks: [...remarks, ...cut.map(truncationLine), ...(briefing?.notice === undefined ? [] : [briefing.notice])],
    earlierTools: earlier.answered,
  };
}

/** The request of each command about a piece of code. */
function wish(command: string | undefined): string | undefined {
  switch (command) {
    case chatCommands.explain:
      return vscode.l10n.t('Explain this: what it does, how it does it, and what is easily overlooked.');
    case chatCommands.fix:
      return vscode.l10n.t('Find what is wrong here and correct it. Show the corrected code and say what was wrong.');
    case chatCommands.tests:
      return vscode.l10n.t('Write tests for this, in the style and with the framework that its project uses.');
    default:
      return undefined;
  }
}

/** A question for the model, and the passage that it is about if that was not attached by the user. */
export interface ComposedQuestion extends WrittenQuestion {
  readonly passage?: Passage;
}

/**
 * The question of a request, with what was attached. `/explain`, `/fix` and `/tests` without an attachment are about the
 * selection, or the whole file, of the active editor.
 *
 * @param isSuggested the last answer suggested it: it is about the code that stands in the history already.
 */
export async function questionOf(
  request: Pick<vscode.ChatRequest, 'prompt' | 'command' | 'references'>,
  isSuggested = false,
): Promise<ComposedQuestion> {
  const instruction = wish(request.command);
  if (instruction === undefined) return promptWithReferences(request);
  const prompt = request.prompt.trim() === '' ? instruction : `${instruction}\n\n${request.prompt}`;
  const hasAttachment = attachedReferences(request.references).length > 0;
  const passage = !hasAttachment && !isSuggested ? activePassage() : undefined;
  const attached = await promptWithReferences({ prompt, references: request.references });
  const problems = request.command === chatCommands.fix ? problemsOf(request.references, passage) : [];
  const text = [attached.text, ...(passage ? [passageMessage(passage)] : []), ...problems].join('\n\n');
  const cut = passage && isTruncated(passage.text) ? [passage.title] : attached.cut;
  return { text, cut, ...(passage && { passage }) };
}

/** True for a command about a piece of code where there is none. */
export function lacksCode({ command, references, prompt }: vscode.ChatRequest): boolean {
  return (
    wish(command) !== undefined &&
    attachedReferences(references).length === 0 &&
    prompt.trim() === '' &&
    !activePassage()
  );
}

function activePassage(): Passage | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor && passageOf(editor);
}

function problemsOf(references: readonly vscode.ChatPromptReference[], passage: Passage | undefined): string[] {
  const places = references.flatMap(({ value }) => (value instanceof vscode.Location ? [value] : []));
  const open = places.flatMap(({ uri, range }) => {
    const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
    return document ? [{ document, range }] : [];
  });
  return [...open, ...(passage ? [passage] : [])].map(problemsMessage).filter((text) => text !== '');
}
