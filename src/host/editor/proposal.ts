import type * as vscode from 'vscode';
import type { Passage } from '../passage.ts';

/** A rewrite that is shown as a difference and waits for a decision. */
export interface Proposal {
  readonly uri: vscode.Uri;
  readonly passage: Passage;
  /** The document as it was when it was asked for. */
  readonly before: string;
  replacement: string;
  isDone: boolean;
  isApplied: boolean;
  readonly closed: AbortController;
}

/** The whole document with the rewrite in its place. */
export function rewritten({ before, passage, replacement }: Proposal): string {
  // The document may have changed since: what was rewritten is its text of then.
  const at = offsetOf(before, passage.range.start);
  return before.slice(0, at) + replacement + before.slice(at + passage.text.length);
}

function offsetOf(text: string, { line, character }: vscode.Position): number {
  let at = 0;
  for (let count = 0; count < line; count++) at = text.indexOf('\n', at) + 1;
  return at + character;
}
