import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { checkMessages } from '../../core/completions/parameters.ts';
import type { ChatMessage } from '../../core/completions/request.ts';
import { chatCommands, chatParticipant } from '../../ids.ts';
import { accessToolNames, nameForOurselves } from '../accessToolNames.ts';
import type { Cloud } from '../cloud.ts';
import type { ToolRegistryOptions } from '../conversation.ts';
import { isOurs } from './answerWriter.ts';
import { attachedImages, userMessage } from './images.ts';
import { promptWithReferences } from './references.ts';

/** What the participant leaves in a `ChatResult`, so that the next request can send the turn back whole. */
export interface ResultMetadata {
  /** Whom the turn was asked of, see {@link sessionHash}. */
  readonly stage: string;
  readonly history: readonly ChatMessage[];
  /** What was sent as the question, where the turn tells it only in part: files may have changed since. */
  readonly question?: string;
  /** The answer was stopped: VS Code may have shown less of it than {@link history} holds. */
  readonly isStopped?: boolean;
  /** Names of tools, see {@link ToolRegistryOptions.answered}. */
  readonly answered?: readonly string[];
  /** Rolecall answered by itself: no model has to know. */
  readonly isLocal?: boolean;
  /** What suggests the next question. */
  readonly followUp?: string;
}

const metadataSchema = z.object({
  stage: z.string(),
  history: z.unknown(),
  question: z.optional(z.string()),
  isStopped: z.optional(z.boolean()),
  answered: z.optional(z.array(z.string())),
  isLocal: z.optional(z.boolean()),
  followUp: z.optional(z.string()),
});

/** Names connection and account without telling them: VS Code keeps it with the chat. */
export function sessionHash({ key, inferenceAccount }: Pick<Cloud, 'key' | 'inferenceAccount'>): string {
  return createHash('sha256')
    .update(JSON.stringify([key, inferenceAccount]))
    .digest('base64url')
    .slice(0, 16);
}

/** Metadata as it was read: `history` is undefined where it is nothing that can be sent. */
type ReadMetadata = Omit<ResultMetadata, 'history'> & { readonly history: readonly ChatMessage[] | undefined };

/** @returns `undefined` for what the participant did not write, as a whole or as history: VS Code keeps metadata in files. */
export function readMetadata(metadata: vscode.ChatResult['metadata']): ReadMetadata | undefined {
  const read = z.safeParse(metadataSchema, metadata);
  if (!read.success) return undefined;
  const { history, stage, question, isStopped, answered, isLocal, followUp } = read.data;
  const isEmpty = Array.isArray(history) && history.length === 0; // The model said nothing; a request may not be so.
  const messages = isEmpty ? { ok: true as const, value: [] } : checkMessages(history);
  return {
    stage,
    history: messages.ok ? messages.value : undefined,
    ...(question !== undefined && { question }),
    ...(isStopped !== undefined && { isStopped }),
    ...(answered !== undefined && { answered }),
    ...(isLocal !== undefined && { isLocal }),
    ...(followUp !== undefined && { followUp }),
  };
}

/**
 * Questions of this window: whom they were asked of, and what an answer that was stopped left. VS Code drops the metadata of
 * such an answer in some versions, and in others when the next question is quicker.
 */
export class AskedQuestions {
  readonly #stages = new Map<string, string | undefined>();
  readonly #stopped = new Map<string, ResultMetadata>();

  remember(prompt: string, stage: string): void {
    const before = this.#stages.get(prompt);
    // The same words asked of two connections belong to neither.
    this.#stages.set(prompt, this.#stages.has(prompt) && before !== stage ? undefined : stage);
    forgetOldest(this.#stages);
  }

  sessionOf(prompt: string): string | undefined {
    return this.#stages.get(prompt);
  }

  /** Keeps what the answer to `prompt` left when it was stopped. */
  keep(prompt: string, metadata: ResultMetadata): void {
    this.#stopped.set(prompt, metadata);
    forgetOldest(this.#stopped);
  }

  /** What {@link keep} was given, unless it is unknown whose it is. */
  stoppedOf(prompt: string): ResultMetadata | undefined {
    const kept = this.#stopped.get(prompt);
    return kept?.stage === this.#stages.get(prompt) ? kept : undefined;
  }
}

function forgetOldest(map: Map<string, unknown>): void {
  for (const oldest of map.keys()) {
    if (map.size <= MAX_REMEMBERED) break;
    map.delete(oldest);
  }
}

const MAX_REMEMBERED = 200;

export interface EarlierTurns {
  readonly messages: readonly ChatMessage[];
  /** Turns that were asked of another connection or account, and so are not in {@link messages}. */
  readonly withheld: number;
  /** Names of images in {@link messages} that are not sent. */
  readonly unsent: readonly string[];
  /** Names of tools whose results are in {@link messages}, see {@link ToolRegistryOptions.answered}. */
  readonly answered: ReadonlySet<string>;
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
  const answered: string[] = [];
  let withheld = 0;
  for (const [at, turn] of history.entries()) {
    if (turn.participant !== chatParticipant || !(turn instanceof vscode.ChatRequestTurn)) continue;
    const next = history[at + 1];
    const answer = next instanceof vscode.ChatResponseTurn && next.participant === chatParticipant ? next : undefined;
    const metadata = readMetadata(answer?.result.metadata) ?? asked.stoppedOf(turn.prompt);
    if (metadata?.isLocal) continue;
    const of = metadata?.stage ?? asked.sessionOf(turn.prompt);
    if (of === undefined) continue; // It was answered with an offer to sign in, or it is unknown which account asked.
    if (of !== stage) {
      withheld++;
      continue;
    }
    const images = await attachedImages(turn.references);
    const sent = takesImages ? images.filter(({ part }) => part) : [];
    unsent.push(...images.filter((image) => !sent.includes(image)).map(({ name }) => name));
    const question = userMessage(metadata?.question ?? (await promptWithReferences(turn)).text, sent);
    turns.push([question, ...answerMessages(answer, metadata)]);
    answered.push(...accessToolsFor(turn), ...(metadata?.answered ?? []));
  }
  return { messages: turns.flat(), withheld, unsent, answered: new Set(answered) };
}

/** The access tools that a request asks for: all with `/access`, else those that it refers to (`#rolecallWhoHas`). */
export function accessToolsFor({
  command,
  toolReferences,
}: Pick<vscode.ChatRequest | vscode.ChatRequestTurn, 'command' | 'toolReferences'>): ReadonlySet<string> {
  if (command === chatCommands.access) return accessToolNames;
  return new Set(toolReferences.map(({ name }) => nameForOurselves(name)).filter((name) => accessToolNames.has(name)));
}

function answerMessages(
  answer: vscode.ChatResponseTurn | undefined,
  metadata: ReadMetadata | undefined,
): readonly ChatMessage[] {
  if (!answer) return [];
  const shown = wordsShown(answer);
  const written: ChatMessage[] = shown === '' ? [] : [{ role: 'assistant', content: shown }];
  const history = metadata?.history;
  const said = (history && metadata.isStopped ? asShown(history, shown) : history) ?? written;
  // Two questions in a row would be joined, and the later one answered together with the earlier.
  return said.length > 0 ? said : [{ role: 'assistant', content: '(no answer)' }];
}

/** The model's words that stood in the chat, without Rolecall's own lines. */
function wordsShown(turn: vscode.ChatResponseTurn): string {
  return turn.response
    .map((part) => (part instanceof vscode.ChatResponseMarkdownPart && !isOurs(part.value) ? part.value.value : ''))
    .join('');
}

/**
 * `history` with no more of the model's words than were shown: what arrives while Stop is on its way to the extension is
 * written, but not shown any more. Calls and their results stay, for they were made. `undefined` where other words were shown.
 */
function asShown(history: readonly ChatMessage[], shown: string): readonly ChatMessage[] | undefined {
  const kept: ChatMessage[] = [];
  let left = shown;
  for (const message of history) {
    const { role, content, tool_calls } = message;
    if (role !== 'assistant' || typeof content !== 'string') {
      kept.push(message);
      continue;
    }
    if (!left.startsWith(content) && !content.startsWith(left)) return undefined;
    const said = content.slice(0, left.length);
    left = left.slice(said.length);
    if (said !== '' || tool_calls !== undefined) kept.push({ ...message, content: said });
  }
  return left === '' ? kept : undefined;
}
