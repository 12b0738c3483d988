import * as vscode from 'vscode';
import { applyFilter, type FilterResult, parseFilter, type SortOrder, sortEntries } from '../../core/access/filter.ts';
import type { GroupEntry, Principal, RoleEntry } from '../../core/access/model.ts';
import type { RolecallError } from '../../core/base/errors.ts';
import { type ListResult, wasCancelled } from '../../core/identity/directory.ts';
import type { MalformedItem } from '../../core/identity/schemas.ts';
import type { ReadOrganization } from '../accessData.ts';
import type { AccessTarget } from '../accessTarget.ts';
import { type GroupPart, inBuckets, type Node, NodeIdAllocator, type NodeOf, type NodeSource } from './nodes.ts';

/** The user's view options for an organization. */
export interface ViewOptions {
  /** The filter as it was typed. */
  readonly filter: string;
  readonly order: SortOrder;
  readonly isFavorite: (target: AccessTarget) => boolean;
}

/**
 * The visible part of an organization: computed once for each reading and set of options, however often VS Code asks.
 */
export interface OrganizationContents extends ViewOptions {
  readonly read: ReadOrganization;
  readonly filtered: FilterResult;
}

export function contentsOf(read: ReadOrganization, options: ViewOptions): OrganizationContents {
  return { ...options, read, filtered: applyFilter(read.model, parseFilter(options.filter)) };
}

/** The nodes below an organization. */
export function organizationChildren(node: NodeOf<'organization'>, shown: OrganizationContents): Node[] {
  const { organization, id } = node;
  const { access, model } = shown.read;
  const { groups, roles } = access;
  if (wasCancelled(access)) return [{ kind: 'stopped', id: `${id}/stopped`, organization }];
  if (groups.kind === 'failed' && roles.kind === 'failed' && isOneReason(groups.error, roles.error)) {
    return [{ kind: 'problem', id: `${id}/problem`, error: groups.error }, ...stepNodes(node, groups.error)];
  }
  const source = { organization, model };
  const favorites = favoriteNodes(`${id}/favorites`, shown);
  const listed = model.roles.filter(({ role }) => role !== undefined);
  const listedLeft = shown.filtered.roles.filter(({ role }) => role !== undefined);
  return [
    ...staleNodes(id, groups, roles),
    ...(favorites.length > 0
      ? [{ kind: 'favorites', id: `${id}/favorites`, source, children: favorites } satisfies Node]
      : []),
    {
      kind: 'groups',
      id: `${id}/groups`,
      organization,
      source,
      count: groups.kind === 'loaded' ? model.groups.length : undefined,
      shown: shown.filtered.groups.length,
    },
    {
      kind: 'roles',
      id: `${id}/roles`,
      organization,
      source,
      count: roles.kind === 'loaded' ? listed.length : undefined,
      shown: listedLeft.length,
    },
  ];
}

export function groupNodes(node: NodeOf<'groups' | 'roles'>, shown: OrganizationContents): readonly Node[] {
  const { groups } = shown.read.access;
  if (groups.kind === 'failed') return [{ kind: 'problem', id: `${node.id}/problem`, error: groups.error }];
  const entries = sortEntries(shown.filtered.groups, shown.order);
  const ids = new NodeIdAllocator(node.id);
  const nodes = entries.map((entry) => groupNode(ids.next('group', entry.key), entry, shown));
  const none = shown.filter === '' ? vscode.l10n.t('No groups') : vscode.l10n.t('No matching groups');
  return [...malformedNodes(node, 'group', groups.list.malformed), ...orNone(node.id, nodes, none)];
}

/** Roles that the service lists, then those that groups only grant. */
export function roleNodes(node: NodeOf<'groups' | 'roles'>, shown: OrganizationContents): readonly Node[] {
  const { roles } = shown.read.access;
  const entries = sortEntries(shown.filtered.roles, shown.order);
  const ids = new NodeIdAllocator(node.id);
  const toNode = (entry: RoleEntry) => roleNode(ids.next('role', entry.key), entry, shown);
  const unlisted = entries.filter(({ role }) => role === undefined).map(toNode);
  const { rolesKnown } = shown.read.model;
  const below: Node[] =
    unlisted.length > 0 ? [{ kind: 'unlisted', id: `${node.id}/unlisted`, rolesKnown, children: unlisted }] : [];
  if (roles.kind === 'failed') {
    return [{ kind: 'problem', id: `${node.id}/problem`, error: roles.error }, ...below];
  }
  const listed = entries.filter(({ role }) => role !== undefined).map(toNode);
  const none = shown.filter === '' ? vscode.l10n.t('No roles') : vscode.l10n.t('No matching roles');
  return [...malformedNodes(node, 'role', roles.list.malformed), ...orNone(node.id, listed, none), ...below];
}

/** The actions for an organization of which nothing can be read. */
function stepNodes({ id, target }: NodeOf<'organization'>, { kind }: RolecallError): Node[] {
  const steps: readonly NodeOf<'step'>['step'][] =
    kind === 'forbidden' ? ['tryAgain', 'signInAsSomeoneElse'] : ['tryAgain'];
  return steps.map((step) => ({ kind: 'step', id: `${id}/${step}`, step, ...(target && { target }) }));
}

function favoriteNodes(parent: string, { read, isFavorite }: OrganizationContents): Node[] {
  const { model, session } = read;
  const ids = new NodeIdAllocator(parent);
  const shown = { read, isFavorite };
  const is = (kind: 'group' | 'role') => (entry: { readonly key: string }) =>
    isFavorite({ kind, key: entry.key, organization: model.organization, connection: session.cloud.key });
  return [
    ...model.groups.filter(is('group')).map((entry) => groupNode(ids.next('group', entry.key), entry, shown)),
    ...model.roles.filter(is('role')).map((entry) => roleNode(ids.next('role', entry.key), entry, shown)),
  ];
}

type Context = Pick<OrganizationContents, 'read' | 'isFavorite'>;

function groupNode(id: string, entry: GroupEntry, { read, isFavorite }: Context): Node {
  const target = targetIn(read, 'group', entry.key);
  return { kind: 'group', id, target, source: sourceOf(read), entry, isFavorite: isFavorite(target) };
}

function roleNode(id: string, entry: RoleEntry, { read, isFavorite }: Context): Node {
  const target = targetIn(read, 'role', entry.key);
  return { kind: 'role', id, target, source: sourceOf(read), entry, isFavorite: isFavorite(target) };
}

function sourceOf({ model }: ReadOrganization) {
  return { organization: model.organization, model };
}

function targetIn({ session, model }: ReadOrganization, kind: 'group' | 'role', key: string): AccessTarget {
  return { kind, key, organization: model.organization, connection: session.cloud.key };
}

function orNone(parent: string, nodes: readonly Node[], none: string): readonly Node[] {
  if (nodes.length === 0) return [emptyNode(parent, none)];
  return inBuckets(parent, nodes);
}

function malformedNodes(
  { id, organization }: NodeOf<'groups' | 'roles'>,
  what: 'group' | 'role',
  items: readonly MalformedItem[],
): readonly Node[] {
  const parent = `${id}/malformed`;
  const nodes = items.map((item): Node => {
    return { kind: 'malformed', id: `${parent}/${item.index}`, organization, what, item };
  });
  return inBuckets(parent, nodes);
}

/** One notice for each list that could not be refreshed, or a single one if both failed for the same reason. */
function staleNodes(parent: string, ...lists: readonly ListResult<unknown>[]): Node[] {
  const nodes: NodeOf<'stale'>[] = [];
  for (const list of lists) {
    if (list.kind !== 'loaded' || list.staleBecause === undefined) continue;
    const error = list.staleBecause;
    if (nodes.some((known) => isOneReason(known.error, error))) continue;
    nodes.push({ kind: 'stale', id: `${parent}/stale/${nodes.length}`, error, at: list.at });
  }
  return nodes;
}

/** Compares status rather than wording, which can differ between the lists. */
function isOneReason(one: RolecallError, other: RolecallError): boolean {
  return one.kind === other.kind && one.details.status === other.details.status;
}

function emptyNode(parent: string, text: string): Node {
  return { kind: 'empty', id: `${parent}/empty`, text };
}

/** The content of a group, each kind in a section of its own: the roles it grants, its members, its tags. */
export function groupChildren(node: NodeOf<'group'>): Node[] {
  const { entry, source, target } = node;
  const connection = target?.connection ?? '';
  const members = (kind: Principal['kind']): readonly Node[] =>
    entry.members.filter((member) => member.kind === kind).map((principal) => memberNode(principal));
  const memberNode = (principal: Principal): Node => ({
    kind: principal.kind,
    id: ids.next(principal.kind, principal.key),
    source,
    principal,
    target: { kind: 'principal', key: principal.key, organization: source.organization, connection },
  });
  const ids = new NodeIdAllocator(node.id);
  const parts: readonly (readonly [GroupPart, readonly Node[]])[] = [
    ['grants', entry.roles.map((role) => grantNode(ids.next('grant', role.key), role, source, connection))],
    ['subjects', members('subject')],
    ['users', members('user')],
    ['serviceAccounts', members('serviceAccount')],
    ['tags', entry.group.metadata.tags.map((tag): Node => ({ kind: 'tag', id: ids.next('tag', tag.name), tag }))],
  ];
  const filled = parts.filter(([, children]) => children.length > 0);
  const notSent = entry.missing.map((list): Node => ({ kind: 'notSent', id: `${node.id}/notSent/${list}`, list }));
  if (filled.length + notSent.length === 0) return [emptyNode(node.id, vscode.l10n.t('No roles and no members'))];
  return [
    ...notSent,
    ...filled.map(([part, children]): Node => ({ kind: 'part', id: `${node.id}/${part}`, part, children })),
  ];
}

function grantNode(id: string, entry: NodeOf<'grant'>['entry'], source: NodeSource, connection: string): Node {
  const target = { kind: 'role', key: entry.key, organization: source.organization, connection } as const;
  return { kind: 'grant', id, entry, source, target };
}

/** The groups that grant a role. */
export function roleChildren(node: NodeOf<'role'>): readonly Node[] {
  const { entry, source, target } = node;
  const ids = new NodeIdAllocator(node.id);
  if (!source.model.groupsKnown) {
    return [emptyNode(node.id, vscode.l10n.t('Unknown: the groups could not be read'))];
  }
  const nodes = entry.groups.map(
    (group): NodeOf<'grantedBy'> => ({
      kind: 'grantedBy',
      id: ids.next('grantedBy', group.key),
      source,
      entry: group,
      target: {
        kind: 'group',
        key: group.key,
        organization: source.organization,
        connection: target?.connection ?? '',
      },
    }),
  );
  if (nodes.length === 0) return [emptyNode(node.id, vscode.l10n.t('No group has this role'))];
  return inBuckets(node.id, nodes);
}

/** The children of nodes that contain them already. */
export function ownChildren(node: NodeOf<'part' | 'bucket' | 'unlisted' | 'favorites'>): readonly Node[] {
  return node.kind === 'bucket' ? node.children : inBuckets(node.id, node.children);
}
