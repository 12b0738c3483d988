import type { AccessModel, AccessTag, GroupEntry, GroupList, Principal, RoleEntry } from '../../core/access/model.ts';
import { groupName, principalName, roleName, tagText } from '../../core/access/queries.ts';
import type { RolecallError } from '../../core/base/errors.ts';
import type { MalformedItem } from '../../core/identity/schemas.ts';
import type { AccessTarget } from '../accessTarget.ts';

interface Common {
  /** Unique in the tree and stable over refreshes: VS Code shows a blank tree when two nodes share an id. */
  readonly id: string;
  /** The target of commands that are called on the node. */
  readonly target?: AccessTarget;
}

/** Returns the nodes below an organization. */
export interface NodeSource {
  readonly organization: string;
  readonly model: AccessModel;
}

/** The parts of a group. Roles, people and tags are distinguished by their part. */
export type GroupPart = 'grants' | 'subjects' | 'users' | 'serviceAccounts' | 'tags';

/** A node of the organizations view. */
export type Node = Common &
  (
    | {
        readonly kind: 'organization';
        readonly organization: string;
        readonly label: string;
        /** The service's name for it, if the label differs. */
        readonly otherName: string;
      }
    | { readonly kind: 'favorites'; readonly source: NodeSource; readonly children: readonly Node[] }
    | {
        readonly kind: 'groups' | 'roles';
        readonly organization: string;
        readonly source: NodeSource;
        /** `undefined` if they could not be read. */
        readonly count: number | undefined;
        /** The number that match the filter. */
        readonly shown: number;
      }
    | { readonly kind: 'group'; readonly source: NodeSource; readonly entry: GroupEntry; readonly isFavorite: boolean }
    | { readonly kind: 'role'; readonly source: NodeSource; readonly entry: RoleEntry; readonly isFavorite: boolean }
    | { readonly kind: 'part'; readonly part: GroupPart; readonly children: readonly Node[] }
    | { readonly kind: 'grantedBy'; readonly source: NodeSource; readonly entry: GroupEntry }
    | { readonly kind: 'grant'; readonly source: NodeSource; readonly entry: RoleEntry }
    | {
        readonly kind: 'subject' | 'user' | 'serviceAccount';
        readonly source: NodeSource;
        readonly principal: Principal;
      }
    /** A list of a group that the service should have sent. */
    | { readonly kind: 'notSent'; readonly list: GroupList }
    | { readonly kind: 'tag'; readonly tag: AccessTag }
    | {
        readonly kind: 'bucket';
        readonly from: string;
        readonly to: string;
        /** Positions in the list, counted from 1. */
        readonly range: readonly [number, number];
        readonly children: readonly Node[];
      }
    | {
        readonly kind: 'unlisted';
        /** False if the list of roles could not be read: then its roles are unknown. */
        readonly rolesKnown: boolean;
        readonly children: readonly Node[];
      }
    | { readonly kind: 'empty'; readonly text: string }
    | { readonly kind: 'stopped'; readonly organization: string }
    | { readonly kind: 'problem'; readonly error: RolecallError }
    /** The action for the problem above it. */
    | { readonly kind: 'step'; readonly step: 'tryAgain' | 'signInAsSomeoneElse' }
    | { readonly kind: 'stale'; readonly error: RolecallError; readonly at: number }
    | {
        readonly kind: 'malformed';
        readonly organization: string;
        readonly what: 'group' | 'role';
        readonly item: MalformedItem;
      }
  );

export type NodeOf<K extends Node['kind']> = Extract<Node, { readonly kind: K }>;

/** Gives every node of a list a unique ID below `parent`, even if the server repeats one. */
export class NodeIdAllocator {
  readonly #parent: string;
  readonly #counts = new Map<string, number>();

  constructor(parent: string) {
    this.#parent = parent;
  }

  next(kind: string, id: string): string {
    const path = `${this.#parent}/${kind}/${encodeURIComponent(id)}`;
    const times = (this.#counts.get(path) ?? 0) + 1;
    this.#counts.set(path, times);
    return times === 1 ? path : `${path}#${times}`; // An encoded id holds no `#`.
  }
}

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
      return tagText(node.tag);
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

/**
 * The most siblings; more are put into buckets, because VS Code builds every row of a list it is given.
 *
 * @returns the nodes themselves, or buckets that contain them in their order, never more than {@link MAX_SIBLINGS}.
 */
const MAX_SIBLINGS = 1000;
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
