import type { TextRange } from '../base/errors.ts';

/**
 * The place of the cursor in a YAML text, found by indentation: while somebody types, the text is mostly not valid
 * YAML.
 */
export interface OutlinePlace {
  /** Keys from the top, with `[]` for an item of a list. */
  readonly path: readonly string[];
  /** The key whose value is typed; absent while a key or an item of a list is typed. */
  readonly key?: string;
  /** The text typed so far, which a completion replaces. */
  readonly word: string;
  readonly range: TextRange;
  /** The other keys of the mapping. */
  readonly siblings: readonly string[];
  /** The cursor is within a text of several lines. */
  readonly isInBlock: boolean;
}

interface Line {
  readonly start: number;
  readonly text: string;
  /** Columns of the dashes that begin items here. */
  readonly dashes: readonly number[];
  /** Column of what follows them. */
  readonly column: number;
  readonly key: string | undefined;
  /** The text after the key. */
  readonly value: string;
}

const KEY = /^(?:"([^"]*)"|'([^']*)'|([^\s#'"[\]{},|>&*!%@`][^#:\r\n]*?))[ \t]*:(?:[ \t]+(.*)|[ \t]*)$/;

/** The place of the cursor in text of block style. */
export function outlineAt(text: string, offset: number): OutlinePlace {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(lineStart, offset);
  const lines = linesOf(text.slice(0, lineStart));
  const current = readLine(before, lineStart);
  const typed = before.slice(current.column);
  const value = /^(?:"[^"]*"|'[^']*'|[^\s:#]+)[ \t]*:[ \t]+(.*)$/.exec(typed)?.[1];
  const word = value ?? typed;
  const rest = /^[\w./:@-]*/.exec(text.slice(offset))?.[0] ?? '';
  const key =
    value === undefined
      ? undefined
      : typed
          .slice(0, typed.indexOf(':'))
          .trim()
          .replace(/^["']|["']$/g, '');
  const ancestors = ancestorsOf(lines, current);
  return {
    path: ancestors.path,
    ...(key !== undefined && { key }),
    word,
    range: { start: offset - word.length, end: offset + rest.length },
    siblings: siblingsOf(text, lines, current, lineStart),
    isInBlock: ancestors.isInBlock,
  };
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (const line of text.split('\n')) {
    if (line.trim() !== '' && !line.trimStart().startsWith('#')) lines.push(readLine(line.replace(/\r$/, ''), start));
    start += line.length + 1;
  }
  return lines;
}

function readLine(text: string, start: number): Line {
  const dashes: number[] = [];
  let column = /^ */.exec(text)?.[0].length ?? 0;
  for (let match = dashAt(text, column); match !== 0; match = dashAt(text, column)) {
    dashes.push(column);
    column += match;
  }
  const [, double, single, plain, value = ''] = KEY.exec(text.slice(column)) ?? [];
  return { start, text, dashes, column, key: double ?? single ?? plain, value };
}

function dashAt(text: string, column: number): number {
  const dash = /^-(?: +|$)/.exec(text.slice(column));
  return dash?.[0].length ?? 0;
}

function ancestorsOf(lines: readonly Line[], current: Line): { path: string[]; isInBlock: boolean } {
  const path: string[] = [];
  let limit = current.column;
  let isItem = false;
  let isInBlock = false;
  const enter = (dashes: readonly number[]) => {
    for (const dash of dashes.toReversed()) {
      if (dash >= limit) continue;
      path.unshift('[]');
      limit = dash;
      isItem = true;
    }
  };
  enter(current.dashes);
  for (const line of lines.toReversed()) {
    // The items of a list can stand in the column of the key that they belong to.
    const isParent = line.key !== undefined && (line.column < limit || (isItem && line.column === limit));
    if (isParent) {
      path.unshift(line.key ?? '');
      limit = line.column;
      isItem = false;
      if (/^[|>]/.test(line.value)) isInBlock = true;
    }
    if (isParent || line.column === limit) enter(line.dashes);
    if (limit === 0 && !isItem) break;
  }
  return { path, isInBlock };
}

function siblingsOf(text: string, before: readonly Line[], current: Line, lineStart: number): string[] {
  const lineEnd = text.indexOf('\n', lineStart);
  const after = lineEnd < 0 ? [] : linesOf(text.slice(lineEnd + 1));
  const keys: string[] = [];
  const collect = (lines: readonly Line[], isUpwards: boolean) => {
    for (const line of lines) {
      if (line.column < current.column) break;
      const begins = line.column === current.column && line.dashes.length > 0;
      if (begins && !isUpwards) break;
      if (line.column === current.column && line.key !== undefined) keys.push(line.key);
      if (begins) break;
    }
  };
  // The line that begins an item has no siblings above.
  if (current.dashes.length === 0) collect(before.toReversed(), true);
  collect(after, false);
  return keys;
}
