import * as oauth from 'openid-client';
import * as z from 'zod/mini';
import type { Connection } from '../base/connection.ts';
import {
  cancelled,
  type ErrorDetails,
  isCancelled,
  type Remedy,
  RolecallError,
  sanitizeServerMessage,
} from '../base/errors.ts';
import { retryAfterMs } from '../base/http.ts';
import { parseJsonAs } from './rotation/protocol.ts';

/**
 * Whatever openid-client throws, as one of ours. `cause` keeps the original; its response body is not logged anywhere.
 * `refused` says what a refusal was the answer to: the client with its refresh token, an authorization code, or an access
 * token.
 */
export function translateOAuthError(
  error: unknown,
  connection: Connection,
  refused: 'client' | 'code' | 'token' = 'client',
): RolecallError {
  const ours = causes(error).find((at) => at instanceof RolecallError);
  if (ours) return ours;
  if (isCancelled(error)) return cancelled(error);
  if (error instanceof oauth.ResponseBodyError) return refusedGrant(error, refused);
  if (error instanceof oauth.AuthorizationResponseError) return refusedAuthorization(error);
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    const [kind, sentence] = refused === 'token' ? REFUSED_TOKEN : REFUSED_CLIENT;
    return new RolecallError(kind, sentence, {
      cause: error,
      details: { status: error.status },
      remedy: remedyOf(kind),
    });
  }
  if (error instanceof oauth.ClientError) return unusableAnswer(error, connection);
  return new RolecallError('unexpected', 'Signing in failed in an unexpected way.', { cause: error });
}

const errorSchema = z.object({ error: z.string(), error_description: z.optional(z.string()) });

/**
 * What a service says with 5xx, which openid-client does not read: RFC 6749 section 5.2 knows 400 and 401 only. Some
 * versions report a missing client secret so.
 *
 * @returns `undefined` for anything but an OAuth error: a page of a proxy, for example.
 */
export function failedService(status: number, body: string, headers: Headers): RolecallError | undefined {
  const said = status >= 500 ? parseJsonAs(errorSchema, body) : undefined;
  if (!said) return undefined;
  const words = sanitizeServerMessage(said.error_description ?? '');
  const [kind, sentence]: Meaning = /client\b.*\bsecret\b/i.test(words)
    ? REFUSED_CLIENT
    : ['server', `The identity service answered ${status}. Try again in a moment.`];
  const asked = retryAfterMs(headers, Date.now());
  return new RolecallError(kind, withWords(sentence, words), {
    details: {
      status,
      code: said.error,
      ...(words && { serverMessage: words }),
      ...(asked !== undefined && { retryAfterMs: asked }),
    },
    remedy: remedyOf(kind),
  });
}

const withWords = (sentence: string, words: string) => sentence + (words && ` It said: ${words}`);

type Meaning = readonly [RolecallError['kind'], string];

const REFUSED_TOKEN: Meaning = ['sessionEnded', 'The identity service does not accept the access token.'];
const REFUSED_CLIENT: Meaning = [
  'configuration',
  'The identity service refused the client. Check client id and client secret.',
];
/** Nobody was signed in by it yet, so no session has ended. */
const REFUSED_CODE: Meaning = [
  'invalidRequest',
  'The identity service did not accept the code of this sign-in. It might be mistyped, expired or already used.',
];
const SLOW_DOWN: Meaning = ['rateLimited', 'The identity service asks to slow down. Try again in a moment.'];

const GRANT_SENTENCES: Readonly<Record<string, Meaning>> = {
  invalid_grant: ['sessionEnded', 'The identity service no longer accepts this sign-in.'],
  invalid_client: ['configuration', 'The identity service refused the client or the proof of this sign-in.'],
  unauthorized_client: ['configuration', 'The identity service does not allow this client to sign in this way.'],
  invalid_request: ['configuration', 'The identity service refused the request. Check client id and client secret.'],
  access_denied: REFUSED_CLIENT,
  invalid_scope: ['configuration', 'The identity service does not know one of the scopes (rolecall.identity.scopes).'],
  server_error: ['server', 'The identity service failed while handling the request. Try again in a moment.'],
  temporarily_unavailable: ['server', 'The identity service is busy. Try again in a moment.'],
};

/** A refused client is most often a wrong secret, which cannot be entered in the settings. */
function remedyOf(kind: RolecallError['kind'], code?: string): Remedy | undefined {
  if (kind !== 'configuration') return undefined;
  if (code === 'invalid_scope') return { kind: 'changeSetting', setting: 'identity.scopes' };
  if (code === 'unauthorized_client') return { kind: 'changeSetting', setting: 'identity.clientId' };
  return { kind: 'setClientSecret' };
}

function refusedGrant(error: oauth.ResponseBodyError, refused: 'client' | 'code' | 'token'): RolecallError {
  const isCode = refused === 'code' && error.error === 'invalid_grant' && error.status !== 429;
  const [kind, sentence] = isCode ? REFUSED_CODE : grantMeaning(error);
  const words = sanitizeServerMessage(error.error_description ?? '');
  const details: ErrorDetails = {
    status: error.status,
    code: error.error,
    ...(words && { serverMessage: words }),
    ...askedToWait(error.response),
  };
  return new RolecallError(kind, withWords(sentence, words), {
    cause: error,
    details,
    remedy: remedyOf(kind, error.error),
  });
}

function grantMeaning({ status, error }: oauth.ResponseBodyError): Meaning {
  if (status === 429) return SLOW_DOWN;
  const known = Object.hasOwn(GRANT_SENTENCES, error) ? GRANT_SENTENCES[error] : undefined;
  return known ?? ['protocol', `The identity service refused with “${sanitizeServerMessage(error)}”.`];
}

function refusedAuthorization(error: oauth.AuthorizationResponseError): RolecallError {
  const words = sanitizeServerMessage(error.error_description ?? '');
  const sentence =
    error.error === 'access_denied'
      ? 'The sign-in was refused or cancelled on the provider’s page.'
      : `The identity service answered the sign-in with “${sanitizeServerMessage(error.error)}”.`;
  return new RolecallError('invalidRequest', withWords(sentence, words), {
    cause: error,
    details: { code: error.error, ...(words && { serverMessage: words }) },
  });
}

/** An answer openid-client could not use: a page of a proxy, a wrong nonce, another issuer, a missing member. */
function unusableAnswer(error: oauth.ClientError, connection: Connection): RolecallError {
  const response = causes(error).find((at) => at instanceof Response);
  const status = response?.status;
  const details: ErrorDetails = {
    ...(status !== undefined && { status }),
    ...(error.code && { code: error.code }),
    ...askedToWait(response),
  };
  if (status !== undefined && status >= 500) {
    const sentence = `The identity service (or a proxy before it) answered ${status}. Try again in a moment.`;
    return new RolecallError('server', sentence, { cause: error, details });
  }
  const meaning = status === 429 ? SLOW_DOWN : status === 401 ? REFUSED_CLIENT : undefined;
  if (meaning) return new RolecallError(...meaning, { cause: error, details, remedy: remedyOf(meaning[0]) });
  const what =
    status !== undefined && status >= 300 ? `answered ${status} without an explanation` : CHECKS[error.code ?? ''];
  const sentence = `${connection.identityUrl} ${what ?? 'sent an answer that is not an OAuth answer'}. This answer was not used.`;
  return new RolecallError('protocol', sentence, { cause: error, details });
}

/** A service that is busy, or a proxy before it, may say when to come back. */
function askedToWait(response: Response | undefined): ErrorDetails {
  const asked = response && retryAfterMs(response.headers, Date.now());
  return asked === undefined ? {} : { retryAfterMs: asked };
}

const CHECKS: Readonly<Record<string, string>> = {
  OAUTH_JWT_CLAIM_COMPARISON_FAILED: 'sent an identity token that is not for this sign-in',
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: 'sent an identity token that is out of time; compare this machine’s clock',
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: 'says it is another issuer than the configured address',
};

function causes(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let at: unknown = error; at !== undefined && found.length < 6; ) {
    found.push(at);
    at = at instanceof Error ? at.cause : undefined;
  }
  return found;
}
