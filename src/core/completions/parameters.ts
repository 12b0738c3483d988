import * as l10n from '@vscode/l10n';
import * as z from 'zod/mini';
import { isJsonObject } from '../base/json.ts';
import {
  type ChatMessage,
  type CompletionParameters,
  MAX_TOOLS,
  requestFields,
  toolNamePattern,
  unknownFields,
} from './request.ts';

/** Parameters from one source, unchecked. */
export interface ParameterLayer<Source> {
  readonly source: Source;
  readonly value: unknown;
  /** Fields unknown to the specification are ignored here: their author may not be the user. */
  readonly isForeign?: boolean;
}

/** The result for one field that was set. */
export interface ParameterEntry<Source> {
  readonly field: string;
  readonly value: unknown;
  /** Where the effective value was written. Several if members of an object were merged. */
  readonly sources: readonly Source[];
  /** Why it is not sent, in a plain sentence. */
  readonly problem?: string;
  /** False for a field unknown to the specification; it is sent unchanged. */
  readonly isSpecified: boolean;
}

export interface ResolvedParameters<Source> {
  /** The parameters that are sent, apart from Rolecall's own fields. */
  readonly parameters: CompletionParameters;
  /** Every field that was written, in the order of the specification. */
  readonly entries: readonly ParameterEntry<Source>[];
}

/** Why a field that differs from request to request cannot be a parameter of all of them. */
const reserved: Readonly<Record<string, () => string>> = {
  model: () => l10n.t('The model cannot be set here. Pick one in the chat.'),
  messages: () => l10n.t('The messages come from the conversation and cannot be set here.'),
  tools: () => l10n.t('Tools cannot be set here. Define them in the workspace’s tool file.'),
};

/** The specification's fields for which `null` is a value (specification, "Chat completion request"). */
const nullable: readonly string[] = ['logit_bias', 'stream_options'];

/**
 * One set of parameters from several sources, of which a later one wins. Objects (`logit_bias`) are merged member by
 * member, as VS Code merges settings. `null` removes what an earlier source set, except where it is a value of its own.
 * What cannot be sent is left out with its problem; the rest is still sent.
 */
export function resolveParameters<Source>(layers: readonly ParameterLayer<Source>[]): ResolvedParameters<Source> {
  const written = new Map<string, { value: unknown; sources: Source[] }>();
  const ignored: ParameterEntry<Source>[] = [];
  for (const { source, value, isForeign } of layers) {
    if (!isJsonObject(value)) continue;
    for (const [field, setting] of Object.entries(value)) {
      if (isForeign && !isKnown(field)) {
        ignored.push({ field, value: setting, sources: [source], isSpecified: false, problem: foreign() });
        continue;
      }
      const before = written.get(field);
      const joins = isJsonObject(setting) && isJsonObject(before?.value);
      written.set(field, {
        value: joins ? { ...(before?.value as object), ...setting } : setting,
        sources: joins ? [...(before?.sources ?? []), source] : [source],
      });
    }
  }
  const entries = [...written]
    .filter(([field, { value }]) => value !== null || nullable.includes(field))
    .map(([field, { value, sources }]): ParameterEntry<Source> => {
      const problem = problemOf(field, value);
      return { field, value, sources, isSpecified: isKnown(field), ...(problem !== undefined && { problem }) };
    })
    .concat(ignored)
    .sort((one, other) => placeOf(one.field) - placeOf(other.field));
  const sentEntries = entries.filter(({ problem }) => problem === undefined);
  return {
    parameters: Object.fromEntries(sentEntries.map(({ field, value }) => [field, value])) as CompletionParameters,
    entries,
  };
}

function foreign(): string {
  return l10n.t('The specification does not define this field, so it is read from user settings only.');
}

function isKnown(field: string): boolean {
  return unknownFields({ [field]: undefined }).length === 0;
}

function problemOf(field: string, value: unknown): string | undefined {
  const reason = Object.hasOwn(reserved, field) ? reserved[field] : undefined;
  if (reason !== undefined) return reason();
  return parameterProblem(field, value);
}

function placeOf(field: string): number {
  const place = (requestFields as readonly string[]).indexOf(field);
  return place < 0 ? requestFields.length : place;
}

/** The messages of the schemas, created when a value is checked: by then the translations are loaded. */
const must = {
  number: placed((place) => l10n.t('{0} must be a number.', place)),
  wholeNumber: placed((place) => l10n.t('{0} must be a whole number.', place)),
  flag: placed((place) => l10n.t('{0} must be true or false.', place)),
  text: placed((place) => l10n.t('{0} must be text.', place)),
  object: placed((place) => l10n.t('{0} must be an object.', place)),
  function: placed((place) => l10n.t('{0} must be "function".', place)),
  list: placed((place) => l10n.t('{0} must be a list.', place)),
  toolName: placed((place) => l10n.t('{0} must be 1 to 64 letters, digits, underscores or hyphens.', place)),
  objectType: placed((place) => l10n.t('{0} must be "object".', place)),
  objectSchema: placed((place) => l10n.t('{0} must be a JSON Schema of type "object".', place)),
  tool: placed((place) => l10n.t('{0} must be a tool of type "function".', place)),
  tokenNumbers: placed((place) => l10n.t('{0} must be an object of token IDs and numbers.', place)),
  stop: placed((place) => l10n.t('{0} must be text or a list of texts.', place)),
  toolChoice: placed((place) => l10n.t('{0} must be "auto" or "none"; the service supports nothing else.', place)),
  atMostTools: placed((place) => l10n.t('{0} must have at most {1} entries.', place, MAX_TOOLS)),
};

/** @param sentence takes the place of the value, for example `tools[0].type`. */
function placed(sentence: (place: string) => string): {
  error: (issue: { path?: PropertyKey[] | undefined }) => string;
} {
  return { error: ({ path = [] }) => sentence(placeName(path)) };
}

function placeName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((whole, step) => {
    if (typeof step === 'number') return `${whole}[${step}]`;
    return whole === '' ? String(step) : `${whole}.${String(step)}`;
  }, '');
}

const number = z.number(must.number);
/** Not `z.int`, which refuses what is beyond the safe integers: a seed may have 64 bits. */
const integer = z.number(must.wholeNumber).check(z.refine(Number.isInteger, must.wholeNumber));
const flag = z.boolean(must.flag);
const text = z.string(must.text);
const object = z.record(z.string(), z.unknown(), must.object);

const tool = z.looseObject(
  {
    type: z.literal('function', must.function),
    function: z.looseObject(
      {
        name: text.check(z.regex(toolNamePattern, must.toolName)),
        description: z.optional(text),
        parameters: z.optional(z.looseObject({ type: z.literal('object', must.objectType) }, must.objectSchema)),
      },
      must.object,
    ),
  },
  must.tool,
);

/**
 * Every field of the specification that is not the conversation, with the types it gives. Bounds and the values of
 * `reasoning_effort` are left to the service, because the specification does not show them (see {@link unusualValue}). Other fields
 * pass unchanged.
 */
const parametersSchema = z.looseObject({
  frequency_penalty: z.optional(number),
  presence_penalty: z.optional(number),
  logit_bias: z.optional(z.nullable(z.record(z.string(), number, must.tokenNumbers))),
  logprobs: z.optional(flag),
  top_logprobs: z.optional(integer),
  max_tokens: z.optional(integer),
  max_completion_tokens: z.optional(integer),
  n: z.optional(integer),
  seed: z.optional(integer),
  stop: z.optional(z.union([z.string(), z.array(z.string())], must.stop)),
  stream: z.optional(flag),
  stream_options: z.optional(z.nullable(object)),
  temperature: z.optional(number),
  top_p: z.optional(number),
  reasoning_effort: z.optional(text),
  tool_choice: z.optional(z.enum(['auto', 'none'], must.toolChoice)),
  tools: z.optional(z.array(tool, must.list).check(z.maxLength(MAX_TOOLS, must.atMostTools))),
});

/**
 * The values that services of this kind usually accept. The specification does not limit these fields, so the service
 * decides, and other values are sent too.
 */
const usual: Readonly<
  Record<string, { readonly from?: number; readonly to?: number; readonly values?: readonly string[] }>
> = {
  frequency_penalty: { from: -2, to: 2 },
  presence_penalty: { from: -2, to: 2 },
  top_logprobs: { from: 0, to: 20 },
  max_tokens: { from: 1 },
  max_completion_tokens: { from: 1 },
  n: { from: 1 },
  temperature: { from: 0, to: 2 },
  top_p: { from: 0, to: 1 },
  reasoning_effort: { values: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] },
};

/** The usual values of a field, if the specification has only a few. */
export function usualValues(field: string): readonly string[] {
  return (Object.hasOwn(usual, field) ? usual[field]?.values : undefined) ?? [];
}

/**
 * A warning that `value`, which has the right type, is not what services of this kind usually accept for the field.
 *
 * @param name of the field, as the user writes it.
 */
export function unusualValue(field: string, value: unknown, name = field): string | undefined {
  const { from, to, values } = (Object.hasOwn(usual, field) ? usual[field] : undefined) ?? {};
  if (values && !values.includes(String(value))) {
    return l10n.t(
      '{0} is sent unchanged as {2}; it is usually one of {1}.',
      name,
      values.join(', '),
      JSON.stringify(value),
    );
  }
  if (typeof value !== 'number' || (value >= (from ?? value) && value <= (to ?? value))) return undefined;
  return to === undefined
    ? l10n.t('{0} is sent unchanged as {2}; it is usually at least {1}.', name, from ?? 0, value)
    : l10n.t('{0} is sent unchanged as {3}; it is usually between {1} and {2}.', name, from ?? 0, to, value);
}

/** Why a field with this value cannot be sent, in plain sentences that name the place; `undefined` if it can be. */
export function parameterProblem(field: string, value: unknown): string | undefined {
  const result = z.safeParse(parametersSchema, { [field]: value });
  return result.success ? undefined : result.error.issues.map(({ message }) => message).join(' ');
}

const contentPart = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({
    type: z.literal('image_url'),
    image_url: z.looseObject({
      url: z.string().check(z.regex(/^(?:https?:\/\/|data:)/i)),
      detail: z.optional(z.string()),
    }),
  }),
]);

const toolCall = z.looseObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const message = z.looseObject({
  role: z.string().check(z.minLength(1)),
  content: z.optional(z.nullable(z.union([z.string(), z.array(contentPart)]))),
  name: z.optional(z.string()),
  tool_calls: z.optional(z.array(toolCall)),
  tool_call_id: z.optional(z.string()),
});

const messagesSchema = z.array(message).check(z.minLength(1));

/**
 * A conversation that was stored outside the program: the value itself, whose members keep their order. `undefined` if a
 * request could not have these messages (specification, "Chat completion request").
 */
export function readMessages(value: unknown): readonly ChatMessage[] | undefined {
  return z.safeParse(messagesSchema, value).success ? (value as readonly ChatMessage[]) : undefined;
}
