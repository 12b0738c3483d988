import { errorAt, type MemberDiagnostic } from './definition.ts';
import {
  isUnconstrained,
  jsonDiagnostics,
  jsonParameters,
  parseTemplate,
  type TemplatePart,
  templateParameters,
  undeclaredMessage,
} from './templates.ts';
import type { ToolShape } from './toolSchema.ts';
import { parseUrlTemplate } from './urlTemplate.ts';
import { compileParameters } from './validate.ts';

/** What is wrong with the `parameters` of a tool as JSON Schema. */
export function schemaDiagnostics({ parameters }: ToolShape): MemberDiagnostic[] {
  const findings = Object.entries(parameters.properties).flatMap(([name, property]): MemberDiagnostic[] => {
    const path = ['parameters', 'properties', name];
    if (typeof property.description === 'string') return [];
    return [
      { path, severity: 'warning', message: `The parameter "${name}" has no "description": the model has to guess.` },
    ];
  });
  for (const [index, name] of parameters.required.entries()) {
    if (Object.hasOwn(parameters.properties, name)) continue;
    findings.push(errorAt(['parameters', 'required', index], `"${name}" is required and is not among "properties".`));
  }
  const compiled = compileParameters(parameters);
  if (compiled.kind === 'invalid') {
    return [...findings, ...compiled.faults.map((fault) => schemaFault(fault.path, fault.message))];
  }
  for (const keyword of compiled.unknownKeywords) {
    const message = `"${keyword}" is no keyword of JSON Schema draft-07: it is sent to the model and not checked.`;
    findings.push({ path: ['parameters'], severity: 'warning', message });
  }
  return findings;
}

function schemaFault(path: readonly string[], message: string): MemberDiagnostic {
  const subject = path.length === 0 ? '"parameters"' : `"${path.join('.')}"`;
  return errorAt(['parameters', ...path], `${subject} ${message}.`);
}

/** What is wrong between `run` and the declared parameters of a tool. */
export function runDiagnostics(shape: ToolShape): MemberDiagnostic[] {
  const { run, parameters } = shape;
  const isDeclared = (name: string): boolean => Object.hasOwn(parameters.properties, name);
  switch (run.kind) {
    case 'process':
      return processDiagnostics(parameters, run);
    case 'command':
      return [
        ...commandDiagnostics(run),
        ...jsonDiagnostics(run.arguments, ['run', 'arguments'], isDeclared),
        ...unused(shape, jsonParameters(run.arguments), '"arguments"'),
      ];
    case 'tool':
      return [
        ...forwardDiagnostics(run.tool),
        ...(run.input === undefined
          ? []
          : [
              ...jsonDiagnostics(run.input, ['run', 'input'], isDeclared),
              ...unused(shape, jsonParameters(run.input), '"input"'),
            ]),
      ];
    case 'http':
      return [
        ...httpDiagnostics(run, isDeclared),
        ...unused(shape, [...templateParameters(run.url), ...jsonParameters(run.body)], '"url" or "body"'),
      ];
  }
}

type ProcessShape = Extract<ToolShape['run'], { kind: 'process' }>;

function processDiagnostics(parameters: ToolShape['parameters'], run: ProcessShape): MemberDiagnostic[] {
  const at = (index: number, severity: MemberDiagnostic['severity'], message: string): MemberDiagnostic => {
    return { path: ['run', 'command', index], severity, message };
  };
  const findings = run.command.flatMap((template, index): MemberDiagnostic[] => {
    const parsed = parseTemplate(template);
    if (parsed.kind === 'invalid') return [at(index, 'error', `This argument ${parsed.message}.`)];
    const names = templateParameters(template);
    if (index === 0 && names.length > 0) {
      return [at(index, 'error', 'The program may not hold a parameter: what runs has to be fixed.')];
    }
    const unknown = names.filter((name) => !Object.hasOwn(parameters.properties, name));
    const option = optionWarning(parameters, run.command, index, parsed.parts);
    return [
      ...unknown.map((name) => at(index, 'error', undeclaredMessage(name))),
      ...(option === undefined ? [] : [at(index, 'warning', option)]),
    ];
  });
  const used = new Set(run.command.flatMap(templateParameters));
  for (const name of run.stdin === 'json' ? [] : Object.keys(parameters.properties)) {
    if (used.has(name)) continue;
    const message = `The parameter "${name}" never reaches the program: use "\${${name}}" in "command", or "stdin": "json".`;
    findings.push({ path: ['parameters', 'properties', name], severity: 'warning', message });
  }
  if (!run.contained && (run.access.write.length > 0 || run.access.network)) {
    const message = '"access" says nothing where "contained" is false: the program can do what you can.';
    findings.push({ path: ['run', 'access'], severity: 'warning', message });
  }
  return findings;
}

function optionWarning(
  parameters: ToolShape['parameters'],
  command: readonly string[],
  index: number,
  [first, second]: readonly TemplatePart[],
): string | undefined {
  if (first?.kind === 'text' && /^--?$/.test(first.text) && second?.kind === 'parameter') {
    if (!isUnconstrained(parameters.properties[second.name])) return undefined;
    return `The model chooses the option itself here; give "${second.name}" an "enum".`;
  }
  if (first?.kind !== 'parameter' || second !== undefined || !standsAfterOption(command, index)) return undefined;
  if (parameters.required.includes(first.name)) return undefined;
  return `When "${first.name}" is missing, the option before it takes the next argument; make it required.`;
}

function standsAfterOption(command: readonly string[], index: number): boolean {
  const before = command[index - 1] ?? '';
  return index > 1 && /^-./.test(before) && before !== '--' && templateParameters(before).length === 0;
}

/** Commands that run whatever their arguments say. */
const runsItsArguments: ReadonlyMap<string, string> = new Map([
  ['runCommands', 'it runs other commands; name the one command'],
  ['workbench.action.terminal.sendSequence', 'it types into a shell; use a tool of the kind "process"'],
]);

function commandDiagnostics({
  command,
  arguments: args,
}: Extract<ToolShape['run'], { kind: 'command' }>): MemberDiagnostic[] {
  const path = ['run', 'command'];
  if (templateParameters(command).length > 0) {
    return [errorAt(path, 'The command may not hold a parameter: what runs has to be fixed.')];
  }
  if (/^_?rolecall\b/i.test(command)) return [errorAt(path, 'Commands of Rolecall itself are not for models.')];
  const reason = runsItsArguments.get(command);
  if (reason === undefined) return [];
  if (command !== 'runCommands' && jsonParameters(args).length === 0) return [];
  return [errorAt(path, `The model could run anything with "${command}": ${reason}.`)];
}

function forwardDiagnostics(tool: string): MemberDiagnostic[] {
  if (templateParameters(tool).length > 0) {
    return [errorAt(['run', 'tool'], 'The name of the tool may not hold a parameter: what runs has to be fixed.')];
  }
  if (!/^rolecall_/i.test(tool)) return [];
  return [
    errorAt(
      ['run', 'tool'],
      'Tools of Rolecall itself ask for consent of their own and are called by their own names: a tool of a workspace cannot stand in for them.',
    ),
  ];
}

function unused({ parameters }: ToolShape, used: readonly string[], where: string): MemberDiagnostic[] {
  return Object.keys(parameters.properties)
    .filter((name) => !used.includes(name))
    .map((name) => ({
      path: ['parameters', 'properties', name],
      severity: 'warning',
      message: `The parameter "${name}" is never used: write "\${${name}}" in ${where}.`,
    }));
}

/** Set by the protocol, not by a tool (Fetch standard, forbidden request-headers). */
const protocolHeaders =
  /^(?:host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect|keep-alive|origin|referer|via|proxy-.*|sec-.*)$/i;

/** The file belongs to everybody who reads the repository. */
const secretHeaders = /^(?:cookie2?|set-cookie|.*(?:auth|token|secret|password|credential|api-?key|session).*)$/i;

/** What is wrong with a tool of the kind `http`. */
function httpDiagnostics(
  { method, url, headers, body }: Extract<ToolShape['run'], { kind: 'http' }>,
  isDeclared: (name: string) => boolean,
): MemberDiagnostic[] {
  const findings: MemberDiagnostic[] = [];
  const parsed = parseUrlTemplate(url);
  if (parsed.kind === 'invalid') findings.push(errorAt(['run', 'url'], `The address ${parsed.message}.`));
  else {
    for (const part of [...parsed.segments, ...parsed.pairs].flat()) {
      if (part.kind !== 'parameter' || isDeclared(part.name)) continue;
      findings.push(errorAt(['run', 'url'], undeclaredMessage(part.name)));
    }
  }
  for (const name of Object.keys(headers)) {
    const path = ['run', 'headers', name];
    if (protocolHeaders.test(name)) findings.push(errorAt(path, `The header "${name}" is not a tool's to set.`));
    else if (secretHeaders.test(name)) {
      findings.push(
        errorAt(
          path,
          `The header "${name}" holds a secret, which has no place in a file of the workspace; nothing is sent for it.`,
        ),
      );
    }
  }
  if (body === undefined) return findings;
  if (method === 'GET' || method === 'HEAD') {
    return [...findings, errorAt(['run', 'body'], `A ${method} request has no body; use another method.`)];
  }
  return [...findings, ...jsonDiagnostics(body, ['run', 'body'], isDeclared)];
}
