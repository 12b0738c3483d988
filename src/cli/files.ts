import fs from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { RolecallError, systemErrorCode } from '../core/base/errors.ts';
import type { FunctionTool } from '../core/completions/request.ts';
import {
  decodeText,
  fileErrors,
  MAX_IMAGE_BYTES,
  MAX_TEXT_BYTES,
  type PromptResources,
} from '../core/prompts/promptRequest.ts';
import { isInside } from '../core/tools/permissions.ts';

/** Folders whose files programs write. */
const OTHERS: ReadonlySet<string> = new Set(['node_modules', '.git']);

/**
 * The files to use, each once: those that are named, and those that match `wanted` in the named folders, or in the
 * current one.
 *
 * @throws RolecallError `configuration` for a file that does not exist.
 */
export async function findFiles(named: readonly string[], folder: string, wanted: RegExp): Promise<string[]> {
  const files = new Set<string>();
  for (const name of named.length > 0 ? named : ['.']) {
    const full = path.resolve(folder, name);
    const stat = await fs.stat(full).catch((error: unknown) => {
      throw cannotRead(name, error);
    });
    if (!stat.isDirectory()) files.add(full);
    else for (const file of await filesIn(full, wanted)) files.add(file);
  }
  return [...files];
}

/** Links are not followed: they may lead anywhere, and in circles. */
async function filesIn(folder: string, wanted: RegExp): Promise<readonly string[]> {
  const entries = await fs.readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw cannotRead(folder, error);
  });
  const files: string[] = [];
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory() && !OTHERS.has(entry.name)) files.push(...(await filesIn(full, wanted)));
    if (entry.isFile() && wanted.test(entry.name)) files.push(full);
  }
  return files;
}

/** The name of a file in output, with `/`: relative to the current folder if it is in it, else absolute. */
export function displayPath(full: string): string {
  const folder = process.cwd();
  return (isInside(folder, full) ? path.relative(folder, full) : full).replaceAll(path.sep, '/');
}

/** The text of a file of the user. @throws RolecallError `configuration`. */
export async function readTextFile(file: string): Promise<string> {
  return decodeText(await readBytes(file, file, MAX_TEXT_BYTES), file);
}

/** Reads files for a prompt file: within `root`, wherever links lead. Tools are only offered, never run. */
export function resourcesOfFile(file: string, root: string): PromptResources {
  const read = async (name: string, limit: number) => {
    const full = path.resolve(path.dirname(file), name);
    if (!isInside(root, full)) throw fileErrors.outside(name);
    const [real, realRoot] = await Promise.all([fs.realpath(full), fs.realpath(root)]).catch(() => {
      throw fileErrors.missing(name);
    });
    if (!isInside(realRoot, real)) throw fileErrors.outside(name);
    return await readBytes(real, name, limit);
  };
  return {
    readText: async (name) => decodeText(await read(name, MAX_TEXT_BYTES), name),
    readImage: (name) => read(name, MAX_IMAGE_BYTES),
    tools: () => toolsOf(root),
  };
}

async function toolsOf(root: string): Promise<readonly FunctionTool[]> {
  const file = path.join(root, '.vscode', 'rolecall.tools.json');
  const isThere = await fs.stat(file).then(
    () => true,
    (error: unknown) => systemErrorCode(error) !== 'ENOENT',
  );
  if (!isThere) return [];
  const { readToolFile } = await import('../core/tools/toolFile.ts'); // Few runs need it, and it brings a validator along.
  return readToolFile(await readTextFile(file), { folder: root }).tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
}

/** @throws RolecallError `configuration`. */
export async function writeTextFile(file: string, text: string): Promise<void> {
  await fs.writeFile(file, text).catch((error: unknown) => {
    throw new RolecallError('configuration', `${file} cannot be written (${systemErrorCode(error) ?? 'unknown'}).`);
  });
}

async function readBytes(file: string, name: string, limit: number): Promise<Buffer> {
  try {
    const stat = await fs.stat(file);
    // A pipe has no end.
    if (!stat.isFile()) throw fileErrors.noFile(name);
    if (stat.size > limit) throw fileErrors.tooLarge(name, limit);
    return await fs.readFile(file);
  } catch (error) {
    throw error instanceof RolecallError ? error : cannotRead(name, error);
  }
}

/** Why a file could not be read. */
export function cannotRead(name: string, error: unknown): RolecallError {
  if (systemErrorCode(error) === 'ENOENT') return new RolecallError('configuration', `${name} does not exist.`);
  return new RolecallError('configuration', `${name} cannot be read (${systemErrorCode(error) ?? 'unknown'}).`);
}
