import { Document, isScalar, Scalar, visit } from 'yaml';
import type { ChatMessage, CompletionParameters } from '../completions/request.ts';
import { placeholderKind, placeholderNames } from './placeholders.ts';
import { camelCase, parameterName } from './promptFields.ts';
import { type PromptFile, readPromptFile } from './promptFile.ts';

/** The content of a prompt file. */
export interface PromptDraft {
  readonly name?: string;
  readonly description?: string;
  readonly model?: string;
  readonly parameters?: CompletionParameters;
  readonly messages: readonly Pick<ChatMessage, 'role' | 'content'>[];
  readonly responseFormat?: string;
  /** JSON text. */
  readonly jsonSchema?: string;
  readonly cases?: readonly Readonly<Record<string, string>>[];
  readonly evaluators?: readonly object[];
  /** Workspace tools, by name. */
  readonly tools?: readonly string[];
}

/**
 * A prompt file as a person would write it: texts of several lines as blocks, words that YAML reads otherwise in
 * quotes.
 */
export function writePromptFile(draft: PromptDraft): string {
  const { name, description, model, parameters = {}, messages, responseFormat, jsonSchema } = draft;
  const { cases, evaluators, tools = [] } = draft;
  const values = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return stringify({
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(model !== undefined && { model }),
    ...(values.length > 0 && {
      modelParameters: Object.fromEntries(
        values.map(([key, value]) => [parameterName(key).isSpecified ? camelCase(key) : key, value]),
      ),
    }),
    ...(responseFormat !== undefined && { responseFormat }),
    ...(jsonSchema !== undefined && { jsonSchema }),
    messages: messages.map(({ role, content }) => ({ role, content: content ?? '' })),
    ...(cases && { testData: cases }),
    ...(evaluators && { evaluators }),
    ...(tools.length > 0 && { rolecall: { tools } }),
  });
}

/** The first content of a new file. */
export function newPromptFile(name: string, model: string | undefined): string {
  return writePromptFile({
    name,
    ...(model !== undefined && { model }),
    messages: [
      { role: 'system', content: 'Answer with one word.' },
      { role: 'user', content: 'What is the capital of {{input}}?' },
    ],
    cases: [
      { input: 'France', expected: 'Paris' },
      { input: 'Japan', expected: 'Tokyo' },
    ],
    evaluators: [{ name: 'names the capital', string: { contains: '{{expected}}' } }],
  });
}

/** A prompt file that continues after an answer, and the offset for its next message. */
export interface Continuation {
  readonly text: string;
  readonly offset: number;
}

/**
 * The conversation that was sent, the answer, and an empty message of the user. Braces in it were said and are not
 * placeholders: each becomes a variable with itself as its value, so that no answer can include a file.
 */
export function continuePrompt(
  { name, parameters, responseFormat, extensions }: PromptFile,
  model: string,
  seed: number | undefined,
  messages: readonly Pick<ChatMessage, 'role' | 'content'>[],
): Continuation {
  const names = [...new Set(messages.flatMap(({ content }) => textsOf(content)).flatMap(placeholderNames))].filter(
    (each) => placeholderKind(each) !== 'text',
  );
  const text = writePromptFile({
    ...(name !== undefined && { name }),
    model,
    parameters: { ...parameters.values, ...(seed !== undefined && { seed }) },
    ...(responseFormat && { responseFormat: responseFormat.type }),
    ...(responseFormat?.type === 'json_schema' && {
      jsonSchema: JSON.stringify(responseFormat.jsonSchema, undefined, 2),
    }),
    messages: [...messages, { role: 'user', content: '' }],
    ...(names.length > 0 && { cases: [Object.fromEntries(names.map((each) => [each, `{{${each}}}`]))] }),
    tools: extensions.tools.map(({ value }) => value),
  });
  const [last] = readPromptFile(text).messages.at(-1)?.content ?? [];
  // The offset between the quotes.
  return { text, offset: last?.type === 'text' ? last.text.start + 1 : 0 };
}

function textsOf(content: ChatMessage['content']): string[] {
  if (typeof content === 'string') return [content];
  return (content ?? []).map((part) => (part.type === 'text' ? part.text : part.image_url.url));
}

function stringify(value: unknown): string {
  const document = new Document(value, { version: '1.2', aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (!isScalar(node) || typeof node.value !== 'string') return;
      // A block cannot hold blanks at line ends or control characters so that they are seen.
      const isBlock = node.value.includes('\n') && !/[^\S\n]\n|\r|[^\P{C}\n]/u.test(node.value);
      if (isBlock) node.type = Scalar.BLOCK_LITERAL;
      else if (node.value.includes('\n')) node.type = Scalar.QUOTE_DOUBLE;
      // Programs with YAML 1.1 read these words as true, false or null.
      else if (/^(?:y|n|yes|no|on|off|~)$/i.test(node.value)) node.type = Scalar.QUOTE_SINGLE;
    },
  });
  return document.toString({ lineWidth: 0, singleQuote: true });
}
