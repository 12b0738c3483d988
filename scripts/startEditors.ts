import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { launcherCommand } from './editor/chooseHost.ts';
import { serveEditor } from './editor/serve.ts';
import { installUnpacked } from './extension.ts';
import { findOnPath } from './find.mjs';
import { at, root } from './paths.ts';
import { onEnd } from './processes.ts';

export interface StartProfile {
  readonly folder: string;
  /** The user's own copy of the example workspace. */
  readonly workspace: string;
  readonly userDataDir: string;
  readonly extensionsDir: string;
  /** For the extension host. */
  readonly env: NodeJS.ProcessEnv;
}

export interface OpenEditor {
  /** Its address, or its command. */
  readonly name: string;
  /** Resolves to a sentence when the editor was closed or has ended. */
  readonly closed: Promise<string>;
}

/**
 * A profile below `folder`. What is tried out happens in a copy of the example workspace: the clone stays clean. The copy is
 * made once and then the user's, also when the example changes.
 */
export function openProfile(folder: string, env: NodeJS.ProcessEnv): StartProfile {
  const workspace = path.join(folder, 'workspace');
  if (!fs.existsSync(workspace)) {
    // Under another name first: a copy that was interrupted would be taken for the user's.
    const fresh = `${workspace}-new`;
    fs.rmSync(fresh, { recursive: true, force: true });
    fs.cpSync(at('examples', 'workspace'), fresh, { recursive: true });
    fs.renameSync(fresh, workspace);
  }
  const userDataDir = path.join(folder, 'user');
  fs.mkdirSync(userDataDir, { recursive: true });
  return { folder, workspace, userDataDir, extensionsDir: path.join(folder, 'extensions'), env };
}

/**
 * Opens a desktop editor with Rolecall as extension under development.
 * Not tested.
 */
export function openDesktop(command: string, profile: StartProfile): OpenEditor {
  const { program, all, shell } = launcherCommand(
    command,
    [
      `--extensionDevelopmentPath=${root}`,
      ...['--user-data-dir', profile.userDataDir, '--extensions-dir', profile.extensionsDir],
      // The launcher comes back at once otherwise, and the sandbox would end under the editor.
      ...['--new-window', '--wait', profile.workspace],
    ],
    process.platform,
  );
  const child = spawn(program, all, {
    env: { ...process.env, ...profile.env },
    stdio: ['ignore', 'inherit', 'inherit'],
    shell,
  });
  const closed = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`${command} could not be started: ${error.message}`));
    child.once('exit', () => resolve('The editor was closed.'));
  });
  onEnd(async () => {
    endDesktop(profile.userDataDir);
    child.kill();
    await closed;
  });
  return { name: command, closed };
}

/** A launcher starts the editor apart from itself; the editor leaves its process id in its own profile. */
function endDesktop(userDataDir: string): void {
  try {
    const pid = Number(fs.readFileSync(path.join(userDataDir, 'code.lock'), 'utf8'));
    if (pid > 0) {
      process.kill(pid, 'SIGTERM');
    }
  } catch {
    // No such file, or no such process any more: nothing to end.
  }
}

/** Serves the editor, with Rolecall installed as from its VSIX. */
export async function openServed(
  profile: StartProfile,
  options: { readonly port: string | undefined; readonly open: boolean },
): Promise<OpenEditor> {
  fs.rmSync(profile.extensionsDir, { recursive: true, force: true });
  installUnpacked(profile.extensionsDir);
  const editor = await serveEditor({
    userDataDir: profile.userDataDir,
    extensionsDir: profile.extensionsDir,
    folder: profile.workspace,
    port: options.port === undefined ? await portOfLastTime(profile.folder) : Number(options.port),
    env: profile.env,
    trust: true,
  });
  fs.writeFileSync(path.join(profile.folder, 'port'), String(editor.port));
  if (options.open) {
    openInBrowser(editor.url);
  }
  return { name: editor.url, closed: editor.ended.then(() => 'The served editor has ended.') };
}

/** The browser keeps sessions by origin: with the same port again, who was signed in still is. 0 when it is taken. */
async function portOfLastTime(folder: string): Promise<number> {
  const file = path.join(folder, 'port');
  const port = fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : 0;
  const isFree = await new Promise<boolean>((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
  return isFree ? port : 0;
}

function openInBrowser(address: string): void {
  const opener = { darwin: 'open', linux: 'xdg-open' }[process.platform as string];
  const program = opener === undefined ? undefined : findOnPath(opener);
  if (program !== undefined) {
    // The address was printed: whoever has no browser there opens it elsewhere.
    spawn(program, [address], { stdio: 'ignore', detached: true })
      .once('error', () => {})
      .unref();
  }
}
