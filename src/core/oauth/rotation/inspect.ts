import fs from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { withTimeout } from '../../base/abort.ts';
import type { Connection } from '../../base/connection.ts';
import { systemErrorCode } from '../../base/errors.ts';
import { parseJsonAs } from '../../base/json.ts';
import { readFileIfExists } from './files.ts';
import { FolderKey, handshakeAsClient } from './handshake.ts';
import { statusOfConnectError } from './holderConnection.ts';
import { LineSocket } from './ipc.ts';
import { type Lock, newestLock } from './lockFiles.ts';
import { PROTOCOL, type Protocol } from './protocol.ts';
import { sessionFiles } from './sharedSession.ts';
import { connectionFolderName } from './statePaths.ts';
import { DEFAULT_TIMEOUTS, type Timeouts } from './timeouts.ts';

/** The readable first line of the sealed file (see seal.ts), as far as other versions share it. */
const headSchema = z.object({ generation: z.number(), signedOut: z.optional(z.boolean()) });

export interface SharedStateOverview {
  readonly path: string;
  /** Absent when the folder does not exist. */
  readonly folder?: {
    /** Octal, such as `700`; absent on Windows. */
    readonly mode?: string;
    readonly isOurs: boolean;
  };
  /** The generation of the sealed session, if there is one that can be read. */
  readonly generation?: number;
  readonly isSignedOut?: boolean;
  /** The number of registered windows, including those that were killed since. */
  readonly windows: number;
  readonly holder: HolderOverview;
}

export type HolderOverview =
  | { readonly kind: 'nobody' }
  /** The newest lock is damaged, or written by a newer version. */
  | { readonly kind: 'unreadable' }
  /** `answers`: it is a window of this user, and running. */
  | { readonly kind: 'held'; readonly pid: number; readonly isThisWindow: boolean; readonly answers: boolean };

export interface InspectOptions {
  /** See {@link TokenManagerDeps}. */
  readonly state: string;
  readonly connection: Pick<Connection, 'identityUrl' | 'clientId'>;
  readonly storeName?: string;
  readonly protocol?: Protocol;
  readonly timeouts?: Pick<Timeouts, 'peerSilence'>;
}

/** Reads the shared state for a diagnosis: makes and changes nothing, and does not wait for the mutex. */
export async function inspectSharedState(options: InspectOptions): Promise<SharedStateOverview> {
  const { state, connection, storeName, protocol = PROTOCOL, timeouts = DEFAULT_TIMEOUTS } = options;
  const folder = path.join(state, connectionFolderName(connection.identityUrl, connection.clientId));
  const stat = await unlessMissing(fs.lstat(folder));
  if (!stat) return { path: folder, windows: 0, holder: { kind: 'nobody' } };
  if (!stat.isDirectory()) return { path: folder, folder: { isOurs: false }, windows: 0, holder: { kind: 'nobody' } };
  const isUnix = process.getuid !== undefined;
  const bytes = await readFileIfExists(sessionFiles(folder, storeName).sealed);
  const head = parseJsonAs(headSchema, bytes?.subarray(0, bytes.indexOf('\n')).toString() ?? '');
  const peers = (await unlessMissing(fs.readdir(path.join(folder, 'peers')))) ?? [];
  const lock = await unlessMissing(newestLock(path.join(folder, 'locks')));
  return {
    path: folder,
    folder: {
      ...(isUnix && { mode: (stat.mode & 0o777).toString(8).padStart(3, '0') }),
      isOurs: !isUnix || stat.uid === process.getuid?.(),
    },
    ...(head && { generation: head.generation, isSignedOut: head.signedOut === true }),
    windows: peers.filter((name) => name.endsWith('.json')).length,
    holder: await holderOf(lock, folder, protocol, timeouts.peerSilence),
  };
}

async function holderOf(
  lock: Lock | undefined,
  folder: string,
  protocol: Protocol,
  silenceMs: number,
): Promise<HolderOverview> {
  if (!lock || lock.kind === 'leftover') return { kind: 'nobody' };
  if (lock.kind !== 'readable') return { kind: 'unreadable' };
  const { address, pid } = lock.holder;
  const line = LineSocket.connect(address);
  try {
    const key = await new FolderKey(folder).get();
    const result = await withTimeout(handshakeAsClient(line, { role: 'holder', address, key, protocol }), silenceMs);
    if (result === 'closed' && !line.connected && statusOfConnectError(await line.closed) === 'gone')
      return { kind: 'nobody' };
    return { kind: 'held', pid, isThisWindow: pid === process.pid, answers: result === 'proven' };
  } finally {
    line.close();
  }
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
