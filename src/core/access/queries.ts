import {
  type AccessModel,
  attentionOf,
  type GroupEntry,
  isBeingDeleted,
  type Principal,
  type RoleEntry,
} from './model.ts';

/** A role that a member has, and every group that grants it. */
export interface EffectiveRole {
  readonly role: RoleEntry;
  readonly grantedBy: readonly GroupEntry[];
}

/** A member that has a role, and every group that grants it. */
export interface RoleHolder {
  readonly principal: Principal;
  readonly grantedBy: readonly GroupEntry[];
}

/** What a subject, user or service account can reach: each role once, in the order of the service. */
export function effectiveAccess(principal: Principal): readonly EffectiveRole[] {
  const reached = new Map<RoleEntry, GroupEntry[]>();
  for (const group of principal.groups) for (const role of group.roles) add(reached, role, group);
  return [...reached]
    .map(([role, grantedBy]) => ({ role, grantedBy }))
    .sort((one, other) => one.role.index - other.role.index);
}

/** Who has a role: each principal once, in the order in which the groups name them. */
export function holdersOf(role: RoleEntry): readonly RoleHolder[] {
  const holders = new Map<Principal, GroupEntry[]>();
  for (const group of role.groups) for (const member of group.members) add(holders, member, group);
  return [...holders].map(([principal, grantedBy]) => ({ principal, grantedBy }));
}

/** What an administrator should look at first. */
export interface Orphans {
  /** Roles that groups grant and the service does not list; empty where the list of roles could not be read. */
  readonly unlistedRoles: readonly RoleEntry[];
  readonly groupsWithoutMembers: readonly GroupEntry[];
  readonly groupsWithoutRoles: readonly GroupEntry[];
  readonly membersWithoutRole: readonly Principal[];
  readonly groupsBeingDeleted: readonly GroupEntry[];
  /** Groups in `error` or `degraded`. */
  readonly unhealthyGroups: readonly GroupEntry[];
  readonly unhealthyRoles: readonly RoleEntry[];
}

export function orphansOf(model: AccessModel): Orphans {
  const { groups, roles, principals } = model;
  return {
    unlistedRoles: model.rolesKnown ? roles.filter(({ role }) => role === undefined) : [],
    groupsWithoutMembers: groups.filter(hasNoMembers),
    groupsWithoutRoles: groups.filter(hasNoRoles),
    membersWithoutRole: principals.filter((principal) => principal.groups.every(hasNoRoles)),
    groupsBeingDeleted: groups.filter(({ group }) => isBeingDeleted(group.metadata)),
    unhealthyGroups: groups.filter(({ group }) => attentionOf(group.metadata) !== undefined),
    unhealthyRoles: roles.filter(({ role }) => role !== undefined && attentionOf(role.metadata) !== undefined),
  };
}

/** False while the group's roles are unknown. */
export function hasNoRoles({ roles, missing }: GroupEntry): boolean {
  return roles.length === 0 && !missing.includes('roles');
}

export function hasNoMembers({ members, missing }: GroupEntry): boolean {
  return members.length === 0 && !missing.includes('serviceAccounts');
}

/**
 * The principals that a user means by `text`: those with exactly this ID or email address, or else those that contain
 * it. Case is ignored.
 */
export function findPrincipals(model: AccessModel, text: string): readonly Principal[] {
  return find(model.principals, text, ({ id, email }) => [id, email]);
}

/** Roles by id or name, in the same way. */
export function findRoles(model: AccessModel, text: string): readonly RoleEntry[] {
  return find(model.roles, text, ({ id, role }) => [id, role?.metadata.name]);
}

/** Groups by id or name, in the same way. */
export function findGroups(model: AccessModel, text: string): readonly GroupEntry[] {
  return find(model.groups, text, ({ group }) => [group.metadata.id, group.metadata.name]);
}

/** The name of a role, or its id where the service does not list it. */
export function roleName({ id, role }: RoleEntry): string {
  return role?.metadata.name || id;
}

export function groupName({ group }: GroupEntry): string {
  return group.metadata.name || group.metadata.id;
}

/** `team=platform`, or `gpu` of a tag without a value. */
export function tagText({ name, value }: { readonly name: string; readonly value: string }): string {
  return value === '' ? name : `${name}=${value}`;
}

/** The name of a principal for users. */
export function principalName({ email, id }: Principal): string {
  return email ?? id;
}

/**
 * The longest ID that is shown whole. Both ends of longer ones are shown: they mostly differ at the end, which a narrow
 * view cuts off.
 */
const LONG_ID = 24;

/** An ID as a label, where the whole ID is shown elsewhere. */
export function shortId(id: string): string {
  return id.length > LONG_ID && /^[\w-]+$/.test(id) ? `${id.slice(0, 8)}…${id.slice(-8)}` : id;
}

function find<T>(all: readonly T[], text: string, names: (item: T) => readonly (string | undefined)[]): readonly T[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  const exact = all.filter((item) => names(item).some((name) => name?.toLowerCase() === wanted));
  if (exact.length > 0) return exact;
  return all.filter((item) => names(item).some((name) => name?.toLowerCase().includes(wanted)));
}

function add<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}
