import * as l10n from '@vscode/l10n';
import { createScanner, findNodeAtLocation, type Node } from 'jsonc-parser';
import { RolecallError } from '../base/errors.ts';
import { parseText } from './jsonTree.ts';

/** A range of the text to be replaced; offsets count UTF-16 code units. */
export interface TextEdit {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

export interface NewTool {
  readonly name: string;
  /** Edits of the original text, from front to back; they do not overlap. */
  readonly edits: readonly TextEdit[];
}

const HEAD = [
  '{',
  '  // Tools of this workspace that @rolecall can ask to run. You are asked before anything runs.',
  '  "tools": [',
];

/** The lines of a commented example that works unchanged. */
function example(name: string): readonly string[] {
  return [
    '{',
    `  "name": ${JSON.stringify(name)},`,
    '  // The model uses this description to decide when to call the tool.',
    '  "description": "Counts the words of a file of this workspace.",',
    '  "parameters": {',
    '    "type": "object",',
    '    "properties": {',
    '      // A "workspace-path" is relative to the workspace folder and stays inside it.',
    '      "file": { "type": "string", "format": "workspace-path", "description": "Path of the file" }',
    '    },',
    '    "required": ["file"]',
    '  },',
    '  "run": {',
    '    // "process" starts a program. Other kinds: "command" (of the editor), "tool" (any tool in the editor, including MCP),',
    '    // "http" (a request to a host that you have allowed).',
    '    "kind": "process",',
    `    // Each \${parameter} becomes exactly one argument: there is no shell. Values that begin with "-" are refused`,
    '    // unless a "--" stands before them. It runs contained: it reads this workspace, writes only temporary files and',
    '    // has no network, unless "access" says more: { "write": ["out"], "network": true }.',
    `    "command": ["wc", "-w", "--", "\${file}"],`,
    '    "timeoutSeconds": 10',
    '  }',
    '}',
  ];
}

/**
 * Adds a commented example to a tool file; comments and layout of the rest are kept. An empty text becomes a whole
 * file.
 *
 * @param usedNames names of tools elsewhere in the workspace: models know a tool by its name alone.
 * @throws {RolecallError} kind `configuration` when no tool can be added to the file.
 */
export function addTool(text: string, usedNames: readonly string[] = []): NewTool {
  if (text.replace(/^\uFEFF/, '').trim() === '') {
    const name = freeName(usedNames);
    const whole = [...HEAD, ...example(name).map((line) => `    ${line}`), '  ]', '}', ''].join('\n');
    return { name, edits: [{ offset: 0, length: text.length, text: whole }] };
  }
  const { root, errors } = parseText(text);
  if (root?.type !== 'object' || errors.length > 0) {
    throw new RolecallError('configuration', l10n.t('The tool file is not valid JSON. Fix it, then add a tool.'));
  }
  const tools = findNodeAtLocation(root, ['tools']);
  const layout = layoutOf(text, tools ?? root);
  const name = freeName([...usedNames, ...namesIn(tools)]);
  if (tools === undefined) {
    const list = [`"tools": [`, ...element(name, layout), `${layout.unit}]`].join(layout.eol);
    return { name, edits: append(text, root, `${layout.unit}${list}`, '', layout.eol) };
  }
  if (tools.type !== 'array')
    throw new RolecallError('configuration', l10n.t('"tools" in the tool file must be an array.'));
  return { name, edits: append(text, tools, element(name, layout).join(layout.eol), layout.indent, layout.eol) };
}

const baseName = 'count_words';

interface Layout {
  readonly eol: string;
  readonly unit: string;
  /** The indentation of the line with the list. */
  readonly indent: string;
}

function layoutOf(text: string, node: Node): Layout {
  const lineStart = Math.max(text.lastIndexOf('\n', node.offset - 1), text.lastIndexOf('\r', node.offset - 1)) + 1;
  const indent = /^[ \t]*/.exec(text.slice(lineStart))?.[0] ?? '';
  return {
    eol: text.includes('\r\n') ? '\r\n' : '\n',
    unit: indent.includes('\t') ? '\t' : '  ',
    indent: node.type === 'array' ? indent : '',
  };
}

function element(name: string, { unit, indent }: Layout): string[] {
  const before = `${indent === '' ? unit : indent}${unit}`;
  return example(name).map(
    (line) => `${before}${line.replace(/^(?: {2})+/, (blanks) => unit.repeat(blanks.length / 2))}`,
  );
}

/** Appends to an array or object: a comma after its last child if there is none, the new child, the bracket. */
function append(text: string, parent: Node, child: string, indent: string, eol: string): TextEdit[] {
  const close = parent.offset + parent.length - 1;
  const last = parent.children?.at(-1);
  const edits: TextEdit[] = [];
  if (last !== undefined && !hasComma(text, last.offset + last.length, close)) {
    edits.push({ offset: last.offset + last.length, length: 0, text: ',' });
  }
  const offset = text.slice(0, close).trimEnd().length;
  edits.push({ offset, length: close - offset, text: `${eol}${child}${eol}${indent}` });
  return edits;
}

function hasComma(text: string, from: number, to: number): boolean {
  const scanner = createScanner(text.slice(0, to), true);
  scanner.setPosition(from);
  scanner.scan();
  return text[scanner.getTokenOffset()] === ',';
}

function namesIn(tools: Node | undefined): string[] {
  return (tools?.children ?? []).map((tool) => String(findNodeAtLocation(tool, ['name'])?.value));
}

function freeName(usedNames: readonly string[]): string {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? baseName : `${baseName}_${count}`;
    if (!usedNames.includes(name)) return name;
  }
}
