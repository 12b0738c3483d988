/**
 * How long the windows wait: for each other, for the secret store, and before they look again. All in milliseconds, and
 * one value that is passed, so that a test decides how long it waits.
 */
export interface Timeouts {
  /** A process that does not answer for this long is stopped, suspended, or not a window of ours. */
  readonly peerSilence: number;
  /** For all windows together to acknowledge a new generation. */
  readonly acknowledgements: number;
  /**
   * For the secret store. A busy editor takes seconds over its first read; an answer that comes later is used when it is there.
   * What the windows rely on is the sealed file, so a write is not waited for long.
   */
  readonly storeRead: number;
  readonly storeWrite: number;
  /** A new key is worthless unless it is stored. */
  readonly storeNewKey: number;
  /** For the store to show a key that another window has just made, to a window that has just got its turn. */
  readonly newKeyDelay: number;
  /** Between looks at a store that does not show the key of the shared session yet. */
  readonly keyRereadDelays: readonly number[];
  /** After the file has changed, before it is read if it was not meanwhile. */
  readonly fileChange: number;
  /** Before the second and last try with a token whose first answer was lost. */
  readonly retryDelay: number;
  /** At most, after a refresh that failed; each failure in a row doubles it. */
  readonly firstPause: number;
  /** Before each look for a session that another machine has won, after a refusal. */
  readonly rereadDelaysAfterRefusal: readonly number[];
  /** For a refresh, by callers whose token has expired. The refresh itself goes on. */
  readonly callerWait: number;
  /** For the turn to store a sign-in or a sign-out, which the user waits for. A refresh gives way to a sign-in at once. */
  readonly signInLockWait: number;
  readonly signOutLockWait: number;
}

export const DEFAULT_TIMEOUTS: Timeouts = {
  peerSilence: 2000,
  acknowledgements: 500,
  storeRead: 3000,
  storeWrite: 250,
  storeNewKey: 10_000,
  newKeyDelay: 2500,
  keyRereadDelays: [250, 500, 1000, 2000, 4000],
  fileChange: 100,
  retryDelay: 200,
  firstPause: 1000,
  rereadDelaysAfterRefusal: [0, 300, 700],
  callerWait: 8000,
  signInLockWait: 15_000,
  signOutLockWait: 5000,
};
