import { isJsonObject } from '../base/json.ts';
import type { ToolCall } from '../base/toolCall.ts';

/** Token counts as the service reported them last; a member is absent when the service did not send a number. */
export interface Usage {
  readonly promptTokens?: number;
  readonly completionTokens?: number;
  readonly totalTokens?: number;
  /** `prompt_tokens_details`, of unspecified type. */
  readonly promptTokensDetails?: unknown;
  /** `completion_tokens_details`, which some servers send (reasoning tokens). */
  readonly completionTokensDetails?: unknown;
}

/** One of the `n` answers. */
export interface CompletionChoice {
  /** `choice.index` of the service. */
  readonly index: number;
  readonly role: string;
  readonly text: string;
  /** `reasoning_content` (or `reasoning`); empty when there was none. */
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly logprobs?: Logprobs;
  /** As sent: `stop`, `length`, `tool_calls`, … ; absent when the service sent none. */
  readonly finishReason?: string;
  /** Its meaning; see {@link readFinishReason}. */
  readonly ending: FinishKind;
  /** `stop_reason`: the stop string, a token id, or whatever else the service sends; absent when null. */
  readonly stopReason?: unknown;
}

/**
 * How the service says that an answer ended.
 *
 * - `finished`: the model finished.
 * - `length`: the answer, or the context, reached its limit.
 * - `endedEarly`: the service stopped it.
 * - `unknown`: it did not say, or used an unknown value.
 */
export type FinishKind = 'finished' | 'length' | 'endedEarly' | 'unknown';

/** The finish reasons of the specification's family of services and of the gateways in front of them. */
const endings: Readonly<Record<Exclude<FinishKind, 'unknown'>, readonly string[]>> = {
  finished: ['stop', 'tool_calls', 'function_call', 'eos', 'eos_token', 'stop_sequence', 'end_turn'],
  length: ['length', 'model_length'],
  endedEarly: ['content_filter', 'abort', 'error', 'repetition', 'insufficient_system_resource', 'network_error'],
};

/** @param reason `finish_reason`; empty when the service sent none. */
export function readFinishReason(reason: string): FinishKind {
  for (const [ending, reasons] of Object.entries(endings)) if (reasons.includes(reason)) return ending as FinishKind;
  return 'unknown';
}

/** An answer of the inference service, whole or as much as arrived. */
export interface Completion {
  readonly id?: string;
  /** `object`, for example `chat.completion` or `chat.completion.chunk`. */
  readonly object?: string;
  readonly model?: string;
  /** Seconds since 1970. */
  readonly created?: number;
  /** `system_fingerprint`. */
  readonly fingerprint?: string;
  /** In order of `index`. */
  readonly choices: readonly CompletionChoice[];
  readonly usage?: Usage;
  /** `prompt_logprobs`, never in streams; a string, an array or anything else. */
  readonly promptLogprobs?: unknown;
  /** False when the answer ended before the service said that it was finished. */
  readonly complete: boolean;
  /** A plain sentence, present exactly when `complete` is false. */
  readonly incompleteReason?: string;
  /** What was unusual, in order; the same as in the `notice` events. */
  readonly notices: readonly Notice[];
}

/**
 * Something the user should know about an answer that otherwise works.
 *
 * - `streamDropped`, `streamOptionsDropped`, `toolsDropped`: the service refused them and was asked without.
 * - `historyFitted`: the oldest of the conversation was left out, so that the rest fits the model.
 * - `parameterLeftOut`: a parameter that was set cannot be sent.
 * - `waiting`: too many requests; the request is sent again after the time the service asked for.
 * - `notStreamed`: the whole answer came at once although a stream was asked for.
 * - `finishWithoutCalls`, `callsWithoutFinish`: `finish_reason` and the tool calls contradict each other.
 * - `fewerChoices`: fewer answers than `n` asked for.
 */
export interface Notice {
  readonly code:
    | 'streamDropped'
    | 'streamOptionsDropped'
    | 'historyFitted'
    | 'toolsDropped'
    | 'parameterLeftOut'
    | 'waiting'
    | 'notStreamed'
    | 'finishWithoutCalls'
    | 'callsWithoutFinish'
    | 'fewerChoices';
  /** A plain sentence. */
  readonly message: string;
}

/**
 * What happens while an answer arrives. `text`, `reasoning` and `logprobs` come as they arrive; `toolCall`, `finish` and
 * `usage` at the end, when nothing can change them any more. No `toolCall` comes for an answer that was cut.
 */
export type CompletionEvent =
  | { readonly kind: 'text'; readonly choice: number; readonly text: string }
  | { readonly kind: 'reasoning'; readonly choice: number; readonly text: string }
  | { readonly kind: 'logprobs'; readonly choice: number; readonly logprobs: Logprobs }
  | { readonly kind: 'toolCall'; readonly choice: number; readonly call: ToolCall }
  | { readonly kind: 'finish'; readonly choice: number; readonly reason?: string; readonly stopReason?: unknown }
  | { readonly kind: 'usage'; readonly usage: Usage }
  | ({ readonly kind: 'notice' } & Notice)
  /** The last event before an error is thrown in the middle of an answer, with what arrived until then. */
  | { readonly kind: 'interrupted'; readonly completion: Completion };

/** One token and how likely it was. Specification of the inference service, "Token entry". */
export interface TokenLogprob {
  readonly token: string;
  /** Natural logarithm of the probability; servers of this kind send -9999 for "practically never". */
  readonly logprob: number;
  /** UTF-8 bytes of the token; absent when the service sent null. */
  readonly bytes?: readonly number[];
}

/** A token that was chosen, with the alternatives the service considered. */
export interface ChosenToken extends TokenLogprob {
  readonly topLogprobs: readonly TokenLogprob[];
}

/** The tokens of an answer, in order. */
export type Logprobs = readonly ChosenToken[];

/** Neighbouring tokens that together spell whole characters. */
export interface TokenGroup {
  readonly text: string;
  readonly tokens: Logprobs;
}

/** `logprobs` of a choice or a delta, of its text and of a refusal; `undefined` when there is no usable token in it. */
export function readLogprobs(value: unknown): ChosenToken[] | undefined {
  if (!isJsonObject(value)) return undefined;
  const tokens = [value.content, value.refusal]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .flatMap(readChosenToken);
  return tokens.length > 0 ? tokens : undefined;
}

/**
 * The text of each run of tokens. A character may be spread over several tokens, whose `token` strings are then
 * replacement characters: the bytes are joined before they are decoded.
 */
export function groupTokens(logprobs: Logprobs): TokenGroup[] {
  const groups: TokenGroup[] = [];
  let open: ChosenToken[] = [];
  let bytes: number[] = [];
  const close = () => {
    if (open.length > 0) groups.push({ text: decoder.decode(Uint8Array.from(bytes)), tokens: open });
    open = [];
    bytes = [];
  };
  for (const token of logprobs) {
    // A byte that starts a character ends whatever was left unfinished before it.
    if (!token.bytes || !isContinuation(token.bytes[0])) close();
    if (!token.bytes) {
      groups.push({ text: token.token, tokens: [token] });
      continue;
    }
    open.push(token);
    for (const byte of token.bytes) bytes.push(byte);
    if (endsWhole(bytes)) close();
  }
  close();
  return groups;
}

/** The probability of a token, 0 to 1. */
export function probability(token: TokenLogprob): number {
  return Math.min(1, Math.exp(token.logprob));
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** True when the last character of `bytes` has all the bytes that its first byte announces (RFC 3629). */
function endsWhole(bytes: readonly number[]): boolean {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const length = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return back >= length;
  }
  return true;
}

function readChosenToken(value: unknown): ChosenToken[] {
  const token = readToken(value);
  if (!token || !isJsonObject(value)) return [];
  const top = value.top_logprobs;
  const topLogprobs = Array.isArray(top) ? top.map(readToken).filter((entry) => entry !== undefined) : [];
  return [{ ...token, topLogprobs }];
}

function readToken(value: unknown): TokenLogprob | undefined {
  if (!isJsonObject(value)) return undefined;
  const { token, logprob, bytes } = value;
  if (typeof token !== 'string' || typeof logprob !== 'number') return undefined;
  return Array.isArray(bytes) && bytes.every(isByte) ? { token, logprob, bytes } : { token, logprob };
}

function isByte(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255;
}
