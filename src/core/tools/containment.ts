import { mkdir, mkdtemp, readFile, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as l10n from '@vscode/l10n';
import { raceWithSignal } from '../base/abort.ts';
import { isCancelled, RolecallError, systemErrorCode } from '../base/errors.ts';
import { truncateWithEllipsis } from '../base/text.ts';
import { bubblewrap, type Launch, seatbelt } from './launch.ts';
import type { ProcessResult } from './output.ts';
import { isInside, type Permissions, resolveLinks } from './permissions.ts';
import type { ProcessSpec } from './prepare.ts';
import { type ProcessOptions, runProcess } from './process.ts';
import { guardWritableFolders, type Leftover } from './writableFolders.ts';

/** How this machine contains a program, or why it cannot. */
export type Containment =
  | { readonly kind: 'bubblewrap'; readonly program: string }
  | { readonly kind: 'seatbelt' }
  | {
      readonly kind: 'none';
      /** A plain sentence. */
      readonly reason: string;
      /** The command for a terminal that solves it, if there is one. */
      readonly remedy: string | undefined;
    };

export interface ContainmentOptions {
  readonly platform?: NodeJS.Platform;
  /** Where bubblewrap is looked for: folders of the system, so that no workspace can put one in its place. */
  readonly folders?: readonly string[];
  readonly run?: typeof runProcess;
  /** Text of a file; rejects when there is none. */
  readonly read?: (file: string) => Promise<string>;
}

/** Tries once, by containing a program that does nothing. Takes about 20 ms. */
export async function findContainment(
  {
    platform = process.platform,
    folders = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin', '/run/wrappers/bin'],
    run = runProcess,
    read = (file) => readFile(file, 'utf8'),
  }: ContainmentOptions,
  signal: AbortSignal,
): Promise<Containment> {
  if (platform !== 'linux' && platform !== 'darwin') {
    return {
      kind: 'none',
      reason: l10n.t('Rolecall does not support containment on this system yet.'),
      remedy: undefined,
    };
  }
  const bwrap = platform === 'linux' ? await findBubblewrap(folders) : undefined;
  if (platform === 'linux' && bwrap === undefined) {
    return { kind: 'none', reason: l10n.t('bubblewrap is not installed.'), remedy: await installing(read) };
  }
  const refused = async (words: string): Promise<Containment> => ({
    kind: 'none',
    reason:
      words === ''
        ? l10n.t('The system does not allow Rolecall to contain programs.')
        : l10n.t('The system does not allow Rolecall to contain programs ({0}).', words),
    remedy: platform === 'linux' ? await allowing(read) : undefined,
  });
  const trial = await realpath(await mkdtemp(path.join(tmpdir(), 'rolecall-trial-')));
  try {
    const permissions: Permissions = {
      read: [trial],
      write: [],
      files: [],
      network: false,
      program: undefined,
      homes: [],
    };
    const executable = { path: '/bin/sh', realPath: '/bin/sh' };
    const program = { executable, args: ['-c', 'exit 0'], root: trial, cwd: trial, env: {}, permissions };
    const launch = bwrap === undefined ? seatbelt(program, trial) : bubblewrap(bwrap, program, []);
    const result = await run({ ...launch, stdin: undefined, timeoutMs: 10_000, outputLimit: 1000 }, { signal });
    if (/unknown option/i.test(result.stderr)) {
      const reason = l10n.t('The installed bubblewrap is too old. Version 0.8 or later is needed.');
      return { kind: 'none', reason, remedy: undefined };
    }
    if (result.exitCode === 0)
      return bwrap === undefined ? { kind: 'seatbelt' } : { kind: 'bubblewrap', program: bwrap };
    return refused(truncateWithEllipsis(result.stderr.trim().replaceAll(/\s+/g, ' '), 300));
  } catch (error) {
    if (isCancelled(error)) throw error;
    return refused(error instanceof Error ? error.message : String(error));
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
}

async function findBubblewrap(folders: readonly string[]): Promise<string | undefined> {
  for (const program of folders.map((folder) => path.join(folder, 'bwrap'))) {
    const stats = await stat(program).catch(() => undefined);
    if (stats?.isFile()) return program;
  }
  return undefined;
}

/** By the system's own name (os-release(5)). */
async function installing(read: (file: string) => Promise<string>): Promise<string | undefined> {
  const release = await read('/etc/os-release').catch(() => '');
  const names = [...release.matchAll(/^(?:ID|ID_LIKE)="?([^"\n]*)/gm)].flatMap(([, words = '']) => words.split(' '));
  const ways = { debian: 'apt', ubuntu: 'apt', fedora: 'dnf', rhel: 'dnf', suse: 'zypper' };
  const way = Object.entries(ways).find(([name]) => names.includes(name))?.[1];
  if (way !== undefined) return `sudo ${way} install bubblewrap`;
  if (names.includes('arch')) return 'sudo pacman -S bubblewrap';
  return names.includes('alpine') ? 'sudo apk add bubblewrap' : undefined;
}

/** The switches by which Debian and Ubuntu forbid user namespaces to ordinary users. */
async function allowing(read: (file: string) => Promise<string>): Promise<string | undefined> {
  const value = (name: string) =>
    read(`/proc/sys/kernel/${name}`).then(
      (text) => text.trim(),
      () => undefined,
    );
  if ((await value('unprivileged_userns_clone')) === '0') return 'sudo sysctl -w kernel.unprivileged_userns_clone=1';
  if ((await value('apparmor_restrict_unprivileged_userns')) === '1') {
    return 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0';
  }
  return undefined;
}

export interface ContainedResult extends ProcessResult {
  readonly leftovers: readonly Leftover[];
}

/** Runs a prepared program: contained if it has permissions, else like any other. */
export async function runPrepared(
  spec: ProcessSpec,
  containment: Containment,
  options: ProcessOptions,
): Promise<ContainedResult> {
  const { permissions, stdin, timeoutMs, outputLimit } = spec;
  const start = (launch: Launch) => runProcess({ ...launch, stdin, timeoutMs, outputLimit }, options);
  if (permissions === undefined) {
    const { executable, args, cwd, env } = spec;
    return { ...(await start({ file: executable.path, args, cwd, env })), leftovers: [] };
  }
  if (containment.kind === 'none') throw new RolecallError('unexpected', 'There is no way to contain the program.');
  const program = { ...spec, permissions };
  return inTurn(permissions, options.signal, async () => {
    for (const folder of permissions.write) await makeFolder(folder);
    const ran = await guardWritableFolders(spec.root, permissions.write, async (readOnly) => {
      if (containment.kind === 'bubblewrap') return start(bubblewrap(containment.program, program, readOnly));
      const temporary = await realpath(await mkdtemp(path.join(tmpdir(), 'rolecall-tool-')));
      try {
        return await start(seatbelt(program, temporary));
      } finally {
        await rm(temporary, { recursive: true, force: true });
      }
    });
    return { ...ran.result, leftovers: ran.leftovers };
  });
}

/** Makes a folder, unless there is a file. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    const code = systemErrorCode(error) ?? '';
    if (code === 'EEXIST') return;
    const sentence = l10n.t('The tool may write to "{0}", which could not be created ({1}).', folder, code);
    throw new RolecallError('tool', sentence, { cause: error });
  }
}

/** The contained programs that are running, with their permissions. */
const running = new Set<{ readonly permissions: Permissions; readonly ended: Promise<void> }>();

/**
 * What a program reaches is mounted by its path, and another running program could replace a folder on that path by a
 * link. So one waits until the other has ended, and then its paths are checked once more.
 */
async function inTurn<T>(permissions: Permissions, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const isInTheWay = (other: Permissions) => canMove(other, permissions) || canMove(permissions, other);
  for (;;) {
    const blocker = [...running].find((each) => isInTheWay(each.permissions));
    if (blocker === undefined) break;
    await raceWithSignal(blocker.ended, signal);
  }
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const own = { permissions, ended };
  running.add(own);
  try {
    for (const place of [...permissions.read, ...permissions.write]) {
      if ((await resolveLinks(place))?.real === place) continue;
      throw new RolecallError('tool', l10n.t('"{0}" was moved or replaced by a link.', place));
    }
    return await work();
  } finally {
    running.delete(own);
    end();
  }
}

/** Whether a program may move what another reaches. It cannot move the very folders that it was given. */
function canMove({ write }: Permissions, other: Permissions): boolean {
  const reached = [...other.read, ...other.write, ...(other.program === undefined ? [] : [other.program])];
  return write.some(
    (folder) => other.write.includes(folder) || reached.some((each) => each !== folder && isInside(folder, each)),
  );
}
