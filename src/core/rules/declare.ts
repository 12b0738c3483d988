import * as l10n from '@vscode/l10n';
import { Document, isMap, isSeq, type ParsedNode, visit, type YAMLMap, type YAMLSeq } from 'yaml';
import { type AccessModel, type GroupEntry, isBeingDeleted } from '../access/model.ts';
import { RolecallError, type TextRange } from '../base/errors.ts';
import { compareText } from '../base/text.ts';
import { ACCESS_FILE_FORMAT, type Waiver } from './accessFile.ts';
import type { Finding } from './findings.ts';
import { principalReference, Resolver, roleReference } from './references.ts';
import { dateText, parseForEdit, placeOf } from './schema.ts';

/*
 * Writes into files of access rules. Unchanged parts keep their comments; lists have one item a line and are sorted, so
 * that the changes of two people merge.
 */

interface DeclaredGroup {
  readonly name: string;
  readonly id: string;
  readonly roles?: readonly string[];
  readonly members?: readonly unknown[];
  readonly serviceAccounts?: readonly string[];
}

/** A declaration of the current groups, without those that are being deleted; a list that was not sent is left out. */
function declarationOf(model: AccessModel): readonly DeclaredGroup[] {
  const resolver = new Resolver(model);
  const staying = model.groups.filter(({ group }) => !isBeingDeleted(group.metadata));
  return staying
    .map((entry) => declaredGroup(entry, resolver))
    .sort((one, other) => compareText(one.name, other.name) || compareText(one.id, other.id));
}

function declaredGroup(entry: GroupEntry, resolver: Resolver): DeclaredGroup {
  const { group, members, roles, missing } = entry;
  const people = members.filter(({ kind }) => kind !== 'serviceAccount');
  const accounts = members.filter(({ kind }) => kind === 'serviceAccount');
  return {
    name: group.metadata.name,
    id: group.metadata.id,
    ...(!missing.includes('roles') && { roles: roles.map((role) => roleReference(resolver, role)).sort(compareText) }),
    members: people.map((one) => principalReference(resolver, one)).sort(byText),
    ...(!missing.includes('serviceAccounts') && { serviceAccounts: accounts.map(({ id }) => id).sort(compareText) }),
  };
}

export const referenceText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
const byText = (one: unknown, other: unknown) => compareText(referenceText(one), referenceText(other));

/**
 * A file that declares the current access, or `text` with its declaration replaced.
 *
 * @throws RolecallError where the groups are not all known: a missing one would be declared as absent.
 */
export function declareAccess(model: AccessModel, text = ''): string {
  const gap = model.gaps.find(({ list, kind }) => list === 'groups' && kind !== 'stale' && kind !== 'missing');
  if (gap !== undefined) {
    throw new RolecallError('invalidRequest', l10n.t('Not all groups could be read, so they cannot be declared.'));
  }
  const document = open(text, model.organization);
  const declared = document.createNode({ complete: true, groups: declarationOf(model) }) as YAMLMap;
  for (const group of (declared.get('groups') as YAMLSeq<YAMLMap>).items) formatGroup(group);
  spaced(declared.get('groups') as YAMLSeq);
  document.set('declared', declared);
  return documentText(document, text);
}

/** Empty lists stay `[]`, and references by issuer stay on one line. */
function formatGroup(group: YAMLMap): void {
  for (const { value } of group.items) {
    if (!isSeq(value)) continue;
    value.flow = value.items.length === 0;
    for (const item of value.items) if (isMap(item)) item.flow = true;
  }
}

/** An empty line between items: then git merges changes of neighbours. */
function spaced(list: YAMLSeq): void {
  list.items.forEach((item, at) => {
    if (isMap(item)) item.spaceBefore = at > 0;
  });
}

function open(text: string, organization: string): Document {
  if (text.trim() !== '') return parseForEdit(text);
  return new Document({ format: ACCESS_FILE_FORMAT, version: 1, organization }, { version: '1.2' });
}

/** A waiver to write. */
export interface NewWaiver {
  readonly rule: string;
  readonly for: unknown;
  readonly owner: unknown;
  readonly reason: string;
  /** Such as `2027-03-31`. */
  readonly until: string;
  readonly upTo?: number;
}

/**
 * The text with one more waiver, in the order of rules.
 *
 * @param instead one that has expired, which it replaces.
 */
export function addWaiver(
  text: string,
  waiver: NewWaiver,
  instead?: Pick<Waiver, 'rule' | 'reason' | 'until' | 'for'>,
): string {
  const document = parseForEdit(text);
  const list = listAt(document, 'waivers');
  const isInstead = (item: unknown): item is YAMLMap =>
    instead !== undefined &&
    isMap(item) &&
    String(item.get('rule')) === instead.rule &&
    String(item.get('reason')) === instead.reason &&
    String(item.get('until')) === dateText(instead.until) &&
    (instead.for.text === undefined || String(item.get('for')) === instead.for.text);
  const old = list.items.find(isInstead);
  if (old !== undefined) {
    for (const [key, value] of Object.entries(waiver)) old.set(key, document.createNode(value));
    return documentText(document, text);
  }
  const node = document.createNode(waiver) as YAMLMap;
  node.flow = true;
  const after = list.items.findIndex((item) => isMap(item) && compareText(String(item.get('rule')), waiver.rule) > 0);
  list.items.splice(after < 0 ? list.items.length : after, 0, node);
  return documentText(document, text);
}

function listAt(document: Document, key: string): YAMLSeq {
  const before = document.get(key);
  if (isSeq(before)) {
    if (before.items.length === 0) before.flow = false;
    return before as YAMLSeq;
  }
  const list = document.createNode([]) as YAMLSeq;
  document.set(key, list);
  return list;
}

/** The kinds of drift that can be accepted by changing the declaration. */
const ACCEPTED: Readonly<Record<string, (edit: Acceptance) => void>> = {
  renamed: ({ item, group }) => item.set('name', group?.group.metadata.name),
  'being-deleted': ({ groups, item }) => remove(groups, item),
  'missing-group': ({ groups, item }) => remove(groups, item),
  'extra-group': ({ document, groups, group, resolver }) => {
    if (group === undefined) return;
    const node = document.createNode(declaredGroup(group, resolver)) as YAMLMap;
    formatGroup(node);
    insert(groups, node, (one) => String((isMap(one) && one.get('name')) || ''));
    spaced(groups);
  },
  'missing-role': ({ list, value }) => remove(list, value),
  'missing-member': ({ list, value }) => remove(list, value),
  'missing-service-account': ({ list, value }) => remove(list, value),
  'extra-role': (edit) => {
    for (const { kind, ...subject } of edit.finding.subjects)
      if (kind === 'role' && 'role' in subject) add(edit, roleReference(edit.resolver, subject.role));
  },
  'extra-member': (edit) => {
    for (const subject of edit.finding.subjects)
      if (subject.kind === 'principal')
        for (const principal of subject.principals) add(edit, principalReference(edit.resolver, principal));
  },
  'extra-service-account': (edit) => {
    for (const subject of edit.finding.subjects)
      if (subject.kind === 'principal') for (const { id } of subject.principals) add(edit, id);
  },
};

interface Acceptance {
  readonly document: Document;
  readonly finding: Finding;
  readonly resolver: Resolver;
  readonly groups: YAMLSeq;
  readonly group: GroupEntry | undefined;
  /** The declared group, the list and the item at the place of the finding. */
  readonly item: YAMLMap;
  readonly list: YAMLSeq | undefined;
  readonly value: unknown;
}

/** The text with one difference accepted: the declaration then agrees with the reading. */
export function acceptDrift(text: string, finding: Finding, model: AccessModel): string {
  const document = parseForEdit(text);
  const groups = document.getIn(['declared', 'groups']);
  const accept = ACCEPTED[finding.kind];
  if (!isSeq(groups) || accept === undefined) {
    throw new RolecallError('invalidRequest', l10n.t('The declaration cannot be updated to match this.'));
  }
  const { start } = finding.place;
  const item = groups.items.find((one) => holds(one, start)) as YAMLMap | undefined;
  const pair = item?.items.find(({ key, value }) => holds(key, start) || holds(value, start));
  const list = isSeq(pair?.value) ? (pair.value as YAMLSeq) : undefined;
  accept({
    document,
    finding,
    resolver: new Resolver(model),
    groups: groups as YAMLSeq,
    group: finding.subjects.flatMap((subject) => (subject.kind === 'group' ? [subject.group] : []))[0],
    item: item ?? (document.createNode({}) as YAMLMap),
    list,
    value: list?.items.find((one) => holds(one, start)),
  });
  return documentText(document, text);
}

function holds(node: unknown, offset: number): boolean {
  const place: TextRange | undefined = placeOf(node);
  return place !== undefined && place.start <= offset && offset <= place.end;
}

function remove(list: YAMLSeq | undefined, value: unknown): void {
  const at = list?.items.indexOf(value) ?? -1;
  if (at >= 0) list?.items.splice(at, 1);
  if (list?.items.length === 0) list.flow = true;
}

function add({ document, list }: Acceptance, value: unknown): void {
  if (list === undefined) return;
  if (list.items.length === 0) list.flow = false;
  const node = document.createNode(value);
  if (isMap(node)) node.flow = true;
  insert(list, node, textOfNode);
}

/** Inserts a node at its sorted place. */
function insert(list: YAMLSeq, node: unknown, textOf: (node: unknown) => string): void {
  const after = list.items.findIndex((one) => compareText(textOf(one), textOf(node)) > 0);
  list.items.splice(after < 0 ? list.items.length : after, 0, node);
}

function textOfNode(node: unknown): string {
  return referenceText((node as { toJSON(): unknown }).toJSON());
}

/** The text of a document that was changed: what was there keeps its comments, quotes, brackets and indentation as far as the library knows them. */
export function documentText(document: Document, source: string): string {
  visit(document, {
    Collection: (_key, node) => {
      if (node.flow && (isMap(node) || isSeq(node))) keepPadding(node, source);
    },
  });
  const indentSeq = !/^[\w"']+:[ \t]*(?:#.*)?\r?\n- /m.test(source);
  const text = document.toString({ lineWidth: 0, indentSeq });
  return source.includes('\r\n') ? text.replace(/\r?\n/g, '\r\n') : text;
}

/** `[a]` or `[ a ]`, as before; new ones as most people write them: `[a]`, `{ a: b }`. */
function keepPadding(node: YAMLMap | YAMLSeq, source: string): void {
  const start = (node as Partial<ParsedNode>).range?.[0];
  const isPadded = start === undefined ? isMap(node) : source[start + 1] === ' ';
  const own = Object.getPrototypeOf(node) as YAMLMap | YAMLSeq;
  node.toString = (context, ...more) =>
    own.toString.call(node, context && { ...context, flowCollectionPadding: isPadded ? ' ' : '' }, ...more);
}
