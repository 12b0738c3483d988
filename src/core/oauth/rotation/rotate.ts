import { asRolecallError } from '../../base/errors.ts';
import { rotatedSession } from '../session.ts';
import type { Lease } from './mutex.ts';
import {
  type CurrentSession,
  type SessionEnd,
  type SharedSessionState,
  signedInState,
  stateOfEntry,
} from './reconcile.ts';
import type { SessionEntry } from './seal.ts';
import { type RefreshGranted, type SendRefreshTokenDeps, sendRefreshToken } from './sendRefreshToken.ts';
import type { SharedSession } from './sharedSession.ts';

export interface RotationDeps extends SendRefreshTokenDeps {
  readonly addSecret: (secret: string | undefined) => void;
}

/**
 * Gets the next session for all windows while holding the mutex, and stores it before it is used. After releasing the
 * mutex, the caller notifies the other windows ({@link StoredState.isNewGeneration}).
 *
 * @param cached What this window knew last, in case the file was lost and the store is behind.
 * @param isSufficient True for a session that makes a refresh unnecessary: another window was faster.
 * @param superseded Aborted when a sign-in or a sign-out replaces the session, whether or not its refresh succeeds.
 *
 * @throws RolecallError when there is no new session and the old one is not over.
 */
export async function rotate(
  deps: RotationDeps,
  lease: Lease,
  cached: CurrentSession,
  isSufficient: (current: CurrentSession) => boolean,
  superseded: AbortSignal,
): Promise<StoredState> {
  let state = await deps.shared.readAll();
  if (state.kind !== 'unreadable' && state.generation < cached.session.generation) state = signedInState(cached);
  if (state.kind === 'session' && isSufficient(state.current)) return storeState(deps, state);
  // A second round only when another machine has won meanwhile and its session is not fresh any more either.
  for (let round = 1; state.kind === 'session'; round += 1) {
    const { current } = state;
    const answer = await sendRefreshToken(deps, lease, current.session, superseded);
    if (answer.kind === 'granted') return storeGrant(deps, current, answer);
    if (answer.kind === 'ended') return ended(deps, current, answer.end);
    const stored = await storeState(deps, answer.state);
    if (round === 2 || stored.state.kind !== 'session' || isSufficient(stored.state.current)) return stored;
    state = stored.state;
  }
  return { state, isNewGeneration: false, isInStore: true };
}

export interface StoredState {
  /** The state that counts now. */
  readonly state: SharedSessionState;
  /** True when this was written here: every window has to be notified, once the mutex is released. */
  readonly isNewGeneration: boolean;
  /** False when the secret store refused. */
  readonly isInStore: boolean;
}

/** Writes an entry to the file and the store, unless the file already holds this generation or a higher one. */
export async function storeEntry(shared: SharedSession, entry: SessionEntry): Promise<StoredState> {
  if (!(await shared.write(entry))) return { state: await shared.read(), isNewGeneration: false, isInStore: true };
  const isInStore = await shared.saveToStore(entry.ended ? undefined : entry.session);
  return { state: stateOfEntry(entry), isNewGeneration: true, isInStore };
}

/** Writes to the file what was found only in the secret store: the session of another machine. */
async function storeState({ shared }: RotationDeps, state: SharedSessionState): Promise<StoredState> {
  if (state.kind !== 'session') return { state, isNewGeneration: false, isInStore: true };
  return storeEntry(shared, { generation: state.generation, ...state.current });
}

async function ended({ shared, log }: RotationDeps, current: CurrentSession, end: SessionEnd): Promise<StoredState> {
  const generation = current.session.generation + 1;
  log.warn(`The session has ended (${end.reason}), stored for every window as generation ${generation}.`);
  return storeEntry(shared, { ...current, generation, ended: end });
}

async function storeGrant(
  deps: RotationDeps,
  current: CurrentSession,
  { grant, sentAt }: RefreshGranted,
): Promise<StoredState> {
  const { shared, log, addSecret } = deps;
  addSecret(grant.accessToken);
  addSecret(grant.refreshToken);
  // The lifetime began at the service some time after the request was sent: counted from there, it is never too long.
  const session = rotatedSession(current.session, grant, sentAt);
  const lifetime = grant.expiresInSeconds;
  const entry = {
    generation: session.generation,
    session,
    ...(lifetime !== undefined && { diesAt: sentAt + lifetime * 1000 }),
  };
  const stored = await storeEntry(shared, entry).catch((error: unknown) => rescue(deps, entry, error));
  log.info(`Access token refreshed (generation ${session.generation}).`);
  return stored;
}

/**
 * The new tokens can't be written to the file, and the old ones are spent: the secret store and this window keep them.
 */
async function rescue(
  { shared, log }: RotationDeps,
  entry: SessionEntry & CurrentSession,
  error: unknown,
): Promise<StoredState> {
  log.error(`The refreshed session could not be shared with other windows: ${asRolecallError(error).message}`);
  const { session, diesAt } = entry;
  const state = signedInState({ session, ...(diesAt !== undefined && { diesAt }) });
  return { state, isNewGeneration: false, isInStore: await shared.saveToStore(session) };
}
