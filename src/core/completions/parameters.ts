import * as z from 'zod/mini';
import { isJsonObject } from '../base/json.ts';
import {
  type ChatMessage,
  type CompletionParameters,
  type CompletionRequest,
  MAX_TOOLS,
  requestFields,
  toolNamePattern,
  unknownFields,
} from './request.ts';

/** Parameters from one source, unchecked. */
export interface ParameterLayer<Source> {
  readonly source: Source;
  readonly value: unknown;
  /** Fields that the specification does not know are not taken from here: who wrote them may be a stranger. */
  readonly isForeign?: boolean;
}

/** What happened to one field that was set. */
export interface ParameterEntry<Source> {
  readonly field: string;
  readonly value: unknown;
  /** Where it was written, the place that decides last. Several where members of an object were joined. */
  readonly sources: readonly Source[];
  /** Why it is not sent, in a plain sentence. */
  readonly problem?: string;
  /** False for what the specification does not know; it is sent as it is. */
  readonly isSpecified: boolean;
}

export interface ResolvedParameters<Source> {
  /** Exactly what is sent, apart from the fields of Rolecall's own. */
  readonly parameters: CompletionParameters;
  /** Every field that was written, in the order of the specification. */
  readonly entries: readonly ParameterEntry<Source>[];
}

/** What makes a request, and so cannot be a parameter of all of them. */
const reserved: Readonly<Record<string, string>> = {
  model: 'The model is picked, not set here.',
  messages: 'The messages are the conversation.',
  tools: 'Tools are defined in the workspace’s tool file.',
};

/** Those of the specification's fields for which `null` is a value (specification, "Chat completion request"). */
const nullable: readonly string[] = ['logit_bias', 'stream_options'];

/**
 * One set of parameters out of several places, of which a later one counts more. Objects (`logit_bias`) are joined member
 * by member, as VS Code joins settings. `null` takes back what an earlier place wrote, except where it is a value of its
 * own. What cannot be sent is left out with its problem; the rest is sent all the same.
 */
export function resolveParameters<Source>(layers: readonly ParameterLayer<Source>[]): ResolvedParameters<Source> {
  const written = new Map<string, { value: unknown; sources: Source[] }>();
  const ignored: ParameterEntry<Source>[] = [];
  for (const { source, value, isForeign } of layers) {
    if (!isJsonObject(value)) continue;
    for (const [field, one] of Object.entries(value)) {
      if (isForeign && !isKnown(field)) {
        ignored.push({ field, value: one, sources: [source], isSpecified: false, problem: FOREIGN });
        continue;
      }
      const before = written.get(field);
      const joins = isJsonObject(one) && isJsonObject(before?.value);
      written.set(field, {
        value: joins ? { ...(before?.value as object), ...one } : one,
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
  const sent = entries.filter(({ problem }) => problem === undefined);
  return {
    parameters: Object.fromEntries(sent.map(({ field, value }) => [field, value])) as CompletionParameters,
    entries,
  };
}

const FOREIGN = 'The specification does not know it, so it is taken from the user’s own settings only.';

function isKnown(field: string): boolean {
  return unknownFields({ [field]: undefined }).length === 0;
}

function problemOf(field: string, value: unknown): string | undefined {
  const taken = Object.hasOwn(reserved, field) ? reserved[field] : undefined;
  if (taken !== undefined) return taken;
  const checked = checkParameters({ [field]: value });
  return checked.ok ? undefined : checked.problems.map(({ message }) => message).join(' ');
}

function placeOf(field: string): number {
  const place = (requestFields as readonly string[]).indexOf(field);
  return place < 0 ? requestFields.length : place;
}

const number = z.number('must be a number');
/** Not `z.int`, which refuses what is beyond the safe integers: a seed may have 64 bits. */
const integer = z.number('must be a whole number').check(z.refine(Number.isInteger, 'must be a whole number'));
const flag = z.boolean('must be true or false');
const text = z.string('must be text');
const object = z.record(z.string(), z.unknown(), 'must be an object');

const contentPart = z.discriminatedUnion(
  'type',
  [
    z.looseObject({ type: z.literal('text'), text }),
    z.looseObject({
      type: z.literal('image_url'),
      image_url: z.looseObject(
        {
          url: text.check(z.regex(/^(?:https?:\/\/|data:)/i, 'must be an http(s) or a data address')),
          detail: z.optional(text),
        },
        'must be an object with a url',
      ),
    }),
  ],
  'must be a part of type "text" or "image_url"',
);

const toolCall = z.looseObject(
  {
    id: text,
    type: z.literal('function', 'must be "function"'),
    function: z.looseObject({ name: text, arguments: text }, 'must be an object'),
  },
  'must be a tool call',
);

const message = z.looseObject(
  {
    role: text.check(z.minLength(1, 'must not be empty')),
    content: z.optional(
      z.nullable(z.union([z.string(), z.array(contentPart)], 'must be text, null, or a list of text and image parts')),
    ),
    name: z.optional(text),
    tool_calls: z.optional(z.array(toolCall, 'must be a list')),
    tool_call_id: z.optional(text),
  },
  'must be a message with role and content',
);

const tool = z.looseObject(
  {
    type: z.literal('function', 'must be "function"'),
    function: z.looseObject(
      {
        name: text.check(z.regex(toolNamePattern, 'must be 1 to 64 letters, digits, underscores or hyphens')),
        description: z.optional(text),
        parameters: z.optional(
          z.looseObject({ type: z.literal('object', 'must be "object"') }, 'must be a JSON Schema of type "object"'),
        ),
      },
      'must be an object',
    ),
  },
  'must be a tool of type "function"',
);

/**
 * Every field of the specification that is not the conversation, with the types it gives. Bounds and the values of
 * `reasoning_effort` are the service's to judge, for the specification does not show them. Other fields pass unchanged.
 */
export const parametersSchema = z.looseObject(
  {
    frequency_penalty: z.optional(number),
    presence_penalty: z.optional(number),
    logit_bias: z.optional(z.nullable(z.record(z.string(), number, 'must be an object of token ids and numbers'))),
    logprobs: z.optional(flag),
    top_logprobs: z.optional(integer),
    max_tokens: z.optional(integer),
    max_completion_tokens: z.optional(integer),
    n: z.optional(integer),
    seed: z.optional(integer),
    stop: z.optional(z.union([z.string(), z.array(z.string())], 'must be text or a list of texts')),
    stream: z.optional(flag),
    stream_options: z.optional(z.nullable(object)),
    temperature: z.optional(number),
    top_p: z.optional(number),
    reasoning_effort: z.optional(text),
    tool_choice: z.optional(
      z.enum(['auto', 'none'], 'must be "auto" or "none"; the service does not support anything else'),
    ),
    tools: z.optional(z.array(tool, 'must be a list').check(z.maxLength(MAX_TOOLS, `must be at most ${MAX_TOOLS}`))),
  },
  'must be an object',
);

const messagesSchema = z.array(message, 'must be a list').check(z.minLength(1, 'must not be empty'));

/** A whole request as a person writes it. */
export const requestSchema = z.extend(parametersSchema, {
  model: text.check(z.minLength(1, 'must not be empty')),
  messages: messagesSchema,
});

/** What is wrong with one field. */
export interface FieldProblem {
  /** Where, for example `['messages', 0, 'role']`; empty for the whole. */
  readonly path: readonly (string | number)[];
  /** A plain sentence that names the place. */
  readonly message: string;
}

export type ValidationResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/** Checks parameters that a person wrote. The value comes back as it was, not a copy with anything added. */
export function checkParameters(value: unknown): ValidationResult<CompletionParameters> {
  return check(parametersSchema, value);
}

/** Checks a whole request that a person wrote. */
export function checkRequest(value: unknown): ValidationResult<CompletionRequest> {
  return check(requestSchema, value);
}

/** Checks a conversation that was kept somewhere outside of the program. */
export function checkMessages(value: unknown): ValidationResult<readonly ChatMessage[]> {
  return check(messagesSchema, value);
}

function check<Value>(schema: z.ZodMiniType, value: unknown): ValidationResult<Value> {
  const result = z.safeParse(schema, value);
  // The schemas only judge: the value itself keeps the order of its members.
  if (result.success) return { ok: true, value: value as Value };
  return { ok: false, problems: result.error.issues.map(problem) };
}

function problem({ path, message }: z.core.$ZodIssue): FieldProblem {
  const place = path.filter((step) => typeof step !== 'symbol');
  const words = place.reduce<string>(
    (name, step) => (typeof step === 'number' ? `${name}[${step}]` : name === '' ? step : `${name}.${step}`),
    '',
  );
  return { path: place, message: `${words || 'The request'} ${message}.` };
}
