import { memberKey, type Review, type ReviewGroup, type ReviewMember, type ReviewRole } from './review.ts';

/** The added and the removed values; a changed value is in both. */
export interface SetDifference<T> {
  readonly added: readonly T[];
  readonly removed: readonly T[];
}

export interface GroupChange {
  readonly key: string;
  /** Name after the change. */
  readonly name: string;
  readonly members: SetDifference<ReviewMember>;
  /** Keys of the roles granted. */
  readonly grants: SetDifference<string>;
  /** All other properties before and after; absent if none of them has changed. */
  readonly facts?: { readonly before: GroupFacts; readonly after: GroupFacts };
}

export interface RoleChange {
  readonly key: string;
  readonly before: ReviewRole;
  readonly after: ReviewRole;
}

/** What changed from one review to a later one of the same organization. */
export interface Difference {
  readonly groups: SetDifference<ReviewGroup> & { readonly changed: readonly GroupChange[] };
  readonly roles: SetDifference<ReviewRole> & { readonly changed: readonly RoleChange[] };
}

export type GroupFacts = Omit<ReviewGroup, 'members' | 'roles'>;
export type ComparedAccess = Pick<Review, 'groups' | 'roles'>;

/** Linear in what both hold. */
export function differenceOf(before: ComparedAccess, after: ComparedAccess): Difference {
  const groups = pair(before.groups, after.groups);
  const roles = pair(before.roles, after.roles);
  return {
    groups: { ...groups, changed: groups.kept.flatMap(([was, is]) => groupChange(was, is)) },
    roles: {
      ...roles,
      changed: roles.kept.flatMap(([was, is]) => (isSame(was, is) ? [] : [{ key: is.key, before: was, after: is }])),
    },
  };
}

export function isEmptyDifference({ groups, roles }: Difference): boolean {
  return [groups, roles].every(({ added, removed, changed }) => added.length + removed.length + changed.length === 0);
}

function groupChange(before: ReviewGroup, after: ReviewGroup): GroupChange[] {
  const { members: membersBefore, roles: rolesBefore, ...factsBefore } = before;
  const { members: membersAfter, roles: rolesAfter, ...factsAfter } = after;
  // What either review does not know was neither added nor removed.
  const unknown = new Set([...(before.missing ?? []), ...(after.missing ?? [])]);
  const comparable = (members: readonly ReviewMember[]) =>
    unknown.has('serviceAccounts') ? members.filter(({ kind }) => kind !== 'serviceAccount') : members;
  const members = setDifference(comparable(membersBefore), comparable(membersAfter), memberKey);
  const grants = unknown.has('roles')
    ? { added: [], removed: [] }
    : setDifference(rolesBefore, rolesAfter, (key) => key);
  const hasOther = !isSame(factsBefore, factsAfter);
  if (!hasOther && isEmpty(members) && isEmpty(grants)) return [];
  const facts = hasOther ? { facts: { before: factsBefore, after: factsAfter } } : {};
  return [{ key: after.key, name: after.name, members, grants, ...facts }];
}

function pair<T extends { readonly key: string }>(before: readonly T[], after: readonly T[]) {
  const old = new Map(before.map((item) => [item.key, item]));
  const added: T[] = [];
  const kept: (readonly [T, T])[] = [];
  for (const item of after) {
    const was = old.get(item.key);
    if (was === undefined) added.push(item);
    else kept.push([was, item]);
    old.delete(item.key);
  }
  return { added, removed: [...old.values()], kept };
}

function setDifference<T>(before: readonly T[], after: readonly T[], key: (item: T) => string): SetDifference<T> {
  const was = new Set(before.map(key));
  const is = new Set(after.map(key));
  return { added: after.filter((item) => !was.has(key(item))), removed: before.filter((item) => !is.has(key(item))) };
}

function isEmpty({ added, removed }: SetDifference<unknown>): boolean {
  return added.length + removed.length === 0;
}

/** `undefined` and absent members are the same: JSON does not distinguish them. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
