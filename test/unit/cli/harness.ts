import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { bundleCommandLine } from '../../../esbuild.mjs';
import { at, freshFolder } from '../../../scripts/paths.ts';
import { readManifest } from '../../../src/cli/manifest.ts';
import { rolecall } from '../../../src/cli/rolecall.ts';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Piped in; nothing unless given. */
  readonly stdin?: string;
  readonly cwd?: string;
}

export interface StartOptions extends RunOptions {
  /** Leaves standard input open, as programs do that start others. */
  readonly keepsOpen?: boolean;
}

/** A program that runs. */
export interface Running {
  readonly process: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
}

/** The command line for the tests of one `describe`, in a folder of its own. */
export class CommandLine {
  /** The current folder of what runs; its state is there, too. */
  readonly folder = freshFolder('cli');
  #program = '';

  async build(): Promise<void> {
    building ??= build();
    this.#program = await building;
  }

  /** As it is shipped, in a folder as it is installed. */
  get program(): string {
    return this.#program;
  }

  /** Runs it in this process: no test needs one of its own for what is read, printed and told by the exit code. */
  async run(args: readonly string[], { env = {}, stdin = '', cwd }: RunOptions = {}): Promise<Ended> {
    const leave = enterFolder(cwd ?? this.folder);
    const [stdout, stderr] = [new Printed(), new Printed()];
    try {
      const host = {
        stdin: Readable.from([Buffer.from(stdin)]),
        stdout,
        stderr,
        env: this.#environment(env),
        manifest: readManifest(this.#program),
      };
      const code = await rolecall(args, host, new AbortController().signal);
      return { code, stdout: stdout.text, stderr: stderr.text };
    } finally {
      leave();
    }
  }

  /** Starts a process, for what only one shows: signals, pipes, its arguments and environment, the bundle. */
  start(args: readonly string[], { env = {}, stdin, keepsOpen, cwd }: StartOptions = {}): Running {
    const child = spawn(process.execPath, [this.#program, ...args], {
      cwd: cwd ?? this.folder,
      env: {
        PATH: process.env.PATH ?? '',
        ...COMPILED,
        ...this.#environment(env),
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

  remove(): void {
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #environment(env: Readonly<Record<string, string>>): Record<string, string> {
    return { ROLECALL_STATE: path.join(this.folder, 'state'), ...env };
  }
}

class Printed extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, written: () => void): void {
    this.text += chunk.toString();
    written();
  }
}

const home = process.cwd();
let inside = 0;

/** A process has one current folder: what runs at the same time runs in the same. */
function enterFolder(folder: string): () => void {
  assert.ok(inside === 0 || process.cwd() === fs.realpathSync(folder), 'another run has another folder');
  process.chdir(folder);
  inside++;
  return () => {
    inside--;
    if (inside === 0) process.chdir(home);
  };
}

/** Built once, for all tests. */
let building: Promise<string> | undefined;
const built = freshFolder('cli-program');
/** In the environment of each process of it: most of what a start costs is compiling the same file again. */
export const COMPILED = { NODE_COMPILE_CACHE: path.join(built, 'compiled') };
after(() => fs.rmSync(built, { recursive: true, force: true, maxRetries: 5 }));

async function build(): Promise<string> {
  for (const file of ['package.json', 'package.nls.json']) fs.copyFileSync(at(file), path.join(built, file));
  return bundleCommandLine(path.join(built, 'dist'));
}

/** For the tests of the `describe` that calls this. */
export function useCommandLine(): CommandLine {
  const commandLine = new CommandLine();
  const { FORCE_COLOR } = process.env;
  before(function () {
    this.timeout(60_000);
    // Node would color what this process prints into no terminal.
    delete process.env.FORCE_COLOR;
    return commandLine.build();
  });
  after(() => {
    if (FORCE_COLOR !== undefined) process.env.FORCE_COLOR = FORCE_COLOR;
    commandLine.remove();
  });
  return commandLine;
}
