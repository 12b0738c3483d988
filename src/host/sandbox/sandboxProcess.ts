import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { raceWithSignal } from '../../core/base/abort.ts';
import type { Connection } from '../../core/base/connection.ts';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { type ConfiguredModel, isConfiguredModel } from '../settings.ts';

const loopbackUrl = z.string().check(z.regex(/^http:\/\/127\.0\.0\.1:\d+(\/|$)/));

const descriptorSchema = z.object({
  rolecallSandbox: z.literal(1),
  identity: loopbackUrl,
  inference: loopbackUrl,
  clients: z.object({ loopback: z.object({ id: z.string(), secret: z.string(), redirectUri: loopbackUrl }) }),
  organizations: z.array(z.string()),
  models: z.array(z.custom<ConfiguredModel>(isConfiguredModel)),
  prompts: z.array(z.string()),
  lifeline: z.optional(z.int().check(z.minimum(1), z.maximum(65_535))),
});

/** The line that the sandbox prints when it is ready: its addresses, and the client to sign in as. */
export type SandboxDescriptor = z.infer<typeof descriptorSchema>;

/** @throws RolecallError `protocol` when the line is not the sandbox's; only loopback addresses are accepted. */
export function readDescriptor(line: string): SandboxDescriptor {
  try {
    return z.parse(descriptorSchema, JSON.parse(line));
  } catch (cause) {
    throw new RolecallError('protocol', vscode.l10n.t('The sandbox started but did not report its addresses.'), {
      cause,
    });
  }
}

export function sandboxConnection(descriptor: SandboxDescriptor): Connection {
  const { loopback } = descriptor.clients;
  return {
    id: 'sandbox',
    label: vscode.l10n.t('the sandbox'),
    identityUrl: descriptor.identity,
    inferenceUrl: descriptor.inference,
    clientId: loopback.id,
    clientAuthentication: 'client_secret_post',
    redirectUri: loopback.redirectUri,
    scope: 'openid email profile',
  };
}

const START_DEADLINE_MS = 30_000;
/** A sandbox on this machine sends its greeting at once. */
const GREETING_MS = 2000;

export interface SandboxProgram {
  /** Absolute path of `dist/sandbox.js`. */
  readonly file: string;
  /** Windows with the same folder share one sandbox. It writes its ready line there while it runs, and removes the folder. */
  readonly folder: string;
  readonly parameters?: readonly string[];
}

/**
 * The demo cloud that the windows of this editor and user share. It is a separate process and outlives the window that
 * started it: each window that uses it keeps a connection to it, and some seconds after the last one is closed it ends.
 * So it survives a reload and leaves nothing behind when the editor dies.
 */
export class SandboxProcess {
  readonly descriptor: SandboxDescriptor;
  readonly #lifeline: net.Socket;

  private constructor(descriptor: SandboxDescriptor, lifeline: net.Socket) {
    this.descriptor = descriptor;
    this.#lifeline = lifeline;
    lifeline.on('error', () => {}); // Followed by `close`.
    lifeline.resume().unref();
  }

  /** Connects to the running sandbox, or starts one. */
  static async start(program: SandboxProgram, log: Log, signal: AbortSignal): Promise<SandboxProcess> {
    const { file, folder, parameters = [] } = program;
    const child = spawn(process.execPath, [file, '--shared', folder, ...parameters], {
      // On the desktop the extension host's executable is Electron, which runs as Node with this variable.
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      windowsHide: true,
    });
    child.unref();
    for (const stream of [child.stdout, child.stderr]) if (stream instanceof net.Socket) stream.unref();
    createInterface({ input: child.stderr }).on('line', (line) => log.warn(`sandbox: ${line}`));
    try {
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(START_DEADLINE_MS)]);
      return await SandboxProcess.#connect(readDescriptor(await raceWithSignal(firstLine(child), deadline)), deadline);
    } catch (error) {
      child.kill();
      if (signal.aborted) throw cancelled(error);
      if (error instanceof RolecallError && error.kind !== 'cancelled') throw error;
      throw new RolecallError('unexpected', vscode.l10n.t('The sandbox could not be started.'), { cause: error });
    }
  }

  /** Connects to the sandbox of this folder; `undefined` where none is running. */
  static async running(folder: string, signal: AbortSignal): Promise<SandboxProcess | undefined> {
    try {
      const line = await fs.readFile(path.join(folder, 'sandbox.json'), { encoding: 'utf8', signal });
      return await SandboxProcess.#connect(readDescriptor(line), signal);
    } catch {
      return undefined; // It has ended, or was killed.
    }
  }

  static async #connect(descriptor: SandboxDescriptor, signal: AbortSignal): Promise<SandboxProcess> {
    const { lifeline: port, clients } = descriptor;
    if (port === undefined)
      throw new RolecallError('protocol', vscode.l10n.t('The sandbox started but did not report its addresses.'));
    const lifeline = net.connect({ host: '127.0.0.1', port });
    try {
      const greeted = AbortSignal.any([signal, AbortSignal.timeout(GREETING_MS)]);
      const [greeting] = (await once(lifeline, 'data', { signal: greeted })) as [Buffer];
      // Another program may listen at the port of a sandbox that has ended.
      if (greeting.toString() !== `${clients.loopback.id}\n`) throw new Error('another program listens there');
      return new SandboxProcess(descriptor, lifeline);
    } catch (error) {
      lifeline.destroy();
      throw error;
    }
  }

  /** Calls `listener` at once if the sandbox has already ended. */
  onEnd(listener: () => void): void {
    if (this.#lifeline.closed) listener();
    else this.#lifeline.once('close', listener);
  }

  /** Tells the sandbox that this window does not need it again, as it would after a reload. */
  leave(): void {
    this.#lifeline.end('bye');
  }

  dispose(): void {
    this.#lifeline.destroy();
  }
}

/** Whether something listens at this address of this machine, which the system itself answers at once. */
export async function isListening(address: string): Promise<boolean> {
  const { hostname, port } = new URL(address);
  const socket = net.connect({ host: hostname, port: Number(port || 80) });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the sandbox ended with code ${code}`)));
    if (child.stdout) createInterface({ input: child.stdout }).once('line', resolve);
  });
}
