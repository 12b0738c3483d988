import { Console } from 'node:console';
import process from 'node:process';
import { parseOptions, type SandboxOptions, UsageError } from './options.ts';
import { Lifeline, shareIn } from './shared.ts';
import type { SandboxDescriptor } from './types.ts';

/** What the program runs: the demo, or the test build. */
export type Start = (options: Partial<SandboxOptions> & { log: (line: string) => void }) => Promise<{
  readonly descriptor: SandboxDescriptor;
  close(): Promise<void>;
}>;

/**
 * The sandbox as a program: `node dist/sandbox.js [options]`. When it is ready it prints one line of JSON, the
 * `SandboxDescriptor`, on standard output and nothing else there, ever; what it has to tell goes to standard error. It
 * ends on SIGTERM and SIGINT, and by itself:
 *
 * - when standard input closes, because then the process that started it is gone;
 * - with `--keep` never;
 * - with `--shared FOLDER` some seconds after the last window has closed its connection (`shared.ts`). Where a sandbox is
 *   running for that folder already, its line is printed and this process ends at once.
 *
 * Exit codes: 0 ended, 1 could not start, 2 the command line was not understood.
 */
export async function runProgram(start: Start): Promise<void> {
  // A library that talks to the console must not spoil the one line on standard output.
  globalThis.console = new Console(process.stderr);
  // The window that started a shared sandbox may be closed: its output is not read any more.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  const log = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  const print = (descriptor: SandboxDescriptor | string): void => {
    process.stdout.write(`${typeof descriptor === 'string' ? descriptor : JSON.stringify(descriptor)}\n`);
  };
  try {
    const { options, keep, shared } = parseOptions(process.argv.slice(2));
    const { descriptor, close } = await start({ ...options, log });
    const end = (): void => {
      // Nothing is kept beyond the process: no need to wait longer than a moment for sockets.
      setTimeout(() => process.exit(0), 500).unref();
      void close().then(() => process.exit(0));
    };
    process.once('SIGTERM', end);
    process.once('SIGINT', end);
    if (shared !== undefined) {
      const lifeline = await Lifeline.open(descriptor.clients.loopback.id, shared.lingerSeconds, () => {
        folder.leave();
        end();
      });
      const folder = await shareIn(shared.folder, { ...descriptor, lifeline: lifeline.port });
      print(folder.line);
      if (!folder.isOurs) end();
    } else {
      if (!keep) process.stdin.once('end', end).once('error', end).resume();
      print(descriptor);
    }
  } catch (error) {
    log(`sandbox: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
