import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { readMessages } from '../../core/completions/parameters.ts';
import type { ChatMessage } from '../../core/completions/request.ts';
import { chatCommands, chatParticipant } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import type { ToolRegistryOptions } from '../conversation.ts';
import { fenced, isTruncated } from '../markdown.ts';
import { ownAccessToolNames, ownToolName } from '../ownAccessTools.ts';
import { linesOf } from '../passage.ts';
import { isOwnLine } from './answerWriter.ts';
import { attachedImages, imageName, userMessage } from './images.ts';

/** A question with what was attached to it, as text. */
export interface WrittenQuestion {
  readonly text: string;
  /** The names of attachments that were too long to be sent whole. */
  readonly cut: readonly string[];
}

/** The user's words, followed by what was attached to them; images are only named, see `attachedImages`. */
export async function promptWithReferences({
  prompt,
  references,
}: Pick<vscode.ChatRequest, 'prompt' | 'references'>): Promise<WrittenQuestion> {
  const attached = await Promise.all(attachedReferences(references).map(attachment));
  return {
    text: [prompt, ...attached.map(({ text }) => text)].join('\n\n'),
    cut: attached.flatMap(({ cut }) => cut),
  };
}

/**
 * What the user attached. VS Code adds an index of skills and agents for its own agents to each request in Agent mode: it
 * has the paths of local files, and nothing here could read them.
 */
export function attachedReferences(references: readonly vscode.ChatPromptReference[]) {
  return references.filter(({ id }) => id !== 'vscode.customizations.index');
}

async function attachment(reference: vscode.ChatPromptReference): Promise<WrittenQuestion> {
  const { value, modelDescription, id } = reference;
  const image = imageName(reference);
  if (image !== undefined) return { text: vscode.l10n.t('Attached image: {0}', image), cut: [] };
  if (typeof value === 'string') return quotation(modelDescription ?? vscode.l10n.t('Attachment'), value, '');
  const uri = value instanceof vscode.Location ? value.uri : value;
  if (!(uri instanceof vscode.Uri)) return unreadable(modelDescription ?? id);
  const name = vscode.workspace.asRelativePath(uri);
  try {
    const document = await vscode.workspace.openTextDocument(uri);
    const range = value instanceof vscode.Location ? value.range : undefined;
    const lines = range ? ` ${linesOf(range)}` : '';
    return quotation(name + lines, document.getText(range), document.languageId);
  } catch {
    return unreadable(name);
  }
}

function quotation(name: string, text: string, language: string): WrittenQuestion {
  return { text: fenced(name, text, language), cut: isTruncated(text) ? [name] : [] };
}

/** An attachment is never left out silently. */
function unreadable(name: string): WrittenQuestion {
  return { text: vscode.l10n.t('{0} was attached but cannot be read as text.', name), cut: [] };
}

/** The data that the participant stores in a `ChatResult`, so that the next request can send the whole turn again. */
export interface ResultMetadata {
  /** The connection and account that answered; see {@link sessionHash}. */
  readonly session: string;
  readonly history: readonly ChatMessage[];
  /** The question as it was sent, where the turn doesn't hold all of it: files may have changed since. */
  readonly question?: string;
  /** The answer was stopped: VS Code may have shown less of it than {@link history} holds. */
  readonly isStopped?: boolean;
  /** Names of tools, see {@link ToolRegistryOptions.answered}. */
  readonly answered?: readonly string[];
  /** Rolecall answered without a model, so the turn is never sent to one. */
  readonly isLocal?: boolean;
  /** Which follow-up questions to suggest. */
  readonly followUp?: string;
}

const metadataSchema = z.object({
  session: z.string(),
  history: z.unknown(),
  question: z.optional(z.string()),
  isStopped: z.optional(z.boolean()),
  answered: z.optional(z.array(z.string())),
  isLocal: z.optional(z.boolean()),
  followUp: z.optional(z.string()),
});

/** Identifies connection and account without revealing them: VS Code stores it with the chat. */
export function sessionHash({ key, inferenceAccount }: Pick<Cloud, 'key' | 'inferenceAccount'>): string {
  return createHash('sha256')
    .update(JSON.stringify([key, inferenceAccount]))
    .digest('base64url')
    .slice(0, 16);
}

/** The metadata as it was read: `history` is undefined if it can't be sent. */
type ReadMetadata = Omit<ResultMetadata, 'history'> & { readonly history: readonly ChatMessage[] | undefined };

/** @returns `undefined` for what the participant did not write: VS Code stores metadata in files. */
export function readMetadata(metadata: vscode.ChatResult['metadata']): ReadMetadata | undefined {
  const read = z.safeParse(metadataSchema, metadata);
  if (!read.success) return undefined;
  const { history, session, question, isStopped, answered, isLocal, followUp } = read.data;
  const isEmpty = Array.isArray(history) && history.length === 0; // The model said nothing. No request may be empty.
  return {
    session,
    history: isEmpty ? [] : readMessages(history),
    ...(question !== undefined && { question }),
    ...(isStopped !== undefined && { isStopped }),
    ...(answered !== undefined && { answered }),
    ...(isLocal !== undefined && { isLocal }),
    ...(followUp !== undefined && { followUp }),
  };
}

/**
 * The questions of this window: the session of each, and the metadata of stopped answers. Some versions of VS Code drop
 * the metadata of a stopped answer; others do so when the next question comes first.
 */
export class AskedQuestions {
  readonly #sessions = new Map<string, string | undefined>();
  readonly #stopped = new Map<string, ResultMetadata>();

  remember(prompt: string, session: string): void {
    const before = this.#sessions.get(prompt);
    // The same words asked in two sessions belong to neither.
    this.#sessions.set(prompt, this.#sessions.has(prompt) && before !== session ? undefined : session);
    forgetOldest(this.#sessions);
  }

  sessionOf(prompt: string): string | undefined {
    return this.#sessions.get(prompt);
  }

  /** Stores the metadata of a stopped answer to `prompt`. */
  keep(prompt: string, metadata: ResultMetadata): void {
    this.#stopped.set(prompt, metadata);
    forgetOldest(this.#stopped);
  }

  /** The metadata that {@link keep} stored, unless its session is unknown. */
  stoppedOf(prompt: string): ResultMetadata | undefined {
    const stopped = this.#stopped.get(prompt);
    return stopped?.session === this.#sessions.get(prompt) ? stopped : undefined;
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
  /** The last turn belongs to another session, so it is not in {@link messages}. Later turns need not be told so again. */
  readonly followsAnotherAccount: boolean;
  /** Names of images that are left out of {@link messages}. */
  readonly unsent: readonly string[];
  /** Names of tools whose results are in {@link messages}, see {@link ToolRegistryOptions.answered}. */
  readonly answered: ReadonlySet<string>;
}

/** The earlier turns of a chat with `@rolecall` that belong to the same session. */
export async function earlierTurns(
  { history }: vscode.ChatContext,
  session: string,
  questions: AskedQuestions,
  takesImages: boolean,
): Promise<EarlierTurns> {
  const turns: ChatMessage[][] = [];
  const unsent: string[] = [];
  const answered: string[] = [];
  let followsAnotherAccount = false;
  for (const [at, turn] of history.entries()) {
    if (turn.participant !== chatParticipant || !(turn instanceof vscode.ChatRequestTurn)) continue;
    const next = history[at + 1];
    const answer = next instanceof vscode.ChatResponseTurn && next.participant === chatParticipant ? next : undefined;
    const metadata = readMetadata(answer?.result.metadata) ?? questions.stoppedOf(turn.prompt);
    if (metadata?.isLocal) continue;
    const of = metadata?.session ?? questions.sessionOf(turn.prompt);
    if (of === undefined) continue; // It was answered with an offer to sign in, or it is unknown which account asked.
    followsAnotherAccount = of !== session;
    if (followsAnotherAccount) continue;
    const images = await attachedImages(turn.references);
    const sentImages = takesImages ? images.filter(({ part }) => part) : [];
    unsent.push(...images.filter((image) => !sentImages.includes(image)).map(({ name }) => name));
    const question = userMessage(metadata?.question ?? (await promptWithReferences(turn)).text, sentImages);
    turns.push([question, ...answerMessages(answer, metadata)]);
    answered.push(...accessToolsFor(turn), ...(metadata?.answered ?? []));
  }
  return { messages: turns.flat(), followsAnotherAccount, unsent, answered: new Set(answered) };
}

/** The access tools that a request asks for: all with `/access`, else those that it refers to (`#rolecallWhoHas`). */
export function accessToolsFor({
  command,
  toolReferences,
}: Pick<vscode.ChatRequest | vscode.ChatRequestTurn, 'command' | 'toolReferences'>): ReadonlySet<string> {
  if (command === chatCommands.access) return ownAccessToolNames;
  return new Set(toolReferences.map(({ name }) => ownToolName(name)).filter((name) => ownAccessToolNames.has(name)));
}

function answerMessages(
  answer: vscode.ChatResponseTurn | undefined,
  metadata: ReadMetadata | undefined,
): readonly ChatMessage[] {
  if (!answer) return [];
  const shown = wordsShown(answer);
  const written: ChatMessage[] = shown === '' ? [] : [{ role: 'assistant', content: shown }];
  const history = metadata?.history;
  const messages = (history && metadata.isStopped ? asShown(history, shown) : history) ?? written;
  // Without an answer in between, the model would answer both questions together.
  return messages.length > 0 ? messages : [{ role: 'assistant', content: '(no answer)' }];
}

/** The model's text in the chat, without Rolecall's own lines. */
function wordsShown(turn: vscode.ChatResponseTurn): string {
  return turn.response
    .map((part) => (part instanceof vscode.ChatResponseMarkdownPart && !isOwnLine(part.value) ? part.value.value : ''))
    .join('');
}

/**
 * `history` with no more of the model's words than the chat showed: what arrives after the user chose Stop is no longer
 * shown. Calls that were made and their results stay. `undefined` where other words were shown.
 */
function asShown(history: readonly ChatMessage[], shown: string): readonly ChatMessage[] | undefined {
  const kept: ChatMessage[] = [];
  let remaining = shown;
  for (const message of history) {
    const { role, content, tool_calls } = message;
    if (role !== 'assistant' || typeof content !== 'string') {
      kept.push(message);
      continue;
    }
    if (!remaining.startsWith(content) && !content.startsWith(remaining)) return undefined;
    const shownPart = content.slice(0, remaining.length);
    remaining = remaining.slice(shownPart.length);
    if (shownPart !== '' || tool_calls !== undefined) kept.push({ ...message, content: shownPart });
  }
  return remaining === '' ? kept : undefined;
}
