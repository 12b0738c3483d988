import * as l10n from '@vscode/l10n';
import { type Node, type ParseError, type ParseErrorCode, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { Diagnostic, TextSpan } from './definition.ts';

/** Reads JSON with comments and trailing commas, as VS Code does for its own files. */
export interface ParsedText {
  /** Undefined when the text has no value at all. */
  readonly root: Node | undefined;
  readonly errors: readonly ParseError[];
  readonly placeOf: (range: { offset: number; length: number }) => TextSpan;
}

export function parseText(text: string): ParsedText {
  const errors: ParseError[] = [];
  // A byte order mark is not JSON; a space instead of it keeps every offset unchanged.
  const root = parseTree(text.replace(/^\uFEFF/, ' '), errors, { allowTrailingComma: true });
  const starts = lineStarts(text);
  const placeOf = (range: { offset: number; length: number }): TextSpan => {
    // The scanner reports more characters than there are for a comment without an end.
    const offset = Math.min(range.offset, text.length);
    const length = Math.max(0, Math.min(range.length, text.length - offset));
    return { offset, length, ...position(starts, offset) };
  };
  return { root, errors, placeOf };
}

/** A diagnostic for each syntax error. */
export function syntaxDiagnostics({ errors, placeOf }: ParsedText): Diagnostic[] {
  return errors.map((error) => ({
    ...placeOf(error),
    severity: 'error',
    message: l10n.t('Invalid JSON: {0}.', words(error.error)),
    isSyntax: true,
  }));
}

/**
 * True when the parsed node may not be what the author meant: it contains a syntax error, or the text ends before the
 * node is known to be closed.
 */
export function isDamaged(node: Node, errors: readonly ParseError[]): boolean {
  const end = node.offset + node.length;
  const isLast = node.parent?.children?.at(-1) === node;
  return errors.some(
    ({ offset, error }) => (offset > node.offset && offset < end) || (isLast && offset >= end && isOpen(error)),
  );
}

function isOpen(error: ParseErrorCode): boolean {
  const code = printParseErrorCode(error);
  return code === 'CloseBraceExpected' || code === 'CloseBracketExpected';
}

/** Ambiguous members: those named twice in one object, and `__proto__`. */
export function unusableMembers(node: Node): { name: Node; message: string }[] {
  const problems: { name: Node; message: string }[] = [];
  const names = new Set<string>();
  for (const child of node.children ?? []) {
    const name = child.children?.[0];
    if (node.type === 'object' && name !== undefined) {
      if (name.value === '__proto__')
        problems.push({ name, message: l10n.t('A member must not be named "__proto__".') });
      else if (names.has(name.value))
        problems.push({ name, message: l10n.t('"{0}" appears more than once.', name.value) });
      names.add(name.value);
    }
    problems.push(...unusableMembers(child));
  }
  return problems;
}

/** The value of a node without members of the name `__proto__` (see {@link unusableMembers}). */
export function nodeValue(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(nodeValue);
  if (node.type !== 'object') return node.value;
  const members = (node.children ?? []).flatMap((property) => {
    const [name, value] = property.children ?? [];
    return name === undefined || value === undefined ? [] : [[String(name.value), nodeValue(value)] as const];
  });
  return Object.fromEntries(members);
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\r|\n/g)) starts.push(match.index + match[0].length);
  return starts;
}

function position(starts: readonly number[], offset: number): { line: number; column: number } {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low, column: offset - (starts[low] ?? 0) };
}

/** What the parser found wrong, in words. */
function words(error: ParseErrorCode): string {
  const code = printParseErrorCode(error);
  switch (code) {
    case 'InvalidSymbol':
      return l10n.t('unknown word');
    case 'InvalidNumberFormat':
    case 'UnexpectedEndOfNumber':
      return l10n.t('incomplete number');
    case 'PropertyNameExpected':
      return l10n.t('property name expected');
    case 'ValueExpected':
      return l10n.t('value expected');
    case 'ColonExpected':
      return l10n.t('colon expected');
    case 'CommaExpected':
      return l10n.t('comma expected');
    case 'CloseBraceExpected':
      return l10n.t('closing brace expected');
    case 'CloseBracketExpected':
      return l10n.t('closing bracket expected');
    case 'EndOfFileExpected':
      return l10n.t('end of file expected');
    case 'UnexpectedEndOfComment':
      return l10n.t('comment without an end');
    case 'UnexpectedEndOfString':
      return l10n.t('string without an end');
    case 'InvalidUnicode':
    case 'InvalidEscapeCharacter':
    case 'InvalidCharacter':
      return l10n.t('character that is not allowed');
    default:
      return code;
  }
}
