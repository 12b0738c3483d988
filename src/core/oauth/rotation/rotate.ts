import { setTimeout as sleep } from 'node:timers/promises';
import { asRolecallError, RolecallError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { rotatedSession, type TokenGrant } from '../session.ts';
import { type Found, fromEntry, type Held, live } from './choose.ts';
import { type End, endError, endOf } from './endReason.ts';
import type { Hold } from './exclusion.ts';
import type { Limits } from './limits.ts';
import type { Peers } from './peers.ts';
import { type FailureMeaning, meaningOf } from './refreshFailure.ts';
import type { Entry } from './seal.ts';
import type { SharedSession } from './sharedSession.ts';

export interface RotationDeps {
  readonly shared: SharedSession;
  readonly peers: Peers;
  readonly refresh: (refreshToken: string, signal: AbortSignal) => Promise<TokenGrant>;
  readonly learn: (secret: string | undefined) => void;
  readonly log: Log;
  readonly now: () => number;
  readonly limits: Limits;
}

/**
 * Gets the next session for all windows, inside the exclusion: from what is stored now; and stored and told to every
 * window before anybody uses it. Nothing is stopped half-way.
 *
 * @param known What this window had last, in case the file was lost and the store is behind.
 * @param enough True for a session that makes a renewal needless: somebody else was faster.
 * @throws RolecallError when there is no new session and the old one is not over.
 */
export async function rotate(
  deps: RotationDeps,
  hold: Hold,
  known: Held,
  enough: (held: Held) => boolean,
): Promise<Found> {
  let found = await deps.shared.readAll();
  if (found.kind !== 'unreadable' && found.generation < known.session.generation) found = live(known);
  if (found.kind === 'session' && enough(found.held)) return spread(deps, found);
  // A second round only when another machine has won meanwhile and its session is not fresh any more either.
  for (let round = 1; found.kind === 'session'; round += 1) {
    const { held } = found;
    const answer = await spend(deps, hold, held);
    if (answer.kind === 'granted') return granted(deps, held, answer.grant);
    if (answer.kind === 'ended') return ended(deps, held, answer.end);
    found = await spread(deps, answer.found);
    if (round === 2 || (found.kind === 'session' && enough(found.held))) break;
  }
  return found;
}

export interface Published {
  /** What counts now. */
  readonly found: Found;
  /** False when the secret store refused. */
  readonly kept: boolean;
}

/** Writes an entry, keeps it in the store and tells every window; unless the file is further already. */
export async function publish(
  { shared, peers }: Pick<RotationDeps, 'shared' | 'peers'>,
  entry: Entry,
): Promise<Published> {
  if (!(await shared.write(entry))) return { found: await shared.read(), kept: true };
  const session = entry.ended ? undefined : entry.session;
  const [kept] = await Promise.all([shared.keep(session), peers.push(entry.generation)]);
  return { found: fromEntry(entry), kept };
}

/** A session of another machine stands in the secret store only: now every window is told. */
async function spread(deps: RotationDeps, found: Found): Promise<Found> {
  if (found.kind !== 'session') return found;
  return (await publish(deps, { generation: found.generation, ...found.held })).found;
}

async function ended(deps: RotationDeps, held: Held, end: End): Promise<Found> {
  const generation = held.session.generation + 1;
  deps.log.warn(`The session is over (${end.reason}); told to every window as generation ${generation}.`);
  return (await publish(deps, { ...held, generation, ended: end })).found;
}

async function granted(deps: RotationDeps, held: Held, grant: TokenGrant): Promise<Found> {
  const { log, learn, now } = deps;
  learn(grant.accessToken);
  learn(grant.refreshToken);
  const session = rotatedSession(held.session, grant, now());
  const lifetime = grant.expiresInSeconds;
  const entry = {
    generation: session.generation,
    session,
    ...(lifetime !== undefined && { diesAt: now() + lifetime * 1000 }),
  };
  const { found } = await publish(deps, entry).catch((error: unknown) => rescue(deps, entry, error));
  log.info(`Access token renewed (generation ${session.generation}).`);
  return found;
}

/** The disk refuses the new pair, which is the only one that lives: the secret store and this window keep it. */
async function rescue({ shared, log }: RotationDeps, entry: Entry & Held, error: unknown): Promise<Published> {
  log.error(`The renewed sign-in is not shared with other windows: ${asRolecallError(error).message}`);
  const { session, diesAt } = entry;
  return { found: live({ session, ...(diesAt !== undefined && { diesAt }) }), kept: await shared.keep(session) };
}

type Answer =
  | { readonly kind: 'granted'; readonly grant: TokenGrant }
  | { readonly kind: 'ended'; readonly end: End }
  | { readonly kind: 'won'; readonly found: Found };

/** Sends the refresh token, once; a second time only when the first answer was lost on the way. */
async function spend(deps: RotationDeps, hold: Hold, { session }: Held): Promise<Answer> {
  const { shared, log } = deps;
  const { generation, refreshToken } = session;
  if (refreshToken === undefined) throw new RolecallError('unexpected', 'This session cannot be renewed.');
  await shared.prepare();
  // A renewal that was sent and not stored, by whichever window, was the first try already.
  const wasInterrupted = await shared.wasSpending(generation);
  if (!wasInterrupted) await shared.noteSpending(generation);
  for (let isLast = wasInterrupted; ; isLast = true) {
    if (!(await hold.stillHeld())) throw new RolecallError('unexpected', 'Another window renews the sign-in as well.');
    try {
      // No caller's signal: what was begun is finished, else the new pair is lost.
      return { kind: 'granted', grant: await deps.refresh(refreshToken, new AbortController().signal) };
    } catch (thrown) {
      const error = asRolecallError(thrown);
      const meaning = meaningOf(error);
      log.warn(`The access token could not be renewed (${meaning}): ${error.message}`);
      if (meaning === 'refused') return await refused(deps, generation, endOf(error, isLast));
      const isUntouched = meaning === 'notSpent' || meaning === 'configuration';
      if (isUntouched && !isLast) await shared.forgetSpending();
      if (meaning !== 'lost' || isLast) throw asFailure(error, meaning);
      await sleep(deps.limits.secondTry);
    }
  }
}

/** A refused client is not a failing network, whatever words the service used. */
function asFailure(error: RolecallError, meaning: FailureMeaning): RolecallError {
  return meaning === 'configuration' && error.kind !== 'configuration' ? endError(endOf(error, false)) : error;
}

/** Another machine that shares the store may have won; then its session counts. */
async function refused({ shared, limits }: RotationDeps, generation: number, end: End): Promise<Answer> {
  for (const pause of limits.looksAfterRefusal) {
    await sleep(pause);
    const found = await shared.readAll();
    if (found.generation > generation || found.kind === 'signedOut') return { kind: 'won', found };
  }
  return { kind: 'ended', end };
}
