import * as l10n from '@vscode/l10n';
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
  withServerMessage,
} from '../base/errors.ts';
import { retryAfterMs } from '../base/http.ts';
import { parseJsonAs } from '../base/json.ts';

/**
 * An error of openid-client as a `RolecallError`. `cause` keeps the original; its response body is not logged anywhere.
 * `refused` is what a refusal refers to: the client with its refresh token, an authorization code, or an access token.
 */
export function translateOAuthError(
  error: unknown,
  connection: Connection,
  refused: 'client' | 'code' | 'token' = 'client',
): RolecallError {
  const rolecallError = causes(error).find((at) => at instanceof RolecallError);
  if (rolecallError) return rolecallError;
  if (isCancelled(error)) return cancelled(error);
  if (error instanceof oauth.ResponseBodyError) return refusedGrant(error, refused);
  if (error instanceof oauth.AuthorizationResponseError) return refusedAuthorization(error);
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    const [kind, sentence] = refused === 'token' ? refusedToken() : refusedClient();
    return new RolecallError(kind, sentence, {
      cause: error,
      details: { status: error.status },
      remedy: remedyOf(kind),
    });
  }
  if (error instanceof oauth.ClientError) return unusableAnswer(error, connection);
  return new RolecallError('unexpected', l10n.t('The sign-in failed with an unexpected error.'), { cause: error });
}

const errorSchema = z.object({ error: z.string(), error_description: z.optional(z.string()) });

/**
 * The OAuth error of a 5xx response, which openid-client does not read: RFC 6749 section 5.2 has only 400 and 401. Some
 * versions report a missing client secret in this way.
 *
 * @returns `undefined` for anything but an OAuth error: a page of a proxy, for example.
 */
export function failedService(status: number, body: string, headers: Headers): RolecallError | undefined {
  const reported = status >= 500 ? parseJsonAs(errorSchema, body) : undefined;
  if (!reported) return undefined;
  const words = sanitizeServerMessage(reported.error_description ?? '');
  const [kind, sentence]: Meaning = /client\b.*\bsecret\b/i.test(words)
    ? refusedClient()
    : ['server', l10n.t('The identity service returned {0}. Try again in a moment.', status)];
  const waitMs = retryAfterMs(headers, Date.now());
  return new RolecallError(kind, withServerMessage(sentence, words), {
    details: {
      status,
      code: reported.error,
      ...(words && { serverMessage: words }),
      ...(waitMs !== undefined && { retryAfterMs: waitMs }),
    },
    remedy: remedyOf(kind),
  });
}

type Meaning = readonly [RolecallError['kind'], string];

function refusedToken(): Meaning {
  return ['sessionEnded', l10n.t('The identity service does not accept the access token.')];
}

function refusedClient(): Meaning {
  return [
    'configuration',
    l10n.t('The identity service rejected the client. Check the client ID and the client secret.'),
  ];
}

/** No session has ended, because nobody is signed in with this code yet. */
function refusedCode(): Meaning {
  return [
    'invalidRequest',
    l10n.t(
      'The identity service did not accept the code of this sign-in. It might be mistyped, expired or already used.',
    ),
  ];
}

function tooManyRequests(): Meaning {
  return ['rateLimited', l10n.t('The identity service received too many requests. Try again in a moment.')];
}

/** The most likely cause of a rejected client is a wrong secret, which is not in the settings. */
function remedyOf(kind: RolecallError['kind'], code?: string): Remedy | undefined {
  if (kind !== 'configuration') return undefined;
  if (code === 'invalid_scope') return { kind: 'changeSetting', setting: 'identity.scopes' };
  if (code === 'unauthorized_client') return { kind: 'changeSetting', setting: 'identity.clientId' };
  return { kind: 'setClientSecret' };
}

function refusedGrant(error: oauth.ResponseBodyError, refused: 'client' | 'code' | 'token'): RolecallError {
  const isCode = refused === 'code' && error.error === 'invalid_grant' && error.status !== 429;
  const [kind, sentence] = isCode ? refusedCode() : grantMeaning(error);
  const words = sanitizeServerMessage(error.error_description ?? '');
  const details: ErrorDetails = {
    status: error.status,
    code: error.error,
    ...(words && { serverMessage: words }),
    ...askedToWait(error.response),
  };
  return new RolecallError(kind, withServerMessage(sentence, words), {
    cause: error,
    details,
    remedy: remedyOf(kind, error.error),
  });
}

function grantMeaning({ status, error }: oauth.ResponseBodyError): Meaning {
  if (status === 429) return tooManyRequests();
  switch (error) {
    case 'invalid_grant':
      return ['sessionEnded', l10n.t('The identity service no longer accepts this sign-in.')];
    case 'access_denied':
      return refusedClient();
    case 'invalid_client':
      return [
        'configuration',
        l10n.t(
          'The identity service rejected the client or the code verifier of this sign-in. Check the client ID and the client secret.',
        ),
      ];
    case 'unauthorized_client':
      return ['configuration', l10n.t('The identity service does not allow this client to sign in this way.')];
    case 'invalid_request':
      return [
        'configuration',
        l10n.t('The identity service rejected the request. Check the client ID and the client secret.'),
      ];
    case 'invalid_scope':
      return ['configuration', l10n.t('The identity service rejected a scope. Check rolecall.identity.scopes.')];
    case 'server_error':
      return ['server', l10n.t('The identity service failed to handle the request. Try again in a moment.')];
    case 'temporarily_unavailable':
      return ['server', l10n.t('The identity service is busy. Try again in a moment.')];
    default:
      return ['protocol', l10n.t('The identity service returned the error "{0}".', sanitizeServerMessage(error))];
  }
}

function refusedAuthorization(error: oauth.AuthorizationResponseError): RolecallError {
  const words = sanitizeServerMessage(error.error_description ?? '');
  const sentence =
    error.error === 'access_denied'
      ? l10n.t('The sign-in was denied or canceled on the provider’s page.')
      : l10n.t(
          'The sign-in failed. The identity service returned the error "{0}".',
          sanitizeServerMessage(error.error),
        );
  return new RolecallError('invalidRequest', withServerMessage(sentence, words), {
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
    const sentence = l10n.t(
      'The identity service, or a proxy in front of it, returned {0}. Try again in a moment.',
      status,
    );
    return new RolecallError('server', sentence, { cause: error, details });
  }
  const meaning = status === 429 ? tooManyRequests() : status === 401 ? refusedClient() : undefined;
  if (meaning) return new RolecallError(...meaning, { cause: error, details, remedy: remedyOf(meaning[0]) });
  const sentence =
    status !== undefined && status >= 300
      ? l10n.t('{0} returned {1} without an explanation.', connection.identityUrl, status)
      : failedCheck(error.code, connection.identityUrl);
  return new RolecallError('protocol', sentence, { cause: error, details });
}

/** A busy service, or a proxy in front of it, may say when to try again. */
function askedToWait(response: Response | undefined): ErrorDetails {
  const waitMs = response && retryAfterMs(response.headers, Date.now());
  return waitMs === undefined ? {} : { retryAfterMs: waitMs };
}

/** The response was not used, because a check of openid-client failed. */
function failedCheck(code: string | undefined, identityUrl: string): string {
  switch (code) {
    case 'OAUTH_JWT_CLAIM_COMPARISON_FAILED':
      return l10n.t('{0} sent an ID token that does not belong to this sign-in. It was not used.', identityUrl);
    case 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED':
      return l10n.t(
        '{0} sent an ID token that is not valid now. It was not used. Check the clock of this machine.',
        identityUrl,
      );
    case 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED':
      return l10n.t('{0} reports another issuer than the configured address. Its response was not used.', identityUrl);
    default:
      return l10n.t('{0} sent a response that is not a valid OAuth response. It was not used.', identityUrl);
  }
}

function causes(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let at: unknown = error; at !== undefined && chain.length < 6; ) {
    chain.push(at);
    at = at instanceof Error ? at.cause : undefined;
  }
  return chain;
}
