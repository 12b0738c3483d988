import type { RolecallError } from '../../base/errors.ts';

/**
 * What a failed refresh means for the refresh token:
 *
 * - `refused`: the service does not accept it (`invalid_grant`).
 * - `configuration`: the service refused the client before it looked at the token.
 * - `notSpent`: the request did not reach the service, or was turned away unread; the token is as good as before.
 * - `unclear`: the service, or something before it, failed; most likely the token was not spent.
 * - `lost`: the request was sent and no answer came. The token may be spent.
 */
export type RefreshFailureKind = 'refused' | 'configuration' | 'notSpent' | 'unclear' | 'lost';

/** Failures that come before the first byte is sent. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED']);

export function classifyRefreshFailure(error: RolecallError): RefreshFailureKind {
  if (error.details.wasNotSent) return error.kind === 'configuration' ? 'configuration' : 'notSpent';
  switch (error.kind) {
    case 'sessionEnded':
      return /client|redirect.?uri/i.test(error.details.serverMessage ?? '') ? 'configuration' : 'refused';
    case 'configuration':
      return 'configuration';
    case 'rateLimited':
      return 'notSpent';
    case 'offline':
      return wasNeverSent(error.details.code) ? 'notSpent' : 'lost';
    case 'timeout':
      return 'lost';
    default:
      return 'unclear';
  }
}

function wasNeverSent(code: string | undefined): boolean {
  return code !== undefined && (NEVER_SENT.has(code) || /CERT|ALTNAME|_TLS_|SIGNATURE/.test(code));
}
