import type { Readable, Writable } from 'node:stream';
import { asRolecallError, isCancelled, systemErrorCode } from '../core/base/errors.ts';
import type { Fetch } from '../core/base/http.ts';
import { stateRoot, thisMachine } from '../core/oauth/rotation/statePaths.ts';
import { type CommonOptions, type Configuration, readConfiguration, tokenVariables } from './configuration.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exitCodes.ts';
import type { Manifest } from './manifest.ts';
import { createNetwork } from './network.ts';
import { createProgram, exitCodeOfUsage } from './program.ts';
import { type Services, servicesOfToken } from './services.ts';
import { servicesOfWindow } from './servicesOfWindow.ts';
import type { RunCommand } from './subcommand.ts';
import { Terminal } from './terminal.ts';

/** The surroundings of the program: its process, or a test. Files are relative to the process's current folder. */
export interface ProgramHost {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: NodeJS.ProcessEnv;
  readonly manifest: Manifest;
}

/** The program `rolecall` with these arguments. Reports everything itself. @returns its exit code. */
export async function rolecall(args: readonly string[], host: ProgramHost, interrupted: AbortSignal): Promise<number> {
  const { env, manifest, stdin } = host;
  const terminal = new Terminal(host);
  const signal = AbortSignal.any([interrupted, terminal.closed]);
  let exitCode: number = exitCodes.done;
  const report = (error: unknown) => {
    exitCode = exitCodeOf(error);
    if (!isCancelled(error)) terminal.error(asRolecallError(error).message);
  };

  const run: RunCommand = async (options, work) => {
    terminal.configure(options);
    const network = createNetwork(env);
    let services: Services | undefined;
    let opening: Promise<Services> | undefined;
    const open = async () => {
      // A server for agents outlives windows and accounts.
      if (services && !services.lost) return services;
      // Callers that come meanwhile share it; the user is asked once.
      const command = `rolecall ${args[0] ?? ''}`.trim();
      opening ??= openServices(
        { configuration: readOptions(options, env, terminal), command },
        env,
        network.fetch,
        terminal,
        signal,
      ).finally(() => {
        opening = undefined;
      });
      services = await opening;
      return services;
    };
    let code: ExitCode | undefined;
    try {
      code = await work({ terminal, signal, open, stdin, manifest });
      exitCode = code;
      // A client could take the part before the cut for an answer.
      if (services?.lost) throw services.lost;
    } catch (error) {
      report(error);
    } finally {
      await network.close();
    }
    const broken = terminal.closed.reason;
    if (!terminal.closed.aborted) return;
    // A reader that closed the output is not reported; a full disk is.
    if (systemErrorCode(broken) === 'EPIPE') exitCode = code ?? exitCodes.unread;
    else report(broken);
  };

  try {
    await createProgram(manifest.version, run, host).parseAsync(args, { from: 'user' });
  } catch (error) {
    const code = exitCodeOfUsage(error);
    if (code === undefined) report(error);
    else exitCode = code;
  }
  return exitCode;
}

/** Adds tokens to the terminal, which hides them, before anything else is done with them. */
function readOptions(options: CommonOptions, env: NodeJS.ProcessEnv, terminal: Terminal): Configuration {
  for (const name of Object.values(tokenVariables)) terminal.addSecret(env[name] ?? '');
  return readConfiguration(options, env);
}

async function openServices(
  { configuration, command }: { readonly configuration: Configuration; readonly command: string },
  env: NodeJS.ProcessEnv,
  fetch: Fetch,
  { log, note }: Pick<Terminal, 'log' | 'note'>,
  signal: AbortSignal,
): Promise<Services> {
  const { token } = configuration;
  if (token !== undefined) return servicesOfToken({ configuration: { ...configuration, token }, fetch, log });
  // `ROLECALL_STATE` is for tests: windows always use `stateRoot`.
  const state = env.ROLECALL_STATE ?? stateRoot(thisMachine());
  const { ROLECALL_WINDOW: address } = env;
  return servicesOfWindow({ configuration, state, folder: process.cwd(), address, command, log, note }, signal);
}
