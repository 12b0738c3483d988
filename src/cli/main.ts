import process from 'node:process';
import { EnvHttpProxyAgent, fetch as undiciFetch } from 'undici';
import { asRolecallError, isCancelled, systemErrorCode } from '../core/base/errors.ts';
import type { Fetch } from '../core/base/http.ts';
import { stateRoot, thisMachine } from '../core/oauth/rotation/statePaths.ts';
import { type CommonOptions, type Configuration, readConfiguration, tokenVariables } from './configuration.ts';
import { readManifest } from './manifest.ts';
import { createProgram, exitCodeOfUsage } from './program.ts';
import { type Services, servicesOfToken } from './services.ts';
import { servicesOfWindow } from './servicesOfWindow.ts';
import { type ExitCode, exitCodeOf, exitCodes, type Run } from './subcommand.ts';
import { Terminal } from './terminal.ts';

/** `node dist/cli.cjs …`: the program `rolecall`. */
async function main(): Promise<void> {
  const terminal = new Terminal({ stdout: process.stdout, stderr: process.stderr });
  const interrupted = new AbortController();
  // A second Ctrl-C ends the process as usual.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());
  const signal = AbortSignal.any([interrupted.signal, terminal.closed]);

  const manifest = readManifest(__filename);

  const run: Run = async (options, work) => {
    terminal.configure(options);
    const network = createNetwork(process.env);
    let services: Services | undefined;
    let opening: Promise<Services> | undefined;
    const open = async () => {
      // A server for agents outlives windows and accounts.
      if (services && !services.lost) return services;
      // Those who ask meanwhile share it; the user is asked once.
      opening ??= openServices(readOptions(options, terminal), network.fetch, terminal, signal).finally(() => {
        opening = undefined;
      });
      services = await opening;
      return services;
    };
    let code: ExitCode | undefined;
    try {
      code = await work({ terminal, signal, open, stdin: process.stdin, manifest });
      process.exitCode = code;
      // A client may take what was cut off for an answer.
      if (services?.lost) throw services.lost;
    } catch (error) {
      report(error, terminal);
    } finally {
      await network.close();
    }
    const broken = terminal.closed.reason;
    if (!terminal.closed.aborted) return;
    // A reader that has enough is nothing to tell; a full disk is.
    if (systemErrorCode(broken) === 'EPIPE') process.exitCode = code ?? exitCodes.unread;
    else report(broken, terminal);
  };

  try {
    await createProgram(manifest.version, run).parseAsync(process.argv);
  } catch (error) {
    const code = exitCodeOfUsage(error);
    if (code === undefined) report(error, terminal);
    else process.exitCode = code;
  }
  // An input that nobody has ended keeps no finished program alive.
  process.stdin.destroy();
}

/** Tokens are known to the terminal, which hides them, before anything else is done with them. */
function readOptions(options: CommonOptions, terminal: Terminal): Configuration {
  for (const name of Object.values(tokenVariables)) terminal.addSecret(process.env[name] ?? '');
  return readConfiguration(options, process.env);
}

async function openServices(
  configuration: Configuration,
  fetch: Fetch,
  { log, note }: Pick<Terminal, 'log' | 'note'>,
  signal: AbortSignal,
): Promise<Services> {
  const { token } = configuration;
  if (token !== undefined) return servicesOfToken({ configuration: { ...configuration, token }, fetch, log });
  // Elsewhere only in tests: windows know but one place.
  const state = process.env.ROLECALL_STATE ?? stateRoot(thisMachine());
  const { ROLECALL_WINDOW: address } = process.env;
  return servicesOfWindow({ configuration, state, folder: process.cwd(), address, log, note }, signal);
}

function report(error: unknown, terminal: Terminal): void {
  process.exitCode = exitCodeOf(error);
  if (!isCancelled(error)) terminal.error(asRolecallError(error).message);
}

interface Network {
  readonly fetch: Fetch;
  /** Cuts what is open: nothing keeps the process alive. */
  close(): Promise<void>;
}

/** No proxy is asked for this machine: http without TLS is allowed for it, and a proxy would read the token. */
const THIS_MACHINE = '127.0.0.1,localhost,[::1],::1';

/** Requests through the proxy that `HTTPS_PROXY` and `HTTP_PROXY` name, but to the hosts of `NO_PROXY`. */
function createNetwork(env: NodeJS.ProcessEnv): Network {
  const without = env.no_proxy ?? env.NO_PROXY ?? '';
  const noProxy = without.trim() === '*' ? '*' : [without, THIS_MACHINE].filter((hosts) => hosts !== '').join(',');
  const dispatcher = new EnvHttpProxyAgent({ noProxy });
  return {
    // The same interface: Node's own `fetch` is another copy of this.
    fetch: ((input: string, init: object) => undiciFetch(input, { ...init, dispatcher })) as unknown as Fetch,
    close: () => dispatcher.destroy(),
  };
}

void main(); // Reports everything itself.
