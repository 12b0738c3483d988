import * as z from 'zod/mini';
import {
  type ChatMessage,
  type CompletionParameters,
  type CompletionRequest,
  MAX_TOOLS,
  toolNamePattern,
} from './request.ts';

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

export type Checked<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/** Checks parameters that a person wrote. The value comes back as it was, not a copy with anything added. */
export function checkParameters(value: unknown): Checked<CompletionParameters> {
  return check(parametersSchema, value);
}

/** Checks a whole request that a person wrote. */
export function checkRequest(value: unknown): Checked<CompletionRequest> {
  return check(requestSchema, value);
}

/** Checks a conversation that was kept somewhere outside of the program. */
export function checkMessages(value: unknown): Checked<readonly ChatMessage[]> {
  return check(messagesSchema, value);
}

function check<Value>(schema: z.ZodMiniType, value: unknown): Checked<Value> {
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
