import fs from 'node:fs/promises';
import path from 'node:path';
import { RolecallError, systemErrorCode } from '../core/base/errors.ts';
import type { FunctionTool } from '../core/completions/request.ts';
import type { PromptResources } from '../core/prompts/promptRequest.ts';
import { MAX_PROMPT_FILE } from '../core/prompts/yamlText.ts';
import { readToolFile } from '../core/tools/toolFile.ts';

/** Of a file that a prompt includes, and of an image, in bytes. */
const MAX_TEXT = 4 * MAX_PROMPT_FILE;
const MAX_IMAGE = 20 * 1024 * 1024;
const PROMPT_FILE = '**/*.prompt.{yml,yaml}';
/** Of programs, not of people. */
const OTHERS: ReadonlySet<string> = new Set(['node_modules', '.git']);

/**
 * The prompt files that are meant, each once: files, those within folders, or those within the current folder.
 *
 * @throws RolecallError `configuration` for what is not there.
 */
export async function findPromptFiles(named: readonly string[], folder: string): Promise<string[]> {
  const found = new Set<string>();
  for (const name of named.length > 0 ? named : ['.']) {
    const full = path.resolve(folder, name);
    const stat = await fs.stat(full).catch((error: unknown) => {
      throw unreadable(name, error);
    });
    if (!stat.isDirectory()) found.add(full);
    else for (const file of await filesIn(full)) found.add(path.join(full, file));
  }
  return [...found];
}

async function filesIn(folder: string): Promise<string[]> {
  const files: string[] = [];
  const exclude = (entry: string) => OTHERS.has(path.basename(entry));
  // A pattern with a star does not find names that begin with a dot.
  for (const pattern of [PROMPT_FILE, '**/.prompt.{yml,yaml}', '.github/**/*.prompt.{yml,yaml}']) {
    for await (const file of fs.glob(pattern, { cwd: folder, exclude })) files.push(file);
  }
  return [...new Set(files)].sort();
}

/** The text of a prompt file or a baseline. @throws RolecallError `configuration`. */
export async function readTextFile(file: string): Promise<string> {
  return decode(await readBytes(file, file, MAX_TEXT), file);
}

/** What a prompt file can read: within `root`, wherever links lead. Tools are only offered, never run. */
export function resourcesOfFile(file: string, root: string): PromptResources {
  const read = async (name: string, limit: number) => {
    const full = path.resolve(path.dirname(file), name);
    const [real, realRoot] = await Promise.all([fs.realpath(full), fs.realpath(root)]).catch((error: unknown) => {
      throw unreadable(name, error);
    });
    if (!isWithin(realRoot, real)) {
      throw new RolecallError('configuration', `${name} is outside of ${root}.`);
    }
    return await readBytes(real, name, limit);
  };
  return {
    readText: async (name) => decode(await read(name, MAX_TEXT), name),
    readImage: (name) => read(name, MAX_IMAGE),
    tools: async (names) => {
      const defined = await toolsOf(root);
      return names.map((name) => {
        const tool = defined.get(name);
        if (tool) return tool;
        throw new RolecallError(
          'configuration',
          `There is no tool "${name}" in .vscode/rolecall.tools.json of ${root}.`,
        );
      });
    },
  };
}

/** Both absolute. */
export function isWithin(folder: string, file: string): boolean {
  const inside = path.relative(folder, file);
  return inside !== '..' && !inside.startsWith(`..${path.sep}`) && !path.isAbsolute(inside);
}

async function toolsOf(root: string): Promise<ReadonlyMap<string, FunctionTool>> {
  const file = path.join(root, '.vscode', 'rolecall.tools.json');
  const text = await fs.readFile(file, 'utf8').catch(() => '{"tools": []}');
  const { tools } = readToolFile(text, { folder: root });
  return new Map(
    tools.map(({ name, description, parameters }) => [
      name,
      { type: 'function', function: { name, description, parameters } },
    ]),
  );
}

async function readBytes(file: string, name: string, limit: number): Promise<Buffer> {
  try {
    const stat = await fs.stat(file);
    // A pipe has no end.
    if (!stat.isFile()) throw new RolecallError('configuration', `${name} is not a file.`);
    if (stat.size > limit) throw new RolecallError('configuration', `${name} is larger than ${limit} bytes.`);
    return await fs.readFile(file);
  } catch (error) {
    throw error instanceof RolecallError ? error : unreadable(name, error);
  }
}

function decode(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new RolecallError('configuration', `${name} is not a text in UTF-8.`);
  }
}

function unreadable(name: string, error: unknown): RolecallError {
  return new RolecallError('configuration', `${name} cannot be read (${systemErrorCode(error) ?? 'unknown'}).`);
}
