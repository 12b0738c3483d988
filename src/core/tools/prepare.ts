import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { RolecallError } from '../base/errors.ts';
import { fillArgv, parseTemplate } from './argv.ts';
import type { ProcessRun } from './definition.ts';
import { toolEnvironment } from './environment.ts';
import { type Executable, resolveExecutable } from './executable.ts';

/** Exactly what will run: what consent shows is what `runProcess` starts. */
export interface ProcessSpec {
  readonly executable: Executable;
  /** Without the program's own name. */
  readonly args: readonly string[];
  /** The workspace folder, symbolic links followed. */
  readonly root: string;
  /** Absolute, symbolic links followed, inside `root`. */
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Written to standard input, which is closed then; undefined: closed from the start. */
  readonly stdin: string | undefined;
  readonly timeoutMs: number;
  /** Bytes kept of standard output, and as many of standard error. */
  readonly outputLimit: number;
}

/**
 * Turns a definition and checked arguments into what will run. Starts nothing.
 *
 * @param environment the editor's own, for example `process.env`; only allowed variables are taken from it.
 * @throws {RolecallError} kind `tool` when an argument, the folder or the program is refused.
 */
export async function prepareProcess(
  { folder, run }: { readonly folder: string; readonly run: ProcessRun },
  args: Readonly<Record<string, unknown>>,
  {
    environment,
    platform = process.platform,
  }: { readonly environment: Readonly<Record<string, string | undefined>>; readonly platform?: NodeJS.Platform },
): Promise<ProcessSpec> {
  const [program, ...templates] = run.command;
  const filled = fillArgv(templates, args, platform);
  const { root, cwd } = await workingFolder(folder, run.cwd);
  const env = toolEnvironment(environment, run.env, platform);
  const executable = await resolveExecutable(literal(program), { cwd, environment: env, platform });
  return {
    executable,
    args: filled,
    root,
    cwd,
    env,
    stdin: run.stdin === 'json' ? JSON.stringify(args) : undefined,
    timeoutMs: run.timeoutSeconds * 1000,
    outputLimit: run.outputLimit,
  };
}

/**
 * The real paths of the workspace folder and of `cwd`, which has to lie in it: a link that leads out is refused.
 *
 * @throws {RolecallError} kind `tool`.
 */
export async function workingFolder(
  folder: string,
  cwd: string,
): Promise<{ readonly root: string; readonly cwd: string }> {
  const wanted = path.resolve(folder, cwd);
  let root: string;
  let real: string;
  try {
    root = await realpath(folder);
    real = await realpath(wanted);
    if (!(await stat(real)).isDirectory()) throw new RolecallError('tool', `"${wanted}" is not a folder.`);
  } catch (error) {
    if (error instanceof RolecallError) throw error;
    throw new RolecallError('tool', `The folder "${wanted}" does not exist or cannot be read.`, { cause: error });
  }
  if (isInside(root, real)) return { root, cwd: real };
  throw new RolecallError('tool', `The folder "${cwd}" leads to "${real}", outside of the workspace folder.`);
}

/** True when `file` is `folder` or lies in it. Both absolute; compared as text. */
export function isInside(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return relative === '' || (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative));
}

function literal(template: string): string {
  const parsed = parseTemplate(template);
  const [part] = parsed.kind === 'ok' ? parsed.parts : [];
  if (parsed.kind === 'ok' && parsed.parts.length === 1 && part?.kind === 'text') return part.text;
  throw new RolecallError('tool', `The program "${template}" is not a fixed name.`);
}
