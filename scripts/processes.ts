import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';

/** A command that cannot outlive this process. */
export interface SupervisedProcess {
  /** The supervisor: its `stdout` and `stderr` are the command's. */
  readonly process: ChildProcess;
  /** Settles when the command and everything it started are gone. Never rejects. */
  readonly exited: Promise<void>;
  /** Ends the command's whole process group and waits for it. May be called again. */
  stop(): Promise<void>;
}

/** Starts a command in a process group of its own that ends with this process, see supervisor.ts. */
export function spawnSupervised(
  command: string,
  parameters: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv },
): SupervisedProcess {
  const supervisor = path.join(import.meta.dirname, 'supervisor.ts');
  const child = spawn(process.execPath, [supervisor, command, ...parameters], {
    ...options,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => {
    // What it printed last arrives before `close`; a stray process that holds the pipe open must not delay the end.
    child.once('close', () => resolve());
    child.once('exit', () => setTimeout(resolve, 500));
    child.once('error', () => resolve());
  });
  return {
    process: child,
    exited,
    stop: () => {
      child.stdin?.end();
      return exited;
    },
  };
}

const endings: Array<() => Promise<unknown> | undefined> = [];
let isListening = false;
let ended = false;

/**
 * Registers what is to end when this script is interrupted or loses the process that started it. Returns a function that
 * takes it back.
 */
export function onEnd(end: () => Promise<unknown> | undefined): () => void {
  if (!isListening) {
    isListening = true;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      // Ctrl-C reaches a process twice, from the terminal and from bootstrap.mjs: only the first counts.
      process.on(signal, () => void endAll(130));
    }
    process.on('disconnect', () => void endAll(1));
    // Listening must not keep a script alive that has done its work; a worker of the tests lives on messages.
    if (process.listenerCount('message') === 0) {
      process.channel?.unref();
    }
  }
  endings.push(end);
  return () => {
    const index = endings.indexOf(end);
    if (index !== -1) {
      endings.splice(index, 1);
    }
  };
}

/** Ends everything registered, last first, and exits. */
export async function endAll(exitCode: number): Promise<void> {
  if (ended) {
    return;
  }
  ended = true;
  for (const end of endings.reverse()) {
    try {
      await end();
    } catch (error) {
      console.error(error);
    }
  }
  process.exit(exitCode);
}
