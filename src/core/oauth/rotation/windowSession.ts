import * as l10n from '@vscode/l10n';
import { Emitter } from '../../base/emitter.ts';
import { RolecallError } from '../../base/errors.ts';
import type { Account, Session } from '../session.ts';
import type { BackOff } from './backOff.ts';
import {
  type CurrentSession,
  type EndReason,
  type SessionEnd,
  type SharedSessionState,
  sessionEndedError,
} from './reconcile.ts';

/** What one window knows of the session: never older than what it knew before. No I/O. */
export class WindowSession {
  readonly #addSecret: (secret: string | undefined) => void;
  readonly #backOff: BackOff;
  readonly #changes = new Emitter<SessionState>();
  #state: SessionState = { kind: 'starting' };
  #signIns = 0;
  #current: CurrentSession | undefined;
  #generation = 0;

  constructor(addSecret: (secret: string | undefined) => void, backOff: BackOff) {
    this.#addSecret = addSecret;
    this.#backOff = backOff;
  }

  get state(): SessionState {
    const { kind } = this.#state;
    const isOver = kind === 'starting' || kind === 'signedOut' || kind === 'ended';
    return this.#signIns > 0 && isOver ? { kind: 'signingIn' } : this.#state;
  }

  /** The session, current or ended. */
  get current(): CurrentSession | undefined {
    return this.#current;
  }

  /** The highest generation seen: of sessions, ends and sign-outs. */
  get generation(): number {
    return this.#generation;
  }

  /** The session, unless it has ended. */
  get session(): Session | undefined {
    return this.#state.kind === 'ended' ? undefined : this.#current?.session;
  }

  onDidChange(listener: (state: SessionState) => void): () => void {
    return this.#changes.on(listener);
  }

  /** @throws RolecallError `sessionEnded`, `configuration`, `storage`, `signedOut` */
  require(): CurrentSession {
    if (this.#state.kind === 'ended' || this.#state.kind === 'storeUnavailable') throw this.#state.error;
    if (!this.#current) throw new RolecallError('signedOut', l10n.t('You are not signed in.'));
    return this.#current;
  }

  /**
   * Takes the stored state, unless it is older. With `anew`, a session that ended only in this window is tried again.
   */
  applyState(state: SharedSessionState, anew: boolean): void {
    if (state.kind === 'unreadable') {
      this.#current = undefined;
      this.#setState({ kind: 'storeUnavailable', error: state.error });
      return;
    }
    const isKnown = state.generation === this.#generation && this.#state.kind === 'ended';
    if (state.generation < this.#generation || (isKnown && !anew)) return;
    this.#generation = state.generation;
    switch (state.kind) {
      case 'session':
        this.#use(state.current, anew);
        break;
      case 'ended':
        this.#current = state.current;
        this.end(state.current, state.end);
        break;
      default:
        this.#current = undefined;
        this.#setState({ kind: 'signedOut' });
    }
  }

  /** Ends the session in this window. @returns the error to throw. */
  end({ session }: CurrentSession, { reason, sentence }: SessionEnd): RolecallError {
    if (this.#state.kind === 'ended' && this.#state.error.message === sentence) return this.#state.error; // Reported once.
    const error = sessionEndedError({ reason, sentence });
    this.#setState({ kind: 'ended', account: session.account, reason, error });
    return error;
  }

  setRefreshing({ session }: CurrentSession): void {
    this.#setState({ kind: 'refreshing', account: session.account });
  }

  setOffline({ session }: CurrentSession, error: RolecallError): void {
    this.#setState({ kind: 'offline', account: session.account, error });
  }

  /** File or store could not be read. A session in memory stays. @returns whether there is none. */
  setUnavailable(error: RolecallError): boolean {
    if (this.#current) return false;
    this.#setState({ kind: 'storeUnavailable', error });
    return true;
  }

  beginSignIn(): () => void {
    const count = (by: number) => {
      const before = this.state.kind;
      this.#signIns += by;
      if (this.state.kind !== before) this.#changes.fire(this.state);
    };
    count(1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      count(-1);
    };
  }

  #use(current: CurrentSession, anew: boolean): void {
    const { accessToken, refreshToken } = current.session;
    this.#addSecret(accessToken);
    this.#addSecret(refreshToken);
    const isSame = this.#current?.session.accessToken === accessToken && this.#state.kind !== 'ended';
    this.#current = current;
    if (anew || !isSame) this.#backOff.reset();
    // Nothing changes: the session is being refreshed, or its refresh failed, already.
    if (isSame) return;
    this.#setState({ kind: 'signedIn', account: current.session.account });
  }

  #setState(state: SessionState): void {
    const before = this.#state;
    this.#state = state;
    if (before.kind === 'signedOut' && state.kind === 'signedOut') return;
    if (before.kind === 'storeUnavailable' && state.kind === 'storeUnavailable') {
      if (before.error.message === state.error.message) return; // Read again; nothing new to report.
    }
    this.#changes.fire(this.state);
  }
}

/** Signed in or not, as one union: for the status bar, the welcome view and a diagnosis. */
export type SessionState =
  /** Nothing has been read yet. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'signedOut' }
  /** A sign-in is under way in this window. */
  | { readonly kind: 'signingIn' }
  | { readonly kind: 'signedIn'; readonly account: Account }
  | { readonly kind: 'refreshing'; readonly account: Account }
  /** Still signed in; the last refresh failed and is tried again later. */
  | { readonly kind: 'offline'; readonly account: Account; readonly error: RolecallError }
  /** The identity service no longer honours the session. */
  | { readonly kind: 'ended'; readonly account: Account; readonly reason: EndReason; readonly error: RolecallError }
  /** Neither signed in nor out: what is stored cannot be read now. The message says what to do. */
  | { readonly kind: 'storeUnavailable'; readonly error: RolecallError };

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
