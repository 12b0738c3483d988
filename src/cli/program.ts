import tab from '@bomb.sh/tab/commander';
import { Command, CommanderError } from 'commander';
import { access, review, reviewFormats, whoami, whoHas } from './commands/access.ts';
import { chat, models } from './commands/chat.ts';
import { check, drift } from './commands/check.ts';
import { mcp } from './commands/mcp.ts';
import { test } from './commands/test.ts';
import { exitCodeMeanings, exitCodes } from './exitCodes.ts';
import type { RunCommand, Subcommand } from './subcommand.ts';
import type { TerminalOptions } from './terminal.ts';

/** In the order of the help. A command is a function here. */
const subcommands: readonly Subcommand[] = [whoHas, access, review, check, drift, chat, test, models, whoami, mcp];

const afterHelp = () => `
Environment:
  ROLECALL_TOKEN            a service token (default: the sign-in of an editor window)
  ROLECALL_INFERENCE_TOKEN  a separate token for the inference service
  ROLECALL_IDENTITY_URL, ROLECALL_INFERENCE_URL, ROLECALL_ORGANIZATION, ROLECALL_MODEL
  HTTPS_PROXY, NO_PROXY, NO_COLOR

Exit codes:
${exitCodeLines().join('\n')}
`;

/** Each with its meaning, on lines that fit a terminal. */
function exitCodeLines(): string[] {
  return Object.entries(exitCodeMeanings).map(([code, meaning]) => {
    const lines = meaning.replaceAll('`', '').match(/.{1,95}(?: |$)/g) ?? [];
    return `  ${code}  ${lines.map((line) => line.trim()).join('\n     ')}`;
  });
}

/** The command line without the work of its commands. Help and usage errors go to the streams. */
export function createProgram(version: string, run: RunCommand, { stdout, stderr }: TerminalOptions): Command {
  const program = new Command('rolecall')
    .description('Shows who can do what in your cloud, and asks its models.')
    .version(version)
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .showHelpAfterError('(rolecall --help lists the commands and options)')
    .addHelpText('after', afterHelp())
    .exitOverride();
  for (const add of subcommands) add(program, run);
  // Commands inherit what was set before they were made only where the library makes them.
  for (const command of program.commands) {
    command
      .exitOverride()
      .showHelpAfterError(`(rolecall ${command.name()} --help)`)
      .addHelpText('after', '\nEnvironment variables and exit codes: rolecall --help');
  }
  addCompletions(program);
  return program;
}

/** `rolecall completion bash` and its like print a script, which asks this program for what can follow. */
function addCompletions(program: Command): void {
  const completions = tab(program, { completionCommandName: 'completion' });
  program.commands
    .find((command) => command.name() === 'completion')
    ?.description('print a script that completes commands in a shell');
  const format = completions.commands.get('review')?.options.get('format');
  if (!format) return;
  format.handler = (complete) => {
    for (const name of reviewFormats) complete(name, '');
  };
}

/** The exit code for an error with which the library ends after printing its text; `undefined` for any other. */
export function exitCodeOfUsage(error: unknown): number | undefined {
  if (!(error instanceof CommanderError)) return undefined;
  return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
}
