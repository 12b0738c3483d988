import path from 'node:path';
import { separators } from './codeWords.ts';
import type { ProcessRun, ToolDefinition } from './definition.ts';
import { type FileAccess, KnownFiles } from './knownFiles.ts';
import { isInside, type ProcessSpec } from './prepare.ts';
import { fixedWords, gap, runnerFiles } from './runners.ts';

/** The workspace, as far as a definition may name files in it. */
export interface WorkspaceFiles extends FileAccess {
  /** Absolute paths of all of its folders, as they were opened and with links followed. */
  readonly folders: readonly string[];
}

/** More than a command names that a person can read. */
const maxBases = 256;

/** What interpreters add to the name of a script, and take of a folder. */
const suffixes = [
  '.js',
  '.mjs',
  '.cjs',
  '.ts',
  '.mts',
  '.cts',
  '.jsx',
  '.tsx',
  '.json',
  '.node',
  '.py',
  '.rb',
  '.lua',
  '.exe',
];
const entries = [
  'package.json',
  '__main__.py',
  '__init__.py',
  'init.lua',
  ...suffixes.map((suffix) => `index${suffix}`),
];

/**
 * Every file of the workspace that a definition names: its program, and what a fixed argument or variable names as a
 * path, as a word of code, as a module or as a folder with a beginning of its own. A word counts from the working folder
 * and from each folder that another word names (`cd`, `-C`, `PYTHONPATH`).
 *
 * @returns the files with their content, in the order of their names.
 */
export async function namedFiles(
  definition: Pick<ToolDefinition, 'parameters' | 'folder'> & { readonly run: ProcessRun },
  { executable, root, cwd }: Pick<ProcessSpec, 'executable' | 'root' | 'cwd'>,
  { folders, ...access }: WorkspaceFiles,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const all = [definition.folder, root, ...folders];
  const isOurs = (file: string): boolean => all.some((folder) => isInside(folder, file));
  const known = new KnownFiles(access, isOurs);
  const found = new Map<string, Uint8Array>();
  const add = async (file: string): Promise<Uint8Array | undefined> => {
    if (!isOurs(file)) return undefined;
    const content = found.get(file) ?? (await known.read(file));
    if (content !== undefined) found.set(file, content);
    return content;
  };
  const addNamed = async (file: string): Promise<void> => {
    if (!isOurs(file) || (await add(file)) !== undefined) return;
    if (!(await known.isFolder(file))) {
      for (const suffix of suffixes) await add(`${file}${suffix}`);
      return;
    }
    for (const entry of entries) {
      const content = await add(path.join(file, entry));
      const main = entry === 'package.json' ? mainOf(content) : undefined;
      if (main === undefined) continue;
      for (const ending of ['', ...suffixes, ...suffixes.map((suffix) => `/index${suffix}`)]) {
        await add(path.resolve(file, `${main}${ending}`));
      }
    }
  };

  await add(executable.path);
  await add(executable.realPath);
  const words = namesIn(definition);
  const bases = new Set([cwd]);
  for (const base of bases) {
    for (const word of words) {
      const named = path.resolve(base, word);
      if (bases.size < maxBases && isOurs(named) && (await known.isFolder(named))) bases.add(named);
    }
  }
  for (const base of bases) {
    for (const word of words) await addNamed(path.resolve(base, word));
    for (const file of runnerFiles(definition)) {
      for (let folder = base; isOurs(folder); folder = path.dirname(folder)) {
        await add(path.join(folder, file));
        if (folder === path.dirname(folder)) break;
      }
    }
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** `main` of a package.json. */
function mainOf(content: Uint8Array | undefined): string | undefined {
  if (content === undefined) return undefined;
  try {
    const { main } = Object(JSON.parse(new TextDecoder().decode(content)));
    return typeof main === 'string' ? main : undefined;
  } catch {
    return undefined;
  }
}

/** Whatever may be a path in the arguments and variables of a definition. */
function namesIn(definition: Parameters<typeof fixedWords>[0]): Set<string> {
  const texts = [...fixedWords(definition).flatMap((words) => words.slice(1)), ...Object.values(definition.run.env)];
  const words = texts.flatMap((text) => text.split(gap)).flatMap(pathTexts);
  return new Set(words.flatMap((word) => [word, ...modulePaths(word)]));
}

/**
 * What may be a path in a text: `--import=./hook.mjs`, `-r./x.js`, `NODE_OPTIONS="--require ./x.js"`,
 * `LD_PRELOAD=a.so:b.so`, `./build.sh && ./test.sh`. The text and its words count whole as well, as a path may hold each
 * of the separators (`C:\\x`, `my file.sh`).
 */
function pathTexts(text: string): string[] {
  const unquoted = (part: string): string => part.replace(/^["']+|["']+$/g, '');
  const parts = [text, text.replace(/^-[^=]*=/, ''), text.replace(/^-[a-zA-Z]/, '')];
  for (const separator of [/[;:]/, /\s+/, /[\s=;]+/, /[\s=:;]+/, separators]) parts.push(...text.split(separator));
  return parts.map(unquoted).filter((part) => part !== '' && !/^--?$/.test(part));
}

/** `a.b.c` as the paths of a module and of the packages around it: each of them runs. */
function modulePaths(word: string): string[] {
  if (!/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/.test(word)) return [];
  const names = word.split('.');
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}
