import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts';
import { type Logprobs, readLogprobs, type Usage } from './completion.ts';

/** The content of one chunk of a stream, or of a whole answer. Text members are empty when they were absent. */
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
  /** Empty when absent. */
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

/** A chunk of which only one text was replaced in those that followed. */
interface Template {
  /** The JSON before the text, with its quotation mark, and behind it. */
  readonly prefix: string;
  readonly suffix: string;
  readonly value: JsonObject;
  /** The part of `value` that has the text, and the name of that member. */
  readonly delta: Record<string, unknown>;
  readonly name: string;
}

/** What services call text and reasoning. */
const SAID = ['content', 'reasoning_content', 'reasoning', 'refusal'];
/** Longer chunks are parsed each time: a service chooses what is searched in them, and for what. */
const LONGEST_TEMPLATE = 16_384;

/** V8 copies slices that are shorter. A longer one would keep the whole text of the stream in memory. */
const COPIED_LENGTH = 13;
/** These characters stand for themselves in a JSON string (RFC 8259, section 7), as do others. */
const PLAIN = /^[^"\\\p{Cc}]*$/u;

/**
 * `JSON.parse` for the chunks of one stream, and several times as fast: most differ from the one before in the text of the
 * answer alone, so that is all that is read of them. Whatever differs otherwise is parsed.
 */
export class ChunkParser {
  #template: Template | undefined;
  #hits = 0;
  #misses = 0;
  #tries = 0;

  /** @returns the value, which is valid until the next call, or `undefined` when `data` is not JSON. */
  parse(data: string): unknown {
    const repeated = this.#repeated(data);
    if (repeated) {
      this.#hits++;
      return repeated;
    }
    const value = parseJson(data);
    this.#misses++;
    // Making a template costs about what two hits save, and a service can put something new into every chunk.
    if (isJsonObject(value) && this.#tries <= this.#hits / 2 + Math.log2(this.#misses)) {
      this.#tries++;
      this.#template = templateOf(data, value) ?? this.#template;
    }
    return value;
  }

  #repeated(data: string): JsonObject | undefined {
    if (!this.#template) return undefined;
    const { prefix, suffix, value, delta, name } = this.#template;
    const end = data.length - suffix.length;
    // Slices are compared many bytes at once, which `startsWith` does not do.
    if (end < prefix.length || data.slice(0, prefix.length) !== prefix || data.slice(end) !== suffix) return undefined;
    const raw = data.slice(prefix.length, end);
    const content = raw.length < COPIED_LENGTH && PLAIN.test(raw) ? raw : parseJson(`"${raw}"`);
    if (content === undefined) return undefined; // More than one string.
    delta[name] = content;
    return value;
  }
}

function templateOf(data: string, value: JsonObject): Template | undefined {
  const delta = deltaOf(value);
  const name = SAID.find((each) => typeof delta?.[each] === 'string' && delta[each] !== '');
  if (name === undefined || data.length > LONGEST_TEMPLATE) return undefined;
  const literal = JSON.stringify(delta?.[name]);
  const at = data.indexOf(literal, data.indexOf(`"${name}"`) + name.length + 2);
  if (at === -1) return undefined; // Written in another way, with escapes.
  const prefix = data.slice(0, at + 1);
  const suffix = data.slice(at + literal.length - 1);
  // The same words can stand elsewhere in the chunk, and one other word could be there by chance: this is the place if the
  // text becomes whatever is put there.
  const [one, other] = ['one', 'other'].map((probe) => parseJson(prefix + probe + suffix));
  if (!isJsonObject(one) || !isJsonObject(other)) return undefined;
  const open = deltaOf(one);
  if (open?.[name] !== 'one' || deltaOf(other)?.[name] !== 'other') return undefined;
  return { prefix, suffix, value: one, delta: open, name };
}

function deltaOf({ choices }: JsonObject): Record<string, unknown> | undefined {
  const [first]: readonly unknown[] = Array.isArray(choices) ? choices : none;
  return isJsonObject(first) && isJsonObject(first.delta) ? first.delta : undefined;
}

/**
 * Reads a chunk or a whole answer. Written by hand and not as a schema, because it runs for every token: it must cost
 * less than a `JSON.parse`. It trusts no types: a member of another type reads as absent.
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
  const parts = Array.isArray(delta.content) ? readParts(delta.content) : undefined;
  return {
    index: numberOrUndefined(value.index) ?? position,
    role: text(delta.role),
    text: (parts ? parts.text : text(delta.content)) || text(delta.refusal),
    reasoning:
      (parts?.reasoning ?? '') ||
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
  const texts = { text: '', reasoning: '' };
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
    else texts[thinks ? 'reasoning' : 'text'] += text(inner);
  }
  return texts;
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
