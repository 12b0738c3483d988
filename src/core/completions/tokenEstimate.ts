import type { ChatMessage, CompletionRequest, ContentPart, ToolDefinition } from './request.ts';

/** Roles, separators and the like that a chat template puts around each message. */
export const TOKENS_PER_MESSAGE = 4;
/** What an image costs with the usual tilings, whatever its size in bytes. */
export const TOKENS_PER_IMAGE = 1_000;
const ASCII_PER_TOKEN = 4;
/** Letters beyond ASCII are cut finer by tokenizers that were trained on English. */
const TOKENS_PER_OTHER = 0.7;

/** Tokens of a text, roughly: no tokenizer of the service is known, so usage calibrates this (see `ModelMemory`). */
export function estimateText(text: string): number {
  let others = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) others++;
  return Math.ceil((text.length - others) / ASCII_PER_TOKEN + others * TOKENS_PER_OTHER);
}

/** Tokens of one message, roughly. */
export function estimateMessage({ content, name, tool_calls }: ChatMessage): number {
  const calls = (tool_calls ?? []).map(({ function: called }) => estimateText(called.name + called.arguments) + 8);
  return TOKENS_PER_MESSAGE + estimateContent(content) + estimateText(name ?? '') + sum(calls);
}

/** Tokens of the tools on offer, roughly. */
export function estimateTools(tools: readonly ToolDefinition[]): number {
  return sum(tools.map((tool) => estimateText(JSON.stringify(tool))));
}

/** Tokens of what a request gives the model to read, roughly. */
export function estimateRequest({ messages, tools = [] }: Pick<CompletionRequest, 'messages' | 'tools'>): number {
  return sum(messages.map(estimateMessage)) + estimateTools(tools);
}

/** True when anything in it is not text, so that its length says little about its tokens. */
export function holdsImages(messages: readonly ChatMessage[]): boolean {
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
