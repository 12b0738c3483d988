import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import * as l10n from '@vscode/l10n';
import { RolecallError, systemErrorCode } from '../../base/errors.ts';
import { MAX_SOCKET_PATH } from './statePaths.ts';

const FOLDER_PREFIX = 'rlc-';

/** A socket, on Windows a named pipe, that other windows connect to. The system closes it when this process ends. */
export interface IpcServer {
  readonly address: string;
  /** Stops listening and closes every open connection. */
  close(): Promise<void>;
}

/** Listens at a new address. `serve` is called for each connection and must not reject. */
export async function startIpcServer(serve: (line: LineSocket, address: string) => Promise<void>): Promise<IpcServer> {
  const { address, folder } = await freshAddress();
  const lines = new Set<LineSocket>();
  const server = net.createServer((socket) => {
    const line = new LineSocket(socket);
    lines.add(line);
    void line.closed.then(() => lines.delete(line)); // Never rejects.
    void serve(line, address).finally(() => line.close()); // Never rejects, by contract.
  });
  server.listen({ path: address });
  await once(server, 'listening');
  server.on('error', () => {}); // A connection that could not be accepted fails on the other side, too.
  server.unref();
  return {
    address,
    close: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const line of lines) line.close();
      await closed;
      if (folder !== undefined) await removeFolder(folder);
    },
  };
}

/** Removes the socket that a killed process left behind. Anything else stays: the address was read from a file. */
export async function removeDeadSocket(address: string): Promise<void> {
  const folder = path.dirname(address);
  if (process.platform === 'win32' || !path.basename(folder).startsWith(FOLDER_PREFIX)) return;
  const stat = await fs.lstat(address).catch(() => undefined); // Removed meanwhile.
  if (stat?.isSocket()) await fs.rm(address, { force: true });
  await removeFolder(folder);
}

/** The path of a socket in `folder`; `undefined` when some system would refuse it as too long. */
export function socketPath(folder: string): string | undefined {
  const address = path.posix.join(folder, 's');
  return Buffer.byteLength(address) <= MAX_SOCKET_PATH ? address : undefined;
}

async function freshAddress(): Promise<{ readonly address: string; readonly folder?: string }> {
  if (process.platform === 'win32') {
    return { address: `\\\\.\\pipe\\rolecall-${randomBytes(16).toString('hex')}` };
  }
  let reason: unknown;
  for (const parent of [os.tmpdir(), '/tmp']) {
    if (socketPath(path.join(parent, `${FOLDER_PREFIX}XXXXXX`)) === undefined) continue;
    try {
      const folder = await fs.mkdtemp(path.join(parent, FOLDER_PREFIX)); // Created with mode 0700.
      return { address: path.join(folder, 's'), folder };
    } catch (error) {
      reason = error; // The environment may name a temporary folder that does not exist.
    }
  }
  throw new RolecallError(
    'storage',
    l10n.t(
      'A socket could not be created in the temporary folder {0}. Its path is too long, or you cannot write to it.',
      os.tmpdir(),
    ),
    { cause: reason },
  );
}

async function removeFolder(folder: string): Promise<void> {
  try {
    await fs.rmdir(folder);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
}

/**
 * The longest line, in UTF-16 units: more than any message between windows has. A peer that sends longer ones is
 * disconnected.
 */
const MAX_LINE = 8192;
/** The most unread lines; beyond that, the other side has to wait. */
const MAX_WAITING = 64;

/** A socket or pipe that carries one JSON text per line. */
export class LineSocket {
  readonly #socket: net.Socket;
  readonly #lines: string[] = [];
  #waiting: ((line: string | undefined) => void) | undefined;
  #partial = '';
  #ended = false;
  #connected: boolean;
  /** Resolves when the connection has closed, with the system's error code if it failed. */
  readonly closed: Promise<string | undefined>;

  constructor(socket: net.Socket) {
    this.#socket = socket.setEncoding('utf8');
    this.#connected = !socket.connecting;
    socket.once('connect', () => {
      this.#connected = true;
    });
    let code: string | undefined;
    socket.on('error', (error) => {
      code = systemErrorCode(error) ?? 'unknown';
    });
    socket.on('data', (text: string) => this.#receive(text));
    // A half-open connection is of no use.
    socket.on('end', () => socket.destroy());
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#ended = true;
        this.#deliver(undefined);
        resolve(code);
      });
    });
  }

  static connect(address: string): LineSocket {
    return new LineSocket(net.connect({ path: address }));
  }

  /** Whether the other end has accepted the connection. */
  get connected(): boolean {
    return this.#connected;
  }

  /** @returns the line as sent, without the line break. */
  send(message: Readonly<Record<string, unknown>>): string {
    const line = JSON.stringify(message);
    if (!this.#ended) this.#socket.write(`${line}\n`);
    return line;
  }

  /** The next line, or `undefined` when the connection has closed. Only one call may wait at a time. */
  next(): Promise<string | undefined> {
    const line = this.#lines.shift();
    if (this.#lines.length < MAX_WAITING && this.#socket.isPaused()) this.#socket.resume();
    if (line !== undefined || this.#ended) return Promise.resolve(line);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  /**
   * Resolves when everything sent has left this process, or the connection has closed. Awaited between parts of a long
   * message.
   */
  async drained(): Promise<void> {
    if (this.#ended || !this.#socket.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const settle = () => {
        this.#socket.off('drain', settle).off('close', settle);
        resolve();
      };
      this.#socket.on('drain', settle).on('close', settle);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Closes the connection once everything sent has left. */
  end(): void {
    this.#socket.end();
  }

  #receive(text: string): void {
    const lines = (this.#partial + text).split('\n');
    this.#partial = lines.pop() ?? '';
    if (this.#partial.length > MAX_LINE || lines.some(({ length }) => length > MAX_LINE)) {
      this.close();
      return;
    }
    for (const line of lines) this.#deliver(line);
    if (this.#lines.length >= MAX_WAITING) this.#socket.pause();
  }

  #deliver(line: string | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting(line);
    else if (line !== undefined) this.#lines.push(line);
  }
}
