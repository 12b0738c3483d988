import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import { type ErrorKind, isCancelled, RolecallError } from '../core/base/errors.ts';
import type { CommonOptions } from './configuration.ts';
import type { Manifest } from './manifest.ts';
import type { Services } from './services.ts';
import type { Terminal } from './terminal.ts';

/** What a command works with. */
export interface CommandContext {
  readonly terminal: Terminal;
  /** Aborted by Ctrl-C, and when the output is closed. */
  readonly signal: AbortSignal;
  /** Finds the sign-in to use, once. @throws RolecallError when there is none; the next call tries again. */
  open(): Promise<Services>;
  readonly stdin: Readable;
  readonly manifest: Manifest;
}

/** Runs the work of a command and turns its result, or its failure, into the exit code. */
export type RunCommand = (
  options: CommonOptions,
  work: (context: CommandContext) => Promise<ExitCode>,
) => Promise<void>;

/** Adds a command to the program: its name, arguments and options, and what it does. */
export type Subcommand = (program: Command, run: RunCommand) => void;

/** The options that every command has. */
export function withCommonOptions(command: Command): Command {
  return command
    .option('-o, --organization <id>', 'organization to read; repeatable', collectValues)
    .option('--identity-url <address>', 'address of the identity service')
    .option('--inference-url <address>', 'address of the inference service, without /v1')
    .option('--json', 'print JSON')
    .option('--no-color', 'print no colors')
    .option('--verbose', 'log requests to standard error');
}

/** For an option that can be given several times. */
export function collectValues(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** What the end of the program tells a script. README, "Command line", has the same table. */
export const exitCodes = {
  done: 0,
  /** There is something to look at: nobody holds that role, no such person, no model, a test that failed. */
  finding: 1,
  /** The command line, or what it is configured with, was not understood; or Node.js is too old (esbuild.mjs). */
  usage: 2,
  /** A service could not be reached, or did not allow it. */
  refused: 3,
  /** What was printed is not all there is: a list could not be read, an answer was cut off, a test could not be measured. */
  incomplete: 4,
  /** Ctrl-C, as every shell counts it. */
  interrupted: 130,
  /** Whoever reads the output closed it first, as SIGPIPE is counted: what there was to find is not known. */
  unread: 141,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Mistakes of whoever typed the command or set the variables. */
const usageErrors: readonly ErrorKind[] = ['configuration', 'invalidRequest'];

export function exitCodeOf(error: unknown): ExitCode {
  if (isCancelled(error)) return exitCodes.interrupted;
  const isUsage = error instanceof RolecallError && usageErrors.includes(error.kind);
  // What a service does not understand is no mistake of the command line.
  return isUsage && error.details.status === undefined ? exitCodes.usage : exitCodes.refused;
}
