import type { AccessModel, GroupEntry, Principal, RoleEntry } from '../access/model.ts';
import { groupName } from '../access/queries.ts';
import { nearest } from '../base/text.ts';
import { globTest, isGlob } from './globs.ts';
import { textOf, type Value } from './schema.ts';

/** The entries of a reading that a reference names. */
export interface Resolved<T> {
  readonly entries: readonly T[];
  /**
   * `ambiguous`: it should match one and matches several; `unknown`: nothing has this name; `unreadable`: that cannot
   * be known, because the list or a part of it could not be read.
   */
  readonly failure?: 'unknown' | 'ambiguous' | 'unreadable';
  /** The reference that was probably meant, in its spelling for the file. */
  readonly suggestion?: string;
}

const ID = 'id:';

/** The names in a reading, shared by every rule of every file about it: a file is checked at each key that is typed. */
class Names {
  static readonly #cache = new WeakMap<AccessModel, Names>();
  readonly groups: NamedEntries<GroupEntry>;
  readonly roles: NamedEntries<RoleEntry>;
  readonly #model: AccessModel;
  #emails: Map<string, Principal[]> | undefined;
  #subjects: Map<string, Principal[]> | undefined;
  readonly #byPattern = new Map<string, readonly Principal[]>();

  static of(model: AccessModel): Names {
    const names = Names.#cache.get(model) ?? new Names(model);
    Names.#cache.set(model, names);
    return names;
  }

  private constructor(model: AccessModel) {
    this.#model = model;
    this.groups = new NamedEntries(model.groups, {
      id: ({ group }) => group.metadata.id,
      name: ({ group }) => group.metadata.name,
      isRead: model.groupsKnown,
      isWhole: !hasMalformed(model, 'groups'),
    });
    // If two roles have one ID, both are granted, and have the same groups.
    this.roles = new NamedEntries(
      model.roles.filter(({ key, id }) => key === id),
      {
        id: ({ id }) => id,
        name: ({ role }) => role?.metadata.name,
        isRead: model.rolesKnown,
        isWhole: !hasMalformed(model, 'roles'),
      },
    );
  }

  get emails(): Map<string, Principal[]> {
    this.#emails ??= groupBy(this.#model.principals, (principal) => {
      const email = emailOf(principal);
      return email === undefined ? undefined : lowerCaseAscii(email);
    });
    return this.#emails;
  }

  get subjects(): Map<string, Principal[]> {
    this.#subjects ??= groupBy(this.#model.principals, ({ kind, id }) => (kind === 'subject' ? id : undefined));
    return this.#subjects;
  }

  /** The subjects whose email addresses match. */
  byGlob(glob: string): readonly Principal[] {
    const before = this.#byPattern.get(glob);
    if (before) return before;
    const matches: Principal[] = [];
    this.#byPattern.set(glob, matches);
    const fits = globTest(glob);
    for (const [email, principals] of this.emails) if (fits(email)) matches.push(...principals);
    return matches;
  }
}

/** Finds the entries that a file names, each name in constant time. */
export class Resolver {
  readonly #model: AccessModel;
  readonly #names: Names;
  readonly #people = new Map<string, readonly Principal[]>();

  constructor(model: AccessModel) {
    this.#model = model;
    this.#names = Names.of(model);
  }

  /** A name of the file's own people. */
  addPerson(name: string, principals: readonly Principal[]): void {
    this.#people.set(name, principals);
  }

  get personNames(): readonly string[] {
    return [...this.#people.keys()];
  }

  group(text: string): Resolved<GroupEntry> {
    return this.#names.groups.find(text);
  }

  role(text: string): Resolved<RoleEntry> {
    return this.#names.roles.find(text);
  }

  /** @param permits whether it grants somebody something: then an email address must be that of one subject alone. */
  principal(value: Value, permits: boolean): Resolved<Principal> {
    const { text } = value;
    if (text === undefined) return this.#ofIssuer(textOf(value, 'issuer') ?? '', textOf(value, 'subject') ?? '');
    const [, kind, id = ''] = /^(user|serviceAccount|subject):([\s\S]*)$/.exec(text) ?? [];
    if (kind === 'subject') {
      const sameId = this.#names.subjects.get(id) ?? [];
      return sameId.length > 1 ? { entries: sameId, failure: 'ambiguous' } : this.#some(sameId, text);
    }
    if (kind === 'user' || kind === 'serviceAccount') return this.#some(this.#byKey(`${kind}\n${id}`), text);
    if (isGlob(text)) return this.#some(this.#names.byGlob(lowerCaseAscii(text)), text);
    const person = this.#people.get(text);
    if (person !== undefined) return { entries: person };
    const principals = text.includes('@') ? (this.#names.emails.get(lowerCaseAscii(text)) ?? []) : [];
    const subjects = principals.filter((one) => one.kind === 'subject');
    return permits && subjects.length > 1
      ? { entries: principals, failure: 'ambiguous' }
      : this.#some(principals, text);
  }

  /** `group:NAME`, `role:NAME`, `group:id:X`, or a person. */
  named(
    value: Value,
  ): Resolved<Principal | GroupEntry | RoleEntry> & { readonly kind: 'principal' | 'group' | 'role' } {
    const [, kind, rest = ''] = /^(group|role):([\s\S]*)$/.exec(value.text ?? '') ?? [];
    if (kind === 'group') return { kind, ...this.group(rest) };
    if (kind === 'role') return { kind, ...this.role(rest) };
    return { kind: 'principal', ...this.principal(value, true) };
  }

  #some(principals: readonly Principal[], text: string): Resolved<Principal> {
    if (principals.length > 0) return { entries: principals };
    if (!this.#model.groupsKnown || hasMalformed(this.#model, 'groups'))
      return { entries: principals, failure: 'unreadable' };
    const suggestion = nearest(text, [...this.#people.keys(), ...this.#names.emails.keys()]);
    return { entries: principals, failure: 'unknown', ...(suggestion !== undefined && { suggestion }) };
  }

  #byKey(key: string): readonly Principal[] {
    const principal = this.#model.principal(key);
    return principal === undefined ? [] : [principal];
  }

  #ofIssuer(issuer: string, subject: string): Resolved<Principal> {
    return this.#some(this.#byKey(`subject\n${issuer}\n${subject}`), subject);
  }
}

/**
 * A set of entries of one of the model's lists, by their positions: a pattern can name thousands, and a `Set` of them
 * is slow.
 */
export class EntrySet {
  static readonly #cache = new WeakMap<readonly Indexed[], Pick<EntrySet, 'has'>>();
  readonly #marks: Uint8Array;

  constructor(all: readonly unknown[]) {
    this.#marks = new Uint8Array(all.length);
  }

  /** A name is resolved to one array for all rules of a reading: it is marked once, and nobody adds to it. */
  static of(all: readonly unknown[], entries: readonly Indexed[]): Pick<EntrySet, 'has'> {
    const before = EntrySet.#cache.get(entries);
    if (before) return before;
    const marks = new EntrySet(all);
    for (const entry of entries) marks.add(entry);
    EntrySet.#cache.set(entries, marks);
    return marks;
  }

  has({ index }: Indexed): boolean {
    return this.#marks[index] === 1;
  }

  /** @returns whether it was not marked before. */
  add({ index }: Indexed): boolean {
    const isNew = this.#marks[index] === 0;
    this.#marks[index] = 1;
    return isNew;
  }
}

interface Indexed {
  readonly index: number;
}

/** The email address of a person; without one, an ID that is an email address. */
export function emailOf({ kind, email, id }: Principal): string | undefined {
  if (email !== undefined) return email;
  return kind !== 'serviceAccount' && id.includes('@') ? id : undefined;
}

/** Only ASCII letters: others differ between languages and standards. */
export function lowerCaseAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

export function hasMalformed(model: AccessModel, list: 'groups' | 'roles'): boolean {
  return model.gaps.some((gap) => gap.list === list && gap.kind === 'malformed');
}

interface Naming<T> {
  readonly id: (entry: T) => string;
  readonly name: (entry: T) => string | undefined;
  readonly isRead: boolean;
  readonly isWhole: boolean;
}

class NamedEntries<T> {
  readonly #naming: Naming<T>;
  readonly #entries: readonly T[];
  readonly #resolved = new Map<string, Resolved<T>>();
  #byId: Map<string, T[]> | undefined;
  #byName: Map<string, T[]> | undefined;

  constructor(entries: readonly T[], naming: Naming<T>) {
    this.#entries = entries;
    this.#naming = naming;
  }

  get #ids(): Map<string, T[]> {
    this.#byId ??= groupBy(this.#entries, this.#naming.id);
    return this.#byId;
  }

  get #names(): Map<string, T[]> {
    this.#byName ??= groupBy(this.#entries, this.#naming.name);
    return this.#byName;
  }

  /** Rules repeat names: each one is looked up once. */
  find(text: string): Resolved<T> {
    const resolved = this.#resolved.get(text) ?? this.#find(text);
    this.#resolved.set(text, resolved);
    return resolved;
  }

  #find(text: string): Resolved<T> {
    const isId = text.startsWith(ID);
    if (!isId && isGlob(text)) {
      const fits = globTest(text);
      const matches = [...this.#names].flatMap(([name, entries]) => (fits(name) ? entries : []));
      if (matches.length > 0)
        return this.#naming.isRead ? { entries: matches } : { entries: matches, failure: 'unreadable' };
      return { entries: matches, failure: this.#isWhole() ? 'unknown' : 'unreadable' };
    }
    const entries = (isId ? this.#ids.get(text.slice(ID.length)) : this.#names.get(text)) ?? [];
    if (entries.length > 1) return { entries, failure: 'ambiguous' };
    if (entries.length === 1) return { entries };
    // An ID needs no list: no entry that was read has it.
    if (isId && !this.#naming.isRead) return { entries };
    if (!this.#isWhole()) return { entries, failure: 'unreadable' };
    const suggestion = this.#ids.has(text) ? ID + text : nearest(text, this.#names.keys());
    return { entries, failure: 'unknown', ...(suggestion !== undefined && { suggestion }) };
  }

  #isWhole(): boolean {
    return this.#naming.isRead && this.#naming.isWhole;
  }
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string | undefined): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key === undefined) continue;
    const before = groups.get(key);
    if (before) before.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** The reference to a group: by name if no other group has it. */
export function groupReference(resolver: Resolver, entry: GroupEntry): string {
  const name = groupName(entry);
  return isPlainName(name) && resolver.group(name).entries.length === 1 ? name : ID + entry.group.metadata.id;
}

export function roleReference(resolver: Resolver, { id, role }: RoleEntry): string {
  const name = role?.metadata.name ?? '';
  return isPlainName(name) && resolver.role(name).entries.length === 1 ? name : ID + id;
}

/** The reference to a person or account: by email address if nobody else has it. */
export function principalReference(resolver: Resolver, principal: Principal): PrincipalReference {
  const { kind, id, issuer = '' } = principal;
  const email = emailOf(principal);
  if (email !== undefined && isAddress(email)) {
    const { entries, failure } = resolver.principal({ start: 0, end: 0, isSound: true, text: email }, true);
    if (failure === undefined && entries.length === 1 && entries[0] === principal) return email;
  }
  return kind === 'subject' ? { issuer, subject: id } : `${kind}:${id}`;
}

export type PrincipalReference = string | { readonly issuer: string; readonly subject: string };

function isAddress(text: string): boolean {
  return text.includes('@') && !isGlob(text) && !/^\s|\s$|^(?:user|serviceAccount|subject|group|role):/.test(text);
}

/** Whether a name needs no quotes or prefix. */
function isPlainName(name: string): boolean {
  return name.trim() !== '' && !isGlob(name) && !name.startsWith(ID);
}
