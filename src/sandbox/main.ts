import { Console } from 'node:console';
import process from 'node:process';
import { parseOptions, UsageError } from './options.ts';
import { startSandbox } from './sandbox.ts';

/**
 * The sandbox as a program: `node dist/sandbox.js [options]`. When it is ready it prints one line of JSON, the
 * `SandboxDescriptor`, on standard output and nothing else there, ever; what it has to tell goes to standard error. It
 * ends when standard input closes, because then the editor that started it is gone (unless `--keep`), and on SIGTERM and
 * SIGINT. Exit codes: 0 ended, 1 could not start, 2 the command line was not understood.
 */
async function main(): Promise<void> {
  // A library that talks to the console must not spoil the one line on standard output.
  globalThis.console = new Console(process.stderr);
  const tell = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  try {
    const { options, keep } = parseOptions(process.argv.slice(2));
    const { descriptor, close } = await startSandbox({ ...options, log: tell });
    const end = (): void => {
      // Nothing is kept beyond the process: no need to wait longer than a moment for sockets.
      setTimeout(() => process.exit(0), 500).unref();
      void close().then(() => process.exit(0));
    };
    process.once('SIGTERM', end);
    process.once('SIGINT', end);
    if (!keep) process.stdin.once('end', end).once('error', end).resume();
    process.stdout.write(`${JSON.stringify(descriptor)}\n`);
  } catch (error) {
    tell(`sandbox: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

await main();
