import { invalidRequest } from './errors.ts';

/** A chat completion request that has been validated. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly FunctionTool[];
  readonly toolChoice: 'auto' | 'none';
  /** Names of the request's fields that only some models support. */
  readonly traits: readonly ('tools' | 'tool_choice' | 'reasoning_effort')[];
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  readonly logitBias: ReadonlyMap<number, number>;
  readonly logprobs: boolean;
  readonly topLogprobs: number;
  /** The smaller of `max_tokens` and `max_completion_tokens`. Both limit the whole answer, including reasoning. */
  readonly maxTokens: number | undefined;
  /** The field that `maxTokens` comes from. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  readonly n: number;
  readonly seed: number | undefined;
  readonly stops: readonly string[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly reasoningEffort: ReasoningEffort;
}

export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ReasoningEffort = (typeof reasoningEfforts)[number];

export const roles = ['system', 'developer', 'user', 'assistant', 'tool'] as const;
export type Role = (typeof roles)[number];

export interface ChatMessage {
  readonly role: Role;
  /** The text of the content. Multiple text parts are joined with line breaks. */
  readonly text: string;
  readonly images: readonly ImagePart[];
  /** Empty unless the role is `assistant`. */
  readonly toolCalls: readonly PastToolCall[];
  /** The call that a tool result answers; `undefined` for other roles. */
  readonly answers: PastToolCall | undefined;
}

export interface ImagePart {
  readonly url: string;
  /** Like `bytes`, only set for data URLs. */
  readonly mediaType: string | undefined;
  readonly bytes: Uint8Array | undefined;
}

export interface PastToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface FunctionTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of type object; by default `{"type":"object"}`. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON type of a value, for error messages. */
export function jsonType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/**
 * Reads an optional field. Like the other readers below, it returns `undefined` if the field is missing or null,
 * because clients of the `openai` package send either.
 *
 * @throws RequestError (400) with the name of the field as `param` when its type or value is wrong.
 */
export function readNumber(body: JsonObject, name: string, bounds: Bounds): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') throw wrongType(name, 'a number', value);
  return withinBounds(name, value, bounds);
}

export function readInteger(body: JsonObject, name: string, bounds: Bounds): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType(name, 'an integer', value);
  return withinBounds(name, value, bounds);
}

export function readBoolean(body: JsonObject, name: string): boolean | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  throw wrongType(name, 'a boolean', value);
}

export function readString(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw wrongType(name, 'a string', value);
}

/** The bounds of a number. `above` is exclusive, the others are inclusive. */
export interface Bounds {
  readonly least?: number;
  readonly above?: number;
  readonly most?: number;
}

function withinBounds(name: string, value: number, { least, above, most }: Bounds): number {
  const conditions: string[] = [];
  if (least !== undefined) conditions.push(`at least ${least}`);
  if (above !== undefined) conditions.push(`greater than ${above}`);
  if (most !== undefined) conditions.push(`at most ${most}`);
  const isWithin = (least ?? value) <= value && value <= (most ?? value) && (above === undefined || value > above);
  if (!isWithin) throw invalidRequest(name, `\`${name}\` must be ${conditions.join(' and ')}, got ${value}.`);
  return value;
}

export function wrongType(path: string, expected: string, value: unknown): Error {
  const actual = typeof value === 'number' ? String(value) : jsonType(value);
  return invalidRequest(
    path,
    value === undefined ? `\`${path}\` is required.` : `\`${path}\` must be ${expected}, got ${actual}.`,
  );
}
