import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { LOOPBACK } from './http.ts';
import type { SandboxDescriptor } from './types.ts';

/** How long a sandbox that has just started waits for the first window to connect. */
const START_SECONDS = 30;
/** How long another sandbox on this machine may take to send its greeting. */
const GREETING_MS = 2000;

/**
 * Keeps a shared sandbox running while windows use it. Each window holds one connection open, which the operating
 * system closes when the window ends for whatever reason. A reload closes the connection and opens it again, so the
 * sandbox waits for some time after the last connection is closed, unless that window has said `bye`.
 */
export class Lifeline {
  readonly port: number;

  private constructor(port: number) {
    this.port = port;
  }

  /**
   * @param name sent as a greeting on every connection. After a sandbox has ended, another program may listen on its
   * port, and that program does not send this name.
   * @param onEnd called once, when no window has been connected for `lingerSeconds`.
   */
  static async open(name: string, lingerSeconds: number, onEnd: () => void): Promise<Lifeline> {
    const windows = new Set<net.Socket>();
    let timer = setTimeout(onEnd, START_SECONDS * 1000);
    const server = net.createServer((socket) => {
      windows.add(socket);
      clearTimeout(timer);
      socket.write(`${name}\n`);
      let isLeaving = false;
      socket.on('data', (data) => {
        isLeaving ||= data.toString('latin1').startsWith('bye');
      });
      socket.on('error', () => {}); // A `close` event follows.
      socket.once('close', () => {
        windows.delete(socket);
        clearTimeout(timer);
        if (windows.size === 0) timer = setTimeout(onEnd, isLeaving ? 0 : lingerSeconds * 1000);
      });
    });
    server.listen(0, LOOPBACK);
    await once(server, 'listening');
    server.unref(); // Only the two services keep the process running.
    return new Lifeline((server.address() as AddressInfo).port);
  }
}

export interface SharedFolder {
  /** The line that the sandbox of this folder prints when it is ready. */
  readonly line: string;
  /** False if the folder already belongs to another sandbox. */
  readonly isOurs: boolean;
  /** Removes the folder and everything that windows have stored there about this sandbox. */
  leave(): void;
}

/**
 * Makes a sandbox the only one of a folder. Its descriptor is stored in `sandbox.json`. The file is created atomically,
 * so that of two sandboxes that start at the same time, the second one finds the complete file of the first. Everything
 * that a killed sandbox has left behind is removed.
 */
export async function shareIn(folder: string, descriptor: SandboxDescriptor): Promise<SharedFolder> {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, 'sandbox.json');
  const line = JSON.stringify(descriptor);
  for (;;) {
    if (createAtomically(file, line)) {
      removeAllBut(folder, file);
      const leave = (): void => {
        if (readIfExists(file) === line) fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
      };
      return { line, isOurs: true, leave };
    }
    const otherLine = readIfExists(file);
    if (otherLine === undefined) continue; // The other sandbox has just ended.
    if (await isAlive(otherLine)) return { line: otherLine, isOurs: false, leave: () => {} };
    removeStale(file, otherLine);
  }
}

/** Creates the file together with its text. @returns false if the file already exists. */
function createAtomically(file: string, text: string): boolean {
  const temporaryFile = `${file}.${randomUUID()}`;
  fs.writeFileSync(temporaryFile, text, { mode: 0o600 });
  try {
    fs.linkSync(temporaryFile, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    fs.rmSync(temporaryFile, { force: true });
  }
}

function readIfExists(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}

async function isAlive(line: string): Promise<boolean> {
  const { lifeline, clients } = parseLine(line);
  if (lifeline === undefined) return false;
  const socket = net.connect({ host: LOOPBACK, port: lifeline });
  try {
    const [greeting] = (await once(socket, 'data', { signal: AbortSignal.timeout(GREETING_MS) })) as [Buffer];
    return greeting.toString() === `${clients?.loopback.id}\n`;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Returns an empty object if the line is not a descriptor. */
function parseLine(line: string): Partial<SandboxDescriptor> {
  try {
    return JSON.parse(line) as SandboxDescriptor;
  } catch {
    return {};
  }
}

/** Removes the file of a sandbox that has ended, and restores it if a new sandbox has replaced it in the meantime. */
function removeStale(file: string, staleLine: string): void {
  const movedFile = `${file}.${randomUUID()}`;
  try {
    fs.renameSync(file, movedFile);
    if (fs.readFileSync(movedFile, 'utf8') !== staleLine) fs.linkSync(movedFile, file);
  } catch {
    // Another sandbox has removed or replaced the file. The caller checks again.
  }
  fs.rmSync(movedFile, { force: true });
}

function removeAllBut(folder: string, file: string): void {
  for (const name of fs.readdirSync(folder)) {
    const entry = path.join(folder, name);
    // The other entries are folders of sessions, and temporary files that other sandboxes are about to link.
    if (entry !== file && fs.statSync(entry, { throwIfNoEntry: false })?.isDirectory()) {
      fs.rmSync(entry, { recursive: true, force: true });
    }
  }
}
