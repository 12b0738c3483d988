import type { RolecallError } from '../../base/errors.ts';
import type { Account } from '../session.ts';
import type { EndReason } from './endReason.ts';

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
