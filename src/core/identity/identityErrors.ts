import * as l10n from '@vscode/l10n';
import * as z from 'zod/mini';
import {
  type ErrorDetails,
  type ErrorKind,
  RolecallError,
  sanitizeServerMessage,
  withServerMessage,
} from '../base/errors.ts';
import { type HttpResponse, retryAfterMs } from '../base/http.ts';

const optionalText = z.catch(z.optional(z.nullable(z.string())), undefined);
const words = { error_description: optionalText, message: optionalText, detail: optionalText };
/**
 * Error object of the identity service; newer versions add `trace_id`. A gateway in front of the service may nest it, or
 * use members of its own.
 */
const errorBody = z.looseObject({
  error: z.catch(
    z.optional(z.union([z.string(), z.looseObject({ error: optionalText, code: optionalText, ...words })])),
    undefined,
  ),
  trace_id: optionalText,
  ...words,
});

/** The nine values of `error` (specification, Errors). The status only counts if there is no such value. */
function meaningOf(code: string | undefined, organization: string | undefined): Meaning | undefined {
  switch (code) {
    case 'invalid_request':
      return ['invalidRequest', l10n.t('The identity service could not process the request.')];
    case 'server_error':
      return ['server', l10n.t('The identity service failed. Try again in a moment.')];
    case 'access_denied':
      return ['sessionEnded', l10n.t('The identity service does not accept this sign-in. Sign in again.')];
    case 'not_found':
      return [
        'notFound',
        l10n.t(
          'The identity service could not find what was requested. Check the organization and rolecall.identity.url.',
        ),
      ];
    case 'conflict':
      return ['invalidRequest', l10n.t('The identity service reported a conflict with another request. Try again.')];
    case 'method_not_allowed':
      return [
        'protocol',
        l10n.t('The identity service does not support this kind of request. Check rolecall.identity.url.'),
      ];
    case 'unsupported_media_type':
      return ['protocol', l10n.t('The identity service does not support this content type.')];
    case 'request_entity_too_large':
      return ['invalidRequest', l10n.t('The request was too large for the identity service.')];
    case 'forbidden':
      return [
        'forbidden',
        organization === undefined
          ? l10n.t('You don’t have permission to do this. Ask an administrator.')
          : l10n.t(
              'You don’t have permission to view "{0}". Ask an administrator, and check the organization’s ID and the scopes of the sign-in.',
              organization,
            ),
      ];
    default:
      return undefined;
  }
}

type Meaning = readonly [ErrorKind, string];

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

/** An answer that is not a success, as an error, with the name of `organization` where it explains a refusal. */
export function identityError(answer: HttpResponse, organization: string | undefined, now: number): RolecallError {
  const body = readErrorBody(answer.text);
  const code = body?.code || BY_STATUS[answer.status];
  const wait = retryAfterMs(answer.headers, now);
  const details: ErrorDetails = {
    status: answer.status,
    ...(code && { code: sanitizeServerMessage(code) }),
    ...(body?.description && { serverMessage: sanitizeServerMessage(body.description) }),
    ...(body?.traceId && { traceId: sanitizeServerMessage(body.traceId) }),
    ...(wait !== undefined && { retryAfterMs: wait }),
  };
  const [kind, sentence] = explain(answer.status, code, body?.description, organization);
  return new RolecallError(kind, withServerMessage(sentence, details.serverMessage ?? ''), { details });
}

function explain(
  status: number,
  code: string | undefined,
  description: string | undefined,
  organization: string | undefined,
): Meaning {
  if (status === 429)
    return ['rateLimited', l10n.t('The identity service received too many requests. Try again in a moment.')];
  // The specified version answers 400 where newer ones answer 401 to a missing or malformed Authorization header.
  if (code === 'invalid_request' && /authori[sz]ation header/i.test(description ?? '')) {
    return ['sessionEnded', l10n.t('The identity service does not accept this sign-in. Sign in again.')];
  }
  const meaning = meaningOf(code, organization) ?? meaningOf(BY_STATUS[status], organization);
  if (meaning) return meaning;
  if (status >= 500) {
    const sentence = l10n.t(
      'The identity service, or a proxy in front of it, returned {0}. Try again in a moment.',
      status,
    );
    return ['server', sentence];
  }
  const sentence = code
    ? l10n.t('The identity service returned {0} with "{1}".', status, sanitizeServerMessage(code))
    : l10n.t('The identity service returned {0}.', status);
  return ['protocol', sentence];
}

/** The error in a body, whatever its status; `undefined` for a page of a proxy, a list, or nothing. */
export function readErrorBody(text: string) {
  if (!/^\s*\{/.test(text)) return undefined; // Too long for an error: a list, which takes time to parse.
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
      .flatMap((part) => [part?.error_description, part?.message, part?.detail])
      .find((text) => Boolean(text)) ?? undefined;
  const code = typeof error === 'string' ? error : inner?.error || inner?.code;
  return error === undefined && !description ? undefined : { code: code ?? '', description, traceId };
}
