import * as l10n from '@vscode/l10n';
import { RolecallError, withServerMessage } from '../../base/errors.ts';

export const END_REASONS = ['elsewhere', 'expired', 'configuration', 'interrupted', 'unknown'] as const;

/** Why a session has ended. */
export type EndReason = (typeof END_REASONS)[number];

export interface SessionEnd {
  readonly reason: EndReason;
  /** Shown to the user. */
  readonly sentence: string;
}

/**
 * The `error_description` that services of this kind send with `invalid_grant` (RFC 6749 section 5.2 leaves the text to
 * the server); the first match decides.
 */
const DESCRIPTIONS: readonly (readonly [RegExp, EndReason])[] = [
  [/client|redirect.?uri/i, 'configuration'],
  [/expired|too old|lifetime/i, 'expired'],
  [/reus|already (been )?(used|spent)|superseded|replaced|revoked|rotated|not the (current|latest)/i, 'elsewhere'],
];

function sentenceOf(reason: EndReason): string {
  switch (reason) {
    case 'elsewhere':
      return l10n.t(
        'The same client signed in on another machine or in another editor, which ended this session. Sign in again to use it here.',
      );
    case 'expired':
      return l10n.t('The sign-in has expired. Sign in again.');
    case 'configuration':
      return l10n.t(
        'The identity service reported that this sign-in belongs to another client. Check the client ID and the client secret.',
      );
    case 'interrupted':
      return l10n.t(
        'The renewal of the sign-in was interrupted and its response was lost, so the session cannot be renewed. Sign in again.',
      );
    case 'unknown':
      return l10n.t('The identity service no longer accepts this sign-in. Sign in again.');
  }
}

/**
 * Why the identity service refused the refresh token.
 *
 * @param interrupted An earlier refresh with the same token was sent and its answer never stored.
 */
export function sessionEndOf(error: RolecallError, interrupted: boolean): SessionEnd {
  const description = error.details.serverMessage ?? '';
  const reason = DESCRIPTIONS.find(([pattern]) => pattern.test(description))?.[1] ?? 'unknown';
  // Our own lost refresh has used the token, whatever that looks like to the server.
  if (interrupted && reason !== 'configuration') return { reason: 'interrupted', sentence: sentenceOf('interrupted') };
  const sentence = sentenceOf(reason);
  return { reason, sentence: reason === 'expired' ? sentence : withServerMessage(sentence, description) };
}

/** A token without a successor (a service token) is no longer accepted. */
export function tokenExpired(): SessionEnd {
  return { reason: 'expired', sentence: sentenceOf('expired') };
}

export function sessionEndedError(end: SessionEnd): RolecallError {
  if (end.reason !== 'configuration') return new RolecallError('sessionEnded', end.sentence);
  return new RolecallError('configuration', end.sentence, { remedy: { kind: 'setClientSecret' } });
}
