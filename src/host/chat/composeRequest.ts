import * as vscode from 'vscode';
import type { ChatMessage } from '../../core/completions/request.ts';
import { chatCommands } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import type { Briefing, ToolFileProblem } from '../conversation.ts';
import { truncationLine } from '../fenced.ts';
import type { Model } from '../modelCatalog.ts';
import { isSuggested } from './followUps.ts';
import { type AskedQuestions, earlierTurns, sessionHash } from './history.ts';
import { attachedImages, userMessage } from './images.ts';
import { remarksOn } from './remarks.ts';
import { questionOf } from './slashCommands.ts';

/** What `/access` tells the model before the question. */
export type BriefAccess = (callsTools: boolean, signal: AbortSignal) => Promise<Briefing>;

/** What is sent for one question, and what the user is told about it. */
export interface ComposedRequest {
  readonly messages: readonly ChatMessage[];
  /** The question with what was attached, without images. */
  readonly question: string;
  /** Files and passages that are part of it. */
  readonly references: readonly (vscode.Uri | vscode.Location)[];
  /** What a person should know of how this is answered, a sentence each. */
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
  /** What is wrong in the files that define tools. */
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
  const left = attached.filter((image) => !images.includes(image)).map(({ name }) => name);
  const unsent = [...new Set([...earlier.unsent, ...left])];
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
