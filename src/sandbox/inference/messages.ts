import { invalidRequest } from './errors.ts';
import {
  type ChatMessage,
  type ImagePart,
  isObject,
  type JsonObject,
  type PastToolCall,
  type Role,
  roles,
  wrongType,
} from './request.ts';

/**
 * Validates each message of a chat history and their order: a tool result must answer an earlier call, and all calls of
 * an assistant message must be answered before the next message of another role. Chat templates of models require this.
 */
export function readMessages(value: unknown): ChatMessage[] {
  if (!Array.isArray(value)) throw wrongType('messages', 'an array', value);
  if (value.length === 0) throw invalidRequest('messages', '`messages` must hold at least one message.');
  const calls = new Map<string, PastToolCall>();
  const unanswered = new Set<string>();
  const messages = value.map((item: unknown, index) => {
    const path = `messages[${index}]`;
    const message = readMessage(item, path, calls);
    if (message.role !== 'tool') requireAllAnswered(unanswered, path);
    if (message.answers) unanswered.delete(message.answers.id);
    for (const call of message.toolCalls) {
      calls.set(call.id, call);
      unanswered.add(call.id);
    }
    return message;
  });
  requireAllAnswered(unanswered, 'messages');
  return messages;
}

function requireAllAnswered(unanswered: ReadonlySet<string>, path: string): void {
  if (unanswered.size === 0) return;
  throw invalidRequest(
    path,
    `An assistant message with tool_calls must be followed by one tool message for each call; without an answer: ${[...unanswered].join(', ')}.`,
  );
}

function readMessage(item: unknown, path: string, calls: ReadonlyMap<string, PastToolCall>): ChatMessage {
  if (!isObject(item)) throw wrongType(path, 'an object', item);
  const role = readRole(item, path);
  const toolCalls = role === 'assistant' ? readToolCalls(item, path) : [];
  const contentMayBeMissing = role === 'assistant' && toolCalls.length > 0;
  const content =
    contentMayBeMissing && (item.content === undefined || item.content === null)
      ? { text: '', images: [] }
      : readContent(item.content, `${path}.content`, role);
  return { role, ...content, toolCalls, answers: role === 'tool' ? readAnswered(item, path, calls) : undefined };
}

function readRole(item: JsonObject, path: string): Role {
  const role = roles.find((known) => known === item.role);
  if (role) return role;
  if (typeof item.role !== 'string') throw wrongType(`${path}.role`, 'a string', item.role);
  throw invalidRequest(`${path}.role`, `\`${path}.role\` must be one of ${roles.join(', ')}, got \`${item.role}\`.`);
}

function readContent(content: unknown, path: string, role: Role): Pick<ChatMessage, 'text' | 'images'> {
  if (typeof content === 'string') return { text: content, images: [] };
  if (!Array.isArray(content)) throw wrongType(path, 'a string or an array of parts', content);
  if (content.length === 0) throw invalidRequest(path, `\`${path}\` must hold at least one part.`);
  const texts: string[] = [];
  const images: ImagePart[] = [];
  for (const [index, part] of content.entries()) readPart(part, `${path}[${index}]`, role, texts, images);
  return { text: texts.join('\n'), images };
}

function readPart(part: unknown, path: string, role: Role, texts: string[], images: ImagePart[]): void {
  if (!isObject(part)) throw wrongType(path, 'an object', part);
  if (part.type === 'text') {
    if (typeof part.text !== 'string') throw wrongType(`${path}.text`, 'a string', part.text);
    texts.push(part.text);
    return;
  }
  if (part.type !== 'image_url')
    throw invalidRequest(`${path}.type`, `\`${path}.type\` must be \`text\` or \`image_url\`.`);
  if (role !== 'user')
    throw invalidRequest(path, `Only a user message can hold images, this one has the role ${role}.`);
  images.push(readImage(part.image_url, `${path}.image_url`));
}

const details = ['auto', 'low', 'high'];

function readImage(image: unknown, path: string): ImagePart {
  if (!isObject(image)) throw wrongType(path, 'an object', image);
  const { url, detail } = image;
  if (typeof url !== 'string') throw wrongType(`${path}.url`, 'a string', url);
  if (detail !== undefined && !details.includes(String(detail)))
    throw invalidRequest(`${path}.detail`, `\`${path}.detail\` must be one of ${details.join(', ')}.`);
  if (!url.startsWith('data:')) {
    if (!/^https?:/i.test(url) || !URL.canParse(url))
      throw invalidRequest(`${path}.url`, `\`${path}.url\` must be an http, https or data URL.`);
    return { url, mediaType: undefined, bytes: undefined };
  }
  const data = /^data:(image\/[a-z0-9.+-]+);base64,([a-z0-9+/]*={0,2})$/i.exec(url);
  if (!data?.[1] || !data[2])
    throw invalidRequest(`${path}.url`, `\`${path}.url\` must be \`data:image/<type>;base64,<data>\` with data in it.`);
  return { url, mediaType: data[1].toLowerCase(), bytes: Buffer.from(data[2], 'base64') };
}

function readToolCalls(item: JsonObject, path: string): PastToolCall[] {
  const value = item.tool_calls;
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw wrongType(`${path}.tool_calls`, 'an array', value);
  if (value.length === 0)
    throw invalidRequest(`${path}.tool_calls`, `\`${path}.tool_calls\` must not be empty: leave it out.`);
  return value.map((call: unknown, index) => readToolCall(call, `${path}.tool_calls[${index}]`));
}

function readToolCall(call: unknown, path: string): PastToolCall {
  if (!isObject(call)) throw wrongType(path, 'an object', call);
  if (typeof call.id !== 'string' || call.id === '')
    throw wrongType(`${path}.id`, 'a string that is not empty', call.id);
  if (call.type !== 'function') throw invalidRequest(`${path}.type`, `\`${path}.type\` must be \`function\`.`);
  if (!isObject(call.function)) throw wrongType(`${path}.function`, 'an object', call.function);
  const { name, arguments: text } = call.function;
  if (typeof name !== 'string' || name === '')
    throw wrongType(`${path}.function.name`, 'a string that is not empty', name);
  if (typeof text !== 'string') throw wrongType(`${path}.function.arguments`, 'a string', text);
  return { id: call.id, name, arguments: readArguments(text, `${path}.function.arguments`) };
}

function readArguments(text: string, path: string): JsonObject {
  try {
    const parsed: unknown = JSON.parse(text);
    if (isObject(parsed)) return parsed;
  } catch {
    // The error below covers both invalid JSON and JSON that is not an object.
  }
  throw invalidRequest(path, `\`${path}\` must be a JSON string that holds an object.`);
}

function readAnswered(item: JsonObject, path: string, calls: ReadonlyMap<string, PastToolCall>): PastToolCall {
  const id = item.tool_call_id;
  if (typeof id !== 'string') throw wrongType(`${path}.tool_call_id`, 'a string', id);
  const call = calls.get(id);
  if (call) return call;
  throw invalidRequest(`${path}.tool_call_id`, `\`${path}.tool_call_id\` answers no earlier tool call: \`${id}\`.`);
}
