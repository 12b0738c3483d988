import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { systemErrorCode } from '../../base/errors.ts';
import { privateFolder, readIfAny, replaceWhole } from '../rotation/files.ts';
import { parseJsonAs } from '../rotation/protocol.ts';

const FOLDER = 'allowed';
/** The oldest go first. */
const MAX_REMEMBERED = 50;

const allowedSchema = z.object({
  version: z.literal(1),
  /** The fingerprint of the program's public key. */
  fingerprint: z.string(),
  /** For which account of which service: see `SharedSignIn`. */
  session: z.string(),
  /** RFC 3339. */
  allowedAt: z.string(),
});

export type AllowedProgram = z.infer<typeof allowedSchema>;

/**
 * The programs that the user has allowed, a file each: every window knows at once when one is forgotten, and none that is being
 * added brings it back.
 */
export class AllowedPrograms {
  readonly #folder: string;
  readonly #now: () => number;

  /** @param folder A private folder; it exists before anything is added. */
  constructor(folder: string, now: () => number = Date.now) {
    this.#folder = path.join(folder, FOLDER);
    this.#now = now;
  }

  async list(): Promise<readonly AllowedProgram[]> {
    const read = await Promise.all((await this.#names()).map((name) => this.#read(name)));
    return read.filter((each) => each !== undefined);
  }

  async has(fingerprint: string, session: string): Promise<boolean> {
    const found = await this.#read(nameOf(fingerprint, session));
    return found?.fingerprint === fingerprint && found.session === session;
  }

  async add(fingerprint: string, session: string): Promise<void> {
    await privateFolder(this.#folder);
    const added = { version: 1, fingerprint, session, allowedAt: new Date(this.#now()).toISOString() };
    await replaceWhole(path.join(this.#folder, nameOf(fingerprint, session)), JSON.stringify(added), true);
    const oldestLast = [...(await this.list())].sort((one, other) => (one.allowedAt < other.allowedAt ? 1 : -1));
    for (const old of oldestLast.slice(MAX_REMEMBERED)) await this.#remove(nameOf(old.fingerprint, old.session));
  }

  /** @returns how many were forgotten. */
  async clear(): Promise<number> {
    const names = await this.#names();
    for (const name of names) await this.#remove(name);
    return names.length;
  }

  async #names(): Promise<readonly string[]> {
    try {
      return (await fs.readdir(this.#folder)).filter((name) => name.endsWith('.json'));
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return [];
      throw error;
    }
  }

  async #read(name: string): Promise<AllowedProgram | undefined> {
    return parseJsonAs(allowedSchema, (await readIfAny(path.join(this.#folder, name)))?.toString('utf8') ?? '');
  }

  async #remove(name: string): Promise<void> {
    await fs.rm(path.join(this.#folder, name), { force: true });
  }
}

function nameOf(fingerprint: string, session: string): string {
  const hash = createHash('sha256').update(JSON.stringify([fingerprint, session]));
  return `${hash.digest('hex').slice(0, 40)}.json`;
}
