import type { RolecallError } from '../../core/base/errors.ts';
import type { Group, MalformedItem, Role, Subject, Tag } from '../../core/identity/schemas.ts';

interface Common {
  /** Unique in the tree and stable over refreshes: VS Code shows a blank tree when two nodes share an id. */
  readonly id: string;
}

/** A node of the organizations view. */
export type Node = Common &
  (
    | { readonly kind: 'organization'; readonly organization: string }
    | { readonly kind: 'groups' | 'roles'; readonly organization: string; readonly count: number | undefined }
    | { readonly kind: 'group'; readonly organization: string; readonly group: Group; readonly roles: RoleIndex }
    | {
        readonly kind: 'role';
        readonly organization: string;
        readonly role: Role;
        /** `undefined` when the groups could not all be read: then nobody knows. */
        readonly grantedBy: readonly Group[] | undefined;
      }
    | { readonly kind: 'grantedBy'; readonly group: Group }
    | { readonly kind: 'grant'; readonly roleId: string; readonly role: Role | undefined; readonly rolesKnown: boolean }
    | { readonly kind: 'subject'; readonly subject: Subject }
    | { readonly kind: 'user' | 'serviceAccount'; readonly memberId: string }
    | { readonly kind: 'tag'; readonly tag: Tag }
    | { readonly kind: 'empty'; readonly text: string }
    | { readonly kind: 'problem'; readonly error: RolecallError }
    | { readonly kind: 'malformed'; readonly what: 'group' | 'role'; readonly item: MalformedItem }
  );

/** The roles of an organization by id; `undefined` when they could not be read, which is not the same as none. */
export type RoleIndex = ReadonlyMap<string, Role> | undefined;

/** Gives every node of a list an id of its own below `parent`, even when the server repeats one. */
export class IdGiver {
  readonly #parent: string;
  readonly #given = new Map<string, number>();

  constructor(parent: string) {
    this.#parent = parent;
  }

  next(kind: string, id: string): string {
    const path = `${this.#parent}/${kind}/${encodeURIComponent(id)}`;
    const times = (this.#given.get(path) ?? 0) + 1;
    this.#given.set(path, times);
    return times === 1 ? path : `${path}#${times}`; // An encoded id holds no `#`.
  }
}
