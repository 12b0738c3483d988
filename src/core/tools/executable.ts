import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { RolecallError } from '../base/errors.ts';
import { variable } from './environment.ts';

/** The file that will be started. */
export interface Executable {
  /** Absolute; started under this very name, since some programs behave by the name they are called by. */
  readonly path: string;
  /** `path` with every symbolic link followed. */
  readonly realPath: string;
}

/**
 * Finds what a program's name means before anything runs, so that consent can show it. A name without a slash is looked
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
    : (variable(environment, 'PATH', platform) ?? '').split(separator).filter(path.isAbsolute);
  for (const folder of folders) {
    for (const suffix of suffixes(name, platform)) {
      const found = await executableFile(path.resolve(folder, `${name}${suffix}`), platform);
      if (found === undefined) continue;
      refuseBatch(found.path, platform);
      refuseBatch(found.realPath, platform);
      return found;
    }
  }
  const where = isPath ? `at ${path.resolve(cwd, name)}` : 'in the folders of PATH';
  throw new RolecallError('tool', `There is no program "${name}" ${where} that can be run.`);
}

/** A batch file that comes earlier in `PATH` than an `.exe` is what a person means by the name: it is found, and refused. */
function suffixes(name: string, platform: NodeJS.Platform): readonly string[] {
  if (platform !== 'win32' || /\.(?:exe|com)$/i.test(name)) return [''];
  return ['.com', '.exe', '.bat', '.cmd'];
}

function refuseBatch(file: string, platform: NodeJS.Platform): void {
  // Windows ignores blanks and dots at the end of a name.
  if (platform !== 'win32' || !/\.(?:bat|cmd)[. ]*$/i.test(file)) return;
  throw new RolecallError(
    'tool',
    `"${file}" is a batch file. Windows hands its arguments to cmd.exe, where a value can become a command; name the program it starts instead, for example node.exe and a script.`,
  );
}

async function executableFile(file: string, platform: NodeJS.Platform): Promise<Executable | undefined> {
  try {
    if (!(await stat(file)).isFile()) return undefined;
    if (platform !== 'win32') await access(file, constants.X_OK);
    return { path: file, realPath: await realpath(file) };
  } catch {
    // Not there, or not ours to run: the search goes on, as `execvp` does.
    return undefined;
  }
}
