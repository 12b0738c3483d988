import fs from 'node:fs';
import path from 'node:path';
import { onEnd, type SupervisedProcess, spawnSupervised } from '../processes.ts';
import { editorProgram, installEditor } from './install.ts';

export interface EditorOptions {
  /** User settings, state and secrets of the server's side; kept by whoever made it. */
  readonly userDataDir: string;
  readonly extensionsDir: string;
  /** The folder or `.code-workspace` file to open; none opens an empty window. */
  readonly folder?: string;
  /** 0 or none: a free one, given by the system. */
  readonly port?: number;
  /** Added to this process's environment, for the server, the extension host and its terminals. */
  readonly env?: NodeJS.ProcessEnv;
  readonly extraArgs?: readonly string[];
  /** Written to the user settings file when given; else the file stays as it is. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** False: workspaces open in Restricted Mode, as in a fresh desktop profile. */
  readonly trust: boolean;
}

export interface ServedEditor {
  /** The address that opens the folder, without a query of tests. */
  readonly url: string;
  readonly port: number;
  /** The server's output so far. */
  output(): string;
  /** Settles when it has ended, by itself or stopped. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

const startLimitMs = 120_000;
/** Variables of an editor or an npm run around this one would reach into the served editor. */
const foreign = /^(?:VSCODE_|CODE_SERVER_|ELECTRON_|npm_|NODE_OPTIONS$|NODE_CHANNEL_|PASSWORD$|HASHED_PASSWORD$|PORT$)/;

/** Serves the real workbench on 127.0.0.1 and waits until it answers. It ends with this process at the latest. */
export async function serveEditor(options: EditorOptions): Promise<ServedEditor> {
  await installEditor();
  fs.mkdirSync(path.join(options.userDataDir, 'User'), { recursive: true });
  fs.mkdirSync(options.extensionsDir, { recursive: true });
  if (options.settings !== undefined) {
    fs.writeFileSync(
      path.join(options.userDataDir, 'User', 'settings.json'),
      `${JSON.stringify(options.settings, undefined, 2)}\n`,
    );
  }
  const server = spawnSupervised(process.execPath, serverArguments(options), {
    cwd: options.userDataDir,
    env: serverEnvironment(options.env),
  });
  const forget = onEnd(() => server.stop());
  let output = '';
  for (const stream of [server.process.stdout, server.process.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  try {
    const port = await portOf(server, () => output);
    await answers(port);
    return {
      url: addressOf(port, options.folder),
      port,
      output: () => output,
      ended: server.exited,
      stop: async () => {
        forget();
        await server.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw new Error(`The served editor did not start: ${(error as Error).message}\n${output}`, { cause: error });
  }
}

/** Installs a VSIX the way a person would, with the editor's own command line. */
export async function installVsix(userDataDir: string, extensionsDir: string, vsix: string): Promise<void> {
  await installEditor();
  const run = spawnSupervised(
    process.execPath,
    [editorProgram, ...folders(userDataDir, extensionsDir), '--install-extension', vsix],
    { env: serverEnvironment({}) },
  );
  let output = '';
  for (const stream of [run.process.stdout, run.process.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const limit = setTimeout(() => void run.stop(), startLimitMs);
  await run.exited;
  clearTimeout(limit);
  if (!/successfully installed/.test(output)) {
    throw new Error(`The VSIX was not installed:\n${output}`);
  }
}

function folders(userDataDir: string, extensionsDir: string): string[] {
  return ['--config', '/dev/null', '--user-data-dir', userDataDir, '--extensions-dir', extensionsDir];
}

function serverArguments(options: EditorOptions): string[] {
  return [
    editorProgram,
    ...folders(options.userDataDir, options.extensionsDir),
    ...['--auth', 'none', '--bind-addr', `127.0.0.1:${options.port ?? 0}`],
    ...['--session-socket', path.join(options.userDataDir, 's.sock')],
    ...['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'],
    // Browser and server are on one machine.
    ...['--vscode-option', 'disable-websocket-compression'],
    ...(options.trust ? ['--disable-workspace-trust'] : []),
    ...(options.extraArgs ?? []),
  ];
}

function serverEnvironment(added: NodeJS.ProcessEnv | undefined): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  // An empty gallery: the server never asks a marketplace for anything.
  return { ...Object.fromEntries(own), EXTENSIONS_GALLERY: '{}', ...added };
}

async function portOf(server: SupervisedProcess, output: () => string): Promise<number> {
  const late = Date.now() + startLimitMs;
  const state = { ended: false };
  void server.exited.then(() => {
    state.ended = true;
  });
  while (Date.now() < late) {
    const port = /listening on http:\/\/127\.0\.0\.1:(\d+)/i.exec(output())?.[1];
    if (port !== undefined) {
      return Number(port);
    }
    if (state.ended) {
      throw new Error('it ended at once.');
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`it said no address within ${startLimitMs / 1000} s.`);
}

async function answers(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(startLimitMs) });
  if (!response.ok) {
    throw new Error(`it answered ${response.status}.`);
  }
}

function addressOf(port: number, folder: string | undefined): string {
  const address = new URL(`http://127.0.0.1:${port}/`);
  if (folder !== undefined) {
    address.searchParams.set(folder.endsWith('.code-workspace') ? 'workspace' : 'folder', folder);
  }
  return address.href;
}
