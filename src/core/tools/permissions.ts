import { lstat, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import * as l10n from '@vscode/l10n';
import { RolecallError } from '../base/errors.ts';
import type { DeclaredPermissions, ParametersSchema } from './definition.ts';

/** The file that will be started. */
export interface Executable {
  /** Absolute; started under this very name, since some programs behave differently by name. */
  readonly path: string;
  /** `path` with every symbolic link followed. */
  readonly realPath: string;
  /** The folder of the user's own `PATH` in which the name was found. */
  readonly foundIn?: string;
}

/** What a contained program reaches beside the system's programs and libraries. All paths are absolute and real. */
export interface Permissions {
  readonly read: readonly string[];
  /** Can be read too. What does not exist is made, as a folder, before the program starts. */
  readonly write: readonly string[];
  /** Those of both that are files; the others are folders. */
  readonly files: readonly string[];
  readonly network: boolean;
  /** What the program itself needs if it belongs neither to the system nor to `read`: its installation, or its file. */
  readonly program: string | undefined;
  /** The user's home folders, by the environment and by the user database: empty for the program. */
  readonly homes: readonly string[];
}

/** Programs and libraries of the system and of package managers that have a place of their own. */
export const systemFolders: Readonly<Record<'linux' | 'darwin', readonly string[]>> = {
  linux: [
    ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'],
    ...['/nix/store', '/gnu/store', '/run/current-system/sw', '/home/linuxbrew/.linuxbrew'],
  ],
  darwin: [
    ...['/usr', '/bin', '/sbin', '/System', '/Library/Apple', '/Library/Developer', '/Library/Frameworks'],
    ...['/Library/Java', '/Applications/Xcode.app', '/opt/homebrew', '/opt/local', '/nix/store'],
  ],
};

/**
 * Resolves the permissions of a definition on this machine: every path leads into the workspace folder, links followed.
 *
 * @throws {RolecallError} kind `tool` when a path leads elsewhere, is missing, or covers what no tool may have.
 */
export async function resolvePermissions(
  access: DeclaredPermissions,
  at: {
    readonly root: string;
    readonly executable: Executable;
    readonly homes: readonly string[];
    readonly folders: readonly string[];
    readonly platform: NodeJS.Platform;
  },
): Promise<Permissions> {
  const homes = await realPaths(at.homes);
  const read = await Promise.all(access.read.map((each) => within(at.root, each, '"read"')));
  const write = await Promise.all(access.write.map((each) => within(at.root, each, '"write"')));
  for (const [index, { real, exists }] of read.entries()) {
    if (!exists) throw new RolecallError('tool', l10n.t('"{0}" in "read" does not exist.', access.read[index] ?? ''));
    refuseHome(real, homes);
  }
  for (const { real } of write) {
    refuseHome(real, homes);
    if (!isProtected(path.relative(at.root, real))) continue;
    throw new RolecallError(
      'tool',
      l10n.t('A path in "write" leads to "{0}". ".git" and ".vscode" are never writable.', real),
    );
  }
  const files = [...read, ...write].filter(({ isFile }) => isFile).map(({ real }) => real);
  const paths = { read: read.map(({ real }) => real), write: outermost(write.map(({ real }) => real)), files };
  const system = systemFolders[at.platform === 'darwin' ? 'darwin' : 'linux'];
  const program = await programPath(at.executable, [...system, ...paths.read, ...paths.write], {
    homes,
    folders: await realPaths(at.folders),
  });
  return { ...paths, network: access.network, program, homes };
}

async function realPaths(paths: readonly string[]): Promise<string[]> {
  return [...new Set(await Promise.all(paths.map((each) => realpath(each).catch(() => each))))];
}

/** Leaves out paths within others: each is mounted and searched by itself, and none can be moved within another. */
function outermost(paths: readonly string[]): string[] {
  return [...new Set(paths)].filter((each) => !paths.some((other) => other !== each && isInside(other, each)));
}

function refuseHome(folder: string, homes: readonly string[]): void {
  if (!homes.some((home) => isInside(folder, home))) return;
  throw new RolecallError(
    'tool',
    l10n.t(
      '"{0}" contains your home folder, which a contained tool cannot read. Open the project folder, or list the folders that the tool needs in "access".',
      folder,
    ),
  );
}

/**
 * `<prefix>/bin/node` needs its prefix, if that is an installation: the user's own `PATH` leads to it, and it is
 * outside the open folders and all folders that programs share. Any other program of a definition gets its file alone.
 */
async function programPath(
  { realPath, foundIn }: Executable,
  visible: readonly string[],
  users: { readonly homes: readonly string[]; readonly folders: readonly string[] },
): Promise<string | undefined> {
  if (visible.some((folder) => isInside(folder, realPath))) return undefined;
  const folder = foundIn && (await realpath(foundIn));
  if (folder === undefined || users.folders.some((each) => isInside(each, folder))) return realPath;
  for (const candidate of [folder, path.dirname(realPath)]) {
    const prefix = path.dirname(candidate);
    if (isInside(prefix, realPath) && (await isInstallation(prefix, path.basename(candidate), users))) return prefix;
  }
  return realPath;
}

/**
 * Whether `prefix` belongs to one program. It does not if it is the home folder or is fewer than three levels below it,
 * because a program's own files cannot be distinguished from others there (`~/.local`, `~/.cargo`); if it is a
 * checkout; or if an open folder is in it. `~/.pyenv/shims` belongs to a version manager, whose own folder is all that
 * it needs.
 */
async function isInstallation(
  prefix: string,
  kind: string,
  { homes, folders }: { readonly homes: readonly string[]; readonly folders: readonly string[] },
): Promise<boolean> {
  if ([...homes, ...folders].some((each) => isInside(prefix, each))) return false;
  const home = homes.find((each) => isInside(each, prefix));
  const depth = path.relative(home ?? '/', prefix).split(path.sep).length;
  if (kind === 'shims' && depth === 1) return path.basename(prefix).startsWith('.');
  if (!/^s?bin$/.test(kind) || depth < (home === undefined ? 2 : 3)) return false;
  return lstat(path.join(prefix, '.git')).then(
    () => false,
    () => true,
  );
}

/**
 * A path with links followed, as far as it exists. Undefined where a link leads nowhere: something could be made there.
 */
export async function resolveLinks(
  file: string,
): Promise<{ readonly real: string; readonly exists: boolean } | undefined> {
  const isThere = await lstat(file).then(
    () => true,
    () => false,
  );
  if (isThere) {
    const real = await realpath(file).catch(() => undefined);
    return real === undefined ? undefined : { real, exists: true };
  }
  const folder = path.dirname(file);
  const above = folder === file ? undefined : await resolveLinks(folder);
  return above && { real: path.join(above.real, path.basename(file)), exists: false };
}

/** A path relative to `root`; it must not lead out of it. */
async function within(
  root: string,
  relative: string,
  what: string,
): Promise<{ real: string; exists: boolean; isFile: boolean }> {
  const resolved = await resolveLinks(path.resolve(root, relative));
  if (resolved === undefined || !isInside(root, resolved.real)) {
    throw new RolecallError(
      'tool',
      l10n.t('The path "{0}" in {1} leads outside the workspace folder.', relative, what),
    );
  }
  return { ...resolved, isFile: resolved.exists && (await stat(resolved.real)).isFile() };
}

/**
 * True when `file` is `folder` or inside it. Both absolute; compared as text. @param paths `path.posix` for paths of
 * addresses.
 */
export function isInside(folder: string, file: string, paths: path.PlatformPath = path): boolean {
  const relative = paths.relative(folder, file);
  return relative !== '..' && !relative.startsWith(`..${paths.sep}`) && !paths.isAbsolute(relative);
}

/** Folders (or files) whose content the editor and git act on by themselves, as the user and not contained. */
export const protectedNames = ['.git', '.vscode'] as const;

/** True when one of the names in a path is protected. */
export function isProtected(file: string): boolean {
  return file.split(path.sep).some((part) => (protectedNames as readonly string[]).includes(part.toLowerCase()));
}

/**
 * Checks that every value of `"format": "workspace-path"` is in the workspace folder, links followed. It is relative to
 * the folder in which the tool runs; `validate.ts` checks that, and that it does not begin with a hyphen.
 *
 * @throws {RolecallError} kind `tool`; the message is meant for the model as much as for users.
 */
export async function checkWorkspacePaths(
  { properties }: ParametersSchema,
  args: Readonly<Record<string, unknown>>,
  { folder, cwd }: { readonly folder: string; readonly cwd: string },
): Promise<void> {
  for (const [name, property] of Object.entries(properties)) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    const values = isWorkspacePath(property) ? [value] : isWorkspacePath(property.items) ? [value].flat() : [];
    for (const relativePath of values.filter((one) => typeof one === 'string')) {
      await within(await realpath(folder).catch(() => folder), path.join(cwd, relativePath), `"${name}"`);
    }
  }
}

function isWorkspacePath(property: unknown): boolean {
  return Object(property).format === workspacePathFormat;
}

export const workspacePathFormat = 'workspace-path';
