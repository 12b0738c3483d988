import * as l10n from '@vscode/l10n';
import { type Document, isMap, isScalar, isSeq, Lexer, type Pair } from 'yaml';
import { groupCountText, membersText, roleCountText } from '../access/descriptions.ts';
import type { AccessModel } from '../access/model.ts';
import { groupName, holdersOf, principalName } from '../access/queries.ts';
import { oneLine } from '../base/text.ts';
import { referenceText } from './declare.ts';
import { groupReference, principalReference, Resolver, roleReference } from './references.ts';
import { yamlScalar } from './ruleEvaluation.ts';
import { type Key, type Keys, type Place, parseYaml, placeOf, type Refers, type Shape } from './shape.ts';

/** What can stand at a place, as data. */
export interface CompletionItem {
  readonly label: string;
  readonly kind: 'key' | 'value' | 'group' | 'role' | 'person' | 'rule' | 'organization';
  /** What is written: a text as YAML. */
  readonly insert: string;
  readonly detail?: string;
}

export interface CompletionList {
  /** What is replaced. */
  readonly place: Place;
  readonly items: readonly CompletionItem[];
}

/** What completion takes from a reading, and from the user. */
export interface CompletionContext {
  readonly model: AccessModel | undefined;
  readonly organizations: readonly string[];
}

/** Stands for what is typed next: no file has it. */
const CURSOR = '\ue000';
/** The token of YAML for brackets that end by the indentation of a line. */
const FLOW_END = '\x18';
/** More are not looked through; typing on narrows them down. */
const MAX_ITEMS = 500;

/** What can follow at an offset of a file of this shape. */
export function accessFileCompletions(
  text: string,
  offset: number,
  shape: Shape,
  known: CompletionContext,
): CompletionList | undefined {
  // Right after the colon of a key, YAML needs a space. A reference such as `user:` has none.
  const isAfterKey = /(?:^|[\s{,])[\w"']+:$/.test(text.slice(0, offset).split('\n').at(-1) ?? '');
  const spaced = isAfterKey ? completeWith(' ', text, offset, shape, known) : undefined;
  return spaced ?? completeWith('', text, offset, shape, known);
}

function completeWith(
  space: string,
  text: string,
  offset: number,
  shape: Shape,
  known: CompletionContext,
): CompletionList | undefined {
  const lineEnd = offset + text.slice(offset).search(/\r?\n|$/);
  const parsed = parseUnfinished(
    text.slice(0, offset) + space + CURSOR,
    text.slice(offset, lineEnd),
    text.slice(lineEnd),
  );
  if (parsed === undefined) return undefined;
  const isCursor = (node: unknown) => isScalar(node) && String(node.value).includes(CURSOR);
  const found = find(parsed.document.contents, shape, isCursor);
  if (!found?.place) return undefined;
  const end = Math.min(found.place.end - CURSOR.length - space.length, parsed.isClosedHere ? offset : lineEnd);
  const place = { start: found.place.start - space.length, end };
  if (found.keys) {
    const taken = new Set(found.siblings);
    const items = Object.entries(found.keys).filter(([name]) => !taken.has(name));
    return { place, items: items.map(([name, key]) => keyCompletion(name, key)) };
  }
  if (!found.shape) return undefined;
  const items = valuesOf(found.shape, text, known);
  return { place, items: items.map((item) => ({ ...item, insert: space + item.insert })) };
}

interface Unfinished {
  readonly document: Document.Parsed;
  /** Whether something was closed where somebody types: what follows on the line is then no part of what they type. */
  readonly isClosedHere: boolean;
}

/**
 * Reads a text in which brackets or a quote may be open where somebody types: as it is, or closed there or at the end of the line,
 * whichever gives the fewest errors. Else YAML takes what follows into them.
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

/** What closes the brackets, and the quote, that are open at the end of a text. */
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

/** What is at an offset, as lines of plain text. */
export function accessFileHover(
  text: string,
  offset: number,
  shape: Shape,
  model: AccessModel | undefined,
): { readonly place: Place; readonly lines: readonly string[] } | undefined {
  const { document } = parseYaml(text);
  const covers = (node: unknown) => {
    const place = placeOf(node);
    return isScalar(node) && place !== undefined && place.start <= offset && offset <= place.end;
  };
  const found = document && find(document.contents, shape, covers);
  if (!found?.place) return undefined;
  const lines = found.keys ? [found.keys[found.text]?.about() ?? ''] : aboutValue(found, model);
  return lines.some((line) => line !== '') ? { place: found.place, lines } : undefined;
}

interface Found {
  readonly text: string;
  readonly place: Place | undefined;
  /** Where it is a key: the keys that can stand there, and those that do. */
  readonly keys?: Keys;
  readonly siblings?: readonly string[];
  /** Where it is a value. */
  readonly shape?: Shape;
}

/** Goes down the document and its shape together. */
function find(node: unknown, shape: Shape, isIt: (node: unknown) => boolean): Found | undefined {
  if (isIt(node)) return foundAt(node, shape);
  if (isSeq(node) && shape.type === 'list') return first(node.items, (item) => find(item, shape.of, isIt));
  const keys = isMap(node) ? keysAt(node.toJSON(), shape) : undefined;
  if (!isMap(node) || keys === undefined) return undefined;
  const pairs = node.items as Pair[];
  const siblings = pairs.map(({ key }) => textOfKey(key));
  return first(pairs, ({ key, value }) => {
    const text = textOfKey(key);
    if (isIt(key)) return { text, place: placeOf(key), keys, siblings };
    const below = Object.hasOwn(keys, text) ? keys[text] : undefined;
    return below && find(value, below.shape, isIt);
  });
}

function textOfKey(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}

function first<T, R>(items: readonly T[], of: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = of(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A word alone where keys are expected is the beginning of a key. */
function foundAt(node: unknown, shape: Shape): Found {
  const place = placeOf(node);
  const text = isScalar(node) ? String(node.value) : '';
  const keys = shape.type === 'either' ? undefined : keysAt({}, shape);
  return keys ? { text, place, keys, siblings: [] } : { text, place, shape };
}

function keysAt(value: unknown, shape: Shape): Keys | undefined {
  switch (shape.type) {
    case 'record':
      return shape.keys;
    case 'either':
      return keysAt(value, shape.record);
    case 'variants': {
      const chosen = String((value as Record<string, unknown>)[shape.by] ?? '');
      return {
        ...shape.keys,
        ...explained(shape),
        ...(Object.hasOwn(shape.of, chosen) ? shape.of[chosen]?.keys : {}),
      };
    }
    default:
      return undefined;
  }
}

/** The key that chooses between variants, with what each is for. */
function explained({ by, keys, of }: Extract<Shape, { type: 'variants' }>): Keys {
  const key = keys[by];
  if (key?.shape.type !== 'choice') return {};
  const about = (value: string) => (Object.hasOwn(of, value) ? of[value]?.about() : undefined);
  return { [by]: { ...key, shape: { ...key.shape, about } } };
}

function keyCompletion(name: string, { shape, about }: Key): CompletionItem {
  const after = shape.type === 'list' || shape.type === 'record' ? ':' : ': ';
  return { label: name, kind: 'key', insert: name + after, detail: about() };
}

function valuesOf(shape: Shape, text: string, known: CompletionContext): readonly CompletionItem[] {
  switch (shape.type) {
    case 'choice':
      return shape.of.map((value) => {
        const detail = shape.about?.(value);
        return { label: value, kind: 'value', insert: value, ...(detail !== undefined && { detail }) };
      });
    case 'either':
      return valuesOf(shape.text, text, known);
    case 'text':
      return shape.refers ? references(shape.refers, text, known).slice(0, MAX_ITEMS) : [];
    default:
      return [];
  }
}

function references(
  refers: Refers,
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

function aboutValue({ text, shape }: Found, model: AccessModel | undefined): readonly string[] {
  if (shape?.type === 'choice') return [shape.about?.(text) ?? ''];
  const of = shape?.type === 'either' ? shape.text : shape;
  if (of?.type !== 'text' || of.refers === undefined || model === undefined) return [];
  const resolver = new Resolver(model);
  const value = { text, start: 0, end: 0, isSound: true };
  const names = (all: readonly string[]) => oneLine(all.slice(0, 5).join(', ')) + (all.length > 5 ? ', …' : '');
  const fits = (many: number) => (many > 1 ? [l10n.t('Fits {0} entries.', many)] : []);
  if (of.refers === 'group') {
    const { found } = resolver.group(text);
    return [
      ...fits(found.length),
      ...found
        .slice(0, 3)
        .map(
          (group) =>
            `${oneLine(groupName(group))}: ${roleCountText(group.roles.length)}, ${membersText(group.members)}`,
        ),
    ];
  }
  if (of.refers === 'role') {
    const { found } = resolver.role(text);
    return [
      ...fits(found.length),
      ...found
        .slice(0, 3)
        .map(
          (role) =>
            `${names([text])}: ${groupCountText(role.groups.length)}, ${membersText(holdersOf(role).map(({ principal }) => principal))}`,
        ),
    ];
  }
  if (of.refers !== 'person' && of.refers !== 'subject') return [];
  const { found } = resolver.principal(value, false);
  return [
    ...fits(found.length),
    ...found.slice(0, 3).map((one) => `${oneLine(principalName(one))}: ${names(one.groups.map(groupName))}`),
  ];
}
