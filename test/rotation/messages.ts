import type { StoreMode } from './stores.ts';

/** What a window of the storm is told when it starts, as JSON in its first argument. */
export interface WindowOptions {
  readonly serverUrl: string;
  /** The folder of the shared state. */
  readonly state: string;
  /** The folder in which windows and programs meet. */
  readonly programs: string;
  readonly storeFolder: string;
  readonly storeMode: StoreMode;
  /** How much faster than in an editor everything is that is only waited for. */
  readonly pace: number;
  /** Writes files and greetings as a later, compatible version would. */
  readonly later: boolean;
  /** Somebody has signed in before this window was opened, and nobody signs out. */
  readonly expectsSession: boolean;
}

export type ToWindow =
  /** The user signs in here. */
  | { readonly type: 'signIn' }
  /** Gets a token that the server accepts, and says so. */
  | { readonly type: 'settle' };

export type FromWindow =
  | { readonly type: 'ended'; readonly session: number; readonly reason: string; readonly sentence: string }
  /** The window says that it has to be reloaded. */
  | { readonly type: 'reload' }
  | { readonly type: 'signedIn'; readonly session: number; readonly generation: number }
  /** The window takes itself for signed out, without a reason, though it must not. */
  | { readonly type: 'signedOut' }
  | { readonly type: 'notSignedIn' }
  | { readonly type: 'settled'; readonly generation: number }
  /** How long a call waited before it was told that the holder does not answer, in milliseconds. */
  | { readonly type: 'holderSilent'; readonly waitedMs: number }
  | { readonly type: 'failed'; readonly kind: string; readonly message: string };

/** What a program beside the windows says. */
export type FromProgram =
  | { readonly type: 'answered' }
  | { readonly type: 'notAnswered'; readonly kind: string; readonly message: string }
  /** What no program may ever have. */
  | { readonly type: 'gotToken' };
