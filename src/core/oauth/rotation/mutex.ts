import path from 'node:path';
import * as l10n from '@vscode/l10n';
import * as z from 'zod/mini';
import { withTimeout } from '../../base/abort.ts';
import { cancelled, RolecallError, systemErrorCode } from '../../base/errors.ts';
import { parseJsonAs } from '../../base/json.ts';
import type { Log } from '../../base/log.ts';
import { formatSeconds } from '../../base/text.ts';
import type { FolderKey } from './handshake.ts';
import { handshakeAsServer } from './handshake.ts';
import { HolderConnection, type HolderStatus } from './holderConnection.ts';
import type { LineSocket } from './ipc.ts';
import { type IpcServer, removeDeadSocket, startIpcServer } from './ipc.ts';
import {
  claimLock,
  isNewest,
  type Lock,
  lockPath,
  newestLock,
  type ReadableLock,
  removeOldLocks,
} from './lockFiles.ts';
import type { Protocol } from './protocol.ts';
import { DEFAULT_TIMEOUTS, type Timeouts } from './timeouts.ts';

/** Failed tries for one lock, after which something must be wrong. */
const MAX_TRIES = 200;

/** Every eighth holder removes old locks; they are a few bytes each. */
const TIDY_EVERY = 8;

export interface Lease {
  /** Higher than the number of every earlier holder. */
  readonly number: number;
  /** False when another process acquired the mutex, which needs a broken system: checked before what cannot be undone. */
  isValid(): Promise<boolean>;
  /** What the mutex protects must be over when this is called. */
  release(): Promise<void>;
}

export interface MutexDeps {
  /** A private folder that exists, with a folder `locks` in it. */
  readonly folder: string;
  readonly key: FolderKey;
  readonly protocol: Protocol;
  readonly log: Log;
  readonly timeouts?: Pick<Timeouts, 'peerSilence'>;
  /** Another window has a session to store, which makes this window's work under the mutex unnecessary. */
  readonly onGiveWay?: () => void;
}

/** A request of a waiting window. Earlier versions answer any line only by saying that they are there. */
const questionSchema = z.object({ giveWay: z.optional(z.boolean()) });

/**
 * Lets one process in at a time, on Linux, macOS and Windows alike. The process that holds the mutex listens on a fresh
 * socket or pipe whose address is in the lock with the highest number. When nobody listens there, the holder has ended:
 * the system closes the socket however the process ends. Then one process can create the next number, and holds the mutex.
 * README.md beside this file explains why no two hold it at once.
 */
export class Mutex {
  readonly #deps: MutexDeps;
  readonly #locks: string;
  readonly #silenceMs: number;
  #holderConnection: HolderConnection | undefined;
  /** A server whose address was not published yet: the next try uses it. */
  #unusedServer: IpcServer | undefined;

  constructor(deps: MutexDeps) {
    this.#deps = deps;
    this.#locks = path.join(deps.folder, 'locks');
    this.#silenceMs = (deps.timeouts ?? DEFAULT_TIMEOUTS).peerSilence;
  }

  /**
   * Waits for the mutex: as long as `signal` allows, if the holder answers.
   *
   * @param isUrgent Asks the holder to give up its refresh.
   *
   * @throws RolecallError `cancelled`, `timeout` (the holder does not answer), `storage` (the folder cannot be used).
   */
  async acquire(signal: AbortSignal, isUrgent = false): Promise<Lease> {
    try {
      for (let tries = 0, last = 0; ; tries += 1) {
        if (signal.aborted) throw cancelled(signal.reason);
        const newest = await newestLock(this.#locks);
        const number = newest?.number ?? 0;
        if (number !== last) [tries, last] = [0, number];
        if (tries > MAX_TRIES)
          throw stuck(l10n.t('The lock of the window that is refreshing the session cannot be taken over.'));
        if (newest?.kind === 'readable') await this.#waitForHolder(newest, signal, isUrgent);
        else if (newest && newest.kind !== 'leftover') throw unreadable(newest, this.#locks);
        const lease = await this.#claim(number + 1, newest);
        if (lease) return lease;
      }
    } catch (error) {
      throw asMutexError(error, this.#deps.folder);
    } finally {
      await this.#unusedServer?.close();
      this.#unusedServer = undefined;
    }
  }

  /** Closes the connection that is kept to a silent holder. */
  close(): void {
    this.#closeHolderConnection();
  }

  #closeHolderConnection(): void {
    this.#holderConnection?.close();
    this.#holderConnection = undefined;
  }

  async #claim(number: number, before: Lock | undefined): Promise<Lease | undefined> {
    const server = this.#unusedServer ?? (await startIpcServer((line, address) => this.#serve(line, address)));
    this.#unusedServer = undefined;
    try {
      const holder = { address: server.address, pid: process.pid };
      const claim = await claimLock(this.#locks, number, holder, this.#deps.protocol);
      if (claim === 'ours') return await this.#enter(number, server, before);
      if (claim === 'taken') this.#unusedServer = server;
      else await server.close(); // Another window may have read its address.
      return undefined;
    } catch (error) {
      // If the lock file was created despite the error, it looks like that of a holder that has died.
      await server.close();
      throw error;
    }
  }

  async #enter(number: number, server: IpcServer, before: Lock | undefined): Promise<Lease> {
    this.#closeHolderConnection();
    this.#deps.log.trace(`Acquired the lock (number ${number}).`);
    try {
      if (before?.kind === 'readable') await removeDeadSocket(before.holder.address);
      if (number % TIDY_EVERY === 0) await removeOldLocks(this.#locks, number);
    } catch (error) {
      this.#deps.log.debug(`Old locks were not removed: ${systemErrorCode(error) ?? String(error)}`);
    }
    return {
      number,
      isValid: () => isNewest(this.#locks, number),
      release: async () => {
        try {
          await server.close();
        } catch (error) {
          // The socket is closed in any case.
          this.#deps.log.debug(`A socket was not removed: ${systemErrorCode(error) ?? String(error)}`);
        }
      },
    };
  }

  /** Resolves when the holder of `lock` is gone. */
  async #waitForHolder(lock: ReadableLock, signal: AbortSignal, isUrgent: boolean): Promise<void> {
    if (this.#holderConnection?.number !== lock.number) {
      this.#closeHolderConnection();
      const key = await this.#deps.key.get();
      const { protocol } = this.#deps;
      const params = { role: 'holder', address: lock.holder.address, key, protocol } as const;
      this.#holderConnection = new HolderConnection(lock.number, params, this.#silenceMs);
    }
    const line = this.#holderConnection;
    let watched: HolderStatus;
    try {
      watched = await line.waitUntilGone(signal, isUrgent);
    } catch (error) {
      this.#closeHolderConnection();
      throw error;
    }
    if (watched !== 'silent') this.#closeHolderConnection();
    if (watched === 'gone') return;
    if (watched === 'stranger') this.#deps.key.forget();
    if (watched === 'newer') throw newerVersion();
    // If the process that took the lock no longer exists, whatever answers there is not the holder.
    if (!isRunning(lock.holder.pid)) return this.#closeHolderConnection();
    throw stuck(problemOf(watched, lock.holder.pid, this.#silenceMs));
  }

  async #serve(line: LineSocket, address: string): Promise<void> {
    const { key, protocol } = this.#deps;
    try {
      const params = { role: 'holder', address, key: await key.get(), protocol } as const;
      const result = await withTimeout(handshakeAsServer(line, params), this.#silenceMs);
      if (result !== 'proven') return key.forget(); // Ours may be the old key.
      for (let question = await line.next(); question !== undefined; question = await line.next()) {
        line.send({ pong: true });
        if (parseJsonAs(questionSchema, question)?.giveWay) this.#deps.onGiveWay?.();
      }
    } catch (error) {
      this.#deps.log.debug(`A waiting window was turned away: ${systemErrorCode(error) ?? String(error)}`);
    }
  }
}

function problemOf(watched: Exclude<HolderStatus, 'gone' | 'newer'>, pid: number, silenceMs: number): string {
  switch (watched) {
    case 'silent':
      return l10n.t(
        'The window that is refreshing the session (process ID {0}) has not responded for {1}: it is suspended or very busy.',
        String(pid),
        formatSeconds(silenceMs),
      );
    case 'stranger':
      return l10n.t(
        'Another program responds in place of the window that is refreshing the session (process ID {0}).',
        String(pid),
      );
    case 'refused':
      return l10n.t(
        'This window cannot reach the window that is refreshing the session (process ID {0}).',
        String(pid),
      );
  }
}

function newerVersion(): RolecallError {
  return new RolecallError(
    'storage',
    l10n.t('A window with a newer version of Rolecall is refreshing the session. Reload this window.'),
  );
}

/** A holder that cannot be reached may still be alive. */
function unreadable({ kind, number }: Lock, folder: string): RolecallError {
  if (kind === 'newer') return newerVersion();
  return new RolecallError(
    'storage',
    l10n.t(
      'The session cannot be refreshed, because the file {0} is damaged and another window might be refreshing it. Close all other windows, delete that file, and try again.',
      lockPath(folder, number),
    ),
  );
}

function stuck(problem: string): RolecallError {
  const sentence = l10n.t(
    '{0} Close or resume that window. Only one window at a time can refresh the session.',
    problem,
  );
  return new RolecallError('timeout', sentence);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) !== 'ESRCH'; // EPERM: it runs as another user.
  }
}

function asMutexError(error: unknown, folder: string): RolecallError {
  if (error instanceof RolecallError) return error;
  return new RolecallError(
    'storage',
    l10n.t(
      'The session cannot be shared between windows, because the folder {0} cannot be used ({1}).',
      folder,
      systemErrorCode(error) ?? '',
    ),
    { cause: error },
  );
}
