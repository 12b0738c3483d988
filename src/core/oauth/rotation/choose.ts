import { RolecallError } from '../../base/errors.ts';
import type { Session } from '../session.ts';
import type { End } from './endReason.ts';
import type { Entry, Unsealed } from './seal.ts';
import type { SecretRecord } from './secretRecord.ts';

/** The session a window may use, and when its access token really dies if that is known (milliseconds since the epoch). */
export interface Held {
  readonly session: Session;
  readonly diesAt?: number;
}

/** What the shared state says. `generation` is the highest that was seen, 0 when there never was one. */
export type Found = { readonly generation: number } & (
  | { readonly kind: 'nothing' }
  | { readonly kind: 'signedOut' }
  | { readonly kind: 'session'; readonly held: Held }
  | { readonly kind: 'ended'; readonly held: Held; readonly end: End }
  /** `otherKey` and `newer`: this window must not write. `damaged`: only a new sign-in, or a sign-out, may. */
  | {
      readonly kind: 'unreadable';
      readonly reason: 'otherKey' | 'newer' | 'damaged';
      readonly error: RolecallError;
    }
);

/**
 * The higher generation wins. The sealed file is what all windows see alike; the secret store counts where there is no
 * file (another machine, a lost folder) or where it is ahead of it. A file that cannot be read is never taken for
 * "signed out".
 */
export function choose(record: SecretRecord, sealed: Unsealed): Found {
  if (sealed.kind === 'open') {
    return record.session && record.session.generation > sealed.entry.generation
      ? live({ session: record.session })
      : fromEntry(sealed.entry);
  }
  if (sealed.kind === 'newer' || record.problem === 'newer') return unreadable('newer', 0);
  const known = record.session?.generation ?? 0;
  switch (sealed.kind) {
    case 'missing':
      if (record.problem) return unreadable(record.problem, 0);
      return record.session ? live({ session: record.session }) : { kind: 'nothing', generation: 0 };
    case 'otherKey': {
      const { generation, signedOut } = sealed.header;
      return signedOut === true
        ? { kind: 'signedOut', generation }
        : unreadable(record.problem ?? 'otherKey', generation);
    }
    case 'damaged':
      return unreadable('damaged', Math.max(sealed.header?.generation ?? 0, known));
  }
}

/** What an entry of the sealed file says. */
export function fromEntry({ generation, session, diesAt, ended }: Entry): Found {
  if (!session) return { kind: 'signedOut', generation };
  const held = { session, ...(diesAt !== undefined && { diesAt }) };
  return ended ? { kind: 'ended', generation, held, end: ended } : { kind: 'session', generation, held };
}

/** A session that is in use. */
export function live(held: Held): Found {
  return { kind: 'session', generation: held.session.generation, held };
}

const SENTENCES = {
  otherKey:
    'Another window has signed in, and this one has an old copy of the secret store. Reload this window. If this message stays, another editor or browser of yours shares the client: sign in here, with a service token or a client of its own for each.',
  newer: 'The session was stored by a newer version of Rolecall. Reload this window to use it.',
  damaged: 'The session that the windows share is damaged. Sign in again.',
};

export function unreadable(
  reason: 'otherKey' | 'newer' | 'damaged',
  generation: number,
): Found & { readonly kind: 'unreadable' } {
  return { kind: 'unreadable', reason, generation, error: new RolecallError('storage', SENTENCES[reason]) };
}
