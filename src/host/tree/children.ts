import * as vscode from 'vscode';
import type { RolecallError } from '../../core/base/errors.ts';
import type { Loaded, OrganizationAccess } from '../../core/identity/directory.ts';
import type { Group, Role } from '../../core/identity/schemas.ts';
import { IdGiver, type Node, type RoleIndex } from './nodes.ts';

/** The nodes below an organization. */
export function organizationChildren(node: Node & { kind: 'organization' }, access: OrganizationAccess): Node[] {
  const { organization } = node;
  const { groups, roles } = access;
  if (groups.kind === 'failed' && roles.kind === 'failed' && isOneReason(groups.error, roles.error)) {
    return [{ kind: 'problem', id: `${node.id}/problem`, error: groups.error }];
  }
  return [
    { kind: 'groups', id: `${node.id}/groups`, organization, count: count(groups) },
    { kind: 'roles', id: `${node.id}/roles`, organization, count: count(roles) },
  ];
}

export function groupNodes(node: Node & { kind: 'groups' | 'roles' }, access: OrganizationAccess): Node[] {
  const ids = new IdGiver(node.id);
  const roles = roleIndex(access);
  return listNodes(node, access.groups, 'group', vscode.l10n.t('No groups'), (group) => ({
    kind: 'group',
    id: ids.next('group', group.metadata.id),
    organization: node.organization,
    group,
    roles,
  }));
}

export function roleNodes(node: Node & { kind: 'groups' | 'roles' }, access: OrganizationAccess): Node[] {
  const ids = new IdGiver(node.id);
  const grants = groupsByRole(access);
  return listNodes(node, access.roles, 'role', vscode.l10n.t('No roles can be granted here'), (role) => ({
    kind: 'role',
    id: ids.next('role', role.metadata.id),
    organization: node.organization,
    role,
    grantedBy: grants && (grants.get(role.metadata.id) ?? []),
  }));
}

/** What a group holds: the roles it grants, then who is in it, then its tags. */
export function groupChildren(node: Node & { kind: 'group' }): Node[] {
  const ids = new IdGiver(node.id);
  const { spec, metadata } = node.group;
  const children: Node[] = [
    ...spec.roleIDs.map((roleId): Node => {
      const role = node.roles?.get(roleId);
      return { kind: 'grant', id: ids.next('grant', roleId), roleId, role, rolesKnown: node.roles !== undefined };
    }),
    ...spec.subjects.map((subject): Node => ({ kind: 'subject', id: ids.next('subject', subject.id), subject })),
    ...spec.userIDs.map((memberId): Node => ({ kind: 'user', id: ids.next('user', memberId), memberId })),
    ...spec.serviceAccountIDs.map(
      (memberId): Node => ({ kind: 'serviceAccount', id: ids.next('serviceAccount', memberId), memberId }),
    ),
    ...metadata.tags.map((tag): Node => ({ kind: 'tag', id: ids.next('tag', tag.name), tag })),
  ];
  return children.length > 0 ? children : [empty(node.id, vscode.l10n.t('No roles and no members'))];
}

export function roleChildren(node: Node & { kind: 'role' }): Node[] {
  const ids = new IdGiver(node.id);
  const children = (node.grantedBy ?? []).map(
    (group): Node => ({ kind: 'grantedBy', id: ids.next('grantedBy', group.metadata.id), group }),
  );
  if (node.grantedBy === undefined) {
    return [...children, empty(node.id, vscode.l10n.t('The groups could not be read, so nobody knows'))];
  }
  return children.length > 0 ? children : [empty(node.id, vscode.l10n.t('No group grants this role'))];
}

function listNodes<T>(
  node: Node,
  loaded: Loaded<T>,
  what: 'group' | 'role',
  none: string,
  toNode: (item: T) => Node,
): Node[] {
  if (loaded.kind === 'failed') return [{ kind: 'problem', id: `${node.id}/problem`, error: loaded.error }];
  const { items, malformed } = loaded.list;
  if (items.length + malformed.length === 0) return [empty(node.id, none)];
  return [
    ...malformed.map((item): Node => ({ kind: 'malformed', id: `${node.id}/malformed/${item.index}`, what, item })),
    ...items.map(toNode),
  ];
}

/** Said once, though the service may word it differently for each list. */
function isOneReason(one: RolecallError, other: RolecallError): boolean {
  return one.kind === other.kind && one.facts.status === other.facts.status;
}

function empty(parent: string, text: string): Node {
  return { kind: 'empty', id: `${parent}/empty`, text };
}

function count(loaded: Loaded<unknown>): number | undefined {
  return loaded.kind === 'loaded' ? loaded.list.items.length : undefined;
}

function roleIndex(access: OrganizationAccess): RoleIndex {
  if (access.roles.kind === 'failed') return undefined;
  return new Map(access.roles.list.items.map((role): [string, Role] => [role.metadata.id, role]));
}

/** `undefined` where the groups could not be read, which is not the same as none. */
function groupsByRole(access: OrganizationAccess): Map<string, Group[]> | undefined {
  if (access.groups.kind === 'failed') return undefined;
  const grants = new Map<string, Group[]>();
  for (const group of access.groups.list.items) {
    for (const roleId of new Set(group.spec.roleIDs)) {
      const groups = grants.get(roleId);
      if (groups) groups.push(group);
      else grants.set(roleId, [group]);
    }
  }
  return grants;
}
