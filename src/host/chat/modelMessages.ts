import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import type { ChatMessage, ContentPart, ToolCallMessage, ToolDefinition } from '../../core/completions/request.ts';

/** VS Code's chat messages as those of the inference service. One of theirs may become several of ours. */
export function toChatMessages(messages: readonly vscode.LanguageModelChatRequestMessage[]): ChatMessage[] {
  return messages.flatMap((message) =>
    message.role === vscode.LanguageModelChatMessageRole.Assistant ? assistantMessage(message) : userMessages(message),
  );
}

/** VS Code's tools as function tools of the specification. */
export function toToolDefinitions(tools: readonly vscode.LanguageModelChatTool[]): ToolDefinition[] {
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

/** Tool results come inside user messages there and are messages of their own here, before what the user says. */
function userMessages({ content }: vscode.LanguageModelChatRequestMessage): ChatMessage[] {
  const results = content
    .filter((part) => part instanceof vscode.LanguageModelToolResultPart)
    .map((part): ChatMessage => ({ role: 'tool', tool_call_id: part.callId, content: textOf(part.content) }));
  const images = content.filter((part) => part instanceof vscode.LanguageModelDataPart).flatMap(imagePart);
  const text = textOf(content);
  if (images.length > 0) {
    const parts: ContentPart[] = [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...images];
    return [...results, { role: 'user', content: parts }];
  }
  return text === '' ? results : [...results, { role: 'user', content: text }];
}

function imagePart({ mimeType, data }: vscode.LanguageModelDataPart): ContentPart[] {
  if (/^(text\/|application\/json)/.test(mimeType)) return []; // Is part of the text.
  if (mimeType.startsWith('image/')) {
    const base64 = Buffer.from(data).toString('base64');
    return [{ type: 'image_url', image_url: { url: `data:${mimeType};base64,${base64}` } }];
  }
  // Bookkeeping of the editor, such as cache marks, travels as data too and means nothing to the service.
  if (mimeType === 'cache_control' || mimeType === 'usage') return [];
  throw new RolecallError('invalidRequest', `The inference service takes text and images, not ${mimeType}.`);
}

function textOf(content: readonly unknown[]): string {
  return content
    .map((part) => {
      if (part instanceof vscode.LanguageModelTextPart) return part.value;
      if (part instanceof vscode.LanguageModelDataPart && /^(text\/|application\/json)/.test(part.mimeType)) {
        return new TextDecoder().decode(part.data);
      }
      return '';
    })
    .join('');
}
