import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import * as z from 'zod/mini';
import { parseJsonAs } from '../../base/json.ts';
import { createFileAtomically, readFileIfExists } from './files.ts';
import { type Protocol, protocolFields, protocolShape } from './protocol.ts';

/**
 * The number of locks below the newest that are kept. A folder is not listed in one instant: a window that lists while
 * the newest lock is replaced still sees one of these.
 */
const KEPT = 8;

const lockSchema = z.object({
  ...protocolShape,
  /** The address at which the holder listens until it releases the lock. */
  address: z.string().check(z.minLength(1)),
  pid: z.number().check(z.int(), z.positive()),
});

/**
 * - `readable`: what the holder wrote.
 * - `newer`: written by a version whose format we do not know.
 * - `leftover`: damaged, and older than the last start of this machine. It was created whole, so a power cut has
 * damaged it, and its process no longer runs.
 * - `damaged`: it is unknown whether its holder is alive.
 */
export type Lock = ReadableLock | { readonly number: number; readonly kind: 'newer' | 'leftover' | 'damaged' };

export interface ReadableLock {
  /** Grows with every holder: a fencing number. */
  readonly number: number;
  readonly kind: 'readable';
  readonly holder: z.infer<typeof lockSchema>;
}

/** The lock with the highest number, if there ever was one. */
export async function newestLock(folder: string): Promise<Lock | undefined> {
  for (;;) {
    const number = Math.max(0, ...(await lockNumbers(folder)));
    if (number === 0) return undefined;
    const file = lockPath(folder, number);
    const text = (await readFileIfExists(file))?.toString();
    if (text === undefined) continue; // Removed since the folder was listed: there are higher ones.
    const holder = parseJsonAs(lockSchema, text);
    if (holder) return { number, kind: 'readable', holder };
    if (parseJsonAs(z.object(protocolShape), text)) return { number, kind: 'newer' };
    return { number, kind: (await isOlderThanStart(file)) ? 'leftover' : 'damaged' };
  }
}

/**
 * Creates the lock `number`. The result is `ours`, `taken` by another window, or `late`: created and withdrawn, because
 * there is a higher one.
 */
export async function claimLock(
  folder: string,
  number: number,
  holder: { readonly address: string; readonly pid: number },
  protocol: Protocol,
): Promise<'ours' | 'taken' | 'late'> {
  const text = JSON.stringify({ ...protocolFields(protocol), number, ...holder });
  if (!(await createFileAtomically(lockPath(folder, number), text, false))) return 'taken';
  if (await isNewest(folder, number)) return 'ours';
  // The listing that led here was old, and the number was free again because it had been removed.
  await fs.rm(lockPath(folder, number), { force: true });
  return 'late';
}

export async function isNewest(folder: string, number: number): Promise<boolean> {
  return Math.max(0, ...(await lockNumbers(folder))) === number;
}

/** Removes the locks that nobody reads any more. Only the holder of `number` may call it. */
export async function removeOldLocks(folder: string, number: number): Promise<void> {
  const old = (await lockNumbers(folder)).filter((candidate) => candidate < number - KEPT);
  await Promise.all(old.map((candidate) => fs.rm(lockPath(folder, candidate), { force: true })));
}

async function isOlderThanStart(file: string): Promise<boolean> {
  const { mtimeMs } = await fs.stat(file);
  return mtimeMs < Date.now() - os.uptime() * 1000;
}

async function lockNumbers(folder: string): Promise<number[]> {
  const names = await fs.readdir(folder);
  return names.flatMap((name) => {
    const digits = /^lock\.(\d{1,15})$/.exec(name)?.[1];
    return digits === undefined ? [] : [Number(digits)];
  });
}

/** The file of the lock `number`. */
export function lockPath(folder: string, number: number): string {
  return path.join(folder, `lock.${number}`);
}
