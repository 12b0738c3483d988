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
