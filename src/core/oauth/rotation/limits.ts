/**
 * How long the windows wait: for each other, for the secret store, and before they look again. All in milliseconds, and
 * one value that is passed, so that a test decides how long it waits.
 */
export interface Limits {
  /** Whoever should answer and says nothing for so long is stopped, asleep, or no window of ours. */
  readonly silence: number;
  /** For all windows together to acknowledge a new generation. */
  readonly acknowledgements: number;
  /**
   * For the secret store. A busy editor takes seconds over its first read; an answer that comes later is used when it is there.
   * What the windows rely on is the sealed file, so a write is not waited for long.
   */
  readonly storeRead: number;
  readonly storeWrite: number;
  /** A new key is worth nothing unless it is kept. */
  readonly storeNewKey: number;
  /** For the store to show a key that another window has just made, to a window that has just got its turn. */
  readonly keyLag: number;
  /** Between looks at a store that does not show the key of the shared session yet. */
  readonly keyLooks: readonly number[];
  /** After the file has changed, before it is read if it was not meanwhile. */
  readonly fileChange: number;
  /** Before the second and last try with a token whose first answer was lost. */
  readonly secondTry: number;
  /** At most, after a renewal that failed; each failure in a row doubles it. */
  readonly firstPause: number;
  /** Before each look for a session that another machine has won, after a refusal. */
  readonly looksAfterRefusal: readonly number[];
  /** For a renewal, by whoever needs a token that lives. The renewal itself goes on. */
  readonly caller: number;
  /** For the turn to store a sign-in or a sign-out, which somebody waits for. A renewal gives way to a sign-in at once. */
  readonly signInTurn: number;
  readonly signOutTurn: number;
}

export const LIMITS: Limits = {
  silence: 2000,
  acknowledgements: 500,
  storeRead: 3000,
  storeWrite: 250,
  storeNewKey: 10_000,
  keyLag: 2500,
  keyLooks: [250, 500, 1000, 2000, 4000],
  fileChange: 100,
  secondTry: 200,
  firstPause: 1000,
  looksAfterRefusal: [0, 300, 700],
  caller: 8000,
  signInTurn: 15_000,
  signOutTurn: 5000,
};
