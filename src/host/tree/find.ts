import type { AccessTarget } from '../accessTarget.ts';
import type { Node } from './nodes.ts';

/** Walks down from the roots to the node of an organization, a group or a role; `undefined` where there is none. */
export async function findNode(
  target: Exclude<AccessTarget, { kind: 'principal' }>,
  childrenOf: (node?: Node) => Promise<readonly Node[]>,
): Promise<Node | undefined> {
  const roots = await childrenOf();
  const organization = roots.find((node) => node.kind === 'organization' && node.organization === target.organization);
  if (!organization || target.kind === 'organization') return organization;
  const section = target.kind === 'group' ? 'groups' : 'roles';
  let level = (await childrenOf(organization)).filter(({ kind }) => kind === section);
  while (level.length > 0) {
    const below = (await Promise.all(level.map((node) => childrenOf(node)))).flat();
    const found = below.find(
      (node) => node.kind === target.kind && node.target?.kind === target.kind && node.target.key === target.key,
    );
    if (found) return found;
    level = below.filter(({ kind }) => kind === 'bucket' || kind === 'unlisted');
  }
  return undefined;
}
