import { createHash } from 'node:crypto';
import path from 'node:path';
import { parseTemplate } from './argv.ts';
import type { ProcessRun, ToolDefinition } from './definition.ts';
import { isInside, type ProcessSpec } from './prepare.ts';

export interface DefinitionHash {
  /** SHA-256 in lower-case hexadecimal. */
  readonly hash: string;
  /** Absolute paths of the files of the workspace whose content is part of it, sorted. */
  readonly files: readonly string[];
}

/**
 * Names what the user consents to: the definition, the program it means here, and the content of every file of the
 * workspace folder that the program, a fixed argument or a variable of the definition names. Edit any of them and the
 * hash is another. Which fixed argument or variable names a script cannot be known from outside, so a data file counts
 * too and asks once too often rather than never. What a script loads in turn is not covered.
 *
 * @param readFile the content of a file, or undefined when there is no such file.
 */
export async function definitionHash(
  definition: Hashed & { readonly run: ProcessRun },
  { executable, root, cwd }: Pick<ProcessSpec, 'executable' | 'root' | 'cwd'>,
  readFile: (file: string) => Promise<Uint8Array | undefined>,
): Promise<DefinitionHash> {
  const { name, description, parameters, run, folder } = definition;
  const candidates = new Set([executable.path, executable.realPath]);
  for (const template of run.command.slice(1)) {
    for (const text of fixedTexts(template)) candidates.add(path.resolve(cwd, text));
  }
  for (const value of Object.values(run.env)) {
    for (const text of pathTexts(value)) candidates.add(path.resolve(cwd, text));
  }
  const contents: [string, string][] = [];
  for (const file of [...candidates].sort()) {
    if (!isInside(folder, file) && !isInside(root, file)) continue;
    const content = await readFile(file);
    if (content !== undefined) contents.push([file, createHash('sha256').update(content).digest('hex')]);
  }
  const subject = { name, description, parameters, run, folder, executable, contents };
  return {
    hash: createHash('sha256').update(canonicalJson(subject)).digest('hex'),
    files: contents.map(([file]) => file),
  };
}

/**
 * The same for tools that start no program of their own. `target` is what the name in the definition means here, for
 * example the description and schema of the tool that is called.
 */
export function plainDefinitionHash({ name, description, parameters, run, folder }: Hashed, target?: unknown): string {
  const subject = { name, description, parameters, run, folder, target };
  return createHash('sha256').update(canonicalJson(subject)).digest('hex');
}

type Hashed = Pick<ToolDefinition, 'name' | 'description' | 'parameters' | 'run' | 'folder'>;

/** JSON with sorted members and without blanks: equal values give equal text (RFC 8785 without its number format). */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

/** `hook.mjs` and `--import=hook.mjs` both name a file. */
function fixedTexts(template: string): string[] {
  const parsed = parseTemplate(template);
  const [part] = parsed.kind === 'ok' ? parsed.parts : [];
  if (parsed.kind === 'invalid' || parsed.parts.length !== 1 || part?.kind !== 'text') return [];
  const value = /^-[^=]*=(.+)$/s.exec(part.text)?.[1];
  return value === undefined ? [part.text] : [part.text, value];
}

/**
 * What may be a path in the value of a variable: `NODE_OPTIONS="--require ./x.js"`, `LD_PRELOAD=a.so:b.so`. The value and
 * its words count whole as well, as a path may hold each of the separators (`C:\\x`, `my file.sh`).
 */
function pathTexts(value: string): Set<string> {
  const unquoted = (text: string): string => text.replace(/^["']+|["']+$/g, '');
  const texts = [
    value,
    ...value.split(/[;:]/),
    ...value.split(/\s+/),
    ...value.split(/[\s=;]+/),
    ...value.split(/[\s=:;]+/),
  ];
  return new Set(texts.map(unquoted).filter((text) => text !== ''));
}
