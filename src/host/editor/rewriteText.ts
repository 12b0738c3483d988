import type * as vscode from 'vscode';
import type { Passage } from '../passage.ts';

/** A rewrite that is shown as a difference and waits for a decision. */
export interface Proposal {
  readonly uri: vscode.Uri;
  readonly passage: Passage;
  /** The document when the rewrite was requested. */
  readonly before: string;
  replacement: string;
  isDone: boolean;
  isApplied: boolean;
  readonly closed: AbortController;
}

/** The whole document with the rewrite in its place. */
export function applyProposal({ before, passage, replacement }: Proposal): string {
  // The document may have changed since: the rewritten part is its text at that time.
  const at = offsetOf(before, passage.range.start);
  return before.slice(0, at) + replacement + before.slice(at + passage.text.length);
}

function offsetOf(text: string, { line, character }: vscode.Position): number {
  let at = 0;
  for (let count = 0; count < line; count++) at = text.indexOf('\n', at) + 1;
  return at + character;
}

/** A fenced block of an answer, as far as it has arrived, and the text after it. */
interface Block {
  readonly code: string;
  readonly rest: string;
}

/**
 * The code in a model's answer: the first fenced block, as far as it has arrived; the whole answer if there is no
 * fence. Its end is made like that of `original`, so that a rewrite does not add or remove a line break.
 */
export function codeInAnswer(answer: string, original: string): string {
  const code = firstBlock(answer)?.code ?? answer.trim();
  const body = code.replace(/\s+$/, '');
  const ending = /\s*$/.exec(original)?.[0] ?? '';
  return body === '' ? '' : body + ending;
}

/** True if a fence follows the first block: it may be part of the code whose own fences are as short as the block's. */
export function hasSeveralBlocks(answer: string): boolean {
  return FENCE.test(firstBlock(answer)?.rest ?? '');
}

const FENCE = /^[ \t]*(`{3,}|~{3,})([^\n]*)(?:\n|$)/m;

function firstBlock(answer: string): Block | undefined {
  const open = FENCE.exec(answer);
  return open ? blockAfter(answer.slice(open.index + open[0].length), open[1] ?? '```') : undefined;
}

/** A fence within that names a language opens a block of the code's own, whose end is not the end of the code. */
function blockAfter(text: string, fence: string): Block {
  const mark = fence[0] === '~' ? '~' : '`';
  const within = new RegExp(`^[ \\t]*${mark}{${fence.length},}([^\\n]*)$`, 'gm');
  let depth = 0;
  for (const { index, 0: line, 1: info = '' } of text.matchAll(within)) {
    if (info.trim() !== '') depth += 1;
    else if (depth > 0) depth -= 1;
    else return { code: text.slice(0, index), rest: text.slice(index + line.length) };
  }
  return { code: text, rest: '' };
}
