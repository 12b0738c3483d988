import { sanitizeServerMessage } from '../base/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts';

/** The content of an error body, whatever its shape. Members are absent when the body does not have them. */
export interface ErrorBody {
  readonly message?: string;
  readonly code?: string;
  readonly errorType?: string;
  /** The request fields that the service names, possibly several, comma separated. */
  readonly param?: string;
  readonly traceId?: string;
  /** It is a web page, whose text is never shown. */
  readonly page?: true;
  /** It has the specification's own form, so it comes from the inference service itself. */
  readonly isSpecified?: true;
}

/** The most bytes of an error body that are read. */
export const MAX_ERROR_BODY_BYTES = 64 * 1024;

/** Reads the body of an answer whose status says that it is an error; JSON, text, a web page or nothing. */
export function readErrorText(text: string): ErrorBody {
  return readAny(text, 0) ?? {};
}

/**
 * Reads the error in a JSON body, if there is one. Shapes: the specification's
 * `{error: {code, message, error_type, param}}`, the same with `type`, `{error: "…"}` with or without
 * `error_description`, `{detail}` as text or as a list of `{loc, msg}`, flat `{object: "error", message, …}`, `{message}`
 * and its other names, `{errors: […]}`. What a gateway passes on from another service is nested inside.
 */
export function readErrorObject(body: JsonObject, depth = 0): ErrorBody | undefined {
  const { error } = body;
  if (isJsonObject(error)) {
    const isEmpty = Object.keys(error).length === 0 && Array.isArray(body.choices);
    const isSpecified = textOf(error.error_type) !== undefined;
    return isEmpty ? undefined : withTrace({ ...readMembers(error, depth), ...(isSpecified && { isSpecified }) }, body);
  }
  if (typeof error === 'string' && error !== '') {
    const description = textOf(body.error_description) ?? textOf(body.message);
    const errorBody =
      description === undefined
        ? readAny(error, depth)
        : { ...messageOf(description), code: sanitizeServerMessage(error) };
    return withTrace(errorBody ?? {}, body);
  }
  const isError = error === true || body.object === 'error' || body.type === 'error';
  if (!isError && Array.isArray(body.choices)) return undefined;
  const errorBody = readMembers(body, depth);
  return isError || errorBody.message !== undefined || errorBody.page ? withTrace(errorBody, body) : undefined;
}

/** The deepest nesting that is read: more than any gateway uses, and a limit for a hostile one. */
const DEEPEST = 4;

function readAny(value: unknown, depth: number): ErrorBody | undefined {
  if (depth > DEEPEST) return undefined;
  if (Array.isArray(value)) return readList(value, depth);
  if (isJsonObject(value)) return readErrorObject(value, depth) ?? readMembers(value, depth);
  const text = textOf(value)?.trim();
  if (text === undefined) return undefined;
  if (text.startsWith('<')) return { page: true };
  const parsed = typeof value === 'string' ? parseJson(text) : undefined;
  return parsed === undefined ? messageOf(text) : readAny(parsed, depth + 1);
}

function readMembers(error: JsonObject, depth: number): ErrorBody {
  const inner = readAny(error.message ?? error.msg ?? error.error_msg ?? error.detail, depth + 1);
  const metadata = isJsonObject(error.metadata) ? error.metadata.raw : undefined;
  const within = [error.error, error.errors, metadata, error.failed_generation].map((each) => readAny(each, depth + 1));
  const type = textOf(error.error_type) ?? textOf(error.type);
  const code = textOf(error.code) ?? textOf(error.error_code);
  const param = Array.isArray(error.param) ? error.param.filter(isText).join(', ') : textOf(error.param);
  return {
    ...joined([inner, ...within]),
    ...(code === undefined ? {} : { code: sanitizeServerMessage(code) }),
    ...(type === undefined ? {} : { errorType: sanitizeServerMessage(type) }),
    ...(param === undefined || param === '' ? {} : { param: sanitizeServerMessage(param) }),
  };
}

/** Joins several descriptions of one error: every message once, and each other member from the first that has it. */
function joined(bodies: readonly (ErrorBody | undefined)[]): ErrorBody {
  const errorBodies = bodies.filter((body) => body !== undefined);
  const words: string[] = [];
  for (const { message } of errorBodies) {
    if (message !== undefined && !words.some((known) => known.includes(message))) words.push(message);
  }
  const sentence = words.reduce((all, next) => `${all}${/[.!?:]$/.test(all) ? '' : ':'} ${next}`, '').slice(2);
  return {
    ...Object.assign({}, ...errorBodies.toReversed()),
    ...(sentence !== '' && { message: sanitizeServerMessage(sentence) }),
  };
}

/** A list of errors with their places, as validating frameworks write it, or one whose first entry is the error. */
function readList(list: readonly unknown[], depth: number): ErrorBody | undefined {
  const problems = list.slice(0, MOST_PROBLEMS);
  const places = problems.map(placeOf);
  const entries = problems.map((problem) => readAny(problem, depth + 1));
  const lines = entries.map((body, at) => [places[at], body?.message].filter(Boolean).join(': ')).filter(Boolean);
  const param = places.filter(Boolean).join(', ');
  const first = entries.find((body) => body !== undefined);
  if (first === undefined) return undefined;
  return {
    ...(param === '' && first), // The other members of an entry with a place belong to that place.
    ...(lines.length > 0 && { message: sanitizeServerMessage(lines.join('; ')) }),
    ...(param !== '' && { param: sanitizeServerMessage(param) }),
  };
}

const MOST_PROBLEMS = 20;

function placeOf(problem: unknown): string {
  const loc = isJsonObject(problem) ? problem.loc : undefined;
  // The first step is the part of the HTTP request ("body"), which means nothing to the user.
  return Array.isArray(loc) ? loc.slice(loc[0] === 'body' ? 1 : 0).join('.') : '';
}

function messageOf(text: string): ErrorBody {
  if (markup.test(text)) return { page: true };
  const message = sanitizeServerMessage(text);
  return message === '' ? {} : { message };
}

const markup = /<(?:!doctype|html|head|body|title|center|h1)\b/i;

function withTrace(errorBody: ErrorBody, body: JsonObject): ErrorBody {
  const traceId = textOf(body.trace_id) ?? textOf(body.request_id);
  return traceId === undefined ? errorBody : { ...errorBody, traceId: sanitizeServerMessage(traceId) };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Text, or a number as text: servers send `code` both ways. Empty text is no text. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** The two numbers in a "too long" message, in tokens. */
export interface ContextOverflow {
  /** The most that the model accepts. */
  readonly limit?: number;
  /** The tokens that the request would have needed. */
  readonly requested?: number;
}

/** True when `message` reports that the conversation does not fit the model. */
export function isContextOverflow(message: string): boolean {
  return overflow.test(message);
}

/** Reads the numbers in the service's message; a member is absent when the message does not contain it. */
export function readContextOverflow(message: string): ContextOverflow {
  const limit = firstNumber(message, limits);
  const requested = sum(message) ?? firstNumber(message, requests);
  return { ...(limit === undefined ? {} : { limit }), ...(requested === undefined ? {} : { requested }) };
}

const overflow = new RegExp(
  [
    'maximum context length',
    'context[ _]length[ _]exceeded',
    'context[ _](?:length|window|size) (?:is|of) (?:only )?\\d',
    '(?:exceeds?|longer than|larger than|exceeded) (?:the )?(?:model.s )?(?:available |maximum )?(?:context|model length)',
    'prompt is too long',
    'max_new_tokens. must be <=',
  ].join('|'),
  'i',
);

const number = '(\\d[\\d,]*)';

/** Each has the number in its first group; the first match counts. */
const limits = [
  `maximum context length (?:is|of) (?:only )?${number}`,
  `maximum model length of ${number}`,
  `context length (?:is|of) (?:only )?${number}`,
  `context (?:size|length|window) \\(${number} tokens`,
  `context (?:size|window) (?:is|of) (?:only )?${number}`,
  `> ${number} maximum`,
  `must be <= ${number}`,
];

const requests = [
  `requested (?:a total of )?(?:about )?${number} tokens`,
  `resulted in ${number} tokens`,
  `request(?: has|:)? \\(?${number} (?:input )?tokens`,
  `passed ${number} input tokens`,
  `prompt \\(length ${number}`,
  `prompt contains (?:at least )?${number}`,
  `input \\(${number} tokens`,
  `too long: ${number} tokens`,
];

/** Some services count the prompt and the answer separately. */
function sum(message: string): number | undefined {
  const parts =
    /(\d+) > \d+ - (\d+)/.exec(message) ?? /passed (\d+) input tokens and requested (\d+) output/i.exec(message);
  return parts ? Number(parts[1]) + Number(parts[2]) : undefined;
}

function firstNumber(message: string, patterns: readonly string[]): number | undefined {
  for (const pattern of patterns) {
    const digits = new RegExp(pattern, 'i').exec(message)?.[1];
    if (digits !== undefined) return Number(digits.replaceAll(',', ''));
  }
  return undefined;
}
