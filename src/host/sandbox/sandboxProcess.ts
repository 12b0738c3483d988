import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { waitFor } from '../../core/base/abort.ts';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { readDescriptor, type SandboxDescriptor } from './descriptor.ts';

const START_DEADLINE_MS = 30_000;

/** The embedded cloud as a child of this window. It ends when its standard input closes, so also when the editor dies. */
export class SandboxProcess {
  readonly descriptor: SandboxDescriptor;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, descriptor: SandboxDescriptor) {
    this.#child = child;
    this.descriptor = descriptor;
  }

  /** @param program the absolute path of `dist/sandbox.js`. */
  static async start(program: string, log: Log, signal: AbortSignal): Promise<SandboxProcess> {
    const child = spawn(process.execPath, [program], {
      // On the desktop the extension host's executable is Electron, which runs as Node with this variable.
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    createInterface({ input: child.stderr }).on('line', (line) => log.warn(`sandbox: ${line}`));
    try {
      const deadline = AbortSignal.timeout(START_DEADLINE_MS);
      const line = await waitFor(firstLine(child), AbortSignal.any([signal, deadline]));
      return new SandboxProcess(child, readDescriptor(line));
    } catch (error) {
      child.kill();
      if (signal.aborted) throw cancelled(error);
      if (error instanceof RolecallError && error.kind !== 'cancelled') throw error;
      throw new RolecallError('unexpected', 'The sandbox could not be started.', { cause: error });
    }
  }

  onExit(listener: () => void): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) listener();
    else this.#child.once('exit', listener);
  }

  stop(): void {
    this.#child.kill();
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the sandbox ended with code ${code}`)));
    if (child.stdout) createInterface({ input: child.stdout }).once('line', resolve);
  });
}
