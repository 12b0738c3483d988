import * as l10n from '@vscode/l10n';
import { isCancelled, RolecallError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Lease } from './mutex.ts';
import type { CurrentSession, SharedSessionState } from './reconcile.ts';
import { type StoredState, storeEntry } from './rotate.ts';
import type { SharedState } from './sharedState.ts';
import type { Timeouts } from './timeouts.ts';

/**
 * Shares the session of a finished sign-in, with a generation above all that were ever seen. The user has asked for it,
 * so it also replaces what this window cannot read, except what a newer version has written.
 *
 * @throws RolecallError `storage`, `timeout` (another window holds the mutex and does not answer)
 */
export async function storeSignIn(
  { mutex, shared, peers }: SharedState,
  current: CurrentSession,
  windowGeneration: number,
  { signInLockWait }: Timeouts,
): Promise<SharedSessionState> {
  // The service has already replaced the session that another window may be refreshing.
  const lease = await mutex.acquire(AbortSignal.timeout(signInLockWait), true).catch(waitedTooLong);
  let stored: StoredState;
  try {
    const before = await shared.readWithRetries();
    if (before.kind === 'unreadable' && before.reason === 'newer') throw before.error;
    const generation = Math.max(before.generation, windowGeneration) + 1;
    const session = { ...current.session, generation };
    await shared.ensureKey();
    stored = await storeEntry(shared, { ...current, session, generation });
  } finally {
    await lease.release();
  }
  if (stored.isNewGeneration) await peers.broadcast(stored.state.generation);
  return stored.state;
}

/**
 * Signs out every window. A signed-out generation is written, so that an old session in a copy of the secret store is not
 * used again.
 *
 * @throws RolecallError `storage` when this window cannot read the session, and so must not end it for others.
 */
export async function storeSignOut(
  sharedState: SharedState,
  windowGeneration: number,
  log: Log,
  { signOutLockWait }: Timeouts,
): Promise<StoredState> {
  const { mutex, shared, peers } = sharedState;
  let lease: Lease | undefined;
  try {
    lease = await mutex.acquire(AbortSignal.timeout(signOutLockWait));
  } catch (error) {
    // A stopped window must not keep anybody signed in: it finds a generation above its own when it goes on.
    log.warn(`Signed out without waiting for another window: ${error instanceof Error ? error.message : ''}`);
  }
  let stored: StoredState;
  try {
    const before = await shared.readAll();
    if (before.kind === 'unreadable' && before.reason !== 'damaged') throw before.error;
    const generation = Math.max(before.generation, windowGeneration) + (lease ? 1 : 2);
    stored = await storeEntry(shared, { generation });
  } finally {
    await lease?.release();
  }
  if (stored.isNewGeneration) await peers.broadcast(stored.state.generation);
  return stored;
}

function waitedTooLong(error: unknown): never {
  if (!isCancelled(error)) throw error;
  throw new RolecallError(
    'timeout',
    l10n.t('The sign-in could not be stored, because another window is using the session. Try again.'),
  );
}
