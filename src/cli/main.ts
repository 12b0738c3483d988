import process from 'node:process';
import { readManifest } from './manifest.ts';
import { rolecall } from './rolecall.ts';

/** `node dist/cli.cjs …`: the program `rolecall`, in a process of its own. */
async function main(): Promise<void> {
  const interrupted = new AbortController();
  // A second Ctrl-C ends the process as usual.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());
  const { argv, env, stdin, stdout, stderr } = process;
  const manifest = readManifest(__filename);
  process.exitCode = await rolecall(argv.slice(2), { env, stdin, stdout, stderr, manifest }, interrupted.signal);
  // An input that nobody has ended keeps no finished program alive.
  stdin.destroy();
}

void main(); // Reports everything itself.
