import { groupName, principalName, roleName } from '../../core/access/queries.ts';
import type { Node } from './nodes.ts';

/** What a node is called by the service; the empty text for nodes of our own. */
export function nameOfNode(node: Node): string {
  switch (node.kind) {
    case 'organization':
      return node.label;
    case 'group':
    case 'grantedBy':
      return groupName(node.entry);
    case 'role':
    case 'grant':
      return roleName(node.entry);
    case 'subject':
    case 'user':
    case 'serviceAccount':
      return principalName(node.principal);
    case 'tag':
      return `${node.tag.name}: ${node.tag.value}`;
    case 'malformed':
      return String(node.item.index);
    default:
      return '';
  }
}

/** The id of what a node stands for, as the service knows it; `undefined` for nodes of our own. */
export function idOfNode(node: Node): string | undefined {
  switch (node.kind) {
    case 'organization':
      return node.organization;
    case 'group':
    case 'grantedBy':
      return node.entry.group.metadata.id;
    case 'role':
    case 'grant':
      return node.entry.id;
    case 'subject':
    case 'user':
    case 'serviceAccount':
      return node.principal.id;
    default:
      return undefined;
  }
}

/** Longer ids are shown by their ends: what tells two of them apart stands mostly at the end, which a narrow view cuts. */
const LONG = 24;

/** An id as a label; the whole of it stands in the tooltip and is what is copied. */
export function idLabel(id: string): string {
  return id.length > LONG && /^[\w-]+$/.test(id) ? `${id.slice(0, 8)}…${id.slice(-8)}` : id;
}
