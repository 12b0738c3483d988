import type { StoreMode } from './stores.ts';

export interface StormOptions {
  readonly rotations: number;
  readonly processes: number;
  readonly store: StoreMode;
  /** How much shorter than in an editor the windows wait; the store lags less by as much. */
  readonly pace: number;
  /** The server delays, resets, drops the connection after rotating, answers 429, 500 and 502. */
  readonly faults: boolean;
  /** How many times as often as usual, for each rotation, windows and programs are killed and stopped, and the server fails. */
  readonly density: number;
  readonly limitMs: number;
  readonly log?: (line: string) => void;
}

export interface StormResult {
  readonly rotations: number;
  readonly reuse: number;
  /** Sessions that a kill, or a dropped answer, between the server's rotation and the store has ended. */
  readonly lostExplained: number;
  readonly lostUnexplained: number;
  /** From the kill of a holder to the next holder, in milliseconds. */
  readonly takeoversMs: readonly number[];
  /** What else went wrong. Empty in a good run. */
  readonly troubles: readonly string[];
  readonly facts: StormFacts;
}

export interface StormFacts {
  readonly takeovers: number;
  readonly seconds: number;
  readonly kills: number;
  /** Windows stopped for a moment. */
  readonly stops: number;
  /** Holders stopped between their rotation and its answer. */
  readonly holderStops: number;
  readonly longestSilentMs: number;
  readonly signIns: number;
  readonly reloads: number;
  /** Spent tokens sent once more because the first answer was lost. */
  readonly replays: number;
  readonly late: number;
  readonly superseded: number;
  readonly unauthorized: number;
  /** Questions of programs beside the windows that were answered with a window's sign-in. */
  readonly programAnswers: number;
  readonly programKills: number;
  /** Of the server, by kind. */
  readonly faults: Readonly<Record<string, number>>;
}
