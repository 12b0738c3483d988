import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { LOOPBACK } from './http.ts';
import type { SandboxDescriptor } from './types.ts';

/** How long a window may take to connect to a sandbox that has just started. */
const START_SECONDS = 30;
/** How long a sandbox of this machine may take to greet. */
const GREETING_MS = 2000;

/**
 * The connections of the windows that use a shared sandbox, one each. The system closes them when a window ends, however
 * it ends; a reload closes and opens it again. So a sandbox that has had no connection for a while is no longer used.
 * A window that says so (`bye`) is not waited for.
 */
export class Lifeline {
  readonly port: number;

  private constructor(port: number) {
    this.port = port;
  }

  /**
   * @param name what every connection is greeted with: by now another program may listen at the port of a sandbox that
   * has ended.
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
      socket.on('error', () => {}); // Followed by `close`.
      socket.once('close', () => {
        windows.delete(socket);
        clearTimeout(timer);
        if (windows.size === 0) timer = setTimeout(onEnd, isLeaving ? 0 : lingerSeconds * 1000);
      });
    });
    server.listen(0, LOOPBACK);
    await once(server, 'listening');
    server.unref(); // The two services keep the program running.
    return new Lifeline((server.address() as AddressInfo).port);
  }
}

export interface SharedFolder {
  /** The ready line of the sandbox that serves this folder. */
  readonly line: string;
  /** False where another one serves it already. */
  readonly isOurs: boolean;
  /** Removes the folder, with all that windows have kept there about this sandbox. */
  leave(): void;
}

/**
 * Makes a sandbox the one of a folder. Its ready line stands in `sandbox.json`, which appears whole and once: a second
 * sandbox that starts meanwhile finds it. What a killed sandbox left behind is removed.
 */
export async function shareIn(folder: string, descriptor: SandboxDescriptor): Promise<SharedFolder> {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, 'sandbox.json');
  const line = JSON.stringify(descriptor);
  for (;;) {
    if (createWhole(file, line)) {
      removeAllBut(folder, file);
      const leave = (): void => {
        if (readIfThere(file) === line) fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
      };
      return { line, isOurs: true, leave };
    }
    const other = readIfThere(file);
    if (other === undefined) continue; // It has ended this moment.
    if (await isAlive(other)) return { line: other, isOurs: false, leave: () => {} };
    removeDead(file, other);
  }
}

/** Creates the file with its text at once. @returns false when it is there already. */
function createWhole(file: string, text: string): boolean {
  const draft = `${file}.${randomUUID()}`;
  fs.writeFileSync(draft, text, { mode: 0o600 });
  try {
    fs.linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}

async function isAlive(line: string): Promise<boolean> {
  const { lifeline, clients } = readLine(line);
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

/** Nothing for what is no ready line. */
function readLine(line: string): Partial<SandboxDescriptor> {
  try {
    return JSON.parse(line) as SandboxDescriptor;
  } catch {
    return {};
  }
}

/** Takes the file away, and puts it back should another start have replaced it meanwhile. */
function removeDead(file: string, dead: string): void {
  const aside = `${file}.${randomUUID()}`;
  try {
    fs.renameSync(file, aside);
    if (fs.readFileSync(aside, 'utf8') !== dead) fs.linkSync(aside, file);
  } catch {
    // Another start has removed it, or there is a newer one: the next round looks again.
  }
  fs.rmSync(aside, { force: true });
}

function removeAllBut(folder: string, file: string): void {
  for (const name of fs.readdirSync(folder)) {
    const other = path.join(folder, name);
    // Beside it stand only folders of sessions, and drafts that others are about to link.
    if (other !== file && fs.statSync(other, { throwIfNoEntry: false })?.isDirectory()) {
      fs.rmSync(other, { recursive: true, force: true });
    }
  }
}
