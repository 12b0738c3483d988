import type { Readable, Writable } from 'node:stream';
import type { EnvHttpProxyAgent, RequestInit } from 'undici';
import { asRolecallError, isCancelled, RolecallError, systemErrorCode } from '../core/base/errors.ts';
import type { Fetch } from '../core/base/http.ts';
import { stateRoot, thisMachine } from '../core/oauth/rotation/statePaths.ts';
import { type CommonOptions, type Configuration, readConfiguration, tokenVariables } from './configuration.ts';
import type { Manifest } from './manifest.ts';
import { createProgram, exitCodeOfUsage } from './program.ts';
import { type Services, servicesOfToken } from './services.ts';
import { servicesOfWindow } from './servicesOfWindow.ts';
import { type ExitCode, exitCodeOf, exitCodes, type RunCommand } from './subcommand.ts';
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

interface Network {
  readonly fetch: Fetch;
  /** Closes open connections, so that nothing keeps the process alive. */
  close(): Promise<void>;
}

/** No proxy is asked for this machine: http without TLS is allowed for it, and a proxy would read the token. */
const THIS_MACHINE = '127.0.0.1,localhost,[::1],::1';

/** Sends requests through the proxy that `HTTPS_PROXY` and `HTTP_PROXY` name, except to the hosts of `NO_PROXY`. */
function createNetwork(env: NodeJS.ProcessEnv): Network {
  const without = env.no_proxy ?? env.NO_PROXY ?? '';
  const noProxy = without.trim() === '*' ? '*' : [without, THIS_MACHINE].filter((hosts) => hosts !== '').join(',');
  const httpProxy = env.http_proxy ?? env.HTTP_PROXY ?? '';
  const httpsProxy = env.https_proxy ?? env.HTTPS_PROXY ?? '';
  for (const [name, address] of Object.entries({ HTTP_PROXY: httpProxy, HTTPS_PROXY: httpsProxy })) {
    if (address === '' || /^(?:https?|socks5):$/.test(URL.parse(address)?.protocol ?? '')) continue;
    // Without the address, which may contain a password.
    throw new RolecallError('configuration', `${name} is not an address such as http://proxy.example:3128.`);
  }
  let loading:
    | Promise<{ readonly undici: typeof import('undici'); readonly dispatcher: EnvHttpProxyAgent }>
    | undefined;
  // undici is more than half of the program, and a window sends its requests without it.
  const load = async () => {
    const undici = await import('undici');
    const dispatcher = new undici.EnvHttpProxyAgent({ noProxy, httpProxy, httpsProxy });
    return { undici, dispatcher };
  };
  const fetch = async (input: string, init: RequestInit) => {
    loading ??= load();
    const { undici, dispatcher } = await loading;
    return undici.fetch(input, { ...init, dispatcher });
  };
  return {
    fetch: fetch as unknown as Fetch, // The same interface: Node's own `fetch` is another copy of this.
    close: async () => (await loading)?.dispatcher.destroy(),
  };
}
