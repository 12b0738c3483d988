import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import * as l10n from '@vscode/l10n';
import { RolecallError } from '../base/errors.ts';
import type { ProcessRun } from './definition.ts';
import { type Executable, isInside, type Permissions, resolvePermissions } from './permissions.ts';
import { fillArgv, parseTemplate } from './templates.ts';

/** Exactly what will run: consent shows this, and it is started. */
export interface ProcessSpec {
  readonly executable: Executable;
  /** Without the program's own name. */
  readonly args: readonly string[];
  /** The workspace folder, symbolic links followed. */
  readonly root: string;
  /** Absolute, symbolic links followed, inside `root`. */
  readonly cwd: string;
  /** The whole environment, except for the home and the temporary folder of a contained program. */
  readonly env: Readonly<Record<string, string>>;
  /** Written to standard input, which is then closed; undefined: closed from the start. */
  readonly stdin: string | undefined;
  readonly timeoutMs: number;
  /** The most bytes of standard output that are kept, and of standard error. */
  readonly outputLimit: number;
  /** Undefined if it is not contained. */
  readonly permissions: Permissions | undefined;
}

/** The machine a program runs on. */
export interface ToolHost {
  /** The editor's own, for example `process.env`; only allowed variables are used. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The user's home folders, according to the environment and the user database. */
  readonly homes: readonly string[];
  /** All folders that are open in the editor. */
  readonly folders: readonly string[];
  /** Whether the system can contain a program. */
  readonly contains: boolean;
  readonly platform?: NodeJS.Platform;
}

/**
 * Turns a definition and checked arguments into what will run. Starts nothing.
 *
 * @throws {RolecallError} kind `tool` when an argument, a path or the program is refused.
 */
export async function prepareProcess(
  { folder, run }: { readonly folder: string; readonly run: ProcessRun },
  args: Readonly<Record<string, unknown>>,
  host: ToolHost,
): Promise<ProcessSpec> {
  const [, ...templates] = run.command;
  const filled = fillArgv(templates, args, host.platform ?? process.platform);
  return {
    ...(await prepareProgram({ folder, run }, host)),
    args: filled,
    stdin: run.stdin === 'json' ? JSON.stringify(args) : undefined,
    timeoutMs: run.timeoutSeconds * 1000,
    outputLimit: run.outputLimit,
  };
}

/**
 * The program of a definition and what it reaches, whatever its arguments.
 *
 * @throws {RolecallError} kind `tool` when a path or the program is refused.
 */
export async function prepareProgram(
  { folder, run }: { readonly folder: string; readonly run: ProcessRun },
  { environment, homes, folders, contains, platform = process.platform }: ToolHost,
): Promise<Pick<ProcessSpec, 'executable' | 'root' | 'cwd' | 'env' | 'permissions'>> {
  const { root, cwd } = await workingFolder(folder, run.cwd);
  const isContained = run.contained && contains;
  const { HOME, TMPDIR, ...others } = environment;
  const env = toolEnvironment(isContained ? others : environment, run.env, platform);
  const { foundIn, ...program } = await resolveExecutable(literal(run.command[0]), { cwd, environment: env, platform });
  // A `PATH` that the definition sets is not the user’s.
  const executable = foundIn === undefined || run.env.PATH !== undefined ? program : { ...program, foundIn };
  return {
    executable,
    root,
    cwd,
    env,
    permissions: isContained
      ? await resolvePermissions(run.access, { root, executable, homes, folders, platform })
      : undefined,
  };
}

/**
 * The real paths of the workspace folder and of `cwd`, which has to be in it: a link that leads out is refused.
 *
 * @throws {RolecallError} kind `tool`.
 */
async function workingFolder(folder: string, cwd: string): Promise<{ readonly root: string; readonly cwd: string }> {
  const wanted = path.resolve(folder, cwd);
  let root: string;
  let real: string;
  try {
    root = await realpath(folder);
    real = await realpath(wanted);
    if (!(await stat(real)).isDirectory()) throw new RolecallError('tool', l10n.t('"{0}" is not a folder.', wanted));
  } catch (error) {
    if (error instanceof RolecallError) throw error;
    throw new RolecallError('tool', l10n.t('The folder "{0}" does not exist or cannot be read.', wanted), {
      cause: error,
    });
  }
  if (isInside(root, real)) return { root, cwd: real };
  throw new RolecallError('tool', l10n.t('The folder "{0}" leads to "{1}", outside the workspace folder.', cwd, real));
}

function literal(template: string): string {
  const parsed = parseTemplate(template);
  const [part] = parsed.kind === 'ok' ? parsed.parts : [];
  if (parsed.kind === 'ok' && parsed.parts.length === 1 && part?.kind === 'text') return part.text;
  throw new RolecallError('tool', `The program "${template}" is not a fixed name.`);
}

/**
 * Resolves a program's name before anything runs, so that consent can show it. A name without a slash is looked
 * up in the absolute folders of `PATH`, never in the current folder; a relative path starts at `cwd`.
 *
 * On Windows only `.exe` and `.com` are started: batch files are read by `cmd.exe`, whose own quoting lets an argument
 * become a command (CVE-2024-27980).
 *
 * @throws {RolecallError} kind `tool` when there is no such program, or it is a batch file.
 */
export async function resolveExecutable(
  name: string,
  {
    cwd,
    environment,
    platform,
  }: {
    readonly cwd: string;
    readonly environment: Readonly<Record<string, string>>;
    readonly platform: NodeJS.Platform;
  },
): Promise<Executable> {
  refuseBatch(name, platform);
  const isPath = platform === 'win32' ? /[\\/]|^[a-z]:/i.test(name) : name.includes('/');
  const separator = platform === 'win32' ? ';' : ':';
  const folders = isPath
    ? [cwd]
    : (environmentVariable(environment, 'PATH', platform) ?? '').split(separator).filter(path.isAbsolute);
  for (const folder of folders) {
    for (const suffix of suffixes(name, platform)) {
      const file = await executableFile(path.resolve(folder, `${name}${suffix}`), platform);
      if (file === undefined) continue;
      refuseBatch(file.path, platform);
      refuseBatch(file.realPath, platform);
      return isPath ? file : { ...file, foundIn: folder };
    }
  }
  throw new RolecallError(
    'tool',
    isPath
      ? l10n.t('No executable program was found at "{0}".', path.resolve(cwd, name))
      : l10n.t('The program "{0}" was not found in PATH.', name),
  );
}

/** A batch file that comes earlier in `PATH` than an `.exe` is what the user means by the name: it is found, and refused. */
function suffixes(name: string, platform: NodeJS.Platform): readonly string[] {
  if (platform !== 'win32' || /\.(?:exe|com)$/i.test(name)) return [''];
  return ['.com', '.exe', '.bat', '.cmd'];
}

function refuseBatch(file: string, platform: NodeJS.Platform): void {
  // Windows ignores blanks and dots at the end of a name.
  if (platform !== 'win32' || !/\.(?:bat|cmd)[. ]*$/i.test(file)) return;
  throw new RolecallError(
    'tool',
    l10n.t(
      '"{0}" is a batch file. Windows passes its arguments to cmd.exe, where a value can become a command. Use the program that it starts instead, for example node.exe and a script.',
      file,
    ),
  );
}

async function executableFile(file: string, platform: NodeJS.Platform): Promise<Executable | undefined> {
  try {
    if (!(await stat(file)).isFile()) return undefined;
    if (platform !== 'win32') await access(file, constants.X_OK);
    return { path: file, realPath: await realpath(file) };
  } catch {
    // Missing, or not executable for us: the search goes on, as `execvp` does.
    return undefined;
  }
}

/**
 * The variables that a program needs to start and to find the user's folders and language; none that could be a secret.
 */
const allowedOnPosix: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'TMPDIR',
  'TZ',
]);

/** In capitals, because Windows does not distinguish `Path` and `PATH`. */
const allowedOnWindows: ReadonlySet<string> = new Set([
  'PATH',
  'PATHEXT',
  'SYSTEMROOT',
  'SYSTEMDRIVE',
  'WINDIR',
  'COMSPEC',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
  'HOMEDRIVE',
  'HOMEPATH',
  'APPDATA',
  'LOCALAPPDATA',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'COMMONPROGRAMFILES',
  'NUMBER_OF_PROCESSORS',
  'PROCESSOR_ARCHITECTURE',
  'OS',
  'LANG',
  'TZ',
]);

/** True for a variable of the editor's own environment that tools get. */
function isAllowedVariable(name: string, platform: NodeJS.Platform): boolean {
  if (platform === 'win32') return allowedOnWindows.has(name.toUpperCase());
  return allowedOnPosix.has(name) || /^LC_[A-Z]+$/.test(name);
}

/**
 * The whole environment of a tool: the allowed variables of `inherited`, then the additions of the definition. Tokens,
 * proxies with passwords and what the editor sets for itself (`ELECTRON_RUN_AS_NODE`, `VSCODE_…`) stay out.
 */
export function toolEnvironment(
  inherited: Readonly<Record<string, string | undefined>>,
  additions: Readonly<Record<string, string>>,
  platform: NodeJS.Platform,
): Record<string, string> {
  const fold = (name: string): string => (platform === 'win32' ? name.toUpperCase() : name);
  const added = new Set(Object.keys(additions).map(fold));
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && isAllowedVariable(name, platform) && !added.has(fold(name))) environment[name] = value;
  }
  return { ...environment, ...additions };
}

/** A variable by its name, whatever its capitals on Windows. */
export function environmentVariable(
  environment: Readonly<Record<string, string>>,
  name: string,
  platform: NodeJS.Platform,
): string | undefined {
  if (platform !== 'win32') return environment[name];
  return Object.entries(environment).find(([key]) => key.toUpperCase() === name)?.[1];
}
