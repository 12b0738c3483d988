import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import { estimateText, TOKENS_PER_IMAGE, TOKENS_PER_MESSAGE } from '../../core/completions/history.ts';
import type { ChatMessage, ContentPart, FunctionTool, ToolCallMessage } from '../../core/completions/request.ts';

const { Assistant, User } = vscode.LanguageModelChatMessageRole;

import { toImagePart } from './images.ts';

/** VS Code's chat messages as messages of the inference service. One of theirs may become several of ours. */
export function toChatMessages(messages: readonly vscode.LanguageModelChatRequestMessage[]): ChatMessage[] {
  return messages.flatMap((message) => {
    if (message.role === Assistant) return assistantMessage(message);
    // The role of instructions is not declared in the stable API, and VS Code sends it all the same.
    return message.role === User ? userMessages(message) : systemMessage(message);
  });
}

/** VS Code's tools as function tools of the specification. */
export function toFunctionTools(tools: readonly vscode.LanguageModelChatTool[]): FunctionTool[] {
  return tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: {
      name,
      description,
      // The service wants an object schema; a tool without input has none.
      parameters: { type: 'object', properties: {}, ...inputSchema },
    },
  }));
}

function assistantMessage({ content }: vscode.LanguageModelChatRequestMessage): ChatMessage[] {
  const text = textOf(content);
  const calls = content
    .filter((part) => part instanceof vscode.LanguageModelToolCallPart)
    .map(
      (part): ToolCallMessage => ({
        id: part.callId,
        type: 'function',
        function: { name: part.name, arguments: JSON.stringify(part.input ?? {}) },
      }),
    );
  if (calls.length > 0) return [{ role: 'assistant', content: text, tool_calls: calls }];
  return text === '' ? [] : [{ role: 'assistant', content: text }];
}

function systemMessage({ content }: vscode.LanguageModelChatRequestMessage): ChatMessage[] {
  const text = textOf(content);
  return text === '' ? [] : [{ role: 'system', content: text }];
}

/** Tool results come inside user messages there and are messages of their own here, before what the user says. */
function userMessages({ content }: vscode.LanguageModelChatRequestMessage): ChatMessage[] {
  const results = content
    .filter((part) => part instanceof vscode.LanguageModelToolResultPart)
    .map((part): ChatMessage => ({ role: 'tool', tool_call_id: part.callId, content: resultText(part.content) }));
  const images = content.filter((part) => part instanceof vscode.LanguageModelDataPart).flatMap(imagesIn);
  const text = textOf(content);
  if (images.length > 0) {
    const parts: ContentPart[] = [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...images];
    return [...results, { role: 'user', content: parts }];
  }
  return text === '' ? results : [...results, { role: 'user', content: text }];
}

function imagesIn(part: vscode.LanguageModelDataPart): ContentPart[] {
  const { mimeType, data } = part;
  if (isText(part) || isBookkeeping(part)) return []; // Text is part of the text.
  if (mimeType.startsWith('image/')) return [toImagePart(mimeType, data)];
  throw new RolecallError(
    'invalidRequest',
    vscode.l10n.t('The inference service accepts text and images, not {0}.', mimeType),
  );
}

function isText({ mimeType }: vscode.LanguageModelDataPart): boolean {
  return /^(text\/|application\/json)/.test(mimeType);
}

/** Marks of the editor, such as `cache_control` and `usage`, travel as data too and mean nothing to the service. */
function isBookkeeping({ mimeType }: vscode.LanguageModelDataPart): boolean {
  return !mimeType.includes('/');
}

function textOf(content: readonly unknown[]): string {
  return content.map(partText).join('');
}

function partText(part: unknown): string {
  if (part instanceof vscode.LanguageModelTextPart) return part.value;
  if (part instanceof vscode.LanguageModelDataPart && isText(part)) return new TextDecoder().decode(part.data);
  return '';
}

/** A tool result is text on the wire: anything else is named instead of dropped. */
function resultText(content: readonly unknown[]): string {
  return content
    .map((part) => {
      if (part instanceof vscode.LanguageModelPromptTsxPart) return JSON.stringify(part.value);
      if (part instanceof vscode.LanguageModelDataPart && !isText(part) && !isBookkeeping(part)) {
        return `[${part.mimeType} of ${part.data.byteLength} bytes, which cannot be sent as the result of a tool]`;
      }
      return partText(part);
    })
    .join('');
}

/** Tokens of a message, roughly; nothing is converted for it, and nothing that cannot be sent makes it fail. */
export function estimateMessageTokens({ content }: vscode.LanguageModelChatRequestMessage): number {
  return content.map(tokensOfPart).reduce((sum, tokens) => sum + tokens, TOKENS_PER_MESSAGE);
}

function tokensOfPart(part: unknown): number {
  if (part instanceof vscode.LanguageModelToolCallPart) {
    return estimateText(part.name) + estimateText(JSON.stringify(part.input ?? {}));
  }
  if (part instanceof vscode.LanguageModelToolResultPart) return estimateText(resultText(part.content));
  if (part instanceof vscode.LanguageModelDataPart && part.mimeType.startsWith('image/')) return TOKENS_PER_IMAGE;
  return estimateText(partText(part));
}
