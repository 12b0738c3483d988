import type process from 'node:process';
import type { Command } from 'commander';
import type { CommonOptions } from './configuration.ts';
import type { ExitCode } from './exitCodes.ts';
import type { Manifest } from './manifest.ts';
import type { Services } from './services.ts';
import type { Terminal } from './terminal.ts';

/** What a command works with. */
export interface Context {
  readonly terminal: Terminal;
  /** Aborted by Ctrl-C, and when nobody reads the output any more. */
  readonly signal: AbortSignal;
  /** Finds the sign-in to use, once. @throws RolecallError when there is none; the next call tries again. */
  open(): Promise<Services>;
  readonly stdin: typeof process.stdin;
  readonly manifest: Manifest;
}

/** Runs the work of a command and turns its result, or its failure, into the exit code. */
export type Run = (options: CommonOptions, work: (context: Context) => Promise<ExitCode>) => Promise<void>;

/** Adds a command to the program: its name, arguments and options, and what it does. */
export type Subcommand = (program: Command, run: Run) => void;

/** The options that every command has. */
export function withCommonOptions(command: Command): Command {
  const collect = (id: string, before: readonly string[] = []) => [...before, id];
  return command
    .option('-o, --organization <id>', 'organization to read; can be repeated', collect)
    .option('--identity-url <address>', 'address of the identity service')
    .option('--inference-url <address>', 'address of the inference service, without /v1')
    .option('--json', 'print JSON')
    .option('--no-color', 'print no colors')
    .option('--verbose', 'say on standard error what is requested');
}
