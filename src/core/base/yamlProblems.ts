import * as l10n from '@vscode/l10n';
import type { DocumentProblem } from './errors.ts';

/** A problem that the library reports. */
interface YamlError {
  readonly code: string;
  readonly message: string;
}

/**
 * The frequent mistakes: the library's code, a word of its message if the code has several meanings, and our sentence.
 */
const SENTENCES: readonly (readonly [code: string, word: string, sentence: () => string])[] = [
  ['TAB_AS_INDENT', '', () => l10n.t('Indent with spaces: YAML does not accept tabs here.')],
  ['DUPLICATE_KEY', '', () => l10n.t('This key appears more than once.')],
  ['BAD_INDENT', 'Flow', () => l10n.t('A bracket that was opened before is not closed.')],
  ['BAD_INDENT', '', () => l10n.t('This line is not indented like the lines that it belongs to.')],
  ['MISSING_CHAR', 'quote', () => l10n.t('The closing quotation mark is missing.')],
  ['MISSING_CHAR', 'values', () => l10n.t('A colon and a space are missing after this key.')],
  ['MISSING_CHAR', 'indicator', () => l10n.t('This line must begin with "- " or be indented differently.')],
  [
    'MULTILINE_IMPLICIT_KEY',
    '',
    () => l10n.t('A colon and a space are missing after this key, or the next line is not indented as it should be.'),
  ],
  ['BLOCK_AS_IMPLICIT_KEY', '', () => l10n.t('A text that contains ": " needs quotation marks.')],
  ['BAD_SCALAR_START', '', () => l10n.t('A text that begins with this character needs quotation marks.')],
  ['BAD_DQ_ESCAPE', '', () => l10n.t('Unknown escape sequence. Between "…", a backslash is written \\\\.')],
  ['BLOCK_IN_FLOW', '', () => l10n.t('Between brackets, a list is written [a, b] and a mapping { a: b }.')],
  [
    'UNEXPECTED_TOKEN',
    '',
    () => l10n.t('This is not expected here. A quotation mark, a comma or a line break may be missing before it.'),
  ],
];

/** The longest text that is read, in UTF-16 units: nobody writes longer ones by hand, and they would block the editor. */
export const MAX_YAML_LENGTH = 2_000_000;

/*
 * How deep a text may be nested. No honest file comes near; beyond it the parser needs minutes or more stack than there
 * is, which it does not always survive.
 */
const MAX_OPEN_BRACKETS = 200;
const MAX_INDENTATION = 300;
const manyInOneLine = /(?:[-?:][ \t]+){150}/;

/** Why a text must not be given to the parser, in a sentence; `undefined` if it may. */
export function yamlRefusal(text: string): string | undefined {
  if (text.length > MAX_YAML_LENGTH) {
    return l10n.t('This file is longer than {0} characters, so it is not read.', MAX_YAML_LENGTH);
  }
  return isNestedTooDeeply(text) ? l10n.t('This file is nested too deeply, so it is not read.') : undefined;
}

function isNestedTooDeeply(text: string): boolean {
  let open = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    open = bracket === '[' || bracket === '{' ? open + 1 : Math.max(0, open - 1);
    if (open > MAX_OPEN_BRACKETS) return true;
  }
  for (const [beginning] of text.matchAll(/^(?:[ \t]|[-?:](?=[ \t]))+/gm)) {
    if (beginning.length > MAX_INDENTATION) return true;
  }
  return manyInOneLine.test(text);
}

/** A merge conflict that git left in a text: one problem, in place of all that YAML reports about its markers. */
export function mergeConflictIn(text: string): Pick<DocumentProblem, 'start' | 'end' | 'message'> | undefined {
  const marker = /^<{7}(?: .*)?$/m.exec(text);
  if (marker === null || !/^={7}$/m.test(text)) return undefined;
  const end = marker.index + marker[0].length;
  return { start: marker.index, end, message: l10n.t('This file has an unresolved merge conflict.') };
}

/** The sentence for whoever wrote a YAML text; for rare mistakes, the library's own words. */
export function yamlSentence({ code, message }: YamlError): string {
  const [, , sentence] = SENTENCES.find(([known, word]) => known === code && message.includes(word)) ?? [];
  return sentence ? sentence() : l10n.t('Invalid YAML: {0}.', message.replace(/[.:]$/, ''));
}
