import { spawn } from 'node:child_process';
import type { TestDescriptor } from '../src/sandbox/testing/sandbox.ts';
import type { SandboxDescriptor } from '../src/sandbox/types.ts';
import { at } from './paths.ts';
import { onEnd } from './processes.ts';

export interface RunningSandbox<Descriptor extends SandboxDescriptor = TestDescriptor> {
  readonly descriptor: Descriptor;
  /** What it told on standard error so far. */
  output(): string;
  stop(): Promise<void>;
}

const startLimitMs = 60_000;

/** Starts the sandbox's test build, which has a remote control. */
export function startSandbox(parameters: readonly string[] = []): Promise<RunningSandbox> {
  return start(at('out', 'test', 'sandbox.js'), parameters);
}

/** Starts the sandbox as it is shipped. */
export function startDemo(): Promise<RunningSandbox<SandboxDescriptor>> {
  return start(at('dist', 'sandbox.js'), []);
}

/** Waits for the ready line. The sandbox ends with this process at the latest: it watches its standard input. */
async function start<Descriptor extends SandboxDescriptor>(
  program: string,
  parameters: readonly string[],
): Promise<RunningSandbox<Descriptor>> {
  const child = spawn(process.execPath, [program, ...parameters], { stdio: ['pipe', 'pipe', 'pipe'] });
  let told = '';
  let ready = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const stop = async (): Promise<void> => {
    child.stdin.end();
    const late = setTimeout(() => child.kill('SIGKILL'), 3000);
    await exited;
    clearTimeout(late);
  };
  // A sandbox that died has closed its end; writing nothing to it is not an error worth a crash.
  child.stdin.on('error', () => {});
  const forget = onEnd(stop);
  const line = await new Promise<string | undefined>((resolve) => {
    const limit = setTimeout(() => resolve(undefined), startLimitMs);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      ready += text;
      if (ready.includes('\n')) {
        clearTimeout(limit);
        resolve(ready.slice(0, ready.indexOf('\n')));
      }
    });
    void exited.then(() => {
      clearTimeout(limit);
      resolve(undefined);
    });
  });
  if (line === undefined) {
    await stop();
    throw new Error(`The sandbox did not start within ${startLimitMs / 1000} s:\n${told}`);
  }
  return {
    descriptor: JSON.parse(line) as Descriptor,
    output: () => told,
    stop: async () => {
      forget();
      await stop();
    },
  };
}
