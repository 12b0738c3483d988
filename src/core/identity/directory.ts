import { asRolecallError, type RolecallError } from '../base/errors.ts';
import type { OnRetry } from '../base/retry.ts';
import type { IdentityClient } from './identityClient.ts';
import type { Group, Listing, Role } from './schemas.ts';

/** One list of an organization: read, or the reason why not. An error never looks like an empty list. */
export type Loaded<T> =
  | { readonly kind: 'loaded'; readonly list: Listing<T>; readonly at: number }
  | { readonly kind: 'failed'; readonly error: RolecallError };

/** Both lists of an organization, each with its own outcome. */
export interface OrganizationAccess {
  readonly id: string;
  readonly groups: Loaded<Group>;
  readonly roles: Loaded<Role>;
}

/**
 * What has been read of the organizations of one session. Both lists are read in parallel, once, until they are
 * forgotten; callers that come meanwhile share the read.
 */
export class Directory {
  readonly #identity: Pick<IdentityClient, 'groups' | 'roles'>;
  readonly #now: () => number;
  readonly #reads = new Map<string, Promise<OrganizationAccess>>();
  #stop = new AbortController();

  constructor(identity: Pick<IdentityClient, 'groups' | 'roles'>, now: () => number) {
    this.#identity = identity;
    this.#now = now;
  }

  /** Never rejects: failures are part of the result, and `cancelled` is the one of a reader that was forgotten meanwhile. */
  organization(id: string, onRetry?: OnRetry): Promise<OrganizationAccess> {
    const running = this.#reads.get(id);
    if (running !== undefined) return running;
    const read = this.#read(id, onRetry);
    this.#reads.set(id, read);
    return read;
  }

  /** Drops what was read of one organization, or of all; reads under way for all of them are stopped. */
  forget(id?: string): void {
    if (id !== undefined) {
      this.#reads.delete(id);
      return;
    }
    this.#stop.abort();
    this.#stop = new AbortController();
    this.#reads.clear();
  }

  async #read(id: string, onRetry: OnRetry | undefined): Promise<OrganizationAccess> {
    const { signal } = this.#stop;
    const [groups, roles] = await Promise.all([
      this.#settle(this.#identity.groups(id, signal, onRetry)),
      this.#settle(this.#identity.roles(id, signal, onRetry)),
    ]);
    return { id, groups, roles };
  }

  async #settle<T>(read: Promise<Listing<T>>): Promise<Loaded<T>> {
    try {
      return { kind: 'loaded', list: await read, at: this.#now() };
    } catch (error) {
      return { kind: 'failed', error: asRolecallError(error) };
    }
  }
}
