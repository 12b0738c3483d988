import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { bundleCommandLine } from '../../../esbuild.mjs';
import { at, freshFolder } from '../../../scripts/paths.ts';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Piped in; nothing unless given. */
  readonly stdin?: string;
  /** Leaves standard input open, as programs do that start others. */
  readonly keepsOpen?: boolean;
  readonly cwd?: string;
}

/** A program that runs. */
export interface Running {
  readonly process: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
}

/** The command line as it is shipped, in a folder as it is installed, for the tests of one `describe`. */
export class CommandLine {
  /** What it is installed in. */
  readonly folder = freshFolder('cli');
  #program = '';

  async build(): Promise<void> {
    this.#program = await bundleCommandLine(path.join(this.folder, 'dist'));
    for (const file of ['package.json', 'package.nls.json']) fs.copyFileSync(at(file), path.join(this.folder, file));
  }

  get program(): string {
    return this.#program;
  }

  start(args: readonly string[], { env = {}, stdin, keepsOpen, cwd }: RunOptions = {}): Running {
    const child = spawn(process.execPath, [this.#program, ...args], {
      cwd: cwd ?? this.folder,
      env: {
        PATH: process.env.PATH ?? '',
        ROLECALL_STATE: path.join(this.folder, 'state'),
        NODE_COMPILE_CACHE: path.join(this.folder, 'compiled'), // It is started more than a hundred times.
        ...env,
      },
    });
    const read = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        read[name] += text;
      });
    }
    child.stdin.on('error', () => {}); // It does not read what it does not need.
    if (!keepsOpen) child.stdin.end(stdin ?? '');
    const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, ...read })));
    return { process: child, ended };
  }

  run(args: readonly string[], options?: RunOptions): Promise<Ended> {
    return this.start(args, options).ended;
  }

  remove(): void {
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** One build for the tests of the `describe` that calls this. */
export function useCommandLine(): CommandLine {
  const commandLine = new CommandLine();
  before(function () {
    this.timeout(60_000);
    return commandLine.build();
  });
  after(() => commandLine.remove());
  return commandLine;
}
