import type { Session } from '../session.ts';
import type { CurrentSession } from './reconcile.ts';

/**
 * A session that has just been issued, with the time when its access token really dies: `expiresAt` leaves out the last
 * 60 s, or the last tenth of a lifetime shorter than ten minutes.
 */
export function withExpiry(session: Session, now: number): CurrentSession {
  if (session.expiresAt === undefined) return { session };
  const used = session.expiresAt - now;
  return { session, diesAt: now + (used > 540_000 ? used + 60_000 : used / 0.9) };
}

/**
 * True while the access token should still be used: until 60 s before it expires, or the last tenth of a lifetime
 * shorter than ten minutes (the margin is part of `expiresAt`).
 */
export function isFresh(session: Session, now: number): boolean {
  return session.expiresAt === undefined || now < session.expiresAt;
}

/** True while the service should still accept the access token, fresh or not. */
export function isUnexpired({ session, diesAt = session.expiresAt }: CurrentSession, now: number): boolean {
  return diesAt === undefined || now < diesAt;
}
