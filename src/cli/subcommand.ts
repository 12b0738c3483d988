import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { CommonOptions } from './configuration.ts';
import type { ExitCode } from './exitCodes.ts';
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

/** The options of a command that reads organizations. */
export function withOrganizationOptions(command: Command): Command {
  return withCommonOptions(
    command.option('-o, --organization <id>', 'organization to read; repeatable', collectValues),
  );
}

/** The options that every command has. */
export function withCommonOptions(command: Command): Command {
  return command
    .option('--identity-url <address>', 'address of the identity service')
    .option('--inference-url <address>', 'address of the inference service, without /v1')
    .option('--json', 'print JSON')
    .option('--no-color', 'do not use colors')
    .option('--verbose', 'log requests to standard error');
}

/** For an option that can be given several times. */
export function collectValues(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
