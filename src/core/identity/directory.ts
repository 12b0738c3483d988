import { asRolecallError, isCancelled, type RolecallError } from '../base/errors.ts';
import type { RetryListener } from '../base/retry.ts';
import type { IdentityClient } from './identityClient.ts';
import type { Group, Listing, Role } from './schemas.ts';

/** One list of an organization, or the reason why it was not read. An error never looks like an empty list. */
export type ListResult<T> =
  | {
      readonly kind: 'loaded';
      readonly list: Listing<T>;
      /** When it was read, in milliseconds since 1970. */
      readonly at: number;
      /** Why the last read failed; the list is from an earlier read. */
      readonly staleBecause?: RolecallError;
    }
  | { readonly kind: 'failed'; readonly error: RolecallError };

/** Both lists of an organization, each with its own outcome. */
export interface OrganizationAccess {
  readonly id: string;
  readonly groups: ListResult<Group>;
  readonly roles: ListResult<Role>;
}

/** A list, as far as it was read, for the access model: see its `AccessList`. */
export function accessListOf<T>(loaded: ListResult<T>) {
  if (loaded.kind === 'failed') {
    return { items: undefined, malformed: 0, at: undefined, problem: loaded.error.message };
  }
  const { list, at, staleBecause } = loaded;
  return {
    items: list.items,
    malformed: list.malformed.length,
    at,
    ...(staleBecause && { problem: staleBecause.message }),
  };
}

interface Read {
  readonly stop: AbortController;
  isDone: boolean;
  readonly result: Promise<OrganizationAccess>;
}

/**
 * The lists that were read of the organizations of one session. Both lists are read in parallel, once, until a refresh;
 * callers that come meanwhile share the read. After a temporary failure, the list that was read before is used.
 */
export class Directory {
  readonly #identity: Pick<IdentityClient, 'groups' | 'roles'>;
  readonly #now: () => number;
  readonly #reads = new Map<string, Read>();
  readonly #last = new Map<string, OrganizationAccess>();

  constructor(identity: Pick<IdentityClient, 'groups' | 'roles'>, now: () => number) {
    this.#identity = identity;
    this.#now = now;
  }

  /** Never rejects: failures are part of the result, with `cancelled` for a read that was stopped. */
  organization(id: string, onRetry?: RetryListener): Promise<OrganizationAccess> {
    const running = this.#reads.get(id);
    if (running !== undefined) return running.result;
    const stop = new AbortController();
    const read: Read = { stop, isDone: false, result: this.#read(id, stop.signal, onRetry) };
    this.#reads.set(id, read);
    void read.result.then((result) => this.#settle(read, result)); // Never rejects.
    return read.result;
  }

  /** The read that the next caller shares, in progress or done; `undefined` when a caller would begin one. */
  current(id: string): Promise<OrganizationAccess> | undefined {
    return this.#reads.get(id)?.result;
  }

  /** Whether an organization is being read right now. */
  isReading(id: string): boolean {
    return this.#reads.get(id)?.isDone === false;
  }

  /** Every organization that was read or is being read. */
  get known(): readonly string[] {
    return [...new Set([...this.#last.keys(), ...this.#reads.keys()])];
  }

  /** The result of the last read of an organization; reads nothing. */
  last(id: string): OrganizationAccess | undefined {
    return this.#last.get(id);
  }

  /** The results of all organizations of which something was read. */
  get all(): readonly OrganizationAccess[] {
    return [...this.#last.values()];
  }

  /** Makes the next caller read one organization, or all, again. A read under way is stopped. */
  refresh(id?: string): void {
    for (const [of, { stop }] of this.#reads) {
      if (id !== undefined && of !== id) continue;
      this.#reads.delete(of);
      stop.abort();
    }
  }

  /** Stops reading one organization; what was read before stays. */
  stop(id: string): void {
    this.#reads.get(id)?.stop.abort();
  }

  /** Stops reading one organization and drops what was read of it. */
  forget(id: string): void {
    this.refresh(id);
    this.#last.delete(id);
  }

  /** Stops every read and drops everything. */
  clear(): void {
    this.refresh();
    this.#last.clear();
  }

  #settle(read: Read, result: OrganizationAccess): void {
    read.isDone = true;
    if (this.#reads.get(result.id) !== read) return; // Refreshed or cleared meanwhile.
    if (wasCancelled(result)) this.#reads.delete(result.id);
    else this.#last.set(result.id, result);
  }

  async #read(id: string, signal: AbortSignal, onRetry: RetryListener | undefined): Promise<OrganizationAccess> {
    const before = this.#last.get(id);
    const [groups, roles] = await Promise.all([
      this.#outcome(this.#identity.groups(id, signal, onRetry), before?.groups),
      this.#outcome(this.#identity.roles(id, signal, onRetry), before?.roles),
    ]);
    return { id, groups, roles };
  }

  async #outcome<T>(read: Promise<Listing<T>>, before: ListResult<T> | undefined): Promise<ListResult<T>> {
    try {
      return { kind: 'loaded', list: await read, at: this.#now() };
    } catch (error) {
      const reason = asRolecallError(error);
      if (before?.kind !== 'loaded' || !mayPass(reason)) return { kind: 'failed', error: reason };
      return { ...before, staleBecause: reason };
    }
  }
}

/** True for a read that was cancelled. */
export function wasCancelled({ groups, roles }: OrganizationAccess): boolean {
  return [groups, roles].some((loaded) => loaded.kind === 'failed' && isCancelled(loaded.error));
}

/** Whoever is no longer allowed to read a list does not see its earlier content either. */
function mayPass({ kind }: RolecallError): boolean {
  return kind === 'server' || kind === 'offline' || kind === 'timeout' || kind === 'rateLimited' || kind === 'protocol';
}
