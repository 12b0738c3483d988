import { type FSWatcher, watch } from 'node:fs';
import path from 'node:path';
import type { Connection } from '../../base/connection.ts';
import { systemErrorCode } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { ClaimFiles } from './claimFiles.ts';
import { ensurePrivateFolder, removeAbandonedFiles } from './files.ts';
import { FolderKey } from './handshake.ts';
import { Mutex, type MutexDeps } from './mutex.ts';
import { Peers } from './peers.ts';
import type { Protocol } from './protocol.ts';
import { SessionSecretStore, type SessionStore } from './sessionSecretStore.ts';
import { type SessionFiles, SharedSession, sessionFiles } from './sharedSession.ts';
import { connectionFolderName } from './statePaths.ts';
import type { Timeouts } from './timeouts.ts';

export interface SharedStateDeps {
  /** The folder of this user's shared state, see {@link stateRoot}. */
  readonly state: string;
  readonly connection: Connection;
  readonly store: SessionStore;
  /** See {@link sessionFiles}. */
  readonly storeName?: string;
  readonly protocol: Protocol;
  readonly addSecret: (secret: string | undefined) => void;
  readonly log: Log;
  readonly timeouts: Timeouts;
  /** Another window says that this generation is stored. */
  readonly onGeneration: (generation: number) => Promise<void>;
  /** The sealed file has changed. The fallback when another window's message did not arrive. */
  readonly onFile: () => void;
  /** The secret store has answered, or refused, after its limit. */
  readonly onStore: () => void;
  /** See {@link MutexDeps}. */
  readonly onGiveWay: () => void;
}

/** Everything by which the windows of one connection agree, in one folder. */
export class SharedState {
  readonly shared: SharedSession;
  readonly mutex: Mutex;
  readonly peers: Peers;
  readonly claims: ClaimFiles;
  readonly #deps: SharedStateDeps;
  readonly #folder: string;
  readonly #files: SessionFiles;
  #watcher: FSWatcher | undefined;
  #opening: Promise<void> | undefined;
  #isOpen = false;
  #isClosed = false;

  constructor(deps: SharedStateDeps) {
    const { state, connection, store, storeName, protocol, addSecret, log, timeouts, onGeneration } = deps;
    const folder = path.join(state, connectionFolderName(connection.identityUrl, connection.clientId));
    const secrets = new SessionSecretStore(store, connection, log, timeouts, deps.onStore);
    this.#deps = deps;
    this.#folder = folder;
    this.#files = sessionFiles(folder, storeName);
    this.shared = new SharedSession({ files: this.#files, connection, secrets, protocol, addSecret, log, timeouts });
    const key = new FolderKey(folder);
    this.mutex = new Mutex({ folder, key, protocol, log, timeouts, onGiveWay: deps.onGiveWay });
    this.claims = new ClaimFiles(path.join(folder, 'claims'), storeName);
    this.peers = new Peers({ folder, key, protocol, log, timeouts, onGeneration });
  }

  /**
   * Makes the folders and starts listening before anything is read, so that nothing that is stored later is missed.
   * Called again, it repairs what has been removed.
   *
   * @throws RolecallError `storage` when the folder cannot be used, or is not ours alone.
   */
  open(): Promise<void> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<void> {
    if (this.#isClosed || (this.#isOpen && (await this.peers.isRegistered()))) return;
    const below = ['locks', 'peers', 'claims'].map((name) => path.join(this.#folder, name));
    for (const folder of [this.#deps.state, this.#folder, ...below]) await ensurePrivateFolder(folder);
    for (const folder of [this.#folder, ...below]) await removeAbandonedFiles(folder);
    try {
      await this.peers.register();
    } catch (error) {
      this.#deps.log.warn(
        `This window may learn of changes in other windows late: ${systemErrorCode(error) ?? String(error)}`,
      );
    }
    this.#watch();
    this.#isOpen = true;
    if (this.#isClosed) await this.close(); // It was closed meanwhile.
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watcher?.close();
    this.mutex.close();
    await this.peers.unregister();
  }

  #watch(): void {
    this.#watcher?.close(); // It watches a folder that no longer exists.
    try {
      this.#watcher = watch(this.#folder, { persistent: false }, (_event, name) => {
        if (name === null || name === path.basename(this.#files.sealed)) this.#deps.onFile();
      });
      this.#watcher.on('error', () => {
        this.#watcher?.close();
        this.#isOpen = false; // The next refresh watches anew.
      });
    } catch (error) {
      // Systems limit the number of watchers; the messages of the other windows do not need one.
      this.#deps.log.debug(`The shared session is not watched: ${systemErrorCode(error) ?? String(error)}`);
    }
  }
}
