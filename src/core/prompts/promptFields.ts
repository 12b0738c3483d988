import * as l10n from '@vscode/l10n';
import { nearest } from '../base/text.ts';
import { requestFields } from '../completions/request.ts';
import { builtinEvaluators } from './builtinEvaluators.ts';

/** The mappings of a prompt file whose keys are known. */
export type FieldLevel =
  | 'file'
  | 'message'
  | 'evaluator'
  | 'string'
  | 'llm'
  | 'choice'
  | 'regex'
  | 'toolCall'
  | 'rolecall';

export interface PromptField {
  /** For users. */
  readonly describe: () => string;
  /** What its value is, for completion: scalar, text in several lines, a mapping or a list. */
  readonly shape: 'text' | 'block' | 'mapping' | 'list';
  /** The possible values. */
  readonly values?: readonly string[];
}

/** The evaluators that the format has built in. */
export const builtinNames = Object.keys(builtinEvaluators);
export const responseFormats = ['text', 'json_object', 'json_schema'] as const;
/** The roles of the format; `developer` occurs too. */
export const roles = ['system', 'user', 'assistant', 'developer'] as const;
export const stringMethods = ['equals', 'contains', 'startsWith', 'endsWith'] as const;

/**
 * Every key that is read, once: other keys are reported as unknown, and these are offered and explained. The keys of
 * the format come first, then those of Rolecall.
 */
export const promptFields: Readonly<Record<FieldLevel, Readonly<Record<string, PromptField>>>> = {
  file: {
    name: { shape: 'text', describe: () => l10n.t('The name of the prompt.') },
    description: { shape: 'text', describe: () => l10n.t('What the prompt is for.') },
    model: { shape: 'text', describe: () => l10n.t('The model that answers. If not set, the default model.') },
    modelParameters: {
      shape: 'mapping',
      describe: () =>
        l10n.t(
          'Parameters of the request, in camel case or as named in the API. Only what is set here is sent; `stop: []` counts as not set.',
        ),
    },
    messages: {
      shape: 'list',
      describe: () => l10n.t('The conversation that is sent. `{{name}}` stands for a value of the case.'),
    },
    responseFormat: {
      shape: 'text',
      values: responseFormats,
      describe: () =>
        l10n.t(
          '`text`, `json_object` or `json_schema`. The specification has no such field; it is sent in OpenAI’s form.',
        ),
    },
    jsonSchema: {
      shape: 'block',
      describe: () => l10n.t('For `json_schema`: JSON text with `name` and `schema`.'),
    },
    testData: {
      shape: 'list',
      describe: () => l10n.t('The cases: one request each. Every key is a variable.'),
    },
    evaluators: { shape: 'list', describe: () => l10n.t('The checks of each answer, each with a name and a method.') },
    rolecall: {
      shape: 'mapping',
      describe: () => l10n.t('Settings that only Rolecall reads. Other programs ignore this key.'),
    },
  },
  message: {
    role: { shape: 'text', values: roles, describe: () => l10n.t('Who the message is from.') },
    content: { shape: 'block', describe: () => l10n.t('The text of the message, or a list of text and image parts.') },
    name: { shape: 'text', describe: () => l10n.t('The name of the speaker.') },
  },
  evaluator: {
    name: { shape: 'text', describe: () => l10n.t('The name of the check in results.') },
    string: {
      shape: 'mapping',
      describe: () => l10n.t('Compares the answer with a text: `equals`, `contains`, `startsWith` or `endsWith`.'),
    },
    llm: { shape: 'mapping', describe: () => l10n.t('Lets a model judge the answer.') },
    uses: {
      shape: 'text',
      values: builtinNames,
      describe: () => l10n.t('A built-in check. All of them use a model as the judge.'),
    },
    regex: {
      shape: 'text',
      describe: () => l10n.t('A regular expression (JavaScript) that the answer must match somewhere.'),
    },
    jsonSchema: {
      shape: 'mapping',
      describe: () => l10n.t('The answer must be JSON that matches this JSON Schema; `{}` accepts any JSON.'),
    },
    toolCall: {
      shape: 'mapping',
      describe: () => l10n.t('The answer must call this tool, with at least these arguments.'),
    },
    maxTokens: {
      shape: 'text',
      describe: () => l10n.t('The maximum number of tokens in the answer, as counted by the service.'),
    },
    maxSeconds: { shape: 'text', describe: () => l10n.t('The maximum time the answer can take, in seconds.') },
    minProbability: {
      shape: 'text',
      describe: () =>
        l10n.t(
          'The minimum probability of the whole answer, 0 to 1: the product over its tokens. Requires `logprobs: true`.',
        ),
    },
    not: {
      shape: 'text',
      values: ['true'],
      describe: () =>
        l10n.t(
          'If `true`, the check passes when it would otherwise fail. For `string`, `regex`, `jsonSchema` and `toolCall`.',
        ),
    },
  },
  string: {
    equals: {
      shape: 'text',
      describe: () => l10n.t('The answer is this text. Case-sensitive; surrounding whitespace is ignored.'),
    },
    contains: { shape: 'text', describe: () => l10n.t('The answer contains this text. Not case-sensitive.') },
    startsWith: { shape: 'text', describe: () => l10n.t('The answer begins with this text. Not case-sensitive.') },
    endsWith: { shape: 'text', describe: () => l10n.t('The answer ends with this text. Not case-sensitive.') },
  },
  llm: {
    modelId: { shape: 'text', describe: () => l10n.t('The model that judges.') },
    prompt: {
      shape: 'block',
      describe: () =>
        l10n.t('What the judge is asked. `{{completion}}` is the answer; values of the case can be used too.'),
    },
    systemPrompt: { shape: 'block', describe: () => l10n.t('The judge’s instructions.') },
    choices: {
      shape: 'list',
      describe: () => l10n.t('The possible replies, each with a score. A score above 0 passes.'),
    },
    model: { shape: 'text', describe: () => l10n.t('The model that judges if `modelId` is not set.') },
    modelParameters: { shape: 'mapping', describe: () => l10n.t('Parameters of the request to the judge.') },
  },
  choice: {
    choice: { shape: 'text', describe: () => l10n.t('What the judge replies.') },
    score: { shape: 'text', describe: () => l10n.t('The score of this reply, 0 to 1.') },
  },
  regex: {
    pattern: { shape: 'text', describe: () => l10n.t('The regular expression, as in JavaScript.') },
    flags: { shape: 'text', describe: () => l10n.t('Its flags: `i`, `m`, `s`, `u`.') },
  },
  toolCall: {
    name: { shape: 'text', describe: () => l10n.t('The tool that must be called.') },
    arguments: { shape: 'mapping', describe: () => l10n.t('Arguments that the call must have; it can have others.') },
  },
  rolecall: {
    models: { shape: 'list', describe: () => l10n.t('Several models, each of which answers every case.') },
    tools: { shape: 'list', describe: () => l10n.t('Workspace tools that are offered to the model, by name.') },
    images: {
      shape: 'list',
      describe: () => l10n.t('Images to send with the last user message: paths relative to this file.'),
    },
    cases: {
      shape: 'list',
      describe: () => l10n.t('Further cases from JSONL or CSV files: paths relative to this file.'),
    },
    repeats: { shape: 'text', describe: () => l10n.t('How many times each case is sent.') },
    passes: { shape: 'text', describe: () => l10n.t('How many answers to a case must pass. If not set, all.') },
    seeds: { shape: 'list', describe: () => l10n.t('Seeds: each case is asked once with each seed.') },
    judge: {
      shape: 'text',
      describe: () =>
        l10n.t(
          'The model that judges when an evaluator names no model that you have. If not set, the tested model judges.',
        ),
    },
    evaluators: {
      shape: 'list',
      describe: () => l10n.t('Like `evaluators`, for methods that other programs do not support and would fail on.'),
    },
  },
};

/** The methods of the format, in the order in which they are looked for; then those of Rolecall. */
export const evaluatorMethods = [
  'string',
  'llm',
  'uses',
  'regex',
  'jsonSchema',
  'toolCall',
  'maxTokens',
  'maxSeconds',
  'minProbability',
] as const;
export type EvaluatorMethod = (typeof evaluatorMethods)[number];
/** Methods that make other programs fail. */
export const rolecallMethods: readonly string[] = evaluatorMethods.slice(3);

/** Request fields that a file sets in other places. */
const elsewhere: readonly string[] = ['model', 'messages'];
/** The fields of the specification that are allowed in `modelParameters`, by their own names. */
export const parameterNames: readonly string[] = requestFields.filter((field) => !elsewhere.includes(field));

/** `max_tokens` as `maxTokens`. */
export function camelCase(field: string): string {
  return field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** `maxTokens` and `max_tokens` as `max`, `tokens`. */
function wordsOf(name: string): string[] {
  return name
    .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    .split(/[_-]+/)
    .filter(Boolean);
}

/**
 * The parameter that was probably meant, in the spelling of `key`. Each word has to be similar: services have many
 * fields that the specification does not know, and `min_tokens` or `top_k` is not a misspelling.
 */
export function nearestParameter(key: string): string | undefined {
  const typed = wordsOf(key);
  const isNear = (word: string, other: string | undefined) =>
    other === word || (other !== undefined && word.length > 2 && nearest(word, [other]) !== undefined);
  const suggestion = parameterNames.find((name) => {
    const words = wordsOf(name);
    const isRunTogether = typed.length === 1 && typed[0] === words.join('');
    return isRunTogether || (words.length === typed.length && typed.every((word, at) => isNear(word, words[at])));
  });
  return suggestion === undefined || key.includes('_') ? suggestion : camelCase(suggestion);
}

/** The field of the specification that `key` spells, in camel case or by its own name; unknown keys are unchanged. */
export function parameterName(key: string): { readonly field: string; readonly isSpecified: boolean } {
  const field = parameterNames.find((name) => name === key || camelCase(name) === key);
  return { field: field ?? key, isSpecified: field !== undefined };
}
