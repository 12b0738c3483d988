import * as l10n from '@vscode/l10n';
import type { RolecallError } from '../base/errors.ts';
import type { Notice } from './completion.ts';
import type { ModelObservations } from './modelObservations.ts';
import type { ChatMessage, CompletionRequest, ContentPart, FunctionTool, ToolCallMessage } from './request.ts';
import { repairArguments } from './toolCalls.ts';

/** Takes the place of a result that was never stored: services refuse a call without a result. */
const NO_RESULT = 'There is no result of this call.';

/**
 * Makes an earlier conversation one that a service accepts: the arguments of a call are the text of a JSON object (a
 * broken one sent back is a 400), every call has exactly one result right after it, and every result has its call.
 * Arguments are repaired where their meaning is clear; otherwise the call is dropped, with its result.
 */
export function repairHistory(messages: readonly ChatMessage[]): ChatMessage[] {
  const repaired: ChatMessage[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (message === undefined || message.role === 'tool') continue; // Taken with its call, or an orphan.
    if (message.tool_calls === undefined) {
      repaired.push(message);
      continue;
    }
    const results: ChatMessage[] = [];
    while (messages[at + 1]?.role === 'tool') results.push(messages[++at] as ChatMessage);
    for (const repairedMessage of repairRound(message, message.tool_calls, results)) repaired.push(repairedMessage);
  }
  return repaired;
}

function repairRound(
  message: ChatMessage,
  calls: readonly ToolCallMessage[],
  results: readonly ChatMessage[],
): ChatMessage[] {
  const kept = calls.flatMap((call): ToolCallMessage[] => {
    const repaired = repairArguments(call.function.arguments);
    if (repaired === undefined || call.function.name === '') return [];
    return [{ ...call, function: { ...call.function, arguments: repaired } }];
  });
  const { tool_calls: _, ...withoutCalls } = message;
  // The text that the model wrote beside its calls stays.
  if (kept.length === 0) return withoutCalls.content === null || withoutCalls.content === '' ? [] : [withoutCalls];
  const resultsById = new Map(results.toReversed().map((result) => [result.tool_call_id, result])); // The first of each call.
  const none = { role: 'tool', content: NO_RESULT };
  return [
    { ...message, tool_calls: kept },
    ...kept.map(({ id }): ChatMessage => resultsById.get(id) ?? { ...none, tool_call_id: id }),
  ];
}

/** The rest of a conversation, and how much was left out. */
export interface TruncatedHistory {
  readonly messages: readonly ChatMessage[];
  /** Earlier turns left out, each a question with everything that answered it. */
  readonly turns: number;
  /** Earlier rounds of tool calls left out of the turn that is being answered. */
  readonly rounds: number;
}

/**
 * Leaves out the oldest of a conversation until the rest has at most `budget` tokens. Instructions at the beginning
 * stay. Whole turns go first; when only the last is left, its oldest rounds of tool calls go, but never the newest. A
 * call and its results are in the same turn or round, so they are never separated.
 *
 * The rest may still be too long: the service then refuses it.
 *
 * @param tokensOf the tokens of one message.
 */
export function truncateHistory(
  messages: readonly ChatMessage[],
  budget: number,
  tokensOf: (message: ChatMessage) => number,
): TruncatedHistory {
  const instructions = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  const begin = instructions < 0 ? messages.length : instructions;
  const head = messages.slice(0, begin);
  const turns = split(messages.slice(begin), ({ role }) => role === 'user');
  const size = (part: readonly ChatMessage[]) => part.reduce((sum, message) => sum + tokensOf(message), 0);
  let tokens = size(messages);

  let first = 0;
  for (; first < turns.length - 1 && tokens > budget; first++) tokens -= size(turns[first] ?? []);
  const last = turns.at(-1) ?? [];
  const rounds = split(last, ({ tool_calls }) => tool_calls !== undefined);
  const isRound = (part: readonly ChatMessage[]) => part[0]?.tool_calls !== undefined;
  const kept = [...rounds];
  let removed = 0;
  // The turn begins with the question; of the rounds after it, the newest is the one the model continues from.
  for (let at = rounds.findIndex(isRound); at >= 0 && at < rounds.length - 1 && tokens > budget; at++) {
    const round = rounds[at] ?? [];
    tokens -= size(round);
    kept[at] = [];
    removed++;
  }
  return { messages: [...head, ...turns.slice(first, -1).flat(), ...kept.flat()], turns: first, rounds: removed };
}

/** Splits before each message for which `begins` is true; what precedes the first is a part of its own. */
function split(messages: readonly ChatMessage[], begins: (message: ChatMessage) => boolean): ChatMessage[][] {
  const parts: ChatMessage[][] = [];
  for (const message of messages) {
    const open = parts.at(-1);
    if (open && !begins(message)) open.push(message);
    else parts.push([message]);
  }
  return parts;
}

/**
 * Joins consecutive messages of one role, because the chat templates of some models refuse roles that do not alternate: a
 * question that got no answer is followed by the next question.
 */
export function mergeConsecutiveMessages(messages: readonly ChatMessage[]): ChatMessage[] {
  const merged: ChatMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last && canJoin(last) && canJoin(message) && last.role === message.role) {
      merged[merged.length - 1] = { ...last, content: joined(last.content, message.content) };
    } else {
      merged.push(message);
    }
  }
  return merged;
}

/** Calls and results are matched by their ids, one to one. */
function canJoin({ role, tool_calls, content }: ChatMessage): boolean {
  return role !== 'tool' && tool_calls === undefined && content !== null;
}

function joined(one: ChatMessage['content'], other: ChatMessage['content']): string | readonly ContentPart[] {
  if (typeof one === 'string' && typeof other === 'string') return `${one}\n\n${other}`;
  return [...parts(one), ...parts(other)];
}

function parts(content: ChatMessage['content']): readonly ContentPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
}

/** How long a model's conversations may be, in tokens. */
export interface ModelTokenLimits {
  /** Prompt and answer together. */
  readonly contextLength: number;
  /** The longest answer. */
  readonly maxOutput: number;
}

/** A request as it can be sent, and the notices about what was changed. */
export interface PreparedRequest {
  readonly request: CompletionRequest;
  readonly notices: readonly Notice[];
}

export interface TruncationContext {
  readonly observations: ModelObservations;
  /** The address of the service, which is the key of the observations. */
  readonly service: string;
  /** Absent: the history is repaired and sent whole. */
  readonly limits: ModelTokenLimits | undefined;
}

/** The share of the room that a history may fill, before and after calibration: a margin for wrong estimates. */
const SHARE = { uncalibrated: 0.85, calibrated: 0.95 };
/** The most of the context that is kept free for the answer, however long it may become. */
const ANSWER_SHARE = 0.5;

/**
 * Repairs the history (see {@link repairHistory}), leaves out its oldest turns if it is too long, and joins consecutive
 * messages of one role.
 */
export function prepareRequest(request: CompletionRequest, fitting: TruncationContext): PreparedRequest {
  const { observations, service, limits } = fitting;
  if (!limits) return { request: { ...request, messages: tidy(request) }, notices: [] };
  const context = Math.min(
    limits.contextLength,
    observations.contextLimit(service, request.model) ?? Number.POSITIVE_INFINITY,
  );
  const maxTokens = request.max_completion_tokens ?? request.max_tokens ?? limits.maxOutput;
  const room = context - Math.min(maxTokens, context * ANSWER_SHARE);
  const share = observations.isCalibrated(service, request.model) ? SHARE.calibrated : SHARE.uncalibrated;
  return truncateTo(request, Math.floor(room * share), fitting);
}

/**
 * A shorter request after the service found it too long. Its own numbers give the factor, where it named them; otherwise
 * the history is halved. `undefined` when nothing can be left out: the error is then thrown.
 */
export function truncateRequest(
  error: RolecallError,
  request: CompletionRequest,
  fitting: TruncationContext,
): PreparedRequest | undefined {
  const { observations, service } = fitting;
  const { contextLimit, contextRequested } = error.details;
  if (contextLimit !== undefined) observations.setContextLimit(service, request.model, contextLimit);
  const knows = contextLimit !== undefined && contextRequested !== undefined && contextRequested > contextLimit;
  const scale = knows ? (contextLimit / contextRequested) * 0.9 : 0.5;
  const now = observations.correctEstimate(service, request.model, estimateRequest(request));
  const shorter = truncateTo(request, Math.floor(now * scale), fitting);
  return shorter.notices.length === 0 ? undefined : shorter;
}

function truncateTo(
  request: CompletionRequest,
  budget: number,
  { observations, service }: TruncationContext,
): PreparedRequest {
  const tokens = (estimated: number) => observations.correctEstimate(service, request.model, estimated);
  const forMessages = budget - tokens(estimateTools(request.tools ?? []));
  const messages = repairHistory(request.messages);
  const fitted = truncateHistory(messages, forMessages, (message) => tokens(estimateMessage(message)));
  return { request: { ...request, messages: mergeConsecutiveMessages(fitted.messages) }, notices: noticesOf(fitted) };
}

function tidy({ messages }: CompletionRequest) {
  return mergeConsecutiveMessages(repairHistory(messages));
}

function noticesOf({ turns, rounds }: { turns: number; rounds: number }): Notice[] {
  const messages = [
    ...(turns === 1 ? [l10n.t('The earliest turn was left out to fit the model.')] : []),
    ...(turns > 1 ? [l10n.t('The {0} earliest turns were left out to fit the model.', turns)] : []),
    ...(rounds === 1 ? [l10n.t('The earliest round of tool calls was left out to fit the model.')] : []),
    ...(rounds > 1 ? [l10n.t('The {0} earliest rounds of tool calls were left out to fit the model.', rounds)] : []),
  ];
  return messages.map((message) => ({ code: 'historyFitted', message }));
}

/** The tokens for roles, separators and the like that a chat template puts around each message. */
export const TOKENS_PER_MESSAGE = 4;
/** The tokens of an image with the usual tilings, whatever its size in bytes. */
export const TOKENS_PER_IMAGE = 1_000;
const ASCII_PER_TOKEN = 4;
/** Tokenizers trained on English split letters beyond ASCII into more tokens. */
const TOKENS_PER_OTHER = 0.7;

/**
 * The rough number of tokens of a text: no tokenizer of the service is known, so usage calibrates this (see
 * `ModelObservations`).
 */
export function estimateText(text: string): number {
  let others = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) others++;
  return Math.ceil((text.length - others) / ASCII_PER_TOKEN + others * TOKENS_PER_OTHER);
}

/** The rough number of tokens of one message. */
export function estimateMessage({ content, name, tool_calls }: ChatMessage): number {
  const calls = (tool_calls ?? []).map(({ function: called }) => estimateText(called.name + called.arguments) + 8);
  return TOKENS_PER_MESSAGE + estimateContent(content) + estimateText(name ?? '') + sum(calls);
}

/** The rough number of tokens of the offered tools. */
function estimateTools(tools: readonly FunctionTool[]): number {
  return sum(tools.map((tool) => estimateText(JSON.stringify(tool))));
}

/** The rough number of tokens of a request's content for the model. */
export function estimateRequest({ messages, tools = [] }: Pick<CompletionRequest, 'messages' | 'tools'>): number {
  return sum(messages.map(estimateMessage)) + estimateTools(tools);
}

/** True if any part is not text, so that the length says little about the tokens. */
export function hasImages(messages: readonly ChatMessage[]): boolean {
  return messages.some(({ content }) => typeof content === 'object' && content?.some(({ type }) => type !== 'text'));
}

function estimateContent(content: ChatMessage['content']): number {
  if (content === null) return 0;
  return typeof content === 'string' ? estimateText(content) : sum(content.map(estimatePart));
}

function estimatePart(part: ContentPart): number {
  return part.type === 'text' ? estimateText(part.text) : TOKENS_PER_IMAGE;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
