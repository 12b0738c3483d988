import { spawn } from 'node:child_process';
import { root } from './paths.ts';
import { onEnd } from './processes.ts';

export interface RunResult {
  /** Null when a signal ended it, as when it took too long. */
  readonly code: number | null;
  readonly timedOut: boolean;
}

/** Takes what a program prints, piece by piece. */
export type Write = (text: string) => void;

export interface RunOptions {
  readonly limitMs: number;
  readonly env?: NodeJS.ProcessEnv;
  /** Takes what the program prints, on both streams. Absent: it prints where this process does. */
  readonly write?: Write | undefined;
}

/** Runs a program from the root, for `limitMs` at most. Never rejects. */
export async function run(
  command: string,
  parameters: readonly string[],
  { limitMs, env = {}, write }: RunOptions,
): Promise<RunResult> {
  const output = write === undefined ? 'inherit' : 'pipe';
  const child = spawn(command, parameters, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', output, output],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => write?.(text));
  }
  let timedOut = false;
  let kill: NodeJS.Timeout | undefined;
  const end = (): void => {
    child.kill('SIGTERM');
    kill = setTimeout(() => child.kill('SIGKILL'), 5000);
  };
  const limit = setTimeout(() => {
    timedOut = true;
    end();
  }, limitMs);
  const exited = new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      (write ?? console.error)(`${command}: ${error.message}\n`);
      resolve(127);
    });
    // `close` comes when everything that was printed has been read; a stray process may hold the pipe open longer.
    child.once('close', (code) => resolve(code));
    child.once('exit', (code) => setTimeout(() => resolve(code), 1000));
  });
  const forget = onEnd(async () => {
    end();
    await exited;
  });
  const code = await exited;
  clearTimeout(limit);
  clearTimeout(kill);
  forget();
  return { code, timedOut };
}
