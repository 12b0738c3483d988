import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { withTimeout } from '../../base/abort.ts';
import { systemErrorCode } from '../../base/errors.ts';
import { parseJsonAs } from '../../base/json.ts';
import type { Log } from '../../base/log.ts';
import { createFileAtomically, readFileIfExists } from './files.ts';
import type { FolderKey } from './handshake.ts';
import { type HandshakeParams, handshakeAsClient, handshakeAsServer } from './handshake.ts';
import { statusOfConnectError } from './holderConnection.ts';
import { type IpcServer, LineSocket, removeDeadSocket, startIpcServer } from './ipc.ts';
import { canTalk, type Protocol, protocolFields, protocolShape } from './protocol.ts';
import { DEFAULT_TIMEOUTS, type Timeouts } from './timeouts.ts';

const registrationSchema = z.object({ ...protocolShape, address: z.string().check(z.minLength(1)) });
const newsSchema = z.object({ generation: z.number() });

export interface PeersDeps {
  /** A private folder that exists, with a folder `peers` in it. */
  readonly folder: string;
  readonly key: FolderKey;
  readonly protocol: Protocol;
  readonly log: Log;
  /** Another window has stored this generation. Resolves when this window no longer uses an older one. */
  readonly onGeneration: (generation: number) => Promise<void>;
  readonly timeouts?: Pick<Timeouts, 'peerSilence' | 'acknowledgements'>;
}

/** The number of windows that acknowledged in time, did not (`silent`), or have ended and were removed (`gone`). */
export interface BroadcastResult {
  readonly acknowledged: number;
  readonly silent: number;
  readonly gone: number;
}

/**
 * The windows that share a session. Each listens; they send only a number, the session itself is in the sealed file.
 */
export class Peers {
  readonly #deps: PeersDeps;
  readonly #timeouts: Pick<Timeouts, 'peerSilence' | 'acknowledgements'>;
  readonly #peers: string;
  #server: IpcServer | undefined;
  #registration: string | undefined;

  constructor(deps: PeersDeps) {
    this.#deps = deps;
    this.#timeouts = deps.timeouts ?? DEFAULT_TIMEOUTS;
    this.#peers = path.join(deps.folder, 'peers');
  }

  /** False before {@link register}, and when a cleaner of temporary files has removed the socket or the file. */
  async isRegistered(): Promise<boolean> {
    const { address } = this.#server ?? {};
    return this.#registration !== undefined && address !== undefined && (await areThere(this.#registration, address));
  }

  /** Makes this window one that is notified. */
  async register(): Promise<void> {
    await this.unregister();
    this.#server = await startIpcServer((line, address) => this.#serve(line, address));
    this.#registration = path.join(this.#peers, `${randomBytes(8).toString('hex')}.json`);
    const text = JSON.stringify({
      ...protocolFields(this.#deps.protocol),
      address: this.#server.address,
      pid: process.pid,
    });
    await createFileAtomically(this.#registration, text, false);
  }

  async unregister(): Promise<void> {
    const [server, registration] = [this.#server, this.#registration];
    this.#server = undefined;
    this.#registration = undefined;
    if (registration) await fs.rm(registration, { force: true });
    await server?.close();
  }

  /** Tells every other window, and waits for their acknowledgements for half a second at most. Never throws. */
  async broadcast(generation: number): Promise<BroadcastResult> {
    const { log } = this.#deps;
    const count = { acknowledged: 0, silent: 0, gone: 0 };
    try {
      const key = await this.#deps.key.get();
      const files = (await fs.readdir(this.#peers)).map((name) => path.join(this.#peers, name));
      const others = files.filter((file) => file.endsWith('.json') && file !== this.#registration);
      const stop = new AbortController();
      const all = others.map(async (file) => {
        count[await this.#notify(file, key, generation, stop.signal).catch((error: unknown) => this.#untold(error))] +=
          1;
      });
      await withTimeout(Promise.all(all), this.#timeouts.acknowledgements);
      stop.abort();
      await Promise.all(all);
    } catch (error) {
      log.warn(
        `Not every window could be notified of generation ${generation}: ${systemErrorCode(error) ?? String(error)}`,
      );
    }
    if (count.silent > 0) log.info(`${count.silent} windows did not acknowledge generation ${generation} in time.`);
    return count;
  }

  /** A window that cannot be notified does not keep the others from being notified. */
  #untold(error: unknown): keyof BroadcastResult {
    this.#deps.log.warn(
      `A window could not be notified of the refreshed session: ${systemErrorCode(error) ?? String(error)}`,
    );
    return 'silent';
  }

  async #notify(file: string, key: Buffer, generation: number, stop: AbortSignal): Promise<keyof BroadcastResult> {
    const text = (await readFileIfExists(file))?.toString();
    const peer = text === undefined ? undefined : parseJsonAs(registrationSchema, text);
    if (!peer) return 'gone';
    if (stop.aborted || !canTalk(this.#deps.protocol, peer)) return 'silent';
    const { address } = peer;
    const line = LineSocket.connect(address);
    const end = () => line.close();
    stop.addEventListener('abort', end, { once: true });
    const isAcknowledged = await this.#sendGeneration(
      line,
      { role: 'window', address, key, protocol: this.#deps.protocol },
      generation,
    );
    end();
    stop.removeEventListener('abort', end);
    if (isAcknowledged) return 'acknowledged';
    const code = await line.closed;
    if (line.connected || statusOfConnectError(code) !== 'gone') return 'silent';
    await fs.rm(file, { force: true });
    await removeDeadSocket(address);
    return 'gone';
  }

  async #sendGeneration(line: LineSocket, params: HandshakeParams, generation: number): Promise<boolean> {
    const result = await handshakeAsClient(line, params);
    if (result === 'stranger') this.#deps.key.forget();
    if (result !== 'proven') return false;
    line.send({ generation });
    const answer = await line.next();
    return answer !== undefined && parseJsonAs(newsSchema, answer) !== undefined;
  }

  async #serve(line: LineSocket, address: string): Promise<void> {
    const { key, protocol, log, onGeneration } = this.#deps;
    try {
      const params = { role: 'window', address, key: await key.get(), protocol } as const;
      const result = await withTimeout(handshakeAsServer(line, params), this.#timeouts.peerSilence);
      if (result !== 'proven') return key.forget(); // Ours may be the old key.
      const news = parseJsonAs(newsSchema, (await line.next()) ?? '');
      if (!news) return;
      await onGeneration(news.generation);
      line.send(news);
      await line.closed;
    } catch (error) {
      log.warn(`A notification of another window could not be handled: ${systemErrorCode(error) ?? String(error)}`);
    }
  }
}

async function areThere(...files: readonly string[]): Promise<boolean> {
  // A named pipe has no file, and no cleaner takes it away.
  const checked = files.filter((file) => !file.startsWith('\\\\.\\pipe\\'));
  const stats = await Promise.all(checked.map((file) => fs.lstat(file).catch(() => undefined)));
  return stats.every((file) => file !== undefined);
}
