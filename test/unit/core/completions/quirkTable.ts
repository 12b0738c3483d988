import type { CompletionRequest } from '../../../../src/core/completions/request.ts';
import { answerQuirks } from './quirksOfAnswers.ts';
import { errorQuirks } from './quirksOfErrors.ts';
import { framingQuirks } from './quirksOfFraming.ts';
import { toolCallQuirks } from './quirksOfToolCalls.ts';

/** A choice of a completion; members that say nothing are left out. */
export interface Said {
  readonly index?: number;
  readonly text?: string;
  readonly reasoning?: string;
  /** `id name arguments`; the id reads `*` where the client had to make one up, and a call that must not run ends with `(not run)`. */
  readonly calls?: readonly string[];
  readonly finish?: string;
  readonly stop?: unknown;
}

/** What the client has to make of an answer. */
export interface Expected {
  readonly choices?: readonly Said[];
  readonly usage?: Readonly<Record<string, unknown>>;
  /** What the answer says of itself, where the row is about that. */
  readonly head?: Readonly<Record<string, unknown>>;
  /** Codes of the notices. */
  readonly notices?: readonly string[];
  /** Set when the answer is not complete. */
  readonly incomplete?: RegExp;
  /** Set when an error is thrown; `choices` is then what had come before. */
  readonly error?: { readonly kind: string; readonly says: RegExp };
}

/** One quirk of a server, and what becomes of it. */
export interface QuirkRow {
  readonly quirk: string;
  /** The body of the answer; text as UTF-8. */
  readonly body: string | Uint8Array;
  readonly status?: number;
  /** Content type; `text/event-stream` unless set. */
  readonly type?: string;
  readonly request?: Partial<CompletionRequest>;
  readonly expected: Expected;
}

/** Every quirk, in four rooms. */
export const quirkTable: readonly QuirkRow[] = [...toolCallQuirks, ...answerQuirks, ...errorQuirks, ...framingQuirks];
