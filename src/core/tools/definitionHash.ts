import { createHash } from 'node:crypto';
import type { ProcessRun, ToolDefinition } from './definition.ts';
import { namedFiles, type WorkspaceFiles } from './namedFiles.ts';
import type { ProcessSpec } from './prepare.ts';

export interface DefinitionHash {
  /** SHA-256 in lower-case hexadecimal. */
  readonly hash: string;
  /** Absolute paths of the files of the workspace whose content is part of it, sorted. */
  readonly files: readonly string[];
}

/**
 * Names what the user consents to: the definition, the program it means here, and the content of every file of the
 * workspace that it names (see `namedFiles.ts`). Edit any of them and the hash is another. Which fixed argument or
 * variable names a script cannot be known from outside, so a data file counts too and asks once too often rather than
 * never. What a script loads in turn is not covered; programs that live by that are known (see `runners.ts`).
 */
export async function definitionHash(
  definition: Hashed & { readonly run: ProcessRun },
  spec: Pick<ProcessSpec, 'executable' | 'root' | 'cwd'>,
  workspace: WorkspaceFiles,
): Promise<DefinitionHash> {
  const { name, description, parameters, run, folder } = definition;
  const { executable } = spec;
  const files = await namedFiles(definition, spec, workspace);
  const contents = [...files].map(([file, content]) => [file, createHash('sha256').update(content).digest('hex')]);
  const subject = { name, description, parameters, run, folder, executable, contents };
  return { hash: createHash('sha256').update(canonicalJson(subject)).digest('hex'), files: [...files.keys()] };
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
