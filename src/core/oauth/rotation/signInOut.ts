import * as l10n from '@vscode/l10n';
import { isCancelled, RolecallError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Found, Held } from './choose.ts';
import type { Hold } from './exclusion.ts';
import type { Limits } from './limits.ts';
import { type Stored, store } from './rotate.ts';
import type { Sharing } from './sharing.ts';

/**
 * Shares the session of a finished sign-in, above everything that was ever seen. The user has asked for it, so it also
 * replaces what this window cannot read, except what a newer version has written.
 *
 * @throws RolecallError `storage`, `timeout` (another window holds the exclusion and does not answer)
 */
export async function signIn(
  { exclusion, shared, peers }: Sharing,
  held: Held,
  seen: number,
  { signInTurn }: Limits,
): Promise<Found> {
  // At the service, the session that another window may be renewing is already replaced by this one.
  const hold = await exclusion.acquire(AbortSignal.timeout(signInTurn), true).catch(waitedTooLong);
  let stored: Stored;
  try {
    const before = await shared.readPatiently();
    if (before.kind === 'unreadable' && before.reason === 'newer') throw before.error;
    const generation = Math.max(before.generation, seen) + 1;
    const session = { ...held.session, generation };
    await shared.prepare();
    stored = await store(shared, { ...held, session, generation });
  } finally {
    await hold.release();
  }
  if (stored.isNews) await peers.push(stored.found.generation);
  return stored.found;
}

/**
 * Signs out every window. What is written is not nothing but a signed-out generation: an old session that turns up in
 * somebody's copy of the secret store does not come back to life.
 *
 * @throws RolecallError `storage` when this window cannot read the session, and so must not end it for others.
 */
export async function signOut(sharing: Sharing, seen: number, log: Log, { signOutTurn }: Limits): Promise<Stored> {
  const { exclusion, shared, peers } = sharing;
  let hold: Hold | undefined;
  try {
    hold = await exclusion.acquire(AbortSignal.timeout(signOutTurn));
  } catch (error) {
    // A stopped window must not keep anybody signed in: it finds a generation above its own when it goes on.
    log.warn(`Signed out without waiting for another window: ${error instanceof Error ? error.message : ''}`);
  }
  let stored: Stored;
  try {
    const before = await shared.readAll();
    if (before.kind === 'unreadable' && before.reason !== 'damaged') throw before.error;
    const generation = Math.max(before.generation, seen) + (hold ? 1 : 2);
    stored = await store(shared, { generation });
  } finally {
    await hold?.release();
  }
  if (stored.isNews) await peers.push(stored.found.generation);
  return stored;
}

function waitedTooLong(error: unknown): never {
  if (!isCancelled(error)) throw error;
  throw new RolecallError('timeout', l10n.t('Another window did not let this one store the sign-in. Try again.'));
}
