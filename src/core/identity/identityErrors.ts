import * as z from 'zod/mini';
import { type ErrorDetails, type ErrorKind, RolecallError, sanitizeServerMessage } from '../base/errors.ts';
import { type HttpResponse, retryAfterMs } from '../base/http.ts';

const optionalText = z.catch(z.optional(z.nullable(z.string())), undefined);
const words = { error_description: optionalText, message: optionalText, detail: optionalText };
/**
 * Error object of the identity service; `trace_id` comes with newer versions. What stands before the service may nest it,
 * or have words of its own.
 */
const errorBody = z.looseObject({
  error: z.catch(
    z.optional(z.union([z.string(), z.looseObject({ error: optionalText, code: optionalText, ...words })])),
    undefined,
  ),
  trace_id: optionalText,
  ...words,
});

/**
 * The nine values of `error` (specification, Errors) in plain words. The value decides; the status only where there is
 * none, or one that is not among the nine.
 */
const SENTENCES: Readonly<Record<string, readonly [ErrorKind, string]>> = {
  invalid_request: ['invalidRequest', 'The identity service did not understand the request.'],
  server_error: ['server', 'The identity service failed. It may be transient; try again in a moment.'],
  access_denied: ['sessionEnded', 'The identity service does not accept this sign-in. Sign in again.'],
  not_found: ['notFound', 'The identity service does not know what was asked for. Check the organization and address.'],
  conflict: ['invalidRequest', 'The identity service says the resource is being changed by somebody else.'],
  method_not_allowed: ['protocol', 'The address does not take this kind of request. Check rolecall.identity.url.'],
  unsupported_media_type: ['protocol', 'The identity service does not take this content type.'],
  request_entity_too_large: ['invalidRequest', 'The request was too large for the identity service.'],
  forbidden: ['forbidden', 'Not allowed.'],
};

const BY_STATUS: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'access_denied',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  413: 'request_entity_too_large',
  415: 'unsupported_media_type',
  422: 'invalid_request',
};

/** An answer that is not a success, as an error. `organization` is named where it explains a refusal. */
export function identityError(answer: HttpResponse, organization: string | undefined, now: number): RolecallError {
  const body = readErrorBody(answer.text);
  const code = body?.code || BY_STATUS[answer.status];
  const wait = retryAfterMs(answer.headers, now);
  const details: ErrorDetails = {
    status: answer.status,
    ...(code && { code: shown(code) }),
    ...(body?.description && { serverMessage: shown(body.description) }),
    ...(body?.traceId && { traceId: shown(body.traceId) }),
    ...(wait !== undefined && { retryAfterMs: wait }),
  };
  const [kind, sentence] = explain(answer.status, code, body?.description, organization);
  const said = details.serverMessage ? ` Server response: ${details.serverMessage}` : '';
  return new RolecallError(kind, sentence + said, { details });
}

function explain(
  status: number,
  code: string | undefined,
  description: string | undefined,
  organization: string | undefined,
): readonly [ErrorKind, string] {
  if (status === 429) return ['rateLimited', 'The identity service asks to slow down. Try again in a moment.'];
  // The specified version answers 400 where newer ones answer 401 to a missing or malformed Authorization header.
  if (code === 'invalid_request' && /authori[sz]ation header/i.test(description ?? '')) {
    return ['sessionEnded', 'The identity service does not accept this sign-in. Sign in again.'];
  }
  const meaning = code !== undefined && Object.hasOwn(SENTENCES, code) ? code : BY_STATUS[status];
  if (meaning === 'forbidden' && organization !== undefined) {
    return [
      'forbidden',
      `You don’t have permission to view “${organization}”. Ask an administrator, and check the ID and the scopes of the sign-in.`,
    ];
  }
  const known = meaning === undefined ? undefined : SENTENCES[meaning];
  if (known) return known;
  if (status >= 500)
    return ['server', `The identity service (or a proxy before it) answered ${status}. Try again in a moment.`];
  return ['protocol', `The identity service answered ${status}${code ? ` with “${shown(code)}”` : ''}.`];
}

/** Text of the service as a person may see it: short, without markup, and without what looks like a secret. */
function shown(text: string): string {
  return sanitizeServerMessage(text.slice(0, 4000));
}

/** The error that a body holds, whatever its status; `undefined` for a page of a proxy, a list, or nothing. */
export function readErrorBody(text: string) {
  if (!/^\s*\{/.test(text)) return undefined; // Not worth parsing: a list may be long.
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const result = z.safeParse(errorBody, json);
  if (!result.success) return undefined;
  const { error, trace_id: traceId, ...outer } = result.data;
  const inner = typeof error === 'object' ? error : undefined;
  const description =
    [inner, outer]
      .flatMap((said) => [said?.error_description, said?.message, said?.detail])
      .find((said) => Boolean(said)) ?? undefined;
  const code = typeof error === 'string' ? error : inner?.error || inner?.code;
  return error === undefined && !description ? undefined : { code: code ?? '', description, traceId };
}
