import { nameOfNode } from './names.ts';
import type { Node, NodeOf } from './nodes.ts';

/** More siblings than this are put into buckets: VS Code builds every row of a list it is given. */
export const MAX_SIBLINGS = 1000;
const BUCKET = 500;

/** @returns the nodes themselves, or buckets that hold them in their order, never more than {@link MAX_SIBLINGS}. */
export function inBuckets(parent: string, nodes: readonly Node[]): readonly Node[] {
  if (nodes.length <= MAX_SIBLINGS) return nodes;
  const size = Math.max(BUCKET, Math.ceil(nodes.length / MAX_SIBLINGS));
  const buckets: NodeOf<'bucket'>[] = [];
  for (let start = 0; start < nodes.length; start += size) {
    const children = nodes.slice(start, start + size);
    const [first, last] = [children[0], children.at(-1)];
    if (!first || !last) break;
    buckets.push({
      kind: 'bucket',
      id: `${parent}/bucket/${start}`,
      from: nameOfNode(first),
      to: nameOfNode(last),
      range: [start + 1, start + children.length],
      children,
    });
  }
  return buckets;
}
