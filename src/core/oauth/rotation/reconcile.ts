import * as l10n from '@vscode/l10n';
import { RolecallError, withServerMessage } from '../../base/errors.ts';
import type { Session } from '../session.ts';
import type { SessionEntry, Unsealed } from './seal.ts';
import type { SecretRecord } from './sessionSecretStore.ts';

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

function sentenceOfEnd(reason: EndReason): string {
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
        'Refreshing the session was interrupted and the response was lost, so the session cannot be refreshed. Sign in again.',
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
  if (interrupted && reason !== 'configuration')
    return { reason: 'interrupted', sentence: sentenceOfEnd('interrupted') };
  const sentence = sentenceOfEnd(reason);
  return { reason, sentence: reason === 'expired' ? sentence : withServerMessage(sentence, description) };
}

/** A token without a successor (a service token) is no longer accepted. */
export function tokenExpired(): SessionEnd {
  return { reason: 'expired', sentence: sentenceOfEnd('expired') };
}

export function sessionEndedError(end: SessionEnd): RolecallError {
  if (end.reason !== 'configuration') return new RolecallError('sessionEnded', end.sentence);
  return new RolecallError('configuration', end.sentence, { remedy: { kind: 'setClientSecret' } });
}

/**
 * The session that a window may use. `diesAt`, if it is known, is when its access token really expires (milliseconds
 * since the epoch).
 */
export interface CurrentSession {
  readonly session: Session;
  readonly diesAt?: number;
}

/** The state that the windows share. `generation` is the highest that was seen, 0 when there never was one. */
export type SharedSessionState = { readonly generation: number } & (
  | { readonly kind: 'nothing' }
  | { readonly kind: 'signedOut' }
  | { readonly kind: 'session'; readonly current: CurrentSession }
  | { readonly kind: 'ended'; readonly current: CurrentSession; readonly end: SessionEnd }
  /** `otherKey` and `newer`: this window must not write. `damaged`: only a new sign-in, or a sign-out, may. */
  | {
      readonly kind: 'unreadable';
      readonly reason: 'otherKey' | 'newer' | 'damaged';
      readonly error: RolecallError;
    }
);

/**
 * The higher generation wins. All windows see the same sealed file; the secret store counts where there is no file
 * (another machine, a lost folder) or where the store is ahead of it. A file that cannot be read never counts as signed
 * out.
 */
export function reconcile(record: SecretRecord, sealed: Unsealed): SharedSessionState {
  if (sealed.kind === 'open') {
    return record.session && record.session.generation > sealed.entry.generation
      ? signedInState({ session: record.session })
      : stateOfEntry(sealed.entry);
  }
  if (sealed.kind === 'newer' || record.problem === 'newer') return unreadableState('newer', 0);
  const generation = record.session?.generation ?? 0;
  switch (sealed.kind) {
    case 'missing':
      if (record.problem) return unreadableState(record.problem, 0);
      return record.session ? signedInState({ session: record.session }) : { kind: 'nothing', generation: 0 };
    case 'otherKey': {
      const { generation, signedOut } = sealed.header;
      return signedOut === true
        ? { kind: 'signedOut', generation }
        : unreadableState(record.problem ?? 'otherKey', generation);
    }
    case 'damaged':
      return unreadableState('damaged', Math.max(sealed.header?.generation ?? 0, generation));
  }
}

/** The state that an entry of the sealed file describes. */
export function stateOfEntry({ generation, session, diesAt, ended }: SessionEntry): SharedSessionState {
  if (!session) return { kind: 'signedOut', generation };
  const current = { session, ...(diesAt !== undefined && { diesAt }) };
  return ended ? { kind: 'ended', generation, current, end: ended } : { kind: 'session', generation, current };
}

/** The state while a session is in use. */
export function signedInState(current: CurrentSession): SharedSessionState {
  return { kind: 'session', generation: current.session.generation, current };
}

function sentenceOfUnreadable(reason: 'otherKey' | 'newer' | 'damaged'): string {
  switch (reason) {
    case 'otherKey':
      return l10n.t(
        'Another window has signed in, and this window has an old copy of the secret store. Reload this window. If this message appears again, another of your editors or browsers uses the same client: sign in here, and use a service token or a separate client for each.',
      );
    case 'newer':
      return l10n.t('The session was stored by a newer version of Rolecall. Reload this window to use it.');
    case 'damaged':
      return l10n.t('The session that your windows share is damaged. Sign in again.');
  }
}

export function unreadableState(
  reason: 'otherKey' | 'newer' | 'damaged',
  generation: number,
): SharedSessionState & { readonly kind: 'unreadable' } {
  return { kind: 'unreadable', reason, generation, error: new RolecallError('storage', sentenceOfUnreadable(reason)) };
}
