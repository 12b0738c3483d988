import { spawn } from 'node:child_process';
import { root } from './paths.ts';
import { onEnd } from './processes.ts';

export interface Ran {
  /** Null when a signal ended it, as when it took too long. */
  readonly code: number | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
}

/** Runs a program with this process's output, from the root, for `limitMs` at most. Never rejects. */
export async function run(
  command: string,
  parameters: readonly string[],
  { limitMs, env = {} }: { readonly limitMs: number; readonly env?: NodeJS.ProcessEnv },
): Promise<Ran> {
  const started = performance.now();
  const child = spawn(command, parameters, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
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
    child.once('exit', (code) => resolve(code));
    child.once('error', (error) => {
      console.error(`${command}: ${error.message}`);
      resolve(127);
    });
  });
  const forget = onEnd(async () => {
    end();
    await exited;
  });
  const code = await exited;
  clearTimeout(limit);
  clearTimeout(kill);
  forget();
  return { code, timedOut, durationMs: performance.now() - started };
}
