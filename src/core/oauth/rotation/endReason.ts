import { RolecallError } from '../../base/errors.ts';

export const END_REASONS = ['elsewhere', 'expired', 'configuration', 'interrupted', 'unknown'] as const;

/** Why a session is over. */
export type EndReason = (typeof END_REASONS)[number];

export interface SessionEnd {
  readonly reason: EndReason;
  /** For the user. */
  readonly sentence: string;
}

/**
 * What the services of this kind say in `error_description` beside `invalid_grant` (RFC 6749 section 5.2 leaves the
 * words to the server); the first line that fits decides.
 */
const DESCRIPTIONS: readonly (readonly [RegExp, EndReason])[] = [
  [/client|redirect.?uri/i, 'configuration'],
  [/expired|too old|lifetime/i, 'expired'],
  [/reus|already (been )?(used|spent)|superseded|replaced|revoked|rotated|not the (current|latest)/i, 'elsewhere'],
];

const SENTENCES: Readonly<Record<EndReason, string>> = {
  elsewhere:
    'This sign-in was replaced: the same client has signed in elsewhere, on another machine or in another editor. Sign in again to use it here.',
  expired: 'The sign-in has expired. Sign in again.',
  configuration: 'The identity service says that this sign-in belongs to another client. Check client id and secret.',
  interrupted:
    'The renewal of the sign-in was interrupted after it was sent, so its answer was lost and the old sign-in is spent. Sign in again.',
  unknown: 'The identity service no longer accepts this sign-in. Sign in again.',
};

/**
 * Why the identity service refused the refresh token.
 *
 * @param interrupted An earlier refresh with the same token was sent and its answer never stored.
 */
export function sessionEndOf(error: RolecallError, interrupted: boolean): SessionEnd {
  const said = error.details.serverMessage ?? '';
  const reason = DESCRIPTIONS.find(([pattern]) => pattern.test(said))?.[1] ?? 'unknown';
  // Our own lost refresh has spent the token, whatever that looks like to the server.
  if (interrupted && reason !== 'configuration') return { reason: 'interrupted', sentence: SENTENCES.interrupted };
  const quoted = said === '' || reason === 'expired' ? '' : ` It said: ${said}`;
  return { reason, sentence: SENTENCES[reason] + quoted };
}

/** A token without a successor (a service token) is no longer accepted. */
export const TOKEN_EXPIRED: SessionEnd = { reason: 'expired', sentence: SENTENCES.expired };

export function sessionEndedError(end: SessionEnd): RolecallError {
  if (end.reason !== 'configuration') return new RolecallError('sessionEnded', end.sentence);
  return new RolecallError('configuration', end.sentence, { remedy: { kind: 'setClientSecret' } });
}
