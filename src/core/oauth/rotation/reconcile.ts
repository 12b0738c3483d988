import * as l10n from '@vscode/l10n';
import { RolecallError } from '../../base/errors.ts';
import type { Session } from '../session.ts';
import type { SessionEnd } from './endReason.ts';
import type { SessionEntry, Unsealed } from './seal.ts';
import type { SecretRecord } from './secretRecord.ts';

/** The session a window may use, and when its access token really expires if that is known (milliseconds since the epoch). */
export interface CurrentSession {
  readonly session: Session;
  readonly diesAt?: number;
}

/** What the shared state says. `generation` is the highest that was seen, 0 when there never was one. */
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
 * The higher generation wins. The sealed file is what all windows see alike; the secret store counts where there is no
 * file (another machine, a lost folder) or where it is ahead of it. A file that cannot be read never counts as
 * signed out.
 */
export function reconcile(record: SecretRecord, sealed: Unsealed): SharedSessionState {
  if (sealed.kind === 'open') {
    return record.session && record.session.generation > sealed.entry.generation
      ? signedInState({ session: record.session })
      : stateOfEntry(sealed.entry);
  }
  if (sealed.kind === 'newer' || record.problem === 'newer') return unreadableState('newer', 0);
  const known = record.session?.generation ?? 0;
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
      return unreadableState('damaged', Math.max(sealed.header?.generation ?? 0, known));
  }
}

/** What an entry of the sealed file says. */
export function stateOfEntry({ generation, session, diesAt, ended }: SessionEntry): SharedSessionState {
  if (!session) return { kind: 'signedOut', generation };
  const current = { session, ...(diesAt !== undefined && { diesAt }) };
  return ended ? { kind: 'ended', generation, current, end: ended } : { kind: 'session', generation, current };
}

/** A session that is in use. */
export function signedInState(current: CurrentSession): SharedSessionState {
  return { kind: 'session', generation: current.session.generation, current };
}

function sentenceOf(reason: 'otherKey' | 'newer' | 'damaged'): string {
  switch (reason) {
    case 'otherKey':
      return l10n.t(
        'Another window has signed in, and this window has an old copy of the secret store. Reload this window. If this message appears again, another editor or browser of yours uses the same client: sign in here, and use a service token or a separate client for each.',
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
  return { kind: 'unreadable', reason, generation, error: new RolecallError('storage', sentenceOf(reason)) };
}
