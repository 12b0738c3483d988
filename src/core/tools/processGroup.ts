import { spawn } from 'node:child_process';
import path from 'node:path';
import { type Clock, withinTime } from './clock.ts';

/** Time between asking the processes to end and ending them. */
export const graceMs = 1500;
const killedMs = 500;
const pollMs = 15;

/** The processes a tool started: its own process group (POSIX), or its tree (Windows). */
export interface ProcessGroup {
  /** Ends all of them, once: SIGTERM, after a grace SIGKILL. Resolves when they are gone, or cannot be ended. */
  end(): Promise<void>;
  /** At once and without waiting, for the moment the editor itself ends. */
  kill(): void;
}

/**
 * The group of a child that was started `detached`, so that its process id is the id of its group. A program that starts
 * a session of its own (`setsid`) leaves the group and is not reached.
 */
export function processGroup(pid: number, clock: Clock, platform: NodeJS.Platform): ProcessGroup {
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

/** False when nobody is left in the group, or nobody we may signal. */
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
    await new Promise<void>((resolve) => {
      clock.after(pollMs, resolve);
    });
  }
  return true;
}

/**
 * Not run by any test: there is no Windows among the project's machines. Windows knows no groups and no polite signal;
 * `taskkill` follows the parents, and only while the first process lives.
 */
function windowsTree(pid: number, clock: Clock): ProcessGroup {
  const start = () => {
    const program = path.win32.join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'taskkill.exe');
    return spawn(program, ['/PID', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
  };
  return {
    async end() {
      const killer = start();
      const ended = new Promise<void>((resolve) => {
        killer.once('close', () => resolve());
        killer.once('error', () => resolve());
      });
      await withinTime(ended, graceMs + killedMs, clock);
    },
    kill() {
      start().once('error', () => {});
    },
  };
}
