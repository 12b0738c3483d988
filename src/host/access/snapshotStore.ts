import { createHash, randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { type Review, readReview } from '../../core/access/review.ts';
import { RolecallError } from '../../core/base/errors.ts';
import type { ActiveSession } from '../accessData.ts';

/** The most snapshots of one organization and account; the oldest are deleted first. */
export const MAX_SNAPSHOTS = 20;
/** The largest snapshot, in bytes. */
const MAX_BYTES = 50_000_000;
const HEAD = '.head.json';
const REVIEW = '.review.json';

const headSchema = z.object({
  version: z.literal(1),
  organization: z.string(),
  account: z.string(),
  service: z.string(),
  /** RFC 3339. */
  savedAt: z.string(),
  groups: z.number(),
  roles: z.number(),
  complete: z.boolean(),
});

/** A snapshot in the list, without its content. */
export interface Snapshot {
  readonly id: string;
  readonly head: z.output<typeof headSchema>;
}

/**
 * Reviews stored on this machine, in the extension's own folder, by connection and account: those of another account
 * are not shown. Each is two files: a head for lists, and the review.
 */
export class SnapshotStore {
  readonly #root: vscode.Uri;
  readonly #now: () => number;

  constructor(storage: vscode.Uri, now: () => number = Date.now) {
    this.#root = vscode.Uri.joinPath(storage, 'snapshots');
    this.#now = now;
  }

  /** @throws RolecallError `storage` when it is too large. */
  async save(session: ActiveSession, review: Review): Promise<void> {
    const body = encode(review);
    if (body.byteLength > MAX_BYTES) {
      throw new RolecallError(
        'storage',
        vscode.l10n.t('This is too large for a snapshot. Export the review as JSON and compare with that file.'),
      );
    }
    const { organization, account, service, groups, roles, gaps } = review;
    const savedAt = new Date(this.#now()).toISOString();
    const head: Snapshot['head'] = {
      version: 1,
      organization,
      account,
      service,
      savedAt,
      groups: groups.length,
      roles: roles.length,
      complete: gaps.length === 0,
    };
    const id = `${savedAt.replace(/\D/g, '')}-${randomUUID()}`;
    const folder = this.#folder(session);
    await vscode.workspace.fs.createDirectory(folder);
    // The head comes last: a snapshot without one is not in the list.
    await vscode.workspace.fs.writeFile(vscode.Uri.joinPath(folder, id + REVIEW), body);
    await vscode.workspace.fs.writeFile(vscode.Uri.joinPath(folder, id + HEAD), encode(head));
    for (const old of (await this.list(session, organization)).slice(MAX_SNAPSHOTS)) await this.remove(session, old);
  }

  /** The newest first; of one organization or of all. */
  async list(session: ActiveSession, organization?: string): Promise<readonly Snapshot[]> {
    const folder = this.#folder(session);
    const names = (await namesIn(folder)).filter((name) => name.endsWith(HEAD));
    const snapshots = await Promise.all(
      names.map(async (name): Promise<Snapshot[]> => {
        const head = z.safeParse(headSchema, await readJson(vscode.Uri.joinPath(folder, name)));
        return head.success ? [{ id: name.slice(0, -HEAD.length), head: head.data }] : [];
      }),
    );
    return snapshots
      .flat()
      .filter(({ head }) => organization === undefined || head.organization === organization)
      .sort((one, other) => (one.id < other.id ? 1 : -1));
  }

  /** @throws RolecallError `storage` when it is missing, or not in this version's format. */
  async read(session: ActiveSession, { id }: Snapshot): Promise<Review> {
    const body = await readText(vscode.Uri.joinPath(this.#folder(session), id + REVIEW));
    const review = body === undefined ? undefined : readReview(body);
    if (review) return review;
    throw new RolecallError('storage', vscode.l10n.t('This snapshot is missing or cannot be read.'));
  }

  async remove(session: ActiveSession, { id }: Snapshot): Promise<void> {
    const folder = this.#folder(session);
    for (const end of [HEAD, REVIEW]) await remove(vscode.Uri.joinPath(folder, id + end));
  }

  /** Removes the snapshots of every connection and account. */
  async clear(): Promise<void> {
    await remove(this.#root);
  }

  #folder({ cloud, account }: ActiveSession): vscode.Uri {
    const name = createHash('sha256')
      .update(JSON.stringify([cloud.key, account.id]))
      .digest('hex');
    return vscode.Uri.joinPath(this.#root, name.slice(0, 32));
  }
}

function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

async function namesIn(folder: vscode.Uri): Promise<readonly string[]> {
  try {
    return (await vscode.workspace.fs.readDirectory(folder)).map(([name]) => name);
  } catch (error) {
    if (isNotThere(error)) return [];
    throw error;
  }
}

/** `undefined` where it is missing: another window may have cleared it. */
async function readText(uri: vscode.Uri): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  } catch (error) {
    if (isNotThere(error)) return undefined;
    throw error;
  }
}

/** `undefined` for half a file too. */
async function readJson(uri: vscode.Uri): Promise<unknown> {
  const text = await readText(uri);
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function remove(uri: vscode.Uri): Promise<void> {
  try {
    await vscode.workspace.fs.delete(uri, { recursive: true });
  } catch (error) {
    if (!isNotThere(error)) throw error;
  }
}

function isNotThere(error: unknown): boolean {
  return error instanceof vscode.FileSystemError && error.code === 'FileNotFound';
}
