import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { within } from '../../base/abort.ts';
import { codeOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { type Endpoint, openEndpoint, removeDeadSocket } from './endpoint.ts';
import { createWhole, readIfAny } from './files.ts';
import type { FolderKey } from './folderKey.ts';
import { fateOf } from './holderLine.ts';
import { LIMITS, type Limits } from './limits.ts';
import { LineSocket } from './lineSocket.ts';
import { type Proving, proveAsCaller, proveAsListener } from './proof.ts';
import { canTalk, type Protocol, parseJson, protocolMembers, stampOf } from './protocol.ts';

const registrationSchema = z.object({ ...protocolMembers, address: z.string().check(z.minLength(1)) });
const newsSchema = z.object({ generation: z.number() });

export interface PeersDeps {
  /** A private folder that exists, with a folder `peers` in it. */
  readonly folder: string;
  readonly key: FolderKey;
  readonly protocol: Protocol;
  readonly log: Log;
  /** Another window has stored this generation. Resolves when this window uses nothing older any more. */
  readonly onGeneration: (generation: number) => Promise<void>;
  readonly limits?: Pick<Limits, 'silence' | 'acknowledgements'>;
}

/** Who was told: `told` have acknowledged, `silent` have not in time, `gone` were removed. */
export interface Pushed {
  readonly told: number;
  readonly silent: number;
  readonly gone: number;
}

/** The windows that share a session. Each listens; what is sent is a number, the session itself is in the sealed file. */
export class Peers {
  readonly #deps: PeersDeps;
  readonly #limits: Pick<Limits, 'silence' | 'acknowledgements'>;
  readonly #peers: string;
  #endpoint: Endpoint | undefined;
  #registration: string | undefined;

  constructor(deps: PeersDeps) {
    this.#deps = deps;
    this.#limits = deps.limits ?? LIMITS;
    this.#peers = path.join(deps.folder, 'peers');
  }

  /** False before {@link register}, and when a cleaner of temporary files took away what it had made. */
  async isRegistered(): Promise<boolean> {
    const { address } = this.#endpoint ?? {};
    return this.#registration !== undefined && address !== undefined && (await areThere(this.#registration, address));
  }

  /** From now on this window is told. */
  async register(): Promise<void> {
    await this.unregister();
    this.#endpoint = await openEndpoint((line, address) => this.#serve(line, address));
    this.#registration = path.join(this.#peers, `${randomBytes(8).toString('hex')}.json`);
    const text = JSON.stringify({ ...stampOf(this.#deps.protocol), address: this.#endpoint.address, pid: process.pid });
    await createWhole(this.#registration, text, false);
  }

  async unregister(): Promise<void> {
    const [endpoint, registration] = [this.#endpoint, this.#registration];
    this.#endpoint = undefined;
    this.#registration = undefined;
    if (registration) await fs.rm(registration, { force: true });
    await endpoint?.close();
  }

  /** Tells every other window, and waits for their acknowledgements for half a second at most. Never throws. */
  async push(generation: number): Promise<Pushed> {
    const { log } = this.#deps;
    const count = { told: 0, silent: 0, gone: 0 };
    try {
      const key = await this.#deps.key.get();
      const files = (await fs.readdir(this.#peers)).map((name) => path.join(this.#peers, name));
      const others = files.filter((file) => file.endsWith('.json') && file !== this.#registration);
      const stop = new AbortController();
      const all = others.map(async (file) => {
        count[await this.#tell(file, key, generation, stop.signal).catch((error: unknown) => this.#untold(error))] += 1;
      });
      await within(Promise.all(all), this.#limits.acknowledgements);
      stop.abort();
      await Promise.all(all);
    } catch (error) {
      log.warn(`Not every window could be told of generation ${generation}: ${codeOf(error) ?? String(error)}`);
    }
    if (count.silent > 0) log.info(`${count.silent} windows did not acknowledge generation ${generation} in time.`);
    return count;
  }

  /** One window that cannot be told is no reason not to tell the others. */
  #untold(error: unknown): keyof Pushed {
    this.#deps.log.warn(`A window could not be told of the renewed sign-in: ${codeOf(error) ?? String(error)}`);
    return 'silent';
  }

  async #tell(file: string, key: Buffer, generation: number, stop: AbortSignal): Promise<keyof Pushed> {
    const text = (await readIfAny(file))?.toString();
    const peer = text === undefined ? undefined : parseJson(registrationSchema, text);
    if (!peer) return 'gone';
    if (!canTalk(this.#deps.protocol, peer)) return 'silent';
    const { address } = peer;
    const line = LineSocket.connect(address);
    const end = () => line.close();
    stop.addEventListener('abort', end, { once: true });
    const told = await this.#converse(
      line,
      { role: 'window', address, key, protocol: this.#deps.protocol },
      generation,
    );
    end();
    stop.removeEventListener('abort', end);
    if (told) return 'told';
    const code = await line.closed;
    if (line.connected || fateOf(code) !== 'gone') return 'silent';
    await fs.rm(file, { force: true });
    await removeDeadSocket(address);
    return 'gone';
  }

  async #converse(line: LineSocket, proving: Proving, generation: number): Promise<boolean> {
    const verdict = await proveAsCaller(line, proving);
    if (verdict === 'stranger') this.#deps.key.forget();
    if (verdict !== 'proven') return false;
    line.send({ generation });
    const answer = await line.next();
    return answer !== undefined && parseJson(newsSchema, answer) !== undefined;
  }

  async #serve(line: LineSocket, address: string): Promise<void> {
    const { key, protocol, log, onGeneration } = this.#deps;
    try {
      const proving = { role: 'window', address, key: await key.get(), protocol } as const;
      const verdict = await within(proveAsListener(line, proving), this.#limits.silence);
      if (verdict !== 'proven') return key.forget(); // Perhaps it is we who have an old one.
      const news = parseJson(newsSchema, (await line.next()) ?? '');
      if (!news) return;
      await onGeneration(news.generation);
      line.send(news);
      await line.closed;
    } catch (error) {
      log.warn(`News of another window could not be taken: ${codeOf(error) ?? String(error)}`);
    }
  }
}

async function areThere(...files: readonly string[]): Promise<boolean> {
  // A named pipe has no file, and no cleaner takes it away.
  const checked = files.filter((file) => !file.startsWith('\\\\.\\pipe\\'));
  const found = await Promise.all(checked.map((file) => fs.lstat(file).catch(() => undefined)));
  return found.every((file) => file !== undefined);
}
