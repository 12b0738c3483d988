import path from 'node:path';
import * as l10n from '@vscode/l10n';
import { RolecallError, type TextRange } from '../base/errors.ts';
import { didYouMean, nearest } from '../base/text.ts';
import type { ChatMessage, CompletionRequest, ContentPart, FunctionTool } from '../completions/request.ts';
import { namedFields } from '../completions/retry.ts';
import { filePath, fillPlaceholders, placeholderKind, placeholderNames, type TemplateText } from './placeholders.ts';
import type { MessagePart, PromptFile, PromptMessage } from './promptFile.ts';

/**
 * Reads the files and tools that a prompt file names. Paths are relative, with `/`, and were checked by {@link
 * checkPath}.
 */
export interface PromptResources {
  /**
   * The text of a file, relative to the prompt file. The host confines it to the folder, links included.
   *
   * @throws RolecallError `configuration` for what cannot be read.
   */
  readText(path: string, signal: AbortSignal): Promise<string>;
  /** The bytes of an image. */
  readImage(path: string, signal: AbortSignal): Promise<Uint8Array>;
  /** All tools of the workspace, as they are offered to a model. */
  tools(signal: AbortSignal): Promise<readonly FunctionTool[]>;
}

/** The errors about unreadable files, shared so that the editor, a run and the command line use the same sentences. */
export const fileErrors = {
  missing: (file: string) => configuration(l10n.t('The file "{0}" cannot be found.', file)),
  outside: (file: string) => configuration(l10n.t('"{0}" leads outside the workspace folder.', file)),
  noFile: (file: string) => configuration(l10n.t('"{0}" is not a file.', file)),
  tooLarge: (file: string, maxBytes: number) =>
    configuration(l10n.t('"{0}" is larger than {1} MB.', file, maxBytes / (1024 * 1024))),
} as const;

/** The largest included file, and the largest image: more would not fit a model. */
export const MAX_TEXT_BYTES = 4 * 1024 * 1024;
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

/**
 * @throws RolecallError `configuration` for anything but UTF-8: a model would get another text than the file contains.
 */
export function decodeText(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new RolecallError('configuration', l10n.t('"{0}" is not UTF-8 text.', file));
  }
}

/** The input of one request. */
export interface RequestInput {
  readonly file: PromptFile;
  /** The values of the case; empty without a case. */
  readonly values: ReadonlyMap<string, string>;
  /** The model's ID at the service. */
  readonly model: string;
  readonly seed?: number | undefined;
  readonly resources: PromptResources;
}

/**
 * The request for a case: exactly what the file sets. Placeholders are filled in one pass over the template, so that
 * the content of a case is never expanded, nor read as a path.
 *
 * @throws RolecallError `configuration` for a file, an image or a tool that is not available.
 */
export async function buildRequest(input: RequestInput, signal: AbortSignal): Promise<CompletionRequest> {
  const { file, model, seed } = input;
  const fill = await filler(input, signal);
  const messages = await withImages(
    file.messages.map((message) => fillMessage(message, fill)),
    input,
    fill,
    signal,
  );
  const names = file.extensions.tools.map(({ value }) => value);
  const offered = names.length > 0 ? toolsNamed(names, await input.resources.tools(signal)) : [];
  const tools = [...(file.parameters.values.tools ?? []), ...offered];
  const format = responseFormat(file);
  return {
    model,
    messages,
    ...file.parameters.values,
    ...(seed !== undefined && { seed }),
    ...(tools.length > 0 && { tools }),
    ...(format && { response_format: format }),
  };
}

type Fill = (text: TemplateText) => string;

async function filler({ file, values, resources }: RequestInput, signal: AbortSignal): Promise<Fill> {
  const parts = file.messages.flatMap(({ content }) => content);
  const names = new Set(parts.flatMap((part) => placeholderNames((part.type === 'text' ? part.text : part.url).value)));
  const included = new Map<string, string>();
  for (const name of names) {
    if (values.has(name) || placeholderKind(name) !== 'file') continue;
    included.set(name, await readIncluded(filePath(name), resources, signal));
  }
  return ({ value }) => fillPlaceholders(value, (name) => values.get(name) ?? included.get(name));
}

function fillMessage({ role, name, content }: PromptMessage, fill: Fill): ChatMessage {
  const [first] = content;
  const isText = content.length === 1 && first?.type === 'text';
  return {
    role,
    content: isText ? fill(first.text) : content.map((part) => fillPart(part, fill)),
    ...(name !== undefined && { name }),
  };
}

function fillPart(part: MessagePart, fill: Fill): ContentPart {
  if (part.type === 'text') return { type: 'text', text: fill(part.text) };
  const detail = part.detail as 'auto' | undefined;
  return { type: 'image_url', image_url: { url: fill(part.url), ...(detail !== undefined && { detail }) } };
}

/** Adds images to the last user message, after its text. */
async function withImages(
  messages: readonly ChatMessage[],
  { file, resources }: RequestInput,
  fill: Fill,
  signal: AbortSignal,
): Promise<readonly ChatMessage[]> {
  const paths = file.extensions.images.map(fill);
  if (paths.length === 0) return messages;
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const message = messages[last];
  if (!message) throw configuration(l10n.t('Images are sent with a user message, but there is none.'));
  const images: ContentPart[] = [];
  for (const imagePath of paths) {
    images.push({ type: 'image_url', image_url: { url: await readImageUrl(imagePath, resources, signal) } });
  }
  const text: readonly ContentPart[] =
    typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : (message.content ?? []);
  return messages.with(last, { ...message, content: [...text, ...images] });
}

/** The text of `{{file:path}}`. @throws RolecallError `configuration`. */
export function readIncluded(file: string, { readText }: PromptResources, signal: AbortSignal): Promise<string> {
  return readText(checkPath(file), signal);
}

/** An image as a data URL. @throws RolecallError `configuration`. */
export async function readImageUrl(file: string, { readImage }: PromptResources, signal: AbortSignal): Promise<string> {
  const path = checkPath(file);
  const type = imageTypeOf(path);
  return `data:${type};base64,${Buffer.from(await readImage(path, signal)).toString('base64')}`;
}

/** @throws RolecallError `configuration` for a name that does not exist. */
function toolsNamed(names: readonly string[], tools: readonly FunctionTool[]): FunctionTool[] {
  return names.map((name) => {
    const tool = tools.find((each) => each.function.name === name);
    if (tool) return tool;
    const { message, suggestion } = unknownTool(name, tools) ?? { message: name };
    throw configuration(suggestion === undefined ? message : didYouMean(message, suggestion));
  });
}

/** Why there is no tool of this name, and which was probably meant; `undefined` if there is one. */
export function unknownTool(
  name: string,
  tools: readonly FunctionTool[],
): { readonly message: string; readonly suggestion?: string } | undefined {
  const names = tools.map((each) => each.function.name);
  if (names.includes(name)) return undefined;
  const suggestion = nearest(name, names);
  const message = l10n.t('This workspace has no tool named "{0}".', name);
  return { message, ...(suggestion !== undefined && { suggestion }) };
}

const imageTypes: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};

function imageTypeOf(file: string): string {
  const type = imageTypes[path.posix.extname(file).toLowerCase()];
  if (type !== undefined) return type;
  throw configuration(l10n.t('"{0}" is not an image: use png, jpg, gif or webp.', file));
}

/** OpenAI's form, as the specification has none. `text` is the default of every service, and is not sent. */
function responseFormat({ responseFormat: format }: PromptFile): object | undefined {
  if (!format || format.type === 'text') return undefined;
  return format.type === 'json_object' ? { type: format.type } : { type: format.type, json_schema: format.jsonSchema };
}

/**
 * `file` as a relative path with `/`. The function that reads it checks whether it stays in the folder: that depends on
 * links too.
 *
 * @throws RolecallError `configuration` for an absolute path, an address or a home folder.
 */
export function checkPath(file: string): string {
  const plain = file.trim().replaceAll('\\', '/');
  if (plain === '' || plain.includes('\0') || /^(?:[/~]|[A-Za-z][A-Za-z\d+.-]*:)/.test(plain)) {
    throw configuration(l10n.t('"{0}" must be a path relative to the prompt file.', file));
  }
  return path.posix.normalize(plain);
}

/** The paths that a file reads, each once, with placeholders in those of images. Invalid paths are left out. */
export function filesOf({ messages, extensions }: PromptFile): string[] {
  const inMessages = messages.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === 'text' ? part.text.placeholders : part.url.placeholders)),
  );
  const named = [
    ...inMessages.filter(({ kind }) => kind === 'file').map(({ name }) => filePath(name)),
    ...extensions.images.map(({ value }) => value),
    ...extensions.cases.map(({ value }) => value),
  ];
  return [...new Set(named.flatMap(relativePath))];
}

function relativePath(file: string): string[] {
  try {
    return [checkPath(file)];
  } catch {
    return []; // Reported when it is read.
  }
}

function configuration(message: string): RolecallError {
  return new RolecallError('configuration', message);
}

/** The ranges in the file that set the request fields that an error of the service names (`param`). */
export function rangesOfFields(file: PromptFile, param: string | undefined): TextRange[] {
  return namedFields(param).flatMap((name): TextRange[] => {
    const field = /^[\w-]+/.exec(name)?.[0] ?? name;
    if (field === 'model') return file.model ? [file.model] : [];
    if (field === 'messages') {
      const index = /^messages(?:\[(\d+)\]|\.(\d+))/.exec(name);
      const message = file.messages[Number(index?.[1] ?? index?.[2] ?? -1)] ?? file.messages[0];
      return message ? [message] : [];
    }
    const entry = file.parameters.entries.find((each) => each.field === field);
    if (entry) return [entry.range];
    if (field === 'tools') return [...file.extensions.tools];
    return [];
  });
}
