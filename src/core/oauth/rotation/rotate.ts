import { asRolecallError } from '../../base/errors.ts';
import { rotatedSession } from '../session.ts';
import { type Found, fromEntry, type Held, live } from './choose.ts';
import type { End } from './endReason.ts';
import type { Hold } from './exclusion.ts';
import type { Entry } from './seal.ts';
import type { SharedSession } from './sharedSession.ts';
import { type Granted, type SpendDeps, spend } from './spend.ts';

export interface RotationDeps extends SpendDeps {
  readonly learn: (secret: string | undefined) => void;
}

/**
 * Gets the next session for all windows, inside the exclusion: from what is stored now, and stored before anybody uses
 * it. Who leaves the exclusion tells the other windows ({@link Stored.isNews}).
 *
 * @param known What this window had last, in case the file was lost and the store is behind.
 * @param enough True for a session that makes a renewal needless: somebody else was faster.
 * @param superseded Aborted when a sign-in or a sign-out replaces the session, whatever becomes of its renewal.
 * @throws RolecallError when there is no new session and the old one is not over.
 */
export async function rotate(
  deps: RotationDeps,
  hold: Hold,
  known: Held,
  enough: (held: Held) => boolean,
  superseded: AbortSignal,
): Promise<Stored> {
  let found = await deps.shared.readAll();
  if (found.kind !== 'unreadable' && found.generation < known.session.generation) found = live(known);
  if (found.kind === 'session' && enough(found.held)) return storeFound(deps, found);
  // A second round only when another machine has won meanwhile and its session is not fresh any more either.
  for (let round = 1; found.kind === 'session'; round += 1) {
    const { held } = found;
    const answer = await spend(deps, hold, held.session, superseded);
    if (answer.kind === 'granted') return granted(deps, held, answer);
    if (answer.kind === 'ended') return ended(deps, held, answer.end);
    const stored = await storeFound(deps, answer.found);
    if (round === 2 || stored.found.kind !== 'session' || enough(stored.found.held)) return stored;
    found = stored.found;
  }
  return { found, isNews: false, kept: true };
}

export interface Stored {
  /** What counts now. */
  readonly found: Found;
  /** True when this was written here: every window has to be told, once the exclusion is released. */
  readonly isNews: boolean;
  /** False when the secret store refused. */
  readonly kept: boolean;
}

/** Writes an entry, for every window to read, and keeps it in the store; unless the file is further already. */
export async function store(shared: SharedSession, entry: Entry): Promise<Stored> {
  if (!(await shared.write(entry))) return { found: await shared.read(), isNews: false, kept: true };
  const kept = await shared.keep(entry.ended ? undefined : entry.session);
  return { found: fromEntry(entry), isNews: true, kept };
}

/** A session of another machine stands in the secret store only. */
async function storeFound({ shared }: RotationDeps, found: Found): Promise<Stored> {
  if (found.kind !== 'session') return { found, isNews: false, kept: true };
  return store(shared, { generation: found.generation, ...found.held });
}

async function ended({ shared, log }: RotationDeps, held: Held, end: End): Promise<Stored> {
  const generation = held.session.generation + 1;
  log.warn(`The session is over (${end.reason}); told to every window as generation ${generation}.`);
  return store(shared, { ...held, generation, ended: end });
}

async function granted(deps: RotationDeps, held: Held, { grant, sentAt }: Granted): Promise<Stored> {
  const { shared, log, learn } = deps;
  learn(grant.accessToken);
  learn(grant.refreshToken);
  // The lifetime began at the service some time after the request was sent: counted from there, it is never too long.
  const session = rotatedSession(held.session, grant, sentAt);
  const lifetime = grant.expiresInSeconds;
  const entry = {
    generation: session.generation,
    session,
    ...(lifetime !== undefined && { diesAt: sentAt + lifetime * 1000 }),
  };
  const stored = await store(shared, entry).catch((error: unknown) => rescue(deps, entry, error));
  log.info(`Access token renewed (generation ${session.generation}).`);
  return stored;
}

/** The disk refuses the new pair, which is the only one that lives: the secret store and this window keep it. */
async function rescue({ shared, log }: RotationDeps, entry: Entry & Held, error: unknown): Promise<Stored> {
  log.error(`The renewed sign-in is not shared with other windows: ${asRolecallError(error).message}`);
  const { session, diesAt } = entry;
  const found = live({ session, ...(diesAt !== undefined && { diesAt }) });
  return { found, isNews: false, kept: await shared.keep(session) };
}
