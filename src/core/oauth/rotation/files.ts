import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as l10n from '@vscode/l10n';
import { RolecallError, systemErrorCode } from '../../base/errors.ts';

/** The suffix of unfinished files. Killed windows leave some behind: see {@link removeAbandonedFiles}. */
const UNFINISHED = '.tmp';
const ABANDONED_AFTER_MS = 60_000;

/**
 * Makes sure that `folder` is ours alone: a real folder, owned by this user, closed to others (0700). On Windows the
 * folders below a user's profile are closed to others by inheritance.
 *
 * @throws RolecallError `storage` naming the folder.
 */
export async function ensurePrivateFolder(folder: string): Promise<void> {
  try {
    await fs.mkdir(folder, { recursive: true, mode: 0o700 });
    const stat = await fs.lstat(folder);
    if (!stat.isDirectory()) throw unsafe(l10n.t('{0} is not a folder.', folder));
    if (process.getuid === undefined) return;
    if (stat.uid !== process.getuid()) throw unsafe(l10n.t('{0} is owned by another user.', folder));
    if ((stat.mode & 0o077) !== 0) await fs.chmod(folder, 0o700);
  } catch (error) {
    if (error instanceof RolecallError) throw error;
    throw new RolecallError(
      'storage',
      l10n.t('The session cannot be shared between windows, because the folder {0} cannot be used.', folder),
      { cause: error },
    );
  }
}

function unsafe(problem: string): RolecallError {
  return new RolecallError(
    'storage',
    l10n.t('{0} The session cannot be shared safely between windows. Remove or repair it.', problem),
  );
}

/** The bytes of a file, or `undefined` when there is none. */
export async function readFileIfExists(file: string): Promise<Buffer | undefined> {
  try {
    return await fs.readFile(file);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Makes `file` appear with all its content at once, if there is none.
 *
 * @returns false when there is one already.
 */
export async function createFileAtomically(file: string, bytes: string | Buffer, durable: boolean): Promise<boolean> {
  const unfinished = await writeUnfinished(file, bytes, durable);
  try {
    await fs.link(unfinished, file);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await fs.rm(unfinished, { force: true });
  }
}

/**
 * Replaces the whole of `file`: after a power cut it has the old content or the new one. Resolves when it is on the
 * disk.
 */
export async function replaceFileAtomically(file: string, bytes: string | Buffer, durable: boolean): Promise<void> {
  const unfinished = await writeUnfinished(file, bytes, durable);
  try {
    await renameOver(unfinished, file);
  } catch (error) {
    await fs.rm(unfinished, { force: true });
    throw error;
  }
  if (durable) await syncFolder(path.dirname(file));
}

/** Removes the unfinished files in `folder` of windows that were killed. */
export async function removeAbandonedFiles(folder: string): Promise<void> {
  for (const name of await fs.readdir(folder)) {
    if (!name.endsWith(UNFINISHED)) continue;
    const file = path.join(folder, name);
    const stat = await fs.stat(file).catch(() => undefined); // Finished meanwhile.
    if (stat && Date.now() - stat.mtimeMs > ABANDONED_AFTER_MS) await fs.rm(file, { force: true });
  }
}

async function writeUnfinished(file: string, bytes: string | Buffer, durable: boolean): Promise<string> {
  const unfinished = `${file}.${randomBytes(6).toString('hex')}${UNFINISHED}`;
  const handle = await fs.open(unfinished, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    if (durable) await handle.sync();
  } finally {
    await handle.close();
  }
  return unfinished;
}

/** Windows refuses to replace a file that a virus scanner has open at this moment. */
async function renameOver(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await fs.rename(from, to);
    } catch (error) {
      const passing = ['EPERM', 'EACCES', 'EBUSY'].includes(systemErrorCode(error) ?? '');
      if (process.platform !== 'win32' || !passing || attempt >= 10) throw error;
      await sleep(20 * attempt);
    }
  }
}

/** Makes the rename itself durable, where the system lets a folder be opened (Windows does not). */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await fs.open(folder, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (systemErrorCode(error) !== 'EINVAL') throw error; // Some network file systems cannot.
  } finally {
    await handle.close();
  }
}
