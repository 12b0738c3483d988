/**
 * The time limits and pauses of the windows, in milliseconds. One value that is passed, so that a test can choose its
 * own.
 */
export interface Timeouts {
  /** How long a process may be silent before it counts as stopped, suspended, or not a window of ours. */
  readonly peerSilence: number;
  /** How long all windows together may take to acknowledge a new generation. */
  readonly acknowledgements: number;
  /**
   * How long a read of the secret store may take. A busy editor takes seconds over its first read; an answer that comes
   * later is used when it is there.
   */
  readonly storeRead: number;
  readonly storeWrite: number;
  /** How long the store may take to store a new key, which is worthless otherwise. */
  readonly storeNewKey: number;
  /**
   * How long a store may take to show a key that another window has just made, to a window whose turn has just begun.
   */
  readonly newKeyDelay: number;
  /** Pauses between looks at a store that does not show the key of the shared session yet. */
  readonly keyRereadDelays: readonly number[];
  /** How long after a change the file is read, unless an announcement has led to that already. */
  readonly fileChange: number;
  /** The pause before the second and last try with a token whose first answer was lost. */
  readonly retryDelay: number;
  /** The longest first pause after a failed refresh. Each further failure doubles it. */
  readonly firstPause: number;
  /** Pauses before each look for a session that another machine has won, after a refusal. */
  readonly rereadDelaysAfterRefusal: readonly number[];
  /** How long callers whose token has expired wait for a refresh. The refresh itself goes on. */
  readonly callerWait: number;
  /**
   * How long a sign-in or a sign-out, which the user waits for, may wait for the mutex. A refresh gives way to a
   * sign-in at once.
   */
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
