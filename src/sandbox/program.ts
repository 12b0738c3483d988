import { Console } from 'node:console';
import process from 'node:process';
import { parseOptions, type SandboxOptions, UsageError } from './options.ts';
import { Lifeline, shareIn } from './shared.ts';
import type { SandboxDescriptor } from './types.ts';

/** Starts the demo or the test build. */
export type Start = (options: Partial<SandboxOptions> & { log: (line: string) => void }) => Promise<{
  readonly descriptor: SandboxDescriptor;
  close(): Promise<void>;
}>;

/**
 * Runs the sandbox as a program: `node dist/sandbox.js [options]`. When it is ready, it prints the `SandboxDescriptor`
 * as one line of JSON on standard output, and never prints anything else there. Messages go to standard error. The
 * program ends on SIGTERM and SIGINT, and by itself as follows:
 *
 * - By default, it ends when standard input closes, because the process that started it has then ended.
 * - With `--keep`, it does not end by itself.
 * - With `--shared FOLDER`, it ends some seconds after the last window has closed its connection (`shared.ts`). If a
 *   sandbox is already running for that folder, it prints the line of that sandbox and ends at once.
 *
 * Exit codes: 0 if it has ended normally, 1 if it could not start, 2 if the command line is invalid.
 */
export async function runProgram(start: Start): Promise<void> {
  // A library that logs to the console must not write to standard output.
  globalThis.console = new Console(process.stderr);
  // When the window that started a shared sandbox is closed, writing fails because nobody reads the output.
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
      // There is no state to save, so do not wait long for the sockets to close.
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
