import { type ChildProcess, spawn as nodeSpawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import path from 'node:path';
import * as l10n from '@vscode/l10n';
import { cancelled, RolecallError } from '../base/errors.ts';
import { infoDescriptor, type Launch } from './launch.ts';
import { OutputBuffer, type ProcessResult } from './output.ts';
import type { ProcessSpec } from './prepare.ts';

export type LaunchSpec = Launch & Pick<ProcessSpec, 'stdin' | 'timeoutMs' | 'outputLimit'>;

export type Spawn = (file: string, args: readonly string[], options: SpawnOptions) => ChildProcess;

/** The clock as a value, so that tests need not wait. */
export interface Clock {
  /** Milliseconds that never run backwards. */
  now(): number;
  /** Calls back once after `ms`; the function returned prevents it. */
  after(ms: number, callback: () => void): () => void;
}

const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

export interface ProcessOptions {
  readonly signal: AbortSignal;
  readonly spawn?: Spawn;
  readonly clock?: Clock;
}

/** How long output may take to arrive after the program has ended. */
const drainMs = 200;

/**
 * Runs a program without a shell, in a process group of its own, and leaves nothing of the group running: not on abort,
 * not on time-out, not after a normal end with processes in the background.
 *
 * @throws {RolecallError} `cancelled` after an abort, once the group has ended; `tool` when the program cannot start.
 */
export async function runProcess(spec: LaunchSpec, options: ProcessOptions): Promise<ProcessResult> {
  const { signal, spawn = nodeSpawn, clock = systemClock } = options;
  if (signal.aborted) throw cancelled(signal.reason);
  const child = await start(spec, spawn);
  const group = processGroup(child.pid, clock, process.platform);
  const kill = (): void => group.kill();
  process.once('exit', kill);
  try {
    const stop = await firstOf(child, spec.timeoutMs, signal, clock);
    if (stop !== 'ended') await group.end();
    await drain(child, group, clock);
    if (spec.hasNamespace) await namespaceEnded(child.info, clock);
    if (stop === 'cancelled') throw cancelled(signal.reason);
    return {
      exitCode: child.process.exitCode,
      signal: child.process.signalCode,
      stdout: child.stdout.finish(),
      stderr: child.stderr.finish(),
      timedOut: stop === 'timeout',
    };
  } finally {
    process.off('exit', kill);
  }
}

interface RunningChild {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly stdout: OutputBuffer;
  readonly stderr: OutputBuffer;
  readonly exited: Promise<unknown>;
  /** After `exited`, when every holder of the output pipes has closed them. */
  readonly closed: Promise<unknown>;
  /** The bytes that came over {@link infoDescriptor}. */
  readonly info: OutputBuffer;
}

async function start(spec: LaunchSpec, spawn: Spawn): Promise<RunningChild> {
  const buffers = {
    stdout: new OutputBuffer(spec.outputLimit),
    stderr: new OutputBuffer(spec.outputLimit),
    info: new OutputBuffer(infoLimit),
  };
  const inherited = await inheritable();
  const nothing = openSync(devNull, 'r');
  try {
    const overlaid: (number | 'pipe')[] = [];
    for (const descriptor of inherited) overlaid[descriptor - 3] = nothing;
    if (spec.hasNamespace) overlaid[infoDescriptor - 3] = 'pipe';
    const child = spawn(spec.file, spec.args, {
      cwd: spec.cwd,
      env: { ...spec.env },
      shell: false,
      // In a group of its own; on Windows that would open a console window instead.
      detached: process.platform !== 'win32',
      windowsHide: true,
      stdio: [
        spec.stdin === undefined ? 'ignore' : 'pipe',
        'pipe',
        'pipe',
        ...Array.from(overlaid, (each) => each ?? 'ignore'),
      ],
    });
    child.stdout?.on('data', (chunk: Buffer) => buffers.stdout.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => buffers.stderr.push(chunk));
    child.stdio[infoDescriptor]?.on('data', (chunk: Buffer) => buffers.info.push(chunk));
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    // A program may ignore its input: a broken pipe is no failure.
    child.stdin?.on('error', () => {});
    child.stdin?.end(spec.stdin);
    await once(child, 'spawn');
    child.on('error', () => {});
    if (child.pid === undefined) throw new Error('it has no process ID');
    return { process: child, pid: child.pid, ...buffers, exited, closed };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RolecallError('tool', l10n.t('"{0}" could not be started: {1}.', spec.file, reason), { cause: error });
  } finally {
    closeSync(nothing);
  }
}

const infoLimit = 4096;

/**
 * bubblewrap ends when its program does. The kernel then ends the rest of the process namespace, but takes a moment,
 * and waits for all of it before it releases the namespace's first process.
 *
 * @throws {RolecallError} `tool` when a process hangs in the kernel, as on a network disk that is gone.
 */
async function namespaceEnded(info: OutputBuffer, clock: Clock): Promise<void> {
  const pid = /"child-pid": (\d+)/.exec(info.finish())?.[1];
  const isRunning = () =>
    readFile(`/proc/${pid}/stat`, 'utf8').then(
      (stat) => !/\) [ZX] /.test(stat),
      () => false,
    );
  const end = clock.now() + namespaceMs;
  while (pid !== undefined && (await isRunning())) {
    if (clock.now() > end) {
      throw new RolecallError(
        'tool',
        l10n.t('Part of the program is still running. It may still change files that it can write.'),
      );
    }
    await elapsed(pollMs, clock);
  }
}

const closeOnExec = 0o2000000;

/**
 * Descriptors above 2 that every program started from here inherits, perhaps a folder or a socket: whoever started the
 * editor left them open. Node closes them on macOS and Windows; on Linux only those below the first gap
 * (`uv_disable_stdio_inheritance`).
 */
async function inheritable(): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const descriptors: number[] = [];
  for (const name of await readdir('/proc/self/fd').catch(() => [])) {
    const info = await readFile(`/proc/self/fdinfo/${name}`, 'utf8').catch(() => ''); // Closed meanwhile.
    const flags = /^flags:\s*(\d+)$/m.exec(info)?.[1];
    if (Number(name) > 2 && flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0) {
      descriptors.push(Number(name));
    }
  }
  return descriptors;
}

function firstOf(
  child: RunningChild,
  timeoutMs: number,
  signal: AbortSignal,
  clock: Clock,
): Promise<'ended' | 'timeout' | 'cancelled'> {
  return new Promise((resolve) => {
    const settle = (stop: 'ended' | 'timeout' | 'cancelled'): void => {
      prevent();
      signal.removeEventListener('abort', abort);
      resolve(stop);
    };
    const abort = (): void => settle('cancelled');
    const prevent = clock.after(timeoutMs, () => settle('timeout'));
    signal.addEventListener('abort', abort);
    void child.exited.then(() => settle('ended'));
    if (signal.aborted) abort();
  });
}

/**
 * Waits for output. Processes in the background may keep the pipes open after the program has ended; they do not
 * outlive the call.
 */
async function drain(child: RunningChild, group: ProcessGroup, clock: Clock): Promise<void> {
  const isClosed = await settlesWithin(child.closed, drainMs, clock);
  if (process.platform !== 'win32' || !isClosed) await group.end();
  child.process.stdout?.destroy();
  child.process.stderr?.destroy();
  child.process.stdin?.destroy();
}

/** The time between asking the processes to end and killing them. */
const graceMs = 1500;
const killedMs = 500;
const namespaceMs = 10_000;
const pollMs = 15;

/** The processes a tool started: its own process group (POSIX), or its tree (Windows). */
interface ProcessGroup {
  /** Ends all of them, once: SIGTERM, after a grace SIGKILL. Resolves when they are gone, or cannot be ended. */
  end(): Promise<void>;
  /** Kills at once and without waiting, for the moment when the editor itself ends. */
  kill(): void;
}

/**
 * The group of a child that was started `detached`, so that its process id is the id of its group. A program that starts
 * a session of its own (`setsid`) leaves the group and is not reached.
 */
function processGroup(pid: number, clock: Clock, platform: NodeJS.Platform): ProcessGroup {
  const group = platform === 'win32' ? windowsTree(pid, clock) : posixGroup(pid, clock);
  let ending: Promise<void> | undefined;
  return {
    end() {
      ending ??= group.end();
      return ending;
    },
    kill: group.kill,
  };
}

function posixGroup(pid: number, clock: Clock): ProcessGroup {
  return {
    async end() {
      if (!signalGroup(pid, 'SIGTERM')) return;
      if (await isGoneWithin(pid, graceMs, clock)) return;
      signalGroup(pid, 'SIGKILL');
      await isGoneWithin(pid, killedMs, clock);
    },
    kill() {
      signalGroup(pid, 'SIGKILL');
    },
  };
}

/** False when no process is left in the group, or none that we may signal. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

async function isGoneWithin(pid: number, ms: number, clock: Clock): Promise<boolean> {
  const end = clock.now() + ms;
  while (signalGroup(pid, 0)) {
    if (clock.now() >= end) return false;
    await elapsed(pollMs, clock);
  }
  return true;
}

/** True when `promise` was fulfilled before `ms` passed. Rejects as `promise` does. */
async function settlesWithin(promise: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  let prevent: () => void = () => {};
  const late = new Promise<false>((resolve) => {
    prevent = clock.after(ms, () => resolve(false));
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    prevent();
  }
}

function elapsed(ms: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}

/**
 * Not run by any test, because none runs on Windows. Windows knows no groups and no polite signal; `taskkill` follows
 * the parents, and only while the first process lives.
 */
function windowsTree(pid: number, clock: Clock): ProcessGroup {
  const start = () => {
    const program = path.win32.join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'taskkill.exe');
    return nodeSpawn(program, ['/PID', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
  };
  return {
    async end() {
      const killer = start();
      const ended = new Promise<void>((resolve) => {
        killer.once('close', () => resolve());
        killer.once('error', () => resolve());
      });
      await settlesWithin(ended, graceMs + killedMs, clock);
    },
    kill() {
      start().once('error', () => {});
    },
  };
}
