import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../../base/connection.ts';
import { codeOf, RolecallError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Session } from '../session.ts';
import { choose, type Found, unreadable } from './choose.ts';
import { readIfAny, replaceWhole } from './files.ts';
import type { Limits } from './limits.ts';
import type { Protocol } from './protocol.ts';
import { RenewalNotes } from './renewalNote.ts';
import { type Entry, KEY_BYTES, seal, type Unsealed, unseal } from './seal.ts';
import type { SecretRecord } from './secretRecord.ts';
import type { Secrets } from './secrets.ts';

/** How often a window that has just got its turn looks for a key that another window has just made. */
const KEY_LAG_LOOKS = 25;

/** The files of one session; in the same folder if several editors of one user share a client. */
export interface SessionFiles {
  readonly sealed: string;
  /** See {@link RenewalNotes}. */
  readonly renewal: string;
}

/**
 * @param storeName Which secret store holds the key, where one user has several (two editors side by side). They take
 * turns like windows, and each has its own session.
 */
export function sessionFiles(folder: string, storeName: string | undefined): SessionFiles {
  const part = storeName === undefined ? '' : `-${createHash('sha256').update(storeName).digest('hex').slice(0, 8)}`;
  return { sealed: path.join(folder, `session${part}.sealed`), renewal: path.join(folder, `renewal${part}.json`) };
}

export interface SharedSessionDeps {
  readonly files: SessionFiles;
  readonly connection: Connection;
  readonly secrets: Secrets;
  readonly protocol: Protocol;
  readonly learn: (secret: string | undefined) => void;
  readonly log: Log;
  readonly limits: Limits;
}

/**
 * The session as all windows see it: a file that holds the newest generation, sealed with a key from the secret store.
 * Anybody reads it at any time; only the holder of the exclusion writes it.
 */
export class SharedSession {
  /** Beside the session: what becomes of its renewal. */
  readonly notes: RenewalNotes;
  readonly #deps: SharedSessionDeps;
  /** Keys this window has seen in its store. */
  #record: SecretRecord = {};
  #key: Buffer | undefined;

  constructor(deps: SharedSessionDeps) {
    this.#deps = deps;
    this.notes = new RenewalNotes(deps.files.renewal);
  }

  /** Reads the file alone, and the store only where the file cannot be opened. @throws RolecallError `storage` */
  async read(): Promise<Found> {
    const found = choose({}, await this.#unseal());
    if (found.kind === 'session' || found.kind === 'ended' || found.kind === 'signedOut') return found;
    return this.readAll();
  }

  /** Reads file and store. @throws RolecallError `storage` when the store cannot be used and the file alone does not do. */
  async readAll(): Promise<Found> {
    let record: SecretRecord = {};
    try {
      record = await this.#deps.secrets.read();
      this.#record = record;
      this.#deps.learn(record.key?.toString('base64'));
    } catch (error) {
      const alone = choose({}, await this.#unseal());
      if (alone.kind === 'nothing' || alone.kind === 'unreadable') throw error;
      this.#deps.log.warn(error instanceof Error ? error.message : 'The secret store cannot be read.');
      return alone;
    }
    return choose(record, await this.#unseal());
  }

  /** As {@link readAll}, giving a slow store time to show a new key. */
  async readPatiently(): Promise<Found> {
    for (let look = 0; ; look += 1) {
      const found = await this.readAll();
      if (found.kind !== 'unreadable' || found.reason !== 'otherKey' || look === KEY_LAG_LOOKS) return found;
      await sleep(this.#deps.limits.keyLag / KEY_LAG_LOOKS);
    }
  }

  /**
   * Writes the next generation. Only inside the exclusion.
   *
   * @returns false when the file holds this generation or a higher one already: what it holds counts.
   * @throws RolecallError `storage`
   */
  async write(entry: Entry): Promise<boolean> {
    const { files, protocol } = this.#deps;
    const before = await this.#unseal();
    if (before.kind === 'newer') throw unreadable('newer', 0).error;
    if (generationOf(before) >= entry.generation) return false;
    const key = before.kind === 'open' ? before.key : await this.#ownKey();
    try {
      await replaceWhole(files.sealed, seal(key, entry, protocol), true);
    } catch (cause) {
      throw new RolecallError(
        'storage',
        `The session could not be written to ${files.sealed} (${codeOf(cause) ?? ''}).`,
        {
          cause,
        },
      );
    }
    this.#key = key;
    return true;
  }

  /** Makes sure that there is a key before something irreversible needs it. @throws RolecallError `storage` */
  async prepare(): Promise<void> {
    if ((await this.#unseal()).kind !== 'open') await this.#ownKey();
  }

  /** Keeps the session in the secret store too. @returns false when the store refused. */
  async keep(session: Session | undefined): Promise<boolean> {
    if (this.#key === undefined || this.#record.problem === 'newer') return true; // Not ours to overwrite.
    return this.#deps.secrets.keep(this.#key, session);
  }

  async #unseal(): Promise<Unsealed> {
    const { files, protocol, connection } = this.#deps;
    const bytes = await readIfAny(files.sealed);
    const keys = [this.#record.key, this.#key].filter((key) => key !== undefined);
    const unsealed = unseal(bytes, keys, protocol, connection);
    if (unsealed.kind === 'open') this.#key = unsealed.key;
    return unsealed;
  }

  /** The key of this window's store; made, and kept there, when it has none. */
  async #ownKey(): Promise<Buffer> {
    const known = this.#record.key ?? this.#key;
    if (known) return known;
    const key = randomBytes(KEY_BYTES);
    this.#deps.learn(key.toString('base64'));
    await this.#deps.secrets.keepKey(key, this.#record.session);
    this.#record = { ...this.#record, key };
    return key;
  }
}

function generationOf(unsealed: Unsealed): number {
  if (unsealed.kind === 'open') return unsealed.entry.generation;
  if (unsealed.kind === 'otherKey') return unsealed.header.generation;
  return 0;
}
