import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import type { ChatMessage } from '../../core/completions/request.ts';
import { checkMessages } from '../../core/completions/requestSchema.ts';
import { chatParticipant } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import { isOurs } from './answerWriter.ts';
import { attachedImages, userMessage } from './images.ts';
import { promptWithReferences } from './references.ts';

/** What the participant leaves in a `ChatResult`, so that the next request can send the turn back whole. */
export interface ResultMetadata {
  /** Whom the turn was asked of, see {@link stageOf}. */
  readonly stage: string;
  readonly history: readonly ChatMessage[];
  /** What was sent as the question, where the turn tells it only in part: files may have changed since. */
  readonly question?: string;
  /** Rolecall answered by itself: no model has to know. */
  readonly isLocal?: boolean;
  /** What suggests the next question. */
  readonly followUp?: string;
}

const metadataSchema = z.object({
  stage: z.string(),
  history: z.unknown(),
  question: z.optional(z.string()),
  isLocal: z.optional(z.boolean()),
  followUp: z.optional(z.string()),
});

/** Names connection and account without telling them: VS Code keeps it with the chat. */
export function stageOf({ key, inferenceAccount }: Pick<Cloud, 'key' | 'inferenceAccount'>): string {
  return createHash('sha256')
    .update(JSON.stringify([key, inferenceAccount]))
    .digest('base64url')
    .slice(0, 16);
}

/** @returns `undefined` for what the participant did not write, as a whole or as history: VS Code keeps metadata in files. */
export function readMetadata(
  metadata: vscode.ChatResult['metadata'],
): (Omit<ResultMetadata, 'history'> & { readonly history: readonly ChatMessage[] | undefined }) | undefined {
  const read = z.safeParse(metadataSchema, metadata);
  if (!read.success) return undefined;
  const { history, stage, question, isLocal, followUp } = read.data;
  const isEmpty = Array.isArray(history) && history.length === 0; // The model said nothing; a request may not be so.
  const messages = isEmpty ? { ok: true as const, value: [] } : checkMessages(history);
  return {
    stage,
    history: messages.ok ? messages.value : undefined,
    ...(question !== undefined && { question }),
    ...(isLocal !== undefined && { isLocal }),
    ...(followUp !== undefined && { followUp }),
  };
}

/** Questions of this window and whom they were asked of: some versions of VS Code drop the metadata of an answer that was stopped. */
export class AskedQuestions {
  readonly #stages = new Map<string, string | undefined>();

  remember(prompt: string, stage: string): void {
    const before = this.#stages.get(prompt);
    // The same words asked of two connections belong to neither.
    this.#stages.set(prompt, this.#stages.has(prompt) && before !== stage ? undefined : stage);
    for (const oldest of this.#stages.keys()) {
      if (this.#stages.size <= MAX_REMEMBERED) break;
      this.#stages.delete(oldest);
    }
  }

  stageOf(prompt: string): string | undefined {
    return this.#stages.get(prompt);
  }
}

const MAX_REMEMBERED = 200;

export interface EarlierTurns {
  readonly messages: readonly ChatMessage[];
  /** Turns that were asked of another connection or account, and so are not in {@link messages}. */
  readonly withheld: number;
  /** Names of images in {@link messages} that are not sent. */
  readonly unsent: readonly string[];
}

/** The earlier turns of a chat with `@rolecall` that were asked of the same service by the same account. */
export async function earlierTurns(
  { history }: vscode.ChatContext,
  stage: string,
  asked: AskedQuestions,
  takesImages: boolean,
): Promise<EarlierTurns> {
  const turns: ChatMessage[][] = [];
  const unsent: string[] = [];
  let withheld = 0;
  for (const [at, turn] of history.entries()) {
    if (turn.participant !== chatParticipant || !(turn instanceof vscode.ChatRequestTurn)) continue;
    const next = history[at + 1];
    const answer = next instanceof vscode.ChatResponseTurn && next.participant === chatParticipant ? next : undefined;
    const metadata = readMetadata(answer?.result.metadata);
    if (metadata?.isLocal) continue;
    const of = metadata?.stage ?? asked.stageOf(turn.prompt);
    if (of === undefined) continue; // It was answered with the way in, or nobody knows whom it was asked of.
    if (of !== stage) {
      withheld++;
      continue;
    }
    const images = await attachedImages(turn.references);
    const sent = takesImages ? images.filter(({ part }) => part) : [];
    unsent.push(...images.filter((image) => !sent.includes(image)).map(({ name }) => name));
    const question = userMessage(metadata?.question ?? (await promptWithReferences(turn)).text, sent);
    turns.push([question, ...answered(answer, metadata)]);
  }
  return { messages: turns.flat(), withheld, unsent };
}

function answered(
  answer: vscode.ChatResponseTurn | undefined,
  metadata: ReturnType<typeof readMetadata>,
): readonly ChatMessage[] {
  if (!answer) return [];
  const said = metadata?.history ?? writtenAnswer(answer);
  // Two questions in a row would be joined, and the later one answered together with the earlier.
  return said.length > 0 ? said : [{ role: 'assistant', content: '(no answer)' }];
}

/** A turn that left no messages, as the model's words that stood in the chat, without Rolecall's own lines. */
function writtenAnswer(turn: vscode.ChatResponseTurn): ChatMessage[] {
  const text = turn.response
    .map((part) => (part instanceof vscode.ChatResponseMarkdownPart && !isOurs(part.value) ? part.value.value : ''))
    .join('');
  return text === '' ? [] : [{ role: 'assistant', content: text }];
}
