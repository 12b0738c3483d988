import { serverWords } from '../base/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts';

/** What an error body says, whatever its shape. Members are absent when the body does not have them. */
export interface ErrorBody {
  readonly message?: string;
  readonly code?: string;
  readonly errorType?: string;
  /** The request fields that the service names, possibly several, comma separated. */
  readonly param?: string;
  readonly traceId?: string;
  /** A web page, whose text is never shown. */
  readonly page?: true;
}

/** The most of an error body that is read, in bytes. */
export const MAX_ERROR_BODY_BYTES = 64 * 1024;

/** Reads the body of an answer whose status says that it is an error; JSON, text, a web page or nothing. */
export function readErrorText(text: string): ErrorBody {
  const trimmed = text.trim();
  if (trimmed === '') return {};
  if (trimmed.startsWith('<')) return { page: true };
  const parsed = parseJson(trimmed);
  // Some gateways put their error object into a list.
  const value: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (typeof value === 'string') return messageOf(value);
  if (!isJsonObject(value)) return parsed === undefined ? messageOf(trimmed) : {};
  return readErrorObject(value) ?? {};
}

/**
 * Reads the error in a JSON body, or says that there is none. Shapes: the specification's
 * `{error: {code, message, error_type, param}}`, the same with `type`, `{error: "…"}` with or without
 * `error_description`, `{detail}` as text or as a list of `{loc, msg}`, flat `{object: "error", message, …}`, `{message}`.
 */
export function readErrorObject(body: JsonObject): ErrorBody | undefined {
  const { error } = body;
  if (isJsonObject(error)) {
    const said = readMembers(error);
    return Object.keys(error).length === 0 && Array.isArray(body.choices) ? undefined : withTrace(said, body);
  }
  if (typeof error === 'string' && error !== '') {
    const description = textOf(body.error_description) ?? textOf(body.message);
    const said = description === undefined ? messageOf(error) : { ...messageOf(description), code: serverWords(error) };
    return withTrace(said, body);
  }
  if (error === true) return withTrace(readMembers(body), body);
  if (body.object === 'error' || body.type === 'error') return withTrace(readMembers(body), body);
  if (Array.isArray(body.choices)) return undefined;
  const detail = readDetail(body.detail);
  if (detail) return withTrace(detail, body);
  return textOf(body.message) === undefined ? undefined : withTrace(readMembers(body), body);
}

function readMembers(error: JsonObject): ErrorBody {
  const type = textOf(error.error_type) ?? textOf(error.type);
  const code = textOf(error.code);
  const param = Array.isArray(error.param) ? error.param.filter(isText).join(', ') : textOf(error.param);
  const nested = isJsonObject(error.message) ? JSON.stringify(error.message) : textOf(error.message);
  const said = nested === undefined ? (readDetail(error.detail) ?? {}) : messageOf(nested);
  return {
    ...said,
    ...(code === undefined ? {} : { code: serverWords(code) }),
    ...(type === undefined ? {} : { errorType: serverWords(type) }),
    ...(param === undefined || param === '' ? {} : { param: serverWords(param) }),
  };
}

/** `detail` of frameworks that validate: text, or a list of what is wrong where. */
function readDetail(detail: unknown): ErrorBody | undefined {
  const plain = textOf(detail);
  if (plain !== undefined) return messageOf(plain);
  if (isJsonObject(detail)) return readErrorObject(detail) ?? readMembers(detail);
  if (!Array.isArray(detail)) return undefined;
  const problems = detail.filter(isJsonObject);
  // The first step is the place in the HTTP request ("body"), which says nothing to a person.
  const places = problems.map(({ loc }) => (Array.isArray(loc) ? loc.slice(loc[0] === 'body' ? 1 : 0).join('.') : ''));
  const lines = problems.map(({ msg }, at) => [places[at], textOf(msg)].filter(Boolean).join(': '));
  const param = places.filter(Boolean).join(', ');
  return { ...messageOf(lines.filter(Boolean).join('; ')), ...(param === '' ? {} : { param: serverWords(param) }) };
}

function messageOf(text: string): ErrorBody {
  if (markup.test(text)) return { page: true };
  const message = serverWords(text);
  return message === '' ? {} : { message };
}

const markup = /<(?:!doctype|html|head|body|title|center|h1)\b/i;

function withTrace(said: ErrorBody, body: JsonObject): ErrorBody {
  const traceId = textOf(body.trace_id) ?? textOf(body.request_id);
  return traceId === undefined ? said : { ...said, traceId: serverWords(traceId) };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Text, or a number as text: servers send `code` both ways. Empty text is no text. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
