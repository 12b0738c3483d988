import * as l10n from '@vscode/l10n';
import { findNodeAtLocation, type Node } from 'jsonc-parser';
import {
  type Diagnostic,
  errorAt,
  type MemberDiagnostic,
  maxToolFileLength,
  toolFileVersion,
  type WorkspaceToolDefinition,
} from './definition.ts';
import { runDiagnostics, schemaDiagnostics } from './diagnostics.ts';
import { isDamaged, nodeValue, type ParsedText, parseText, syntaxDiagnostics, unusableMembers } from './jsonTree.ts';
import { knownMembers, runMembers, supportedKinds, type ToolShape, toolSchema } from './toolSchema.ts';

/** The contents of a tool file: every usable tool, and every problem, in the order of the text. */
export interface ToolFile {
  readonly tools: readonly WorkspaceToolDefinition[];
  readonly problems: readonly Diagnostic[];
}

/**
 * Reads `.vscode/rolecall.tools.json`: JSON with comments, `{ "version"?: 1, "tools": [ … ] }`. Never throws. A tool with
 * an error is left out and the others stay; of two tools with one name the first stays. A text that is too long or nested
 * too deeply is one problem and no tool.
 *
 * @param folder absolute path of the workspace folder the file belongs to.
 * @param reserved names of tools that take precedence over those of the file.
 */
export function readToolFile(
  text: string,
  { folder, reserved = new Set() }: { readonly folder: string; readonly reserved?: ReadonlySet<string> },
): ToolFile {
  if (text.length > maxToolFileLength) {
    return unreadable(
      l10n.t('This file is longer than {0} characters, so none of its tools are available.', maxToolFileLength),
    );
  }
  try {
    return read(text, folder, reserved);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return unreadable(l10n.t('This file is nested too deeply, so none of its tools are available.'));
  }
}

function unreadable(message: string): ToolFile {
  return {
    tools: [],
    problems: [{ offset: 0, length: 1, line: 0, column: 0, severity: 'error', message }],
  };
}

function read(text: string, folder: string, reserved: ReadonlySet<string>): ToolFile {
  const parsed = parseText(text);
  const { root, errors, placeOf } = parsed;
  const problems = syntaxDiagnostics(parsed);
  const tools = new Map<string, WorkspaceToolDefinition>();
  if (root === undefined) return { tools: [], problems };

  const list = findTools(root, parsed, problems);
  for (const node of list) {
    if (isDamaged(node, errors)) continue;
    const report = (finding: MemberDiagnostic): void => {
      const { path, severity, message } = finding;
      problems.push({ ...placeOf(nodeAt(node, path)), severity, message });
    };
    const { shape, findings } = readTool(node, placeOf, problems);
    findings.forEach(report);
    if (shape === undefined || findings.some(({ severity }) => severity === 'error')) continue;
    if (tools.has(shape.name)) {
      const message = l10n.t(
        'Another tool in this file is already named "{0}". Only the first one is available.',
        shape.name,
      );
      report({ path: ['name'], severity: 'error', message });
      continue;
    }
    if (reserved.has(shape.name)) {
      const message = l10n.t(
        'Rolecall has a built-in tool named "{0}", which @rolecall uses instead of this one while you are signed in. Choose another name.',
        shape.name,
      );
      report({ path: ['name'], severity: 'warning', message });
    }
    tools.set(shape.name, { ...definitionOf(shape), folder, place: placeOf(node) });
  }
  return { tools: [...tools.values()], problems: problems.toSorted((a, b) => a.offset - b.offset) };
}

function findTools(root: Node, { errors, placeOf }: ParsedText, problems: Diagnostic[]): readonly Node[] {
  const report = (
    node: Node,
    message: string,
    more: Pick<Diagnostic, 'isSyntax'> & Partial<MemberDiagnostic> = {},
  ): void => {
    problems.push({ ...placeOf(node), severity: 'error', message, ...more });
  };
  if (root.type !== 'object') {
    report(root, l10n.t('The file must be an object with a "tools" member.'));
    return [];
  }
  for (const name of unknownNames(root, knownMembers.file)) {
    report(name, l10n.t('Unknown property "{0}". It is ignored.', name.value), { severity: 'warning' });
  }
  const names = (root.children ?? []).flatMap((property) => property.children?.[0] ?? []);
  for (const member of knownMembers.file) {
    const [, again] = names.filter((name) => name.value === member);
    if (again !== undefined) {
      report(again, l10n.t('"{0}" appears more than once.', member), { isSyntax: true });
      return [];
    }
  }
  const version = findNodeAtLocation(root, ['version']);
  if (version !== undefined && version.value !== toolFileVersion) {
    report(version, l10n.t('This version of Rolecall supports only version {0} of tool files.', toolFileVersion));
    return [];
  }
  const tools = findNodeAtLocation(root, ['tools']);
  if (tools?.type === 'array') return tools.children ?? [];
  // With a syntax error the member may be present but unreadable, and that error is already reported.
  if (tools !== undefined) report(tools, l10n.t('"tools" must be an array.'));
  else if (errors.length === 0) report(root, l10n.t('The file must have a "tools" member: an array of tools.'));
  return [];
}

/** Checks the shape first; the schema and the templates only when the shape is valid. */
function readTool(
  node: Node,
  placeOf: ParsedText['placeOf'],
  problems: Diagnostic[],
): { shape?: ToolShape; findings: readonly MemberDiagnostic[] } {
  const unusable = unusableMembers(node);
  for (const { name, message } of unusable)
    problems.push({ ...placeOf(name), severity: 'error', message, isSyntax: true });
  if (unusable.length > 0) return { findings: [] };
  const kind = findNodeAtLocation(node, ['run', 'kind']);
  if (kind !== undefined && !supportedKinds.includes(String(kind.value))) {
    return { findings: [errorAt(['run', 'kind'], unknownKind(kind))] };
  }
  const value = nodeValue(node);
  const result = toolSchema.safeParse(value, { reportInput: false });
  const unknown = unknownMembers(node);
  if (!result.success) {
    const findings = result.error.issues.map((issue) => errorAt(issue.path.filter(isKey), issueMessage(issue)));
    return { findings: [...findings, ...unknown] };
  }
  const shape = result.data;
  return { shape, findings: [...unknown, ...schemaDiagnostics(shape), ...runDiagnostics(shape)] };
}

function unknownKind(kind: Node): string {
  const kinds = supportedKinds.map((each) => `"${each}"`).join(', ');
  return kind.type === 'string'
    ? l10n.t('Unknown tool kind "{0}". Use one of: {1}.', kind.value, kinds)
    : l10n.t('"kind" must be a string. Use one of: {0}.', kinds);
}

function issueMessage(issue: {
  code?: string | undefined;
  message: string;
  path: PropertyKey[];
  issues?: unknown;
}): string {
  if (issue.code !== 'invalid_key') return issue.message;
  const name = String(issue.path.at(-1));
  return issue.path.at(-2) === 'headers'
    ? l10n.t('"{0}" is not a valid header name.', name)
    : l10n.t('"{0}" is not a valid environment variable name.', name);
}

function unknownMembers(node: Node): MemberDiagnostic[] {
  const at = (path: string[], members: readonly string[]): MemberDiagnostic[] =>
    unknownNames(findNodeAtLocation(node, path) ?? node, members).map((name) => ({
      path: [...path, String(name.value)],
      severity: 'warning',
      message: l10n.t('Unknown property "{0}". It is ignored. Known properties: {1}.', name.value, members.join(', ')),
    }));
  const members = runMembers.get(String(findNodeAtLocation(node, ['run', 'kind'])?.value));
  const isProcess = members?.includes('access') === true && findNodeAtLocation(node, ['run', 'access']) !== undefined;
  return [
    ...at([], knownMembers.tool),
    ...(members === undefined ? [] : at(['run'], members)),
    ...(isProcess ? at(['run', 'access'], knownMembers.access) : []),
  ];
}

function unknownNames(node: Node, members: readonly string[]): Node[] {
  const names = (node.children ?? []).flatMap((property) =>
    property.type === 'property' ? (property.children?.[0] ?? []) : [],
  );
  return names.filter((name) => !members.includes(String(name.value)));
}

function definitionOf({
  name,
  description,
  parameters,
  run,
}: ToolShape): Omit<WorkspaceToolDefinition, 'folder' | 'place'> {
  if (run.kind !== 'process') return { name, description, parameters, run };
  const [program = '', ...rest] = run.command;
  return { name, description, parameters, run: { ...run, command: [program, ...rest] } };
}

/** The node at a path, or the nearest one above it that exists: where a missing member is reported. */
function nodeAt(root: Node, path: readonly (string | number)[]): Node {
  for (let length = path.length; length > 0; length -= 1) {
    const segments = path.slice(0, length);
    const node = findNodeAtLocation(root, segments) ?? findNodeAtLocation(root, segments.map(asIndex));
    if (node !== undefined) return node;
  }
  return root;
}

/** A JSON pointer does not tell the index of an array from a name. */
function asIndex(segment: string | number): string | number {
  return typeof segment === 'string' && /^\d+$/.test(segment) ? Number(segment) : segment;
}

function isKey(key: PropertyKey): key is string | number {
  return typeof key !== 'symbol';
}
