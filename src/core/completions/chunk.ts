import { isJsonObject, type JsonObject } from '../base/json.ts';
import { type Logprobs, readLogprobs, type Usage } from './completion.ts';

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
 * less than the `JSON.parse` before it. It trusts no types: a member of another type reads as absent.
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
  // By position, as `entries()` would make a pair for every token.
  for (let position = 0; position < values.length; position++) {
    const value = values[position];
    if (isJsonObject(value)) choices.push(readChoice(value, position));
  }
  return choices;
}

function readChoice(value: JsonObject, position: number): ChoiceDelta {
  const whole = isJsonObject(value.message);
  const delta = isJsonObject(value.delta) ? value.delta : whole ? (value.message as JsonObject) : empty;
  const said = Array.isArray(delta.content) ? readParts(delta.content) : undefined;
  return {
    index: numberOrUndefined(value.index) ?? position,
    role: text(delta.role),
    text: (said ? said.text : text(delta.content)) || text(delta.refusal),
    reasoning:
      (said?.reasoning ?? '') ||
      text(delta.reasoning_content) ||
      text(delta.reasoning) ||
      (Array.isArray(delta.reasoning_details) ? readParts(delta.reasoning_details, true).reasoning : ''),
    toolCalls: readAllCalls(delta, whole),
    logprobs: value.logprobs ? readLogprobs(value.logprobs) : undefined,
    finishReason: text(value.finish_reason),
    stopReason: value.stop_reason ?? undefined,
  };
}

const empty: JsonObject = {};

/**
 * Content that came as a list of parts: text and refusals are joined; thinking parts, whose text may be a list of parts
 * once more, are reasoning, as are all of `reasoning_details`. Without recursion, because the service decides how deeply they are nested.
 */
function readParts(content: readonly unknown[], isThinking = false): { text: string; reasoning: string } {
  const said = { text: '', reasoning: '' };
  const open = [{ parts: content.values(), isThinking }];
  for (let list = open.at(-1); list !== undefined; list = open.at(-1)) {
    const { done, value: part } = list.parts.next();
    if (done) {
      open.pop();
      continue;
    }
    const thinks = list.isThinking || (isJsonObject(part) && (part.type === 'thinking' || part.type === 'reasoning'));
    const inner = isJsonObject(part) ? (thinks ? thoughtIn(part) : (part.text ?? part.refusal)) : part;
    if (Array.isArray(inner)) open.push({ parts: inner.values(), isThinking: thinks });
    else said[thinks ? 'reasoning' : 'text'] += text(inner);
  }
  return said;
}

function thoughtIn({ text, thinking, reasoning, summary }: JsonObject): unknown {
  return text ?? thinking ?? reasoning ?? summary;
}

/** The list of calls, or the one call of the legacy `function_call`. */
function readAllCalls({ tool_calls, function_call }: JsonObject, whole: boolean): readonly ToolCallDelta[] {
  if (Array.isArray(tool_calls) && tool_calls.length > 0) return readToolCalls(tool_calls, whole);
  return isJsonObject(function_call) ? readToolCalls([{ index: 0, function: function_call }], whole) : none;
}

function readToolCalls(values: readonly unknown[], whole: boolean): ToolCallDelta[] {
  const calls: ToolCallDelta[] = [];
  for (const [position, value] of values.entries()) {
    if (!isJsonObject(value)) continue;
    const called = isJsonObject(value.function) ? value.function : empty;
    calls.push({
      // In a whole answer every entry is a call of its own, whatever its index.
      index: whole ? position : numberOrUndefined(value.index),
      id: text(value.id),
      name: text(called.name),
      arguments: isJsonObject(called.arguments) ? writeJson(called.arguments) : text(called.arguments),
    });
  }
  return calls;
}

/** An object nested too deep to be written is text that is no JSON, so that the call does not run without its arguments. */
function writeJson(value: JsonObject): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '(nested too deep to be read)';
  }
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
