import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as l10n from '@vscode/l10n';
import type { Connection } from '../../base/connection.ts';
import { RolecallError, systemErrorCode } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Session } from '../session.ts';
import { readFileIfExists, replaceFileAtomically } from './files.ts';
import type { Protocol } from './protocol.ts';
import { reconcile, type SharedSessionState, unreadableState } from './reconcile.ts';
import { RefreshJournal } from './refreshJournal.ts';
import { KEY_BYTES, type SessionEntry, seal, type Unsealed, unseal } from './seal.ts';
import type { SecretRecord, SessionSecretStore } from './sessionSecretStore.ts';
import type { Timeouts } from './timeouts.ts';

/** How often a window whose turn has just begun looks for a key that another window has just made. */
const KEY_LAG_LOOKS = 25;

/** The files of one session; in the same folder if several editors of one user share a client. */
export interface SessionFiles {
  readonly sealed: string;
  /** See {@link RefreshJournal}. */
  readonly journal: string;
}

/**
 * @param storeName Which secret store holds the key, where one user has several (two editors side by side). They take
 * turns like windows, and each has its own session.
 */
export function sessionFiles(folder: string, storeName: string | undefined): SessionFiles {
  const part = storeName === undefined ? '' : `-${createHash('sha256').update(storeName).digest('hex').slice(0, 8)}`;
  return { sealed: path.join(folder, `session${part}.sealed`), journal: path.join(folder, `renewal${part}.json`) };
}

export interface SharedSessionDeps {
  readonly files: SessionFiles;
  readonly connection: Connection;
  readonly secrets: SessionSecretStore;
  readonly protocol: Protocol;
  readonly addSecret: (secret: string | undefined) => void;
  readonly log: Log;
  readonly timeouts: Timeouts;
}

/**
 * The session as all windows see it: a file that holds the newest generation, sealed with a key from the secret store.
 * Anybody reads it at any time; only the holder of the mutex writes it.
 */
export class SharedSession {
  /** What is known about the refresh of the session. */
  readonly journal: RefreshJournal;
  readonly #deps: SharedSessionDeps;
  /** The keys that this window has seen in its store. */
  #record: SecretRecord = {};
  #key: Buffer | undefined;

  constructor(deps: SharedSessionDeps) {
    this.#deps = deps;
    this.journal = new RefreshJournal(deps.files.journal);
  }

  /** Reads the file, and the store only if the file cannot be opened. @throws RolecallError `storage` */
  async read(): Promise<SharedSessionState> {
    const state = reconcile({}, await this.#unseal());
    if (state.kind === 'session' || state.kind === 'ended' || state.kind === 'signedOut') return state;
    return this.readAll();
  }

  /**
   * Reads file and store. @throws RolecallError `storage` when the store cannot be used and the file alone is not
   * enough.
   */
  async readAll(): Promise<SharedSessionState> {
    let record: SecretRecord = {};
    try {
      record = await this.#deps.secrets.read();
      this.#record = record;
      this.#deps.addSecret(record.key?.toString('base64'));
    } catch (error) {
      const alone = reconcile({}, await this.#unseal());
      if (alone.kind === 'nothing' || alone.kind === 'unreadable') throw error;
      this.#deps.log.warn(error instanceof Error ? error.message : 'The secret store cannot be read.');
      return alone;
    }
    return reconcile(record, await this.#unseal());
  }

  /** Like {@link readAll}, but gives a slow store time to show a new key. */
  async readWithRetries(): Promise<SharedSessionState> {
    for (let look = 0; ; look += 1) {
      const state = await this.readAll();
      if (state.kind !== 'unreadable' || state.reason !== 'otherKey' || look === KEY_LAG_LOOKS) return state;
      await sleep(this.#deps.timeouts.newKeyDelay / KEY_LAG_LOOKS);
    }
  }

  /**
   * Writes the next generation. Only while holding the mutex.
   *
   * @returns false when the file holds this generation or a higher one already: what it holds counts.
   * @throws RolecallError `storage`
   */
  async write(entry: SessionEntry): Promise<boolean> {
    const { files, protocol } = this.#deps;
    const before = await this.#unseal();
    if (before.kind === 'newer') throw unreadableState('newer', 0).error;
    if (generationOf(before) >= entry.generation) return false;
    const key = before.kind === 'open' ? before.key : await this.#ownKey();
    try {
      await replaceFileAtomically(files.sealed, seal(key, entry, protocol), true);
    } catch (cause) {
      throw new RolecallError(
        'storage',
        l10n.t('The session could not be written to {0} ({1}).', files.sealed, systemErrorCode(cause) ?? ''),
        { cause },
      );
    }
    this.#key = key;
    return true;
  }

  /** Makes sure that there is a key before something irreversible needs it. @throws RolecallError `storage` */
  async ensureKey(): Promise<void> {
    if ((await this.#unseal()).kind !== 'open') await this.#ownKey();
  }

  /** Keeps the session in the secret store too. @returns false when the store refused. */
  async saveToStore(session: Session | undefined): Promise<boolean> {
    if (this.#key === undefined || this.#record.problem === 'newer') return true; // Not ours to overwrite.
    return this.#deps.secrets.saveSession(this.#key, session);
  }

  async #unseal(): Promise<Unsealed> {
    const { files, protocol, connection } = this.#deps;
    const bytes = await readFileIfExists(files.sealed);
    const keys = [this.#record.key, this.#key].filter((key) => key !== undefined);
    const unsealed = unseal(bytes, keys, protocol, connection);
    if (unsealed.kind === 'open') this.#key = unsealed.key;
    return unsealed;
  }

  /** The key in this window's store. If it has none, one is made and stored. */
  async #ownKey(): Promise<Buffer> {
    const existing = this.#record.key ?? this.#key;
    if (existing) return existing;
    const key = randomBytes(KEY_BYTES);
    this.#deps.addSecret(key.toString('base64'));
    await this.#deps.secrets.saveKey(key, this.#record.session);
    this.#record = { ...this.#record, key };
    return key;
  }
}

function generationOf(unsealed: Unsealed): number {
  if (unsealed.kind === 'open') return unsealed.entry.generation;
  if (unsealed.kind === 'otherKey') return unsealed.header.generation;
  return 0;
}
