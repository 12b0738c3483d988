import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as l10n from '@vscode/l10n';
import { asRolecallError, cancelled, RolecallError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Session, TokenGrant } from '../session.ts';
import type { BackOff } from './backOff.ts';
import type { Lease } from './mutex.ts';
import type { SharedSessionState } from './reconcile.ts';
import { type SessionEnd, sessionEndedError, sessionEndOf } from './reconcile.ts';
import type { SharedSession } from './sharedSession.ts';
import type { Timeouts } from './timeouts.ts';

/** Sends the refresh token to the token endpoint, and ends within half a minute. */
export type Refresh = (refreshToken: string, signal: AbortSignal) => Promise<TokenGrant>;

export interface SendRefreshTokenDeps {
  readonly shared: SharedSession;
  readonly refresh: Refresh;
  readonly backOff: BackOff;
  readonly log: Log;
  readonly now: () => number;
  readonly timeouts: Timeouts;
  /** Aborted when this window closes: the token is not sent after that. */
  readonly closing: AbortSignal;
}

export interface RefreshGranted {
  readonly kind: 'granted';
  readonly grant: TokenGrant;
  /** When the request was sent, in milliseconds since the epoch. */
  readonly sentAt: number;
}

type RefreshOutcome =
  | RefreshGranted
  | { readonly kind: 'ended'; readonly end: SessionEnd }
  | { readonly kind: 'won'; readonly state: SharedSessionState };

interface Failed {
  readonly kind: 'failed';
  readonly error: RolecallError;
  readonly tokenStatus: TokenStatus;
}

/** What is known about a refresh token whose successor was not stored. */
interface TokenStatus {
  /** It was sent, so it may be spent. */
  readonly wasSent: boolean;
  /** The service answered, though without a successor. */
  readonly wasAnswered: boolean;
}

/**
 * Sends the refresh token, once. When the answer was lost, for this window or an earlier one, only the service knows
 * whether the token is spent: it is sent once more, as soon as the service answers at all.
 *
 * @throws RolecallError when no answer ended or refreshed the session.
 */
export async function sendRefreshToken(
  deps: SendRefreshTokenDeps,
  lease: Lease,
  session: Session,
  superseded: AbortSignal,
): Promise<RefreshOutcome> {
  const { generation } = session;
  await deps.shared.ensureKey();
  const tokenStatus = await readTokenStatus(deps, generation);
  let answer = await send(deps, lease, session, tokenStatus, superseded);
  // A connection that was cut may be bad luck. After silence, the next try is for later.
  if (
    answer.kind === 'failed' &&
    !tokenStatus.wasSent &&
    answer.error.kind !== 'timeout' &&
    classifyRefreshFailure(answer.error) === 'lost'
  ) {
    await sleep(deps.timeouts.retryDelay);
    answer = await send(deps, lease, session, answer.tokenStatus, superseded);
  }
  if (answer.kind !== 'failed') return answer;
  const { error } = answer;
  if (!superseded.aborted) await writeJournal(deps, generation, answer);
  // A refused client is not a failing network, whatever words the service used.
  throw classifyRefreshFailure(error) === 'configuration' && error.kind !== 'configuration'
    ? sessionEndedError(sessionEndOf(error, false))
    : error;
}

/** @throws RolecallError the failure of another window, while its pause lasts. */
export async function readTokenStatus(
  { shared, backOff, now }: Pick<SendRefreshTokenDeps, 'shared' | 'backOff' | 'now'>,
  generation: number,
): Promise<TokenStatus> {
  const note = await shared.journal.read();
  if (note.failure?.generation === generation) backOff.applySharedFailure(note.failure, now());
  const pendingError = backOff.pendingError(now());
  if (pendingError) throw pendingError;
  return { wasSent: note.generation === generation, wasAnswered: note.answered === true };
}

async function send(
  deps: SendRefreshTokenDeps,
  lease: Lease,
  { generation, refreshToken }: Session,
  tokenStatus: TokenStatus,
  superseded: AbortSignal,
): Promise<RefreshOutcome | Failed> {
  const { shared, refresh, log, now, closing } = deps;
  if (refreshToken === undefined) throw new RolecallError('unexpected', l10n.t('This session cannot be refreshed.'));
  const silent =
    tokenStatus.wasSent && !tokenStatus.wasAnswered ? await probeTokenEndpoint(deps, superseded) : undefined;
  if (silent) return { kind: 'failed', error: silent, tokenStatus };
  if (closing.aborted) throw cancelled(closing.reason);
  await shared.journal.write({ generation });
  if (!(await lease.isValid()))
    throw new RolecallError('unexpected', l10n.t('Another window is refreshing the session too.'));
  const sentAt = now();
  try {
    return { kind: 'granted', grant: await refresh(refreshToken, superseded), sentAt };
  } catch (thrown) {
    const error = asRolecallError(thrown);
    const meaning = classifyRefreshFailure(error);
    log.warn(`The access token could not be refreshed (${meaning}): ${error.message}`);
    if (meaning === 'refused') return refused(deps, generation, sessionEndOf(error, tokenStatus.wasSent));
    const maySpend = meaning === 'lost' || meaning === 'unclear';
    return {
      kind: 'failed',
      error,
      tokenStatus: maySpend ? { wasSent: true, wasAnswered: meaning === 'unclear' } : tokenStatus,
    };
  }
}

/**
 * Sends the token endpoint a request that it must refuse, with a token that no service issued, because only one try is
 * left for the real one. Any answer, unless it is a gateway's, shows that the service is reachable.
 *
 * @returns the error if there was no answer.
 */
async function probeTokenEndpoint(
  { refresh, log, closing }: SendRefreshTokenDeps,
  superseded: AbortSignal,
): Promise<RolecallError | undefined> {
  try {
    await refresh(randomBytes(32).toString('base64url'), AbortSignal.any([superseded, closing]));
    return undefined;
  } catch (thrown) {
    const error = asRolecallError(thrown);
    const { status = 0 } = error.details;
    if (status >= 400 && ![429, 502, 503, 504].includes(status)) return undefined;
    log.warn(`The session is not refreshed until the identity service responds again: ${error.message}`);
    return error;
  }
}

/** Tells the windows that try next. A refused client is left out: their settings may differ. */
async function writeJournal(
  deps: SendRefreshTokenDeps,
  generation: number,
  { error, tokenStatus }: Failed,
): Promise<void> {
  const { shared, backOff, log, now } = deps;
  const isShared = classifyRefreshFailure(error) !== 'configuration';
  if (isShared) backOff.recordFailure(error, now());
  try {
    await shared.journal.write({
      generation: tokenStatus.wasSent ? generation : 0,
      answered: tokenStatus.wasAnswered,
      ...(isShared && { failure: backOff.toSharedFailure(generation, error, now()) }),
    });
  } catch (cause) {
    log.warn(`The other windows could not be notified that the refresh failed: ${asRolecallError(cause).message}`);
  }
}

/** Another machine that shares the store may have won; then its session counts. */
async function refused(
  { shared, timeouts }: SendRefreshTokenDeps,
  generation: number,
  end: SessionEnd,
): Promise<RefreshOutcome> {
  for (const pause of timeouts.rereadDelaysAfterRefusal) {
    await sleep(pause);
    const state = await shared.readAll();
    if (state.generation > generation || state.kind === 'signedOut') return { kind: 'won', state };
  }
  return { kind: 'ended', end };
}

/**
 * What a failed refresh means for the refresh token:
 *
 * - `refused`: the service does not accept it (`invalid_grant`).
 * - `configuration`: the service refused the client before it looked at the token.
 * - `notSpent`: the request did not reach the service, or was turned away unread; the token is as good as before.
 * - `unclear`: the service, or something before it, failed; most likely the token was not spent.
 * - `lost`: the request was sent and no answer came. The token may be spent.
 */
export type RefreshFailureKind = 'refused' | 'configuration' | 'notSpent' | 'unclear' | 'lost';

/** Failures that come before the first byte is sent. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED']);

export function classifyRefreshFailure(error: RolecallError): RefreshFailureKind {
  if (error.details.wasNotSent) return error.kind === 'configuration' ? 'configuration' : 'notSpent';
  switch (error.kind) {
    case 'sessionEnded':
      return /client|redirect.?uri/i.test(error.details.serverMessage ?? '') ? 'configuration' : 'refused';
    case 'configuration':
      return 'configuration';
    case 'rateLimited':
      return 'notSpent';
    case 'offline':
      return wasNeverSent(error.details.code) ? 'notSpent' : 'lost';
    case 'timeout':
      return 'lost';
    default:
      return 'unclear';
  }
}

function wasNeverSent(code: string | undefined): boolean {
  return code !== undefined && (NEVER_SENT.has(code) || /CERT|ALTNAME|_TLS_|SIGNATURE/.test(code));
}
