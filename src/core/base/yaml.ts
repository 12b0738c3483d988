import * as l10n from '@vscode/l10n';
import {
  type Document,
  type DocumentOptions,
  isMap,
  isScalar,
  isSeq,
  type ParseOptions,
  parseDocument,
  type Scalar,
  type SchemaOptions,
  visit,
} from 'yaml';
import type { DocumentProblem } from './errors.ts';

type YamlOptions = ParseOptions & DocumentOptions & SchemaOptions;

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
  ['BLOCK_AS_IMPLICIT_KEY', '', () => l10n.t('Text that contains ": " needs quotation marks.')],
  ['BAD_SCALAR_START', '', () => l10n.t('Text that begins with this character needs quotation marks.')],
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

/** The deepest nesting of values that is read. Whatever reads a document may therefore call itself for each level. */
const MAX_DEPTH = 500;

/** `refusal`: why the text is not read, in a sentence; the document is empty then. */
export interface ParsedYaml {
  readonly document: Document.Parsed;
  readonly refusal?: string;
}

/**
 * Parses a text that anybody may have written. Never throws. Keys that appear more than once are no error here: the
 * library compares each key with all others, and {@link duplicateKeys} costs less.
 */
export function parseYamlText(text: string, options: YamlOptions): ParsedYaml {
  const parse = (content: string) =>
    parseDocument(content, { prettyErrors: false, logLevel: 'silent', ...options, uniqueKeys: false });
  const refuse = (refusal: string): ParsedYaml => ({ document: parse(''), refusal });
  if (text.length > MAX_YAML_LENGTH) {
    return refuse(l10n.t('This file is longer than {0} characters, so it is not read.', MAX_YAML_LENGTH));
  }
  const document = withinStack(() => parse(text));
  if (document === undefined || isTooDeep(document)) {
    return refuse(l10n.t('This file is nested too deeply, so it is not read.'));
  }
  return { document };
}

/** The parser calls itself for each level, and runs out of stack in a text that nobody wrote by hand. */
function withinStack<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function isTooDeep(document: Document.Parsed): boolean {
  let level: readonly unknown[] = [document.contents];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap(childrenOf);
  }
  return false;
}

function childrenOf(node: unknown): readonly unknown[] {
  if (isSeq(node)) return node.items;
  return isMap(node) ? node.items.flatMap(({ key, value }) => [key, value]) : [];
}

/** The keys of a document that appear again in the same mapping. */
export function duplicateKeys(document: Document.Parsed): readonly Scalar.Parsed[] {
  const duplicates: Scalar.Parsed[] = [];
  visit(document, {
    Map: (_key, { items }) => {
      const values = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (values.has(key.value)) duplicates.push(key as Scalar.Parsed);
        values.add(key.value);
      }
    },
  });
  return duplicates;
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
