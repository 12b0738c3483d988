import * as l10n from '@vscode/l10n';
import { type Document, isMap, isScalar, isSeq, Lexer, type Pair } from 'yaml';
import { groupCountText, membersText, roleCountText } from '../access/descriptions.ts';
import type { AccessModel } from '../access/model.ts';
import { groupName, holdersOf, principalName } from '../access/queries.ts';
import type { TextRange } from '../base/errors.ts';
import { oneLine } from '../base/text.ts';
import { referenceText } from './declare.ts';
import { groupReference, principalReference, Resolver, roleReference } from './references.ts';
import { yamlScalar } from './ruleEvaluation.ts';
import { type KeySchema, type KeySchemas, parseYaml, placeOf, type ReferenceTarget, type Schema } from './schema.ts';

/** A completion, as data. */
export interface CompletionItem {
  readonly label: string;
  readonly kind: 'key' | 'value' | 'group' | 'role' | 'person' | 'rule' | 'organization';
  /** The text to insert: a YAML scalar. */
  readonly insert: string;
  readonly detail?: string;
}

export interface CompletionList {
  /** The range to replace. */
  readonly place: TextRange;
  readonly items: readonly CompletionItem[];
}

/** What completion needs from a reading, and from the user. */
export interface CompletionContext {
  readonly model: AccessModel | undefined;
  readonly organizations: readonly string[];
}

/** Marks the cursor: no file contains this character. */
const CURSOR = '\ue000';
/** The token of YAML for brackets that end by the indentation of a line. */
const FLOW_END = '\x18';
/** The most items that are searched; typing more narrows them down. */
const MAX_ITEMS = 500;

/** The possible continuations at an offset of a file of this schema. */
export function schemaCompletions(
  text: string,
  offset: number,
  schema: Schema,
  context: CompletionContext,
): CompletionList | undefined {
  // Right after the colon of a key, YAML needs a space. A reference such as `user:` has none.
  const isAfterKey = /(?:^|[\s{,])[\w"']+:$/.test(text.slice(0, offset).split('\n').at(-1) ?? '');
  const spaced = isAfterKey ? completeWith(' ', text, offset, schema, context) : undefined;
  return spaced ?? completeWith('', text, offset, schema, context);
}

function completeWith(
  space: string,
  text: string,
  offset: number,
  schema: Schema,
  context: CompletionContext,
): CompletionList | undefined {
  const lineEnd = offset + text.slice(offset).search(/\r?\n|$/);
  const parsed = parseUnfinished(
    text.slice(0, offset) + space + CURSOR,
    text.slice(offset, lineEnd),
    text.slice(lineEnd),
  );
  if (parsed === undefined) return undefined;
  const isCursor = (node: unknown) => isScalar(node) && String(node.value).includes(CURSOR);
  const target = find(parsed.document.contents, schema, isCursor);
  if (!target?.place) return undefined;
  const end = Math.min(target.place.end - CURSOR.length - space.length, parsed.isClosedHere ? offset : lineEnd);
  const place = { start: target.place.start - space.length, end };
  if (target.keys) {
    const siblings = new Set(target.siblings);
    const items = Object.entries(target.keys).filter(([name]) => !siblings.has(name));
    return { place, items: items.map(([name, key]) => keyCompletion(name, key)) };
  }
  if (!target.schema) return undefined;
  const items = valuesOf(target.schema, text, context);
  return { place, items: items.map((item) => ({ ...item, insert: space + item.insert })) };
}

interface Unfinished {
  readonly document: Document.Parsed;
  /** Whether something was closed at the cursor: the rest of the line is then not part of what is typed. */
  readonly isClosedHere: boolean;
}

/**
 * Parses a text in which brackets or a quote may be open at the cursor: unchanged, or closed there or at the end of the
 * line, whichever gives the fewest errors. Otherwise YAML takes the following text into them.
 */
function parseUnfinished(before: string, rest: string, below: string): Unfinished | undefined {
  const { document } = parseYaml(before + rest + below);
  if (document === undefined) return undefined;
  let best = { document, isClosedHere: false };
  const closers = document.errors.length > 0 ? closersOf(before) : [];
  if (closers.length === 0) return best;
  const texts = [
    { text: before + closers[0] + rest + below, isClosedHere: true },
    { text: before + rest + closers.join('') + below, isClosedHere: false },
  ];
  for (const { text, isClosedHere } of texts) {
    const closed = parseYaml(text).document;
    if (closed && closed.errors.length < best.document.errors.length) best = { document: closed, isClosedHere };
    if (best.document.errors.length === 0) break;
  }
  return best;
}

/** The closing brackets, and the quote, that are missing at the end of a text. */
function closersOf(text: string): readonly string[] {
  const open: string[] = [];
  let last = '';
  for (const token of new Lexer().lex(text)) {
    if (token === '[') open.unshift(']');
    else if (token === '{') open.unshift('}');
    else if (token === ']' || token === '}') open.shift();
    else if (token === FLOW_END) open.length = 0;
    last = token;
  }
  const [, quote] = /^(["'])(?![\s\S]*\1$)/.exec(last) ?? [];
  return quote === undefined ? open : [quote, ...open];
}

/** Explains the key or value at an offset, as lines of plain text. */
export function schemaHover(
  text: string,
  offset: number,
  schema: Schema,
  model: AccessModel | undefined,
): { readonly place: TextRange; readonly lines: readonly string[] } | undefined {
  const { document } = parseYaml(text);
  const covers = (node: unknown) => {
    const place = placeOf(node);
    return isScalar(node) && place !== undefined && place.start <= offset && offset <= place.end;
  };
  const target = document && find(document.contents, schema, covers);
  if (!target?.place) return undefined;
  const lines = target.keys ? [target.keys[target.text]?.about() ?? ''] : aboutValue(target, model);
  return lines.some((line) => line !== '') ? { place: target.place, lines } : undefined;
}

interface Found {
  readonly text: string;
  readonly place: TextRange | undefined;
  /** For a key: the keys that are possible there, and those that exist. */
  readonly keys?: KeySchemas;
  readonly siblings?: readonly string[];
  /** For a value. */
  readonly schema?: Schema;
}

/** Goes down the document and its schema together. */
function find(node: unknown, schema: Schema, isIt: (node: unknown) => boolean): Found | undefined {
  if (isIt(node)) return foundAt(node, schema);
  if (isSeq(node) && schema.type === 'list') return first(node.items, (item) => find(item, schema.of, isIt));
  const keys = isMap(node) ? keysAt(node.toJSON(), schema) : undefined;
  if (!isMap(node) || keys === undefined) return undefined;
  const pairs = node.items as Pair[];
  const siblings = pairs.map(({ key }) => textOfKey(key));
  return first(pairs, ({ key, value }) => {
    const text = textOfKey(key);
    if (isIt(key)) return { text, place: placeOf(key), keys, siblings };
    const below = Object.hasOwn(keys, text) ? keys[text] : undefined;
    return below && find(value, below.schema, isIt);
  });
}

function textOfKey(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}

function first<T, R>(items: readonly T[], of: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const result = of(item);
    if (result !== undefined) return result;
  }
  return undefined;
}

/** A word alone where keys are expected is the beginning of a key. */
function foundAt(node: unknown, schema: Schema): Found {
  const place = placeOf(node);
  const text = isScalar(node) ? String(node.value) : '';
  const keys = schema.type === 'either' ? undefined : keysAt({}, schema);
  return keys ? { text, place, keys, siblings: [] } : { text, place, schema };
}

function keysAt(value: unknown, schema: Schema): KeySchemas | undefined {
  switch (schema.type) {
    case 'record':
      return schema.keys;
    case 'either':
      return keysAt(value, schema.record);
    case 'variants': {
      const chosen = String((value as Record<string, unknown>)[schema.by] ?? '');
      return {
        ...schema.keys,
        ...explained(schema),
        ...(Object.hasOwn(schema.of, chosen) ? schema.of[chosen]?.keys : {}),
      };
    }
    default:
      return undefined;
  }
}

/** The key that chooses between variants, with what each is for. */
function explained({ by, keys, of }: Extract<Schema, { type: 'variants' }>): KeySchemas {
  const key = keys[by];
  if (key?.schema.type !== 'choice') return {};
  const about = (value: string) => (Object.hasOwn(of, value) ? of[value]?.about() : undefined);
  return { [by]: { ...key, schema: { ...key.schema, about } } };
}

function keyCompletion(name: string, { schema, about }: KeySchema): CompletionItem {
  const after = schema.type === 'list' || schema.type === 'record' ? ':' : ': ';
  return { label: name, kind: 'key', insert: name + after, detail: about() };
}

function valuesOf(schema: Schema, text: string, context: CompletionContext): readonly CompletionItem[] {
  switch (schema.type) {
    case 'choice':
      return schema.of.map((value) => {
        const detail = schema.about?.(value);
        return { label: value, kind: 'value', insert: value, ...(detail !== undefined && { detail }) };
      });
    case 'either':
      return valuesOf(schema.text, text, context);
    case 'text':
      return schema.refers ? references(schema.refers, text, context).slice(0, MAX_ITEMS) : [];
    default:
      return [];
  }
}

function references(
  refers: ReferenceTarget,
  text: string,
  { model, organizations }: CompletionContext,
): readonly CompletionItem[] {
  const as = (kind: CompletionItem['kind']) => (value: string) => ({ label: value, kind, insert: yamlScalar(value) });
  if (refers === 'organization') return organizations.map(as('organization'));
  if (refers === 'rule') return [...text.matchAll(/\bid:\s*([\w.-]+)/g)].map(([, id = '']) => as('rule')(id));
  if (model === undefined) return [];
  const resolver = new Resolver(model);
  const groups = () =>
    model.groups.map((group) => ({
      ...as('group')(groupReference(resolver, group)),
      detail: `${roleCountText(group.roles.length)}, ${membersText(group.members)}`,
    }));
  const roles = () =>
    model.roles.map((role) => ({
      ...as('role')(roleReference(resolver, role)),
      detail: groupCountText(role.groups.length),
    }));
  const people = () =>
    model.principals.map((principal) => {
      const reference = principalReference(resolver, principal);
      const label = typeof reference === 'string' ? reference : principalName(principal);
      const insert = typeof reference === 'string' ? yamlScalar(reference) : referenceText(reference);
      return { label, kind: 'person' as const, insert, detail: groupCountText(principal.groups.length) };
    });
  switch (refers) {
    case 'group':
      return groups();
    case 'role':
      return roles();
    case 'person':
      return people();
    case 'serviceAccount':
      return model.principals.filter(({ kind }) => kind === 'serviceAccount').map(({ id }) => as('person')(id));
    case 'subject': {
      const prefixed = (prefix: string) => (one: CompletionItem) => ({
        ...one,
        label: prefix + one.label,
        insert: yamlScalar(prefix + one.label),
      });
      return [...people(), ...groups().map(prefixed('group:')), ...roles().map(prefixed('role:'))];
    }
  }
}

function aboutValue({ text, schema }: Found, model: AccessModel | undefined): readonly string[] {
  if (schema?.type === 'choice') return [schema.about?.(text) ?? ''];
  const of = schema?.type === 'either' ? schema.text : schema;
  if (of?.type !== 'text' || of.refers === undefined || model === undefined) return [];
  const resolver = new Resolver(model);
  const value = { text, start: 0, end: 0, isSound: true };
  const names = (all: readonly string[]) => oneLine(all.slice(0, 5).join(', ')) + (all.length > 5 ? ', …' : '');
  const fits = (many: number) => (many > 1 ? [l10n.t('Matches {0} entries.', many)] : []);
  if (of.refers === 'group') {
    const { entries: groups } = resolver.group(text);
    return [
      ...fits(groups.length),
      ...groups
        .slice(0, 3)
        .map(
          (group) =>
            `${oneLine(groupName(group))}: ${roleCountText(group.roles.length)}, ${membersText(group.members)}`,
        ),
    ];
  }
  if (of.refers === 'role') {
    const { entries: roles } = resolver.role(text);
    return [
      ...fits(roles.length),
      ...roles
        .slice(0, 3)
        .map(
          (role) =>
            `${names([text])}: ${groupCountText(role.groups.length)}, ${membersText(holdersOf(role).map(({ principal }) => principal))}`,
        ),
    ];
  }
  if (of.refers !== 'person' && of.refers !== 'subject') return [];
  const { entries: principals } = resolver.principal(value, false);
  return [
    ...fits(principals.length),
    ...principals.slice(0, 3).map((one) => `${oneLine(principalName(one))}: ${names(one.groups.map(groupName))}`),
  ];
}
