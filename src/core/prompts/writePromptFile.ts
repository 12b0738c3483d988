import { Document, isScalar, Scalar, visit } from 'yaml';
import type { ChatMessage, CompletionParameters } from '../completions/request.ts';
import { camelCase } from './promptFields.ts';
import { YamlText } from './yamlText.ts';

/** What a prompt file is made of. */
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
}

/** A prompt file as a person would write it: texts of several lines as blocks, words that YAML reads otherwise in quotes. */
export function writePromptFile(draft: PromptDraft): string {
  const { name, description, model, parameters = {}, messages, responseFormat, jsonSchema, cases, evaluators } = draft;
  const values = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return stringify({
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(model !== undefined && { model }),
    ...(values.length > 0 && {
      modelParameters: Object.fromEntries(values.map(([key, value]) => [camelCase(key), value])),
    }),
    ...(responseFormat !== undefined && { responseFormat }),
    ...(jsonSchema !== undefined && { jsonSchema }),
    messages: messages.map(({ role, content }) => ({ role, content: content ?? '' })),
    ...(cases && { testData: cases }),
    ...(evaluators && { evaluators }),
  });
}

/** A file to begin with. */
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

/** Turns to add to a conversation, so that an answer becomes the next turn. */
export interface TextInsertion {
  readonly offset: number;
  readonly text: string;
}

/**
 * Adds messages behind the last one and leaves everything else as it is, comments too. `undefined` where the file has no list of
 * messages in block style: where they would go is not known then.
 */
export function insertMessages(
  text: string,
  messages: readonly { readonly role: string; readonly content: string }[],
): TextInsertion | undefined {
  const yaml = new YamlText(text);
  const list = yaml.members(yaml.root)?.find(({ key }) => key === 'messages')?.value;
  const last = yaml.items(list)?.at(-1);
  if (!yaml.isSound || !list || !last || text.charAt(list.range[0]) === '[') return undefined;
  const { start } = yaml.rangeOf(last);
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const beginning = text.slice(lineStart, start);
  if (!/^ *- +$/.test(beginning)) return undefined;
  const [indentation = ''] = /^ */.exec(beginning) ?? [];
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
  // Behind the whole line, with a comment that stands there.
  const next = text.indexOf('\n', Math.max(yaml.rangeOf(last).end - 1, 0));
  const offset = next < 0 ? text.length : next + 1;
  const items = stringify(messages).trimEnd().split('\n');
  const lines = items.map((line) => (line === '' ? '' : `${indentation}${line}`)).join(lineEnd);
  return { offset, text: `${next < 0 && text !== '' ? lineEnd : ''}${lines}${lineEnd}` };
}

function stringify(value: unknown): string {
  const document = new Document(value, { version: '1.2', aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (!isScalar(node) || typeof node.value !== 'string') return;
      // A block cannot hold blanks at line ends or control characters so that they are seen.
      const isBlock = node.value.includes('\n') && !/[^\S\n]\n|\r|[^\P{C}\n]/u.test(node.value);
      if (isBlock) node.type = Scalar.BLOCK_LITERAL;
      // Programs with YAML 1.1 read these words as true, false or null.
      else if (/^(?:y|n|yes|no|on|off|~)$/i.test(node.value)) node.type = Scalar.QUOTE_SINGLE;
    },
  });
  return document.toString({ lineWidth: 0, singleQuote: true });
}
