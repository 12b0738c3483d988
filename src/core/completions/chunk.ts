import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { Usage } from './completion.ts';
import { type Logprobs, readLogprobs } from './logprobs.ts';

/** What one chunk of a stream, or a whole answer, says. Text members are empty when nothing was said. */
export interface Chunk {
  readonly id: string | undefined;
  readonly object: string | undefined;
  readonly model: string | undefined;
  readonly created: number | undefined;
  readonly fingerprint: string | undefined;
  readonly choices: readonly ChoiceDelta[];
  readonly usage: Usage | undefined;
  /** Undefined when absent or null. */
  readonly promptLogprobs: unknown;
}

export interface ChoiceDelta {
  readonly index: number;
  readonly role: string;
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCallDelta[];
  readonly logprobs: Logprobs | undefined;
  /** Empty when the service did not say. */
  readonly finishReason: string;
  /** Undefined when absent or null. */
  readonly stopReason: unknown;
}

export interface ToolCallDelta {
  readonly index: number | undefined;
  /** Empty when absent. */
  readonly id: string;
  /** Empty when absent. */
  readonly name: string;
  /** A piece of the arguments' JSON text; empty when absent. */
  readonly arguments: string;
}

/**
 * Reads a chunk or a whole answer. Written by hand and not as a schema, because it runs for every token: it must cost
 * less than the `JSON.parse` before it. It relies on nothing: a member of another type reads as absent.
 */
export function readChunk(value: JsonObject): Chunk {
  return {
    id: textOrUndefined(value.id),
    object: textOrUndefined(value.object),
    model: textOrUndefined(value.model),
    created: numberOrUndefined(value.created),
    fingerprint: textOrUndefined(value.system_fingerprint),
    choices: Array.isArray(value.choices) ? readChoices(value.choices) : none,
    usage: value.usage === undefined ? undefined : readUsage(value.usage),
    promptLogprobs: value.prompt_logprobs ?? undefined,
  };
}

const none: readonly never[] = [];

function readChoices(values: readonly unknown[]): ChoiceDelta[] {
  const choices: ChoiceDelta[] = [];
  for (const [position, value] of values.entries()) {
    if (isJsonObject(value)) choices.push(readChoice(value, position));
  }
  return choices;
}

function readChoice(value: JsonObject, position: number): ChoiceDelta {
  const whole = isJsonObject(value.message);
  const delta = isJsonObject(value.delta) ? value.delta : whole ? (value.message as JsonObject) : empty;
  const said = typeof delta.content === 'string' ? undefined : readParts(delta.content);
  return {
    index: numberOrUndefined(value.index) ?? position,
    role: text(delta.role),
    text: (said ? said.text : text(delta.content)) || text(delta.refusal),
    reasoning: (said?.reasoning ?? '') || text(delta.reasoning_content) || text(delta.reasoning),
    toolCalls: Array.isArray(delta.tool_calls) ? readToolCalls(delta.tool_calls, whole) : none,
    logprobs: value.logprobs ? readLogprobs(value.logprobs) : undefined,
    finishReason: text(value.finish_reason),
    stopReason: value.stop_reason ?? undefined,
  };
}

const empty: JsonObject = {};

/** Content that came as a list of parts: text is joined; thinking parts are reasoning. */
function readParts(content: unknown): { text: string; reasoning: string } | undefined {
  if (!Array.isArray(content)) return undefined;
  let joined = '';
  let reasoning = '';
  for (const part of content) {
    if (typeof part === 'string') joined += part;
    else if (!isJsonObject(part)) continue;
    else if (part.type === 'thinking' || part.type === 'reasoning') reasoning += readThinking(part);
    else joined += text(part.text);
  }
  return { text: joined, reasoning };
}

function readThinking(part: JsonObject): string {
  const inner = part.thinking ?? part.reasoning ?? part.text;
  return Array.isArray(inner) ? (readParts(inner)?.text ?? '') : text(inner);
}

function readToolCalls(values: readonly unknown[], whole: boolean): ToolCallDelta[] {
  const calls: ToolCallDelta[] = [];
  for (const [position, value] of values.entries()) {
    if (!isJsonObject(value)) continue;
    const called = isJsonObject(value.function) ? value.function : empty;
    calls.push({
      // In a whole answer every entry is a call of its own, whatever its index says.
      index: whole ? position : numberOrUndefined(value.index),
      id: text(value.id),
      name: text(called.name),
      arguments: isJsonObject(called.arguments) ? JSON.stringify(called.arguments) : text(called.arguments),
    });
  }
  return calls;
}

function readUsage(value: unknown): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  return {
    ...numberMember('promptTokens', value.prompt_tokens),
    ...numberMember('completionTokens', value.completion_tokens),
    ...numberMember('totalTokens', value.total_tokens),
    ...(value.prompt_tokens_details == null ? {} : { promptTokensDetails: value.prompt_tokens_details }),
    ...(value.completion_tokens_details == null ? {} : { completionTokensDetails: value.completion_tokens_details }),
  };
}

function numberMember<Name extends string>(name: Name, value: unknown): Partial<Record<Name, number>> {
  return typeof value === 'number' ? ({ [name]: value } as Partial<Record<Name, number>>) : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function textOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberOrUndefined(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
