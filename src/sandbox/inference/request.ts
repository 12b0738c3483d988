import { invalidRequest } from './errors.ts';

/** A chat completion request after validation: what the rest of the inference sandbox works with. */
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
  /** The smaller of `max_tokens` and `max_completion_tokens`; both bound the whole answer, reasoning included. */
  readonly maxTokens: number | undefined;
  /** Which of the two fields gave `maxTokens`. */
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
  /** The text of the content; the text parts of an image message joined by a line end. */
  readonly text: string;
  readonly images: readonly ImagePart[];
  /** Only of an assistant. */
  readonly toolCalls: readonly PastToolCall[];
  /** Only of a tool result: which call it answers, and that call's tool. */
  readonly answers: PastToolCall | undefined;
}

export interface ImagePart {
  readonly url: string;
  /** Only of a data URL. */
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
  /** A JSON Schema of type object; `{"type":"object"}` where the request gives none. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A JSON object as it came in. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** How a value is called in an error message: its JSON type. */
export function jsonType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/**
 * Readers of one optional field each: undefined when it is absent or null, which clients of the `openai` package send
 * alike; a Refusal (400, `param` names the field) when its type or value is wrong.
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

/** A number's bounds; `above` excludes its own value. */
export interface Bounds {
  readonly least?: number;
  readonly above?: number;
  readonly most?: number;
}

function withinBounds(name: string, value: number, { least, above, most }: Bounds): number {
  const wanted: string[] = [];
  if (least !== undefined) wanted.push(`at least ${least}`);
  if (above !== undefined) wanted.push(`greater than ${above}`);
  if (most !== undefined) wanted.push(`at most ${most}`);
  const inside = (least ?? value) <= value && value <= (most ?? value) && (above === undefined || value > above);
  if (!inside) throw invalidRequest(name, `\`${name}\` must be ${wanted.join(' and ')}, got ${value}.`);
  return value;
}

export function wrongType(path: string, wanted: string, value: unknown): Error {
  const got = typeof value === 'number' ? String(value) : jsonType(value);
  return invalidRequest(
    path,
    value === undefined ? `\`${path}\` is required.` : `\`${path}\` must be ${wanted}, got ${got}.`,
  );
}
