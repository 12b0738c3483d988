import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { asRolecallError, cancelled, RolecallError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Session, TokenGrant } from '../session.ts';
import type { BackOff } from './backOff.ts';
import type { Found } from './choose.ts';
import { type End, endError, endOf } from './endReason.ts';
import type { Hold } from './exclusion.ts';
import type { Limits } from './limits.ts';
import { meaningOf } from './refreshFailure.ts';
import type { SharedSession } from './sharedSession.ts';

export interface SpendDeps {
  readonly shared: SharedSession;
  readonly refresh: (refreshToken: string, signal: AbortSignal) => Promise<TokenGrant>;
  readonly backOff: BackOff;
  readonly log: Log;
  readonly now: () => number;
  readonly limits: Limits;
  /** Aborted when this window closes: what was not sent by then is not sent. */
  readonly closing: AbortSignal;
}

export interface Granted {
  readonly kind: 'granted';
  readonly grant: TokenGrant;
  /** When it was asked for, in milliseconds since the epoch. */
  readonly sentAt: number;
}

type Answer = Granted | { readonly kind: 'ended'; readonly end: End } | { readonly kind: 'won'; readonly found: Found };

interface Failed {
  readonly kind: 'failed';
  readonly error: RolecallError;
  readonly fate: Fate;
}

/** What is known of a refresh token whose successor was not stored. */
interface Fate {
  /** It was sent, so it may be spent. */
  readonly wasSent: boolean;
  /** Something came back, though no successor: the service answers. */
  readonly wasAnswered: boolean;
}

/**
 * Sends the refresh token, once. When its answer was lost, to this window or to one before it, only the service knows
 * whether the token is spent: it is sent once more, as soon as the service answers at all.
 *
 * @throws RolecallError when there is no answer that ends or renews the session.
 */
export async function spend(deps: SpendDeps, hold: Hold, session: Session, superseded: AbortSignal): Promise<Answer> {
  const { generation } = session;
  await deps.shared.prepare();
  const fate = await fateOf(deps, generation);
  let answer = await send(deps, hold, session, fate, superseded);
  // A connection that was cut may be bad luck. After silence, the next try is for later.
  if (
    answer.kind === 'failed' &&
    !fate.wasSent &&
    answer.error.kind !== 'timeout' &&
    meaningOf(answer.error) === 'lost'
  ) {
    await sleep(deps.limits.secondTry);
    answer = await send(deps, hold, session, answer.fate, superseded);
  }
  if (answer.kind !== 'failed') return answer;
  const { error } = answer;
  if (!superseded.aborted) await leaveNote(deps, generation, answer);
  // A refused client is not a failing network, whatever words the service used.
  throw meaningOf(error) === 'configuration' && error.kind !== 'configuration' ? endError(endOf(error, false)) : error;
}

/** @throws RolecallError of another window's try, while the windows wait after it. */
export async function fateOf(
  { shared, backOff, now }: Pick<SpendDeps, 'shared' | 'backOff' | 'now'>,
  generation: number,
): Promise<Fate> {
  const note = await shared.notes.read();
  if (note.failure?.generation === generation) backOff.take(note.failure, now());
  const waiting = backOff.waiting(now());
  if (waiting) throw waiting;
  return { wasSent: note.generation === generation, wasAnswered: note.answered === true };
}

async function send(
  deps: SpendDeps,
  hold: Hold,
  { generation, refreshToken }: Session,
  fate: Fate,
  superseded: AbortSignal,
): Promise<Answer | Failed> {
  const { shared, refresh, log, now, closing } = deps;
  if (refreshToken === undefined) throw new RolecallError('unexpected', 'This session cannot be renewed.');
  const silent = fate.wasSent && !fate.wasAnswered ? await untilAnswered(deps, superseded) : undefined;
  if (silent) return { kind: 'failed', error: silent, fate };
  if (closing.aborted) throw cancelled(closing.reason);
  await shared.notes.write({ generation });
  if (!(await hold.stillHeld())) throw new RolecallError('unexpected', 'Another window renews the sign-in as well.');
  const sentAt = now();
  try {
    return { kind: 'granted', grant: await refresh(refreshToken, superseded), sentAt };
  } catch (thrown) {
    const error = asRolecallError(thrown);
    const meaning = meaningOf(error);
    log.warn(`The access token could not be renewed (${meaning}): ${error.message}`);
    if (meaning === 'refused') return refused(deps, generation, endOf(error, fate.wasSent));
    const maySpend = meaning === 'lost' || meaning === 'unclear';
    return { kind: 'failed', error, fate: maySpend ? { wasSent: true, wasAnswered: meaning === 'unclear' } : fate };
  }
}

/**
 * Asks the token endpoint for something that it must refuse, so that the one try that is left is not lost as well: no
 * service ever issued this token. Any answer, unless it is a gateway's, shows that somebody is there.
 *
 * @returns what came instead of an answer.
 */
async function untilAnswered(
  { refresh, log, closing }: SpendDeps,
  superseded: AbortSignal,
): Promise<RolecallError | undefined> {
  try {
    await refresh(randomBytes(32).toString('base64url'), AbortSignal.any([superseded, closing]));
    return undefined;
  } catch (thrown) {
    const error = asRolecallError(thrown);
    const { status = 0 } = error.facts;
    if (status >= 400 && ![429, 502, 503, 504].includes(status)) return undefined;
    log.warn(`The sign-in is not renewed before the identity service answers again: ${error.message}`);
    return error;
  }
}

/** For the windows that try next. A refused client is no part of it: their settings may be others. */
async function leaveNote(deps: SpendDeps, generation: number, { error, fate }: Failed): Promise<void> {
  const { shared, backOff, log, now } = deps;
  const isShared = meaningOf(error) !== 'configuration';
  if (isShared) backOff.failed(error, now());
  try {
    await shared.notes.write({
      generation: fate.wasSent ? generation : 0,
      answered: fate.wasAnswered,
      ...(isShared && { failure: backOff.toShare(generation, error, now()) }),
    });
  } catch (cause) {
    log.warn(`The other windows cannot be told that the renewal failed: ${asRolecallError(cause).message}`);
  }
}

/** Another machine that shares the store may have won; then its session counts. */
async function refused({ shared, limits }: SpendDeps, generation: number, end: End): Promise<Answer> {
  for (const pause of limits.looksAfterRefusal) {
    await sleep(pause);
    const found = await shared.readAll();
    if (found.generation > generation || found.kind === 'signedOut') return { kind: 'won', found };
  }
  return { kind: 'ended', end };
}
