import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { createWhole, readIfAny, replaceWhole } from './files.ts';

const NAME = 'windows.key';
const BYTES = 32;

/**
 * The key by which the windows of one operating-system user recognise each other; made by the first window. It lies
 * in a folder closed to others, so knowing it proves to be this user. It is not the key that seals the session: a window
 * that has no session yet, or an old copy of the secret store, must be able to wait for its turn as well.
 */
export class FolderKey {
  readonly #file: string;
  #key: Buffer | undefined;

  constructor(folder: string) {
    this.#file = path.join(folder, NAME);
  }

  async get(): Promise<Buffer> {
    this.#key ??= await readOrMake(this.#file);
    return this.#key;
  }

  /** The other side did not know the key: perhaps the folder was removed and made anew. The next {@link get} reads it. */
  forget(): void {
    this.#key = undefined;
  }
}

async function readOrMake(file: string): Promise<Buffer> {
  for (;;) {
    const found = await readIfAny(file);
    if (found?.length === BYTES) return found;
    const fresh = randomBytes(BYTES);
    // The second case is a file that a broken disk cut short.
    if (found === undefined) await createWhole(file, fresh, true);
    else await replaceWhole(file, fresh, true);
  }
}
