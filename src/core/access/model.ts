/*
 * The properties of groups and roles that the access model needs (specification of the identity service, Resources).
 */

type OptionalText = string | null | undefined;

export interface AccessTag {
  readonly name: string;
  readonly value: string;
}

export interface AccessMetadata {
  readonly id: string;
  readonly name: string;
  readonly description?: OptionalText;
  /** RFC 3339, unchanged. */
  readonly creationTime: string;
  readonly provisioningStatus: string;
  readonly healthStatus: string;
  readonly deletionTime?: OptionalText;
}

export interface AccessSubject {
  readonly id: string;
  readonly email?: OptionalText;
  readonly issuer: string;
}

export interface AccessGroup {
  readonly metadata: AccessMetadata & {
    readonly tags: readonly AccessTag[];
    readonly createdBy?: OptionalText;
    readonly modifiedTime?: OptionalText;
    readonly modifiedBy?: OptionalText;
  };
  readonly spec: {
    readonly subjects: readonly AccessSubject[];
    readonly userIDs: readonly string[];
    /**
     * `undefined` if the service did not send the list, though it always has to: unknown, which is not the same as
     * none.
     */
    readonly serviceAccountIDs?: readonly string[] | undefined;
    readonly roleIDs?: readonly string[] | undefined;
  };
}

export interface AccessRole {
  readonly metadata: AccessMetadata;
}

/** One list, as far as it was read. */
export interface AccessList<T> {
  /** `undefined` where the list could not be read: unknown, which is not the same as none. */
  readonly items: readonly T[] | undefined;
  /** The number of items that could not be understood. */
  readonly malformed: number;
  /** When it was read, in milliseconds since 1970. */
  readonly at: number | undefined;
  /** Why it could not be read, or not again since {@link at}. */
  readonly problem?: string;
}

/** Both lists of an organization. */
export interface AccessInput {
  readonly organization: string;
  readonly groups: AccessList<AccessGroup>;
  readonly roles: AccessList<AccessRole>;
}

export const PRINCIPAL_KINDS = ['subject', 'user', 'serviceAccount'] as const;
/** A person as an identity provider knows them, a user of the cloud, or a service account: whoever can be in a group. */
export type PrincipalKind = (typeof PRINCIPAL_KINDS)[number];

export interface Principal {
  readonly kind: PrincipalKind;
  /** Unique in the organization: kind, issuer and id. */
  readonly key: string;
  readonly id: string;
  /** Only subjects have one, and only where the issuer supplied it. */
  readonly email?: string;
  /** Only of subjects: equal IDs of two issuers are two people. */
  readonly issuer?: string;
  /** Position in {@link AccessModel.principals}. */
  readonly index: number;
  readonly groups: readonly GroupEntry[];
}

export interface GroupEntry {
  /** The id; of a second group with that id `id#2`. */
  readonly key: string;
  readonly group: AccessGroup;
  readonly index: number;
  /** Without repetitions, in the order of the service: subjects, users, service accounts. */
  readonly members: readonly Principal[];
  readonly roles: readonly RoleEntry[];
  /** The lists that the service did not send: unknown, which is not the same as none. */
  readonly missing: readonly GroupList[];
}

/** The lists that every group has to have. */
export type GroupList = 'roles' | 'serviceAccounts';

export interface RoleEntry {
  readonly key: string;
  readonly id: string;
  /** `undefined` for a role that groups grant and the service does not list. */
  readonly role: AccessRole | undefined;
  /** Position in {@link AccessModel.roles}. */
  readonly index: number;
  readonly groups: readonly GroupEntry[];
}

/** Why the model may be incomplete. */
export interface Gap {
  readonly list: 'groups' | 'roles';
  /**
   * - `unread`: the list was not read at all.
   * - `malformed`: some of its items could not be understood.
   * - `missing`: some of its groups came without a list.
   * - `stale`: it could not be read again, so it may be outdated.
   */
  readonly kind: 'unread' | 'malformed' | 'missing' | 'stale';
  /** How many items are `malformed` or `missing`. */
  readonly count: number;
  readonly reason: string;
}

/** A finding of an access rule about an entry. */
export interface EntryFinding {
  readonly rule: string;
  /** Localized, without a full stop. */
  readonly message: string;
  /** Until when, by whom and why it is accepted; `undefined` if it is not. */
  readonly accepted: string | undefined;
}

/** A review with decisions: the number of memberships, and how many of them are decided. */
export interface ReviewProgress {
  /** The name of its file. */
  readonly name: string;
  readonly decided: number;
  readonly all: number;
}

/** The findings about an entry that are not accepted. */
export function openFindings(model: AccessModel, entry: GroupEntry | RoleEntry | Principal): readonly EntryFinding[] {
  return (model.findings.get(entry) ?? []).filter(({ accepted }) => accepted === undefined);
}

/** Groups, roles and members of an organization, joined in both directions. */
export interface AccessModel {
  readonly organization: string;
  readonly groups: readonly GroupEntry[];
  /** Listed ones in the order of the service, then those that are only granted. */
  readonly roles: readonly RoleEntry[];
  readonly principals: readonly Principal[];
  /** False where the list of roles could not be read: then no role can be called "not listed". */
  readonly rolesKnown: boolean;
  readonly groupsKnown: boolean;
  readonly gaps: readonly Gap[];
  /** When the older of both lists was read, in milliseconds since 1970. */
  readonly at: number | undefined;
  /** The findings of access rules about an entry, for the views: empty until somebody checks and fills it. */
  readonly findings: Map<GroupEntry | RoleEntry | Principal, readonly EntryFinding[]>;
  /** The progress of its newest review in the workspace, for the views: set by whoever reads it. */
  review?: ReviewProgress | undefined;
  readonly group: (key: string) => GroupEntry | undefined;
  readonly role: (key: string) => RoleEntry | undefined;
  readonly principal: (key: string) => Principal | undefined;
}

type Growing<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer I)[] ? I[] : T[K] };

/** Joins what was read, once, in time linear in groups, grants and memberships. */
export function buildModel(input: AccessInput): AccessModel {
  const roles = new Map<string, Growing<RoleEntry>>();
  const roleKeys = new UniqueKeys(roles);
  for (const role of input.roles.items ?? []) {
    const { id } = role.metadata;
    const twin = roles.get(id);
    const key = roleKeys.next(id);
    // Grants name an ID: if two roles have it, both are granted.
    roles.set(key, { key, id, role, index: roles.size, groups: twin?.groups ?? [] });
  }
  const principals = new Principals();
  const groups = new Map<string, Growing<GroupEntry>>();
  const groupKeys = new UniqueKeys(groups);
  for (const group of input.groups.items ?? []) {
    const key = groupKeys.next(group.metadata.id);
    const { roleIDs, serviceAccountIDs } = group.spec;
    const entry: Growing<GroupEntry> = { key, group, index: groups.size, members: [], roles: [], missing: [] };
    if (roleIDs === undefined) entry.missing.push('roles');
    if (serviceAccountIDs === undefined) entry.missing.push('serviceAccounts');
    groups.set(key, entry);
    for (const roleId of roleIDs ?? []) grant(entry, roleId, roles);
    for (const subject of group.spec.subjects) admit(entry, principals.subject(subject));
    for (const id of group.spec.userIDs) admit(entry, principals.other('user', id));
    for (const id of serviceAccountIDs ?? []) admit(entry, principals.other('serviceAccount', id));
  }
  const times = [input.groups.at, input.roles.at].filter((at) => at !== undefined);
  return {
    organization: input.organization,
    groups: [...groups.values()],
    roles: [...roles.values()],
    principals: principals.all,
    rolesKnown: input.roles.items !== undefined,
    groupsKnown: input.groups.items !== undefined,
    gaps: gapsOf(input, groups.values()),
    at: times.length > 0 ? Math.min(...times) : undefined,
    findings: new Map(),
    group: (key) => groups.get(key),
    role: (key) => roles.get(key),
    principal: (key) => principals.byKey.get(key),
  };
}

/** The key of a principal in every model of its organization. */
export function principalKey(kind: PrincipalKind, id: string, issuer = ''): string {
  return kind === 'subject' ? `subject\n${issuer}\n${id}` : `${kind}\n${id}`;
}

function grant(entry: Growing<GroupEntry>, id: string, roles: Map<string, Growing<RoleEntry>>): void {
  let role = roles.get(id);
  if (role === undefined) {
    role = { key: id, id, role: undefined, index: roles.size, groups: [] };
    roles.set(id, role);
  }
  if (role.groups.at(-1) === entry) return; // Named twice in one group.
  role.groups.push(entry);
  entry.roles.push(role);
}

function admit(entry: Growing<GroupEntry>, principal: Growing<Principal>): void {
  if (principal.groups.at(-1) === entry) return;
  principal.groups.push(entry);
  entry.members.push(principal);
}

/** All principals. Found by the IDs as they were sent: the key is made once for each, not once for each membership. */
class Principals {
  readonly all: Growing<Principal>[] = [];
  readonly byKey = new Map<string, Principal>();
  readonly #subjects = new Map<string, Map<string, Growing<Principal>>>();
  readonly #others = {
    user: new Map<string, Growing<Principal>>(),
    serviceAccount: new Map<string, Growing<Principal>>(),
  };

  subject({ id, issuer, email }: AccessSubject): Growing<Principal> {
    let ofIssuer = this.#subjects.get(issuer);
    if (ofIssuer === undefined) {
      ofIssuer = new Map();
      this.#subjects.set(issuer, ofIssuer);
    }
    const principal = ofIssuer.get(id) ?? this.#add(ofIssuer, { ...this.#begin('subject', id, issuer), issuer });
    if (email && principal.email === undefined) principal.email = email;
    return principal;
  }

  other(kind: 'user' | 'serviceAccount', id: string): Growing<Principal> {
    return this.#others[kind].get(id) ?? this.#add(this.#others[kind], this.#begin(kind, id));
  }

  #begin(kind: PrincipalKind, id: string, issuer?: string): Growing<Principal> {
    return { kind, key: principalKey(kind, id, issuer), id, index: this.all.length, groups: [] };
  }

  #add(ids: Map<string, Growing<Principal>>, principal: Growing<Principal>): Growing<Principal> {
    ids.set(principal.id, principal);
    this.byKey.set(principal.key, principal);
    this.all.push(principal);
    return principal;
  }
}

/** Gives `id`, or `id#2` and so on where the service repeats one. */
class UniqueKeys {
  readonly #existing: ReadonlyMap<string, unknown>;
  readonly #times = new Map<string, number>();

  constructor(existing: ReadonlyMap<string, unknown>) {
    this.#existing = existing;
  }

  next(id: string): string {
    let key = id;
    for (let times = this.#times.get(id) ?? 1; this.#existing.has(key); key = `${id}#${times}`) {
      times += 1;
      this.#times.set(id, times);
    }
    return key;
  }
}

function gapsOf({ groups, roles }: AccessInput, entries: Iterable<GroupEntry>): Gap[] {
  const gaps: Gap[] = [];
  for (const [list, reading] of [
    ['groups', groups],
    ['roles', roles],
  ] as const) {
    const reason = reading.problem ?? '';
    if (reading.items === undefined) gaps.push({ list, kind: 'unread', count: 0, reason });
    else if (reading.problem !== undefined) gaps.push({ list, kind: 'stale', count: 0, reason });
    if (reading.malformed > 0) gaps.push({ list, kind: 'malformed', count: reading.malformed, reason: '' });
  }
  let partial = 0;
  for (const { missing } of entries) if (missing.length > 0) partial += 1;
  if (partial > 0) gaps.push({ list: 'groups', kind: 'missing', count: partial, reason: '' });
  return gaps;
}

/** Why a resource needs attention; nothing where its status is fine or unknown. */
export type Attention = 'error' | 'degraded';

export function attentionOf({ healthStatus, provisioningStatus }: AccessMetadata): Attention | undefined {
  if (healthStatus === 'error' || provisioningStatus === 'error') return 'error';
  return healthStatus === 'degraded' ? 'degraded' : undefined;
}

export function isBeingDeleted({ deletionTime }: AccessMetadata): boolean {
  return deletionTime !== undefined && deletionTime !== null && deletionTime !== '';
}
