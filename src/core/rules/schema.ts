import * as l10n from '@vscode/l10n';
import { isMap, isScalar, isSeq, type Pair, type YAMLMap, type Document as YamlDocument } from 'yaml';
import { type DocumentProblem, RolecallError, type TextRange } from '../base/errors.ts';
import { didYouMean, nearest } from '../base/text.ts';
import { duplicateKeys, mergeConflictIn, parseYamlText, yamlSentence } from '../base/yaml.ts';
import { isGlob, MAX_GLOB_LENGTH } from './globs.ts';

/*
 * The possible content of a file that people write, as data: one description reads the file, reports its mistakes,
 * completes it, explains it and gives the JSON schema for other editors.
 */

/** The kinds of names in a text, for completion. */
export type ReferenceTarget = 'organization' | 'group' | 'role' | 'person' | 'subject' | 'rule' | 'serviceAccount';

/** What a value can be. */
export type Schema =
  /** Not checked. */
  | { readonly type: 'anything' }
  | {
      readonly type: 'text';
      /** The kind of entry that it names, by a name or a pattern. */
      readonly refers?: ReferenceTarget;
      /** It grants something to the entry, so it must be an exact reference. */
      readonly permits?: boolean;
      readonly canBeEmpty?: boolean;
      /** A pattern that is compared with names but refers to no entry, as in `naming`. */
      readonly isPattern?: boolean;
    }
  | {
      readonly type: 'choice';
      readonly of: readonly string[];
      /** The explanation of each choice, localized. */
      readonly about?: (value: string) => string | undefined;
    }
  | { readonly type: 'integer'; readonly least: number }
  | { readonly type: 'date' }
  | { readonly type: 'list'; readonly of: Schema }
  | { readonly type: 'record'; readonly keys: KeySchemas }
  /** A record whose key `by` decides which other keys are possible. */
  | {
      readonly type: 'variants';
      readonly by: string;
      readonly keys: KeySchemas;
      readonly of: Readonly<Record<string, SchemaVariant>>;
    }
  | { readonly type: 'either'; readonly text: Schema; readonly record: Schema };

export interface SchemaVariant {
  readonly about: () => string;
  readonly keys: KeySchemas;
}

export interface KeySchema {
  readonly schema: Schema;
  readonly isRequired?: boolean;
  /** A localized sentence for users. */
  readonly about: () => string;
}

export type KeySchemas = Readonly<Record<string, KeySchema>>;

/** A file of a format of its own, for one organization. */
export type DocumentSchema = Extract<Schema, { type: 'record' }>;

/** The keys at the head of a document, and its own. @param about the key `organization`. */
export function documentSchema(format: string, about: () => string, keys: KeySchemas): DocumentSchema {
  return {
    type: 'record',
    keys: {
      format: {
        schema: { type: 'choice', of: [format] },
        isRequired: true,
        about: () => l10n.t('The format of the file.'),
      },
      version: {
        schema: { type: 'choice', of: ['1'] },
        isRequired: true,
        about: () => l10n.t('The version of the format.'),
      },
      organization: { schema: { type: 'text', refers: 'organization' }, isRequired: true, about },
      ...keys,
    },
  };
}

/** A change of the text that solves a problem. */
export interface Fix {
  readonly title: string;
  readonly edits: readonly (TextRange & { readonly text: string })[];
}

export interface FileProblem extends DocumentProblem {
  readonly fixes?: readonly Fix[];
}

/** A value as read, with its place. Of a record with a problem inside, `isSound` is false. */
export interface Value extends TextRange {
  readonly isSound: boolean;
  /** Of a text, an integer, a choice or a date. */
  readonly text?: string;
  readonly items?: readonly Value[];
  readonly fields?: ReadonlyMap<string, Field>;
}

export interface Field {
  readonly key: TextRange;
  readonly value: Value;
}

/** The most syntax errors that are reported: one slip of indentation makes a hundred, and the first few show it. */
const MAX_SYNTAX_PROBLEMS = 3;

/** The parsed document, or the problem that prevents reading it. Every scalar stays the text that was written. */
export function parseYaml(text: string): { document: YamlDocument.Parsed | undefined; problems: FileProblem[] } {
  const { document, refusal } = parseYamlText(text, { schema: 'failsafe', version: '1.2' });
  if (refusal !== undefined) {
    return { document: undefined, problems: [problem('syntax', { start: 0, end: firstLineEnd(text) }, refusal)] };
  }
  const conflict = document.errors.length > 0 ? mergeConflictIn(text) : undefined;
  if (conflict) return { document, problems: [problem('syntax', conflict, conflict.message)] };
  const problems = [
    ...[...document.errors, ...document.warnings].map((one) => ({ place: one.pos, message: yamlSentence(one) })),
    ...duplicateKeys(document).map(({ range }) => ({
      place: range,
      message: l10n.t('This key appears more than once.'),
    })),
  ].slice(0, MAX_SYNTAX_PROBLEMS);
  return {
    document,
    problems: problems.map(({ place: [start, end], message }) =>
      problem('syntax', { start, end: Math.max(end, start + 1) }, message),
    ),
  };
}

/**
 * A document to be changed and written again. The core schema quotes what other programs would take for a number, a date
 * or a word such as `null`. @throws RolecallError `invalidRequest` for a text that has errors or is no mapping.
 */
export function parseForEdit(text: string): YamlDocument<YAMLMap> {
  const { document, refusal } = parseYamlText(text, { version: '1.2' });
  const isSound = refusal === undefined && document.errors.length === 0 && parseYaml(text).problems.length === 0;
  if (isSound && isMap(document.contents)) {
    return document as unknown as YamlDocument<YAMLMap>;
  }
  throw new RolecallError('invalidRequest', l10n.t('The file has errors. Correct them first.'));
}

export interface ReadDocument {
  readonly document: YamlDocument.Parsed | undefined;
  readonly value: Value;
  /** The list to which more problems can be added. */
  readonly problems: FileProblem[];
  /** The first line, for problems without another place. */
  readonly top: TextRange;
  readonly isSyntaxSound: boolean;
  /** The syntax and the head of the document are right: otherwise nothing can be judged. */
  readonly isReadable: boolean;
}

/** Reads a text as `schema` says. Never throws. */
export function readDocument(text: string, schema: DocumentSchema): ReadDocument {
  const { document, problems } = parseYaml(text);
  const top = { start: 0, end: Math.max(1, firstLineEnd(text)) };
  const isSyntaxSound = problems.length === 0;
  const value: Value = isSyntaxSound
    ? readValue(document?.contents ?? null, schema, (one) => problems.push(one), top)
    : { ...top, isSound: false };
  const isHeadSound = ['format', 'version', 'organization'].every(
    (key) => value.fields?.get(key)?.value.isSound === true,
  );
  return { document, value, problems, top, isSyntaxSound, isReadable: isSyntaxSound && isHeadSound };
}

export function problem(
  code: string,
  { start, end }: TextRange,
  message: string,
  severity: FileProblem['severity'] = 'error',
  fixes: readonly Fix[] = [],
): FileProblem {
  return { start, end, severity, message, code, ...(fixes.length > 0 && { fixes }) };
}

function firstLineEnd(text: string): number {
  const end = text.search(/[\r\n]/);
  return end < 0 ? text.length : end;
}

/** Reads a node of the document as `schema` says, strictly. @param report takes what is wrong with it. */
export function readValue(
  node: unknown,
  schema: Schema,
  report: (problem: FileProblem) => void,
  around: TextRange,
): Value {
  const place = placeOf(node) ?? around;
  const wrong = (message: string, fixes?: readonly Fix[]): Value => {
    report(problem('bad-value', place, message, 'error', fixes));
    return { ...place, isSound: false };
  };
  if (isTaggedOrAnchored(node)) return wrong(l10n.t('Tags, anchors and aliases cannot be used here.'));
  switch (schema.type) {
    case 'anything':
      return { ...place, isSound: true };
    case 'list': {
      if (!isSeq(node)) return wrong(l10n.t('Expected a list.'));
      const items = node.items.map((item) => readValue(item, schema.of, report, place));
      return { ...place, items, isSound: items.every(({ isSound }) => isSound) };
    }
    case 'record':
      return readRecord(node, schema.keys, report, place);
    case 'variants':
      return readVariant(node, schema, report, place);
    case 'either':
      return readValue(node, isMap(node) ? schema.record : schema.text, report, around);
    default: {
      if (!isScalar(node) || typeof node.value !== 'string') return wrong(l10n.t('Expected text.'));
      const text = node.value;
      if (schema.type === 'choice' && !schema.of.includes(text)) {
        const near = nearest(text, schema.of);
        const message = didYouMean(l10n.t('Unknown value "{0}".', text), near);
        const all = l10n.t('Use one of: {0}.', schema.of.join(', '));
        return wrong(`${message} ${all}`, near === undefined ? [] : [replacement(place, near)]);
      }
      const message = mistakeIn(text, schema);
      return message === undefined ? { ...place, text, isSound: true } : wrong(message);
    }
  }
}

/** The fix that replaces the text at a place. */
export function replacement(place: TextRange, text: string): Fix {
  return { title: l10n.t('Change to "{0}"', text), edits: [{ start: place.start, end: place.end, text }] };
}

/** The place of a node's own text. */
export function placeOf(node: unknown): TextRange | undefined {
  const range = (node as { range?: readonly number[] | null } | null | undefined)?.range;
  const [start, end] = range ?? [];
  return start === undefined || end === undefined ? undefined : { start, end };
}

function isTaggedOrAnchored(node: unknown): boolean {
  const { anchor, tag, source } = (node ?? {}) as { anchor?: string; tag?: string; source?: string };
  const isAlias = typeof source === 'string' && !isScalar(node) && !isMap(node) && !isSeq(node);
  return anchor !== undefined || tag !== undefined || isAlias;
}

function mistakeIn(text: string, schema: Schema): string | undefined {
  switch (schema.type) {
    case 'integer':
      if (/^(?:0|[1-9]\d{0,8})$/.test(text) && Number(text) >= schema.least) return undefined;
      return l10n.t('Expected a whole number of at least {0}.', schema.least);
    case 'date':
      return dayOf(text) === undefined ? l10n.t('Expected a date such as 2027-03-31.') : undefined;
    default: {
      const { canBeEmpty, isPattern, refers } = schema.type === 'text' ? schema : {};
      if (text.trim() === '' && !canBeEmpty) return l10n.t('Expected text.');
      const isTooLong = (isPattern || refers !== undefined) && text.length > MAX_GLOB_LENGTH && isGlob(text);
      return isTooLong ? l10n.t('A pattern can have at most {0} characters.', MAX_GLOB_LENGTH) : undefined;
    }
  }
}

/** `2027-03-31` as days since 1970 in UTC; `undefined` for anything else, 31 February included. */
export function dayOf(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const time = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== text ? undefined : time / 86_400_000;
}

/** Days since 1970 as `2027-03-31`. */
export function dateText(day: number): string {
  return new Date(day * 86_400_000).toISOString().slice(0, 10);
}

/** Today in UTC, wherever it is read. */
export function dayOfTime(now: number): number {
  return Math.floor(now / 86_400_000);
}

function readVariant(
  node: unknown,
  { by, keys, of }: Extract<Schema, { type: 'variants' }>,
  report: (problem: FileProblem) => void,
  place: TextRange,
): Value {
  const chosen = isMap(node) ? node.get(by) : undefined;
  const variant = typeof chosen === 'string' && Object.hasOwn(of, chosen) ? of[chosen] : undefined;
  if (variant !== undefined || !isMap(node)) return readRecord(node, { ...keys, ...variant?.keys }, report, place);
  // An unknown kind may have any keys: only those that all kinds share are checked.
  const everything = Object.assign({}, keys, ...Object.values(of).map((one) => one.keys)) as KeySchemas;
  const optional = Object.fromEntries(
    Object.entries(everything).map(([name, key]) => [
      name,
      { ...key, isRequired: name in keys && key.isRequired === true },
    ]),
  );
  return { ...readRecord(node, optional, report, place), isSound: false };
}

function readRecord(node: unknown, keys: KeySchemas, report: (problem: FileProblem) => void, place: TextRange): Value {
  if (!isMap(node)) {
    report(problem('bad-value', place, l10n.t('Expected keys with values: {0}.', Object.keys(keys).join(', '))));
    return { ...place, isSound: false };
  }
  const fields = new Map<string, Field>();
  const problems: FileProblem[] = [];
  for (const { key, value } of node.items as Pair[]) {
    const name = isScalar(key) && typeof key.value === 'string' ? key.value : '';
    const at = placeOf(key) ?? place;
    const definition = Object.hasOwn(keys, name) && !isTaggedOrAnchored(key) ? keys[name] : undefined;
    if (definition === undefined) problems.push(unknownKey(name, at, keys));
    else if (isNothing(value)) {
      problems.push(problem('empty-key', at, needsValueText(name, definition.schema)));
      fields.set(name, { key: at, value: { ...at, isSound: false } });
    } else fields.set(name, { key: at, value: readValue(value, definition.schema, report, at) });
  }
  for (const [name, { isRequired }] of Object.entries(keys)) {
    if (!isRequired || fields.has(name)) continue;
    problems.push(problem('missing-key', headOf(node, place), l10n.t('The key "{0}" is missing.', name)));
  }
  problems.forEach(report);
  const isSound = problems.length === 0 && [...fields.values()].every(({ value }) => value.isSound);
  return { ...place, fields, isSound };
}

function needsValueText(name: string, { type }: Schema): string {
  const message = l10n.t('"{0}" needs a value.', name);
  return type === 'list' ? `${message} ${l10n.t('For an empty list, write [].')}` : message;
}

function unknownKey(name: string, at: TextRange, keys: KeySchemas): FileProblem {
  const near = nearest(name, Object.keys(keys));
  const fixes = near === undefined ? [] : [replacement(at, near)];
  return problem('unknown-key', at, didYouMean(l10n.t('Unknown key "{0}".', name), near), 'error', fixes);
}

/** `roles:` without a value, which is not `[]`. */
function isNothing(node: unknown): boolean {
  return node === null || (isScalar(node) && node.value === '' && node.type === 'PLAIN');
}

/** The first key, so that a mark covers a line instead of the whole block. */
function headOf(node: { readonly items: readonly { readonly key?: unknown }[] }, place: TextRange): TextRange {
  return placeOf(node.items[0]?.key) ?? place;
}

/** The text of a field. */
export function textOf(value: Value | undefined, key: string): string | undefined {
  return value?.fields?.get(key)?.value.text;
}

/** The items of a field that is a list; none where it is absent. */
export function itemsOf(value: Value | undefined, key: string): readonly Value[] {
  return value?.fields?.get(key)?.value.items ?? [];
}

/** The same as a JSON schema, for editors that complete YAML by one. */
export function jsonSchemaOf(schema: Schema): object {
  switch (schema.type) {
    case 'anything':
      return {};
    case 'text':
      return { type: 'string', minLength: 1 };
    case 'choice':
      return { enum: schema.of.map((value) => (value === 'true' || value === 'false' ? value === 'true' : value)) };
    case 'integer':
      return { type: 'integer', minimum: schema.least };
    case 'date':
      return { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' };
    case 'list':
      return { type: 'array', items: jsonSchemaOf(schema.of) };
    case 'record':
      return schemaOfRecord(schema.keys);
    case 'either':
      return { anyOf: [jsonSchemaOf(schema.text), jsonSchemaOf(schema.record)] };
    case 'variants':
      return {
        type: 'object',
        required: [schema.by],
        properties: { [schema.by]: { enum: Object.keys(schema.of) } },
        oneOf: Object.entries(schema.of).map(([name, { about, keys }]) => ({
          description: about(),
          ...schemaOfRecord({
            ...schema.keys,
            [schema.by]: { schema: { type: 'choice', of: [name] }, isRequired: true, about },
            ...keys,
          }),
        })),
      };
  }
}

function schemaOfRecord(keys: KeySchemas): object {
  return {
    type: 'object',
    additionalProperties: false,
    required: Object.keys(keys).filter((name) => keys[name]?.isRequired),
    properties: Object.fromEntries(
      Object.entries(keys).map(([name, { schema, about }]) => [
        name,
        { description: about(), ...jsonSchemaOf(schema) },
      ]),
    ),
  };
}
