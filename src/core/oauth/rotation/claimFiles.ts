import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { createFileAtomically, readFileIfExists, replaceFileAtomically } from './files.ts';

/** The age at which claims are removed, in milliseconds. */
const FORGOTTEN_AFTER_MS = 30 * 24 * 3600_000;

/**
 * For what happens once for all windows: finishing a sign-in, reporting that a session has ended. A claim is a file
 * that only one window can create; it contains no secret, and its name is a hash of what is claimed.
 */
export class ClaimFiles {
  readonly #folder: string;
  readonly #storeName: string;

  /**
   * @param folder A private folder that exists.
   * @param storeName Separates the editors of one user, whose sessions differ.
   */
  constructor(folder: string, storeName = '') {
    this.#folder = folder;
    this.#storeName = storeName;
  }

  /** @returns true for the first window that asks. */
  async take(what: string): Promise<boolean> {
    await this.#forgetOld();
    return createFileAtomically(this.#file(what), 'taken', false);
  }

  /** Tells the other windows how the claimed action ended. */
  async recordOutcome(what: string, outcome: 'done' | 'failed'): Promise<void> {
    await replaceFileAtomically(this.#file(what), outcome, false);
  }

  /** @returns `undefined` while nobody has claimed it. */
  async outcome(what: string): Promise<'taken' | 'done' | 'failed' | undefined> {
    const text = (await readFileIfExists(this.#file(what)))?.toString('utf8');
    return text === undefined ? undefined : text === 'done' || text === 'failed' ? text : 'taken';
  }

  #file(what: string): string {
    return path.join(
      this.#folder,
      `${createHash('sha256').update(`${this.#storeName}|${what}`).digest('hex').slice(0, 32)}.claim`,
    );
  }

  async #forgetOld(): Promise<void> {
    for (const name of await fs.readdir(this.#folder)) {
      const file = path.join(this.#folder, name);
      const stat = await fs.stat(file).catch(() => undefined); // Removed meanwhile.
      if (stat && Date.now() - stat.mtimeMs > FORGOTTEN_AFTER_MS) await fs.rm(file, { force: true });
    }
  }
}
