import { type Dirent, lstatSync } from 'node:fs';
import {
  access,
  chmod,
  constants,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rmdir,
  stat,
  unlink,
} from 'node:fs/promises';
import path from 'node:path';
import * as l10n from '@vscode/l10n';
import { RolecallError } from '../base/errors.ts';
import { isInside, isProtected, protectedNames, resolveLinks } from './permissions.ts';

/** Something forbidden that a program left in its writable folders, and what was done about it. */
export interface Leftover {
  /**
   * - `renamed`: had a protected name; `path` is the new one.
   * - `deleted`: a FIFO, a socket or a device.
   * - `modeCleared`: a file that others could have run as this user (setuid, setgid).
   * - `remains`: one of these that could not be cleaned up, or a folder that could not be searched for them.
   */
  readonly kind: 'renamed' | 'deleted' | 'modeCleared' | 'remains';
  readonly path: string;
}

/**
 * Runs a program that can write `folders`, none of which is in another, and keeps `.git` and `.vscode` from it.
 * Existing ones have to be mounted read-only; if there is none at the top, an empty folder takes the place. A mount
 * can't forbid a name further down, so the folders are searched once the program and everything it started have ended.
 *
 * @param root the workspace folder.
 * @param run takes the paths to mount read-only.
 * @throws {RolecallError} kind `tool` when something cannot be protected, before anything is run; what `run` throws.
 */
export async function guardWritableFolders<T>(
  root: string,
  folders: readonly string[],
  run: (readOnly: readonly string[]) => Promise<T>,
): Promise<{ readonly result: T; readonly leftovers: readonly Leftover[] }> {
  if (folders.length === 0) return { result: await run([]), leftovers: [] };
  const placeholders = (await Promise.all(folders.map(makeMissing))).flat();
  const leftovers: Leftover[] = [];
  let known: Known | undefined;
  try {
    const before = await inspect(root, folders);
    known = before.known;
    return { result: await run(before.readOnly), leftovers };
  } finally {
    for (const placeholder of placeholders) await rmdir(placeholder).catch(() => {}); // One that is not empty was made by somebody else.
    if (known) for (const folder of folders) leftovers.push(...(await sweep(folder, known)));
  }
}

/** Makes empty folders for the protected entries that are missing at the top of a folder. */
async function makeMissing(folder: string): Promise<string[]> {
  const placeholders: string[] = [];
  const names = await readdir(folder).catch(() => undefined); // A file, or unreadable: `inspect` deals with it.
  for (const name of names ? protectedNames : []) {
    if (names?.some((each) => each.toLowerCase() === name)) continue;
    const file = path.join(folder, name);
    const isMade = await mkdir(file).then(
      () => true,
      () => false, // The program cannot either.
    );
    if (isMade) placeholders.push(file);
  }
  return placeholders;
}

/** The places of the protected entries, FIFOs and sockets in the writable folders, by identity. */
type Known = ReadonlyMap<string, string>;

/** The protected entries in writable folders, and those that are known there. */
async function inspect(
  root: string,
  folders: readonly string[],
): Promise<{ readonly readOnly: readonly string[]; readonly known: Known }> {
  const readOnly: string[] = [];
  const known = new Map<string, string>();
  await walk(root, async (folder) => {
    const isWritable = folders.some((each) => isInside(each, folder));
    const inside: string[] = [];
    for (const entry of await entriesBefore(folder, isWritable)) {
      const file = path.join(folder, entry.name);
      const isKept = isProtected(entry.name);
      if (isKept) await refuseUnprotectable(file, entry, { root, folders });
      else if (entry.isDirectory()) inside.push(file);
      if (isWritable && isKept) readOnly.push(file);
      if (isWritable && (isKept || isSpecial(entry))) known.set(identity(file), file);
    }
    return inside;
  });
  return { readOnly, known };
}

async function entriesBefore(folder: string, isWritable: boolean): Promise<readonly Dirent[]> {
  try {
    return await entries(folder);
  } catch (error) {
    // What only others can read can't be written by the program either.
    if (!isWritable || isGone(folder, error) || !(await mayBeWritten(folder, error))) return [];
    throw new RolecallError(
      'tool',
      l10n.t('"{0}" cannot be read, so .git and .vscode in it cannot be protected from changes.', folder),
      { cause: error },
    );
  }
}

/**
 * A protected name may lead to a folder elsewhere: as a link, or as a file of git's that names the repository of a
 * worktree or a submodule (gitrepository-layout(5), `gitdir` and `commondir`). To write such an entry is to write that
 * folder.
 */
async function refuseUnprotectable(
  file: string,
  entry: Dirent,
  { root, folders }: { readonly root: string; readonly folders: readonly string[] },
): Promise<void> {
  if (entry.isSymbolicLink() && folders.some((each) => isInside(each, file))) {
    throw new RolecallError('tool', l10n.t('"{0}" is a link, which cannot be protected from changes.', file));
  }
  const targets = entry.isSymbolicLink()
    ? [path.resolve(path.dirname(file), await readlink(file))]
    : entry.isFile()
      ? await repositoryOf(file)
      : [];
  for (const target of targets) {
    const real = (await resolveLinks(target))?.real;
    if (real !== undefined && isProtected(path.relative(root, real))) continue;
    if (real !== undefined && !folders.some((each) => isInside(each, real) || isInside(real, each))) continue;
    throw new RolecallError(
      'tool',
      l10n.t('"{0}" leads to "{1}", which no tool can write. List other folders in "write".', file, real ?? target),
    );
  }
}

/** The repository that a file of git's names, and the one it shares with others. */
async function repositoryOf(file: string): Promise<string[]> {
  const gitdir = /^gitdir: *(.*\S)/m.exec(await textOf(file))?.[1];
  if (gitdir === undefined) return [];
  const repository = path.resolve(path.dirname(file), gitdir);
  const common = await textOf(path.join(repository, 'commondir'));
  return [repository, path.resolve(repository, common.trim())];
}

/** Empty for anything but a file: reading a FIFO would wait for its writer. */
async function textOf(file: string): Promise<string> {
  const isFile = await stat(file).then(
    (stats) => stats.isFile(),
    () => false,
  );
  return isFile ? readFile(file, 'utf8') : '';
}

/**
 * Undoes everything forbidden that a program left in a folder, or did to a file. Nothing of the program runs any more.
 */
async function sweep(top: string, known: Known): Promise<Leftover[]> {
  const leftovers: Leftover[] = [];
  const report = (kind: Leftover['kind'], file: string) => leftovers.push({ kind, path: file });
  /** @returns the folder to search next, where the entry is one. */
  const cleanUp = async (file: string, entry: Dirent): Promise<string | undefined> => {
    if (isProtected(entry.name)) {
      const before = known.get(identity(file));
      // Moved with its folder, a file of git's with a relative path leads to another repository.
      if (before === file || (before !== undefined && entry.isDirectory())) return undefined;
      const aside = `${file}.not-allowed-${crypto.randomUUID().slice(0, 8)}`;
      await rename(file, aside);
      report('renamed', aside);
      return entry.isDirectory() ? aside : undefined;
    }
    if (entry.isDirectory()) return file;
    if (entry.isFile() && (await clearMode(file))) report('modeCleared', file);
    if (isSpecial(entry) && !known.has(identity(file))) {
      await unlink(file);
      report('deleted', file);
    }
    return undefined;
  };
  if (lstatSync(top, { throwIfNoEntry: false })?.isFile() && (await clearMode(top))) report('modeCleared', top);
  await walk(top, async (folder) => {
    const inside: string[] = [];
    const content = await withAccess(folder, () => entries(folder)).catch(async (error: unknown) => {
      if (!isGone(folder, error) && (await mayBeWritten(folder, error))) report('remains', folder);
      return [];
    });
    for (const entry of content) {
      const file = path.join(folder, entry.name);
      try {
        const next = await withAccess(folder, () => cleanUp(file, entry));
        if (next !== undefined) inside.push(next);
      } catch (error) {
        if (!isGone(file, error)) report('remains', file);
      }
    }
    return inside;
  });
  return leftovers;
}

/** Removes setuid bits, with which another user could run the file as its owner. @returns whether there were any. */
async function clearMode(file: string): Promise<boolean> {
  // Synchronous, because there are many files: a call to the thread pool for each takes five times as long.
  const { mode, uid } = lstatSync(file);
  if ((mode & 0o6000) === 0 || uid !== process.getuid?.()) return false;
  await chmod(file, mode & 0o1777);
  return true;
}

/** Tries again with the rights to the folder that a program may have taken from its own user. */
async function withAccess<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error;
    await chmod(folder, ((await lstat(folder)).mode & 0o7777) | 0o700);
    return work();
  }
}

/** False where the program, which has the rights of this user and no more, cannot write what cannot be read. */
async function mayBeWritten(folder: string, error: unknown): Promise<boolean> {
  if (!['EACCES', 'EPERM'].includes(codeOf(error))) return true;
  const isOwn = await lstat(folder).then(
    ({ uid }) => uid === process.getuid?.(),
    () => true,
  );
  const isOpen = access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  return isOwn || isOpen;
}

/** The most folders that are read at the same time. */
const atOnce = 16;

/** Visits a folder and all below it; `visit` returns those within to go on with. */
async function walk(top: string, visit: (folder: string) => Promise<readonly string[]>): Promise<void> {
  for (let level: readonly string[] = [top]; level.length > 0; ) {
    const next: string[] = [];
    for (let at = 0; at < level.length; at += atOnce) {
      const results = await Promise.all(level.slice(at, at + atOnce).map(visit));
      next.push(...results.flat());
    }
    level = next;
  }
}

/** Reads by way of `.`, which also needs the right to search the folder: without it, nothing in it can be examined. */
function entries(folder: string): Promise<Dirent[]> {
  return readdir(`${folder}/.`, { withFileTypes: true });
}

function isSpecial(entry: Dirent): boolean {
  return !entry.isFile() && !entry.isDirectory() && !entry.isSymbolicLink();
}

/** Distinguishes an entry from another that took its place. */
function identity(file: string): string {
  const { dev, ino, mode } = lstatSync(file, { bigint: true });
  return `${dev}:${ino}:${mode & BigInt(constants.S_IFMT)}`;
}

/** False for a name that is not UTF-8: Node puts U+FFFD into it, and doesn't find the file by it. */
function isGone(file: string, error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(codeOf(error)) && !file.includes('\ufffd');
}

function codeOf(error: unknown): string {
  return String(Object(error).code);
}
