import { nearest } from '../base/text.ts';
import {
  type AccessMetadata,
  type AccessModel,
  attentionOf,
  type GroupEntry,
  isBeingDeleted,
  openFindings,
  type Principal,
  type RoleEntry,
} from './model.ts';
import { hasNoMembers } from './queries.ts';

/** Keys of `key:value` terms. Anything else before a colon is part of a word: IDs may contain colons. */
export const FILTER_KEYS = ['name', 'id', 'tag', 'role', 'group', 'member', 'health', 'status', 'by', 'is'] as const;
const STATES = ['deleting', 'empty', 'unlisted', 'finding'];
type FilterKey = (typeof FILTER_KEYS)[number];

/** One term; an entry stays if all terms of the filter are true of it. */
export interface FilterTerm {
  readonly key: FilterKey | undefined;
  /** In lower case. */
  readonly value: string;
  /** Written with a `-` before it: must not be true. */
  readonly negated: boolean;
}

const TERM = /(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S*))/giy;

/**
 * Reads a filter as users type it: words and `key:value` terms, separated by spaces; `"…"` keeps spaces together and
 * `-` before a term negates it. Never fails: anything that is not a term is a word.
 */
export function parseFilter(text: string): readonly FilterTerm[] {
  const terms: FilterTerm[] = [];
  const source = text.trim();
  TERM.lastIndex = 0;
  while (TERM.lastIndex < source.length) {
    const match = TERM.exec(source);
    if (match === null) break;
    const [, minus, name, quoted, bare] = match;
    const value = (quoted ?? bare ?? '').toLowerCase();
    const key = keyOf(name, value);
    const word = key === undefined && name !== undefined ? `${name.toLowerCase()}:${value}` : value;
    if (word !== '') terms.push({ key, value: word, negated: minus === '-' });
    while (/\s/.test(source[TERM.lastIndex] ?? '')) TERM.lastIndex += 1;
  }
  return terms;
}

/** A term that looks like `key:value` but is not one: it is searched for as a word, and mostly finds nothing. */
export type FilterProblem =
  /** `suggestion` is the key that was probably meant. */
  | { readonly kind: 'key'; readonly typed: string; readonly suggestion: FilterKey | undefined }
  /** The text after `is:`; `values` has the states that are possible there. */
  | { readonly kind: 'state'; readonly typed: string; readonly values: readonly string[] };

/** The problems of a filter that are shown. Addresses and IDs with colons are words, not mistakes. */
export function filterProblemsOf(text: string): readonly FilterProblem[] {
  return parseFilter(text).flatMap(({ key, value }): FilterProblem[] => {
    const [, typed, rest = ''] = key === undefined ? (/^([a-z]+):(?!\/\/)(.+)$/.exec(value) ?? []) : [];
    if (typed === undefined) return [];
    // Nothing is reported while one of them is being typed.
    if (typed === 'is')
      return STATES.some((state) => state.startsWith(rest)) ? [] : [{ kind: 'state', typed: rest, values: STATES }];
    if (FILTER_KEYS.some((known) => known === typed)) return [];
    return [{ kind: 'key', typed, suggestion: nearest(typed, FILTER_KEYS) }];
  });
}

function keyOf(name: string | undefined, value: string): FilterKey | undefined {
  const key = FILTER_KEYS.find((known) => known === name?.toLowerCase());
  return key === 'is' && value !== '' && !STATES.includes(value) ? undefined : key;
}

export interface FilterResult {
  readonly groups: readonly GroupEntry[];
  readonly roles: readonly RoleEntry[];
}

/**
 * The groups and roles of an organization that match a filter.
 *
 * | term | true of a group | true of a role |
 * |---|---|---|
 * | a word | one of its names, texts, tags, members or roles contains it | its ID, name or description contains it |
 * | `name:` `id:` | its name, its ID | likewise |
 * | `tag:name`, `tag:name=value` | has such a tag | never |
 * | `role:` | grants such a role | is such a role |
 * | `group:` | is such a group | is granted by such a group |
 * | `member:` | such a member is in it | such a member has it |
 * | `health:` | its health | likewise |
 * | `status:` | its provisioning status, or its health | likewise |
 * | `by:` | created or modified by | never |
 * | `is:deleting` `is:empty` `is:unlisted` | being deleted; without members; never | being deleted; granted by no group; not listed |
 * | `is:finding` | access rules have found something about it | likewise |
 *
 * Values are compared without case; IDs, names and texts match if they contain the value, statuses if they begin with it.
 */
export function applyFilter(model: AccessModel, terms: readonly FilterTerm[]): FilterResult {
  if (terms.length === 0) return { groups: model.groups, roles: model.roles };
  const tests = terms.map((term) => testsOf(model, term));
  return {
    groups: model.groups.filter((entry) => tests.every(({ group }) => group(entry))),
    roles: model.roles.filter((entry) => tests.every(({ role }) => role(entry))),
  };
}

interface Tests {
  readonly group: (entry: GroupEntry) => boolean;
  readonly role: (entry: RoleEntry) => boolean;
}

function testsOf(model: AccessModel, term: FilterTerm): Tests {
  const { group, role } = positive(model, term);
  return term.negated ? { group: (entry) => !group(entry), role: (entry) => !role(entry) } : { group, role };
}

/** Every role and principal is looked at once, however many groups name it. */
function positive(model: AccessModel, { key, value }: FilterTerm): Tests {
  switch (key) {
    case undefined: {
      const roles = marks(model.roles, (entry) => roleMatches(entry, value));
      const members = marks(model.principals, (principal) => principalMatches(principal, value));
      return {
        group: (entry) =>
          groupMatches(entry, value) || hasMarked(entry.roles, roles) || hasMarked(entry.members, members),
        role: (entry) => roleMatches(entry, value) || holds(entry.role?.metadata.description, value),
      };
    }
    case 'name':
      return byMetadata((metadata) => holds(metadata.name, value));
    case 'id':
      return { group: ({ group }) => holds(group.metadata.id, value), role: ({ id }) => holds(id, value) };
    case 'tag':
      return { group: ({ group }) => hasTag(group.metadata.tags, value), role: () => false };
    case 'role': {
      const roles = marks(model.roles, (entry) => roleMatches(entry, value));
      return { group: (entry) => hasMarked(entry.roles, roles), role: ({ index }) => roles[index] === 1 };
    }
    case 'group': {
      const groups = marks(model.groups, (entry) => isNamed(entry, value));
      return { group: ({ index }) => groups[index] === 1, role: (entry) => hasMarked(entry.groups, groups) };
    }
    case 'member': {
      const members = marks(model.principals, (principal) => principalMatches(principal, value));
      const groups = marks(model.groups, (entry) => hasMarked(entry.members, members));
      return { group: ({ index }) => groups[index] === 1, role: (entry) => hasMarked(entry.groups, groups) };
    }
    case 'health':
      return byMetadata(({ healthStatus }) => begins(healthStatus, value));
    case 'status':
      return byMetadata(
        ({ healthStatus, provisioningStatus }) => begins(provisioningStatus, value) || begins(healthStatus, value),
      );
    case 'by':
      return {
        group: ({ group }) => holds(group.metadata.createdBy, value) || holds(group.metadata.modifiedBy, value),
        role: () => false,
      };
    case 'is':
      return state(model, value);
  }
}

function state(model: AccessModel, value: string): Tests {
  switch (value) {
    case 'deleting':
      return byMetadata(isBeingDeleted);
    case 'empty':
      return { group: hasNoMembers, role: ({ groups }) => groups.length === 0 };
    case 'unlisted':
      return { group: () => false, role: ({ role }) => role === undefined };
    case 'finding':
      return {
        group: (entry) => openFindings(model, entry).length > 0,
        role: (entry) => openFindings(model, entry).length > 0,
      };
    default:
      return { group: () => false, role: () => false };
  }
}

/** A role that is not listed has no metadata: no test is true of it. */
function byMetadata(test: (metadata: AccessMetadata) => boolean): Tests {
  return {
    group: ({ group }) => test(group.metadata),
    role: ({ role }) => role !== undefined && test(role.metadata),
  };
}

function groupMatches({ group }: GroupEntry, value: string): boolean {
  const { metadata } = group;
  return (
    holds(metadata.name, value) ||
    holds(metadata.id, value) ||
    holds(metadata.description, value) ||
    metadata.tags.some((tag) => holds(`${tag.name}=${tag.value}`, value))
  );
}

function isNamed({ group }: GroupEntry, value: string): boolean {
  return holds(group.metadata.name, value) || holds(group.metadata.id, value);
}

function roleMatches({ id, role }: RoleEntry, value: string): boolean {
  return holds(id, value) || holds(role?.metadata.name, value);
}

function principalMatches({ id, email }: Principal, value: string): boolean {
  return holds(id, value) || holds(email, value);
}

/** `env` is the name of a tag; `env=prod` is a name and the beginning of its value. */
function hasTag(tags: readonly { readonly name: string; readonly value: string }[], wanted: string): boolean {
  const at = wanted.indexOf('=');
  const name = at < 0 ? wanted : wanted.slice(0, at);
  const value = at < 0 ? '' : wanted.slice(at + 1);
  return tags.some((tag) => tag.name.toLowerCase() === name && begins(tag.value, value));
}

function holds(text: string | null | undefined, value: string): boolean {
  return text?.toLowerCase().includes(value) ?? false;
}

function begins(text: string, value: string): boolean {
  return text.toLowerCase().startsWith(value);
}

function marks<T>(items: readonly T[], test: (item: T) => boolean): Uint8Array {
  return Uint8Array.from(items, (item) => (test(item) ? 1 : 0));
}

function hasMarked(entries: readonly { readonly index: number }[], marked: Uint8Array): boolean {
  return entries.some(({ index }) => marked[index] === 1);
}

/**
 * The people, users and service accounts that match a filter. Each term is true of a principal or not:
 *
 * | term | true of a principal |
 * |---|---|
 * | `member:` | its ID or email address contains it |
 * | a word | the same, or it is in a group with a name, text, tag or role that contains it |
 * | `is:finding` | access rules have found something about it |
 * | any other | it is in a group of which it is true |
 *
 * `-` before a term negates that: `-role:administrator` matches those who have that role through no group.
 */
export function filterPeople(model: AccessModel, terms: readonly FilterTerm[]): readonly Principal[] {
  const tests = terms.map((term) => testOf(model, term));
  return model.principals.filter((principal) => tests.every((test) => test(principal)));
}

function testOf(model: AccessModel, term: FilterTerm): (principal: Principal) => boolean {
  const test = personMatches(model, term);
  return term.negated ? (principal) => !test(principal) : test;
}

function personMatches(model: AccessModel, { key, value }: FilterTerm): (principal: Principal) => boolean {
  const isCalled = (principal: Principal) => principalMatches(principal, value);
  if (key === 'member') return isCalled;
  if (key === 'is' && value === 'finding') return (principal) => openFindings(model, principal).length > 0;
  if (key !== undefined) return isInOneOf(applyFilter(model, [{ key, value, negated: false }]).groups);
  // A word is true of a group for its other members too: here only the group's own texts and its roles count.
  const roles = new Set(model.roles.filter((entry) => roleMatches(entry, value)));
  const matchingGroups = model.groups.filter(
    (entry) => groupMatches(entry, value) || entry.roles.some((role) => roles.has(role)),
  );
  const isIn = isInOneOf(matchingGroups);
  return (principal) => isCalled(principal) || isIn(principal);
}

function isInOneOf(groups: readonly GroupEntry[]): (principal: Principal) => boolean {
  const groupSet = new Set(groups);
  return (principal) => principal.groups.some((group) => groupSet.has(group));
}

export const SORT_ORDERS = ['service', 'name', 'creation', 'health'] as const;
/** `service`: as the service sends them. `creation`: the newest first. `health`: what needs attention first. */
export type SortOrder = (typeof SORT_ORDERS)[number];

const names = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** @returns the same entries in another order; entries that are alike stay in the order of the service. */
export function sortEntries<T extends GroupEntry | RoleEntry>(entries: readonly T[], order: SortOrder): readonly T[] {
  if (order === 'service') return entries;
  const ranked = entries.map((entry) => ({ entry, rank: rankOf(entry, order) }));
  ranked.sort((one, other) => {
    if (one.rank !== other.rank) return one.rank - other.rank;
    return order === 'creation' ? 0 : names.compare(nameOf(one.entry), nameOf(other.entry));
  });
  return ranked.map(({ entry }) => entry);
}

function rankOf(entry: GroupEntry | RoleEntry, order: SortOrder): number {
  const metadata = metadataOf(entry);
  if (order === 'name') return 0;
  if (order === 'creation') {
    const time = metadata === undefined ? Number.NaN : Date.parse(metadata.creationTime);
    return Number.isNaN(time) ? Number.POSITIVE_INFINITY : -time;
  }
  if (metadata === undefined) return 2; // Not listed: its health is unknown.
  const attention = attentionOf(metadata);
  if (attention !== undefined) return attention === 'error' ? 0 : 1;
  return metadata.healthStatus === 'healthy' ? 3 : 2;
}

function metadataOf(entry: GroupEntry | RoleEntry): AccessMetadata | undefined {
  return 'group' in entry ? entry.group.metadata : entry.role?.metadata;
}

function nameOf(entry: GroupEntry | RoleEntry): string {
  return metadataOf(entry)?.name ?? entry.key;
}
