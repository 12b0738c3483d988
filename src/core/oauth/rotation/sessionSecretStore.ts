import * as l10n from '@vscode/l10n';
import * as z from 'zod/mini';
import { withTimeout } from '../../base/abort.ts';
import type { Connection } from '../../base/connection.ts';
import { asStorageError, RolecallError } from '../../base/errors.ts';
import { parseJsonAs } from '../../base/json.ts';
import type { Log } from '../../base/log.ts';
import { readSession, SESSION_VERSION, type Session, writeSession } from '../session.ts';
import { KEY_BYTES } from './seal.ts';
import type { Timeouts } from './timeouts.ts';

/** Version 1 was a bare session; see {@link readRecord}. */
const RECORD_VERSION = 2;

const recordSchema = z.object({
  version: z.literal(RECORD_VERSION),
  /** base64. Seals the file that the windows share. */
  key: z.string(),
  /** The last session this window knew, as {@link writeSession} writes it: what survives when the file is gone. */
  session: z.optional(z.string()),
});

/** What the secret store holds for one connection; empty when there is nothing, or something for another connection. */
export interface SecretRecord {
  /** Absent in a store that an older version of Rolecall wrote. */
  readonly key?: Buffer;
  readonly session?: Session;
  /** `newer`: a later version of Rolecall wrote it; it must not be overwritten. `damaged`: it cannot be used. */
  readonly problem?: 'newer' | 'damaged';
}

export function readRecord(text: string | undefined, connection: Connection): SecretRecord {
  if (text === undefined) return {};
  const version = versionOf(text);
  if (version === undefined) return { problem: 'damaged' };
  if (version === SESSION_VERSION) return sessionIn(text, connection);
  if (version > RECORD_VERSION) return { problem: 'newer' };
  const record = parseJsonAs(recordSchema, text);
  const key = Buffer.from(record?.key ?? '', 'base64');
  if (!record || key.length !== KEY_BYTES) return { problem: 'damaged' };
  return { key, ...sessionIn(record.session, connection) };
}

export function writeRecord(key: Buffer, session: Session | undefined): string {
  return JSON.stringify({
    version: RECORD_VERSION,
    key: key.toString('base64'),
    ...(session && { session: writeSession(session) }),
  });
}

function sessionIn(text: string | undefined, connection: Connection): SecretRecord {
  try {
    const session = readSession(text, connection);
    return session ? { session } : {};
  } catch {
    return { problem: (versionOf(text ?? '') ?? 0) > SESSION_VERSION ? 'newer' : 'damaged' };
  }
}

function versionOf(text: string): number | undefined {
  return parseJsonAs(z.object({ version: z.number() }), text)?.version;
}

/** Where one connection's secrets are stored: in the editor, its SecretStorage. */
export interface SessionStore {
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
}

/**
 * The secret store of this window. Windows cannot coordinate through it (asynchronous on the desktop, a snapshot per tab in
 * a browser): it keeps the sealing key and the last session.
 */
export class SessionSecretStore {
  readonly #store: SessionStore;
  readonly #connection: Connection;
  readonly #log: Log;
  readonly #timeouts: Timeouts;
  readonly #onLate: () => void;
  /** A read that the store did not answer in time: the next read waits for it, or takes its answer. */
  #overdue: Promise<string | undefined> | undefined;
  #next: string | undefined;
  #writing: Promise<void> | undefined;

  /**
   * @param onLate Called when the store has answered, or refused, after its limit: {@link read} gives that answer now.
   */
  constructor(store: SessionStore, connection: Connection, log: Log, timeouts: Timeouts, onLate: () => void) {
    this.#store = store;
    this.#connection = connection;
    this.#log = log;
    this.#timeouts = timeouts;
    this.#onLate = onLate;
  }

  /** @throws RolecallError `storage` when it is locked or too slow. */
  async read(): Promise<SecretRecord> {
    const overdue = this.#overdue;
    this.#overdue = undefined;
    const reading = overdue ?? this.#store.read();
    let answer: { readonly text: string | undefined } | undefined;
    try {
      answer = await withTimeout(
        reading.then((text) => ({ text })),
        this.#timeouts.storeRead,
      );
    } catch (error) {
      throw asStorageError(error);
    }
    if (answer) return readRecord(answer.text, this.#connection);
    this.#overdue = reading;
    if (!overdue) reading.then(this.#onLate, this.#onLate);
    throw new RolecallError(
      'storage',
      l10n.t(
        'The editor’s secret store (the system keyring) has not responded yet. Rolecall continues as soon as it does. You have not been signed out.',
      ),
    );
  }

  /** Stores a new key. @throws RolecallError `storage` when the store refused. */
  async saveKey(key: Buffer, session: Session | undefined): Promise<void> {
    this.#writeNext(key, session);
    let isStored: true | undefined;
    try {
      isStored = await withTimeout(
        this.#write().then(() => true as const),
        this.#timeouts.storeNewKey,
      );
    } catch (error) {
      throw asStorageError(error);
    }
    if (!isStored) throw asStorageError(new Error('no answer'));
  }

  /**
   * Stores the session beside its key. Waits a moment, then lets the store finish by itself.
   *
   * @returns false when the store refused.
   */
  async saveSession(key: Buffer, session: Session | undefined): Promise<boolean> {
    this.#writeNext(key, session);
    try {
      const written = await withTimeout(
        this.#write().then(() => true as const),
        this.#timeouts.storeWrite,
      );
      if (!written) this.#log.info('The secret store is slow; the session is safe in the shared file meanwhile.');
      return true;
    } catch (error) {
      this.#log.warn(`The secret store could not be written: ${error instanceof Error ? error.message : 'refused'}`);
      return false;
    }
  }

  #writeNext(key: Buffer, session: Session | undefined): void {
    this.#next = writeRecord(key, session);
    this.#overdue = undefined; // The answer to it would be outdated.
  }

  /** One write at a time; one that is outdated before its turn is left out. */
  #write(): Promise<void> {
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #drain(): Promise<void> {
    for (let text = this.#next; text !== undefined; text = this.#next) {
      this.#next = undefined;
      await this.#store.write(text);
    }
  }
}
