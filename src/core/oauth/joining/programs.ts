import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { systemErrorCode } from '../../base/errors.ts';
import { parseJsonAs } from '../../base/json.ts';
import {
  createFileAtomically,
  ensurePrivateFolder,
  readFileIfExists,
  replaceFileAtomically,
} from '../rotation/files.ts';

const NAME = 'program.key';

/** Proves which program asks: the public half of a key that the program has made, by which a window recognizes it. */
export interface ProgramProof {
  /** DER (SubjectPublicKeyInfo) in base64. */
  readonly publicKey: string;
  readonly signature: string;
}

/** What a program signs: a challenge that the window at this address has just made. */
function statement(address: string, challenge: string): Buffer {
  return Buffer.from(JSON.stringify(['rolecall', 'program', address, challenge]));
}

/**
 * The key of this program, made on first use, in a file that only its user can read. It gives no access to a service.
 */
export class ProgramKey {
  readonly #key: KeyObject;

  private constructor(key: KeyObject) {
    this.#key = key;
  }

  /** @param folder A private folder that exists. */
  static async open(folder: string): Promise<ProgramKey> {
    const file = path.join(folder, NAME);
    for (;;) {
      const pem = await readFileIfExists(file);
      if (pem) return new ProgramKey(createPrivateKey(pem));
      const { privateKey } = generateKeyPairSync('ed25519');
      // Or another program made it meanwhile.
      await createFileAtomically(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), true);
    }
  }

  prove(address: string, challenge: string): ProgramProof {
    return {
      publicKey: createPublicKey(this.#key).export({ type: 'spki', format: 'der' }).toString('base64'),
      signature: sign(null, statement(address, challenge), this.#key).toString('base64'),
    };
  }
}

/** The fingerprint of the program that made this proof; `undefined` where it does not hold. */
export function verifyProgram(
  { publicKey, signature }: ProgramProof,
  address: string,
  challenge: string,
): string | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), type: 'spki', format: 'der' });
    if (key.asymmetricKeyType !== 'ed25519') return undefined;
    if (!verify(null, statement(address, challenge), key, Buffer.from(signature, 'base64'))) return undefined;
    return createHash('sha256')
      .update(key.export({ type: 'spki', format: 'der' }))
      .digest('hex');
  } catch {
    return undefined; // Not a key.
  }
}

const FOLDER = 'allowed';
/** The most programs that are remembered; the oldest are forgotten first. */
const MAX_REMEMBERED = 50;

const allowedSchema = z.object({
  version: z.literal(1),
  /** The fingerprint of the program's public key. */
  fingerprint: z.string(),
  /** The account and service it is allowed for: see `SharedSignIn`. */
  session: z.string(),
  /** RFC 3339. */
  allowedAt: z.string(),
});

export type AllowedProgram = z.infer<typeof allowedSchema>;

/**
 * The programs that the user has allowed, one file each: every window knows at once when one is forgotten, and a window
 * that adds another does not bring it back.
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
    const program = await this.#read(nameOf(fingerprint, session));
    return program?.fingerprint === fingerprint && program.session === session;
  }

  async add(fingerprint: string, session: string): Promise<void> {
    await ensurePrivateFolder(this.#folder);
    const added = { version: 1, fingerprint, session, allowedAt: new Date(this.#now()).toISOString() };
    await replaceFileAtomically(path.join(this.#folder, nameOf(fingerprint, session)), JSON.stringify(added), true);
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
    return parseJsonAs(allowedSchema, (await readFileIfExists(path.join(this.#folder, name)))?.toString('utf8') ?? '');
  }

  async #remove(name: string): Promise<void> {
    await fs.rm(path.join(this.#folder, name), { force: true });
  }
}

function nameOf(fingerprint: string, session: string): string {
  const hash = createHash('sha256').update(JSON.stringify([fingerprint, session]));
  return `${hash.digest('hex').slice(0, 40)}.json`;
}
