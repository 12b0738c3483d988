import { createHash } from 'node:crypto';
import path from 'node:path';
import type { ProcessRun, WorkspaceToolDefinition } from './definition.ts';
import type { HttpSpec } from './http.ts';
import type { Permissions } from './permissions.ts';
import type { ProcessSpec } from './prepare.ts';

/** One line of the consent. The host adds a label before `text`, by `kind`, in the user's language. */
export interface ConsentLine {
  readonly kind:
    | 'executable'
    | 'executableTarget'
    | 'argument'
    | 'folder'
    | 'variable'
    | 'stdin'
    | 'command'
    | 'tool'
    | 'toolDescription'
    | 'input'
    | 'request'
    | 'header'
    | 'body'
    | 'timeout';
  /** Escaped and quoted; contains no line break. Not Markdown: show it as code. */
  readonly text: string;
}

/**
 * What a program can reach, for the user. Paths are relative to the workspace folder, which is `.`; folders end in `/`.
 */
export interface ShownPermissions {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Absolute: the folder or the file of the program, where that belongs neither to the system nor to the workspace. */
  readonly program: string | undefined;
  readonly network: boolean;
}

export function shownPermissions(
  { read, write, files, program, network }: Permissions,
  root: string,
): ShownPermissions {
  const shown = (file: string): string =>
    file === root ? '.' : name(`${path.relative(root, file)}${files.includes(file) ? '' : '/'}`);
  // Without quotes, a word could be taken for a part of the sentence.
  const name = (text: string): string => (/^[\w@+-]*[./][\w./@+-]*$/.test(text) ? text : escapeInvisible(text));
  return {
    reads: read.map(shown),
    writes: write.map(shown),
    program: program === undefined ? undefined : name(program),
    network,
  };
}

/**
 * Everything that the user agrees to: what runs, with which arguments, where, with which additions to the environment
 * and for how long at most. Pure. Nothing is shortened, because the part that is cut could hide something.
 */
export function consentLines(spec: ProcessSpec, { run }: { readonly run: ProcessRun }): readonly ConsentLine[] {
  const { executable } = spec;
  const lines: ConsentLine[] = [{ kind: 'executable', text: escapeInvisible(executable.path) }];
  if (executable.realPath !== executable.path) {
    lines.push({ kind: 'executableTarget', text: escapeInvisible(executable.realPath) });
  }
  lines.push(...spec.args.map((argument): ConsentLine => ({ kind: 'argument', text: escapeInvisible(argument) })));
  lines.push({ kind: 'folder', text: escapeInvisible(spec.cwd) });
  for (const [name, value] of Object.entries(run.env)) {
    lines.push({ kind: 'variable', text: `${name}=${escapeInvisible(value)}` });
  }
  if (spec.stdin !== undefined) lines.push({ kind: 'stdin', text: escapeInvisible(spec.stdin) });
  return [...lines, timeoutLine(spec.timeoutMs)];
}

/** The same for a command of the editor; `args` are the command's arguments. */
export function commandLines(command: string, args: readonly unknown[], timeoutMs: number): readonly ConsentLine[] {
  const shown = args.map((argument): ConsentLine => ({ kind: 'argument', text: visibleJson(argument) }));
  return [{ kind: 'command', text: escapeInvisible(command) }, ...shown, timeoutLine(timeoutMs)];
}

/** The same for a tool the editor knows. */
export function forwardLines(
  { name, description }: { readonly name: string; readonly description: string },
  input: unknown,
  timeoutMs: number,
): readonly ConsentLine[] {
  return [
    { kind: 'tool', text: escapeInvisible(name) },
    { kind: 'toolDescription', text: escapeInvisible(description) },
    { kind: 'input', text: visibleJson(input) },
    timeoutLine(timeoutMs),
  ];
}

/** The same for a request over HTTP. */
export function httpLines({ method, url, headers, body, timeoutMs }: HttpSpec): readonly ConsentLine[] {
  const lines: ConsentLine[] = [{ kind: 'request', text: `${method} ${escapeInvisible(url)}` }];
  for (const [name, value] of Object.entries(headers))
    lines.push({ kind: 'header', text: `${name}: ${escapeInvisible(value)}` });
  if (body !== undefined) lines.push({ kind: 'body', text: escapeInvisible(body) });
  return [...lines, timeoutLine(timeoutMs)];
}

function timeoutLine(timeoutMs: number): ConsentLine {
  return { kind: 'timeout', text: `${timeoutMs / 1000} s` };
}

/** Text in quotes, anything else as JSON. */
function visibleJson(value: unknown): string {
  return typeof value === 'string' ? escapeInvisible(value) : escapeHidden(JSON.stringify(value) ?? 'undefined');
}

/**
 * Every character that is invisible, or moves others: control and format characters (including the bidirectional ones),
 * combining marks, blanks other than the space, unassigned and private code points, halves of surrogate pairs, what
 * Unicode calls default-ignorable, and the empty Braille pattern.
 */
const hidden = /[\p{C}\p{M}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text in double quotes, on one line, with everything hidden written as an escape: `\u{202e}`, `\{40 spaces}`. */
export function escapeInvisible(text: string): string {
  return `"${escapeHidden(text.replaceAll(/["\\]/g, '\\$&'))}"`;
}

function escapeHidden(text: string): string {
  return text
    .replaceAll(hidden, (character) => named[character] ?? `\\u{${character.codePointAt(0)?.toString(16)}}`)
    .replaceAll(/ {4,}/g, (blanks) => `\\{${blanks.length} spaces}`);
}

/**
 * Identifies what the user agrees to, in lower-case hexadecimal: the definition and what its names mean on this
 * machine. Changing one of them changes the hash.
 *
 * @param target of a program: the file that is started and what it reaches; of a tool of the editor: its own
 * description.
 */
export function definitionHash({ name, description, parameters, run, folder }: Hashed, target?: unknown): string {
  return hashOf({ name, description, parameters, run, folder, target });
}

/** SHA-256 of a value as JSON. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

type Hashed = Pick<WorkspaceToolDefinition, 'name' | 'description' | 'parameters' | 'run' | 'folder'>;

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
