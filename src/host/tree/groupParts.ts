import * as vscode from 'vscode';
import type { Principal } from '../../core/access/model.ts';
import { inBuckets } from './buckets.ts';
import { empty } from './children.ts';
import { type GroupPart, type Node, NodeIdAllocator, type NodeOf, type NodeSource } from './nodes.ts';

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
  if (filled.length + notSent.length === 0) return [empty(node.id, vscode.l10n.t('No roles and no members'))];
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
    return [empty(node.id, vscode.l10n.t('Unknown: the groups could not be read'))];
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
  if (nodes.length === 0) return [empty(node.id, vscode.l10n.t('No group has this role'))];
  return inBuckets(node.id, nodes);
}

/** The children of nodes that already hold them. */
export function heldChildren(node: NodeOf<'part' | 'bucket' | 'unlisted' | 'favorites'>): readonly Node[] {
  return node.kind === 'bucket' ? node.children : inBuckets(node.id, node.children);
}
