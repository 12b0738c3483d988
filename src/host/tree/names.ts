import { groupName, principalName, roleName } from '../../core/access/queries.ts';
import type { Node } from './nodes.ts';

/** The service's name for a node; empty for nodes of our own. */
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

/** The service's ID for a node; `undefined` for nodes of our own. */
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
