import * as l10n from '@vscode/l10n';
import { errorAt, type MemberDiagnostic } from './definition.ts';
import {
  jsonDiagnostics,
  jsonParameters,
  parseTemplate,
  parseUrlTemplate,
  type TemplatePart,
  templateParameters,
  undeclaredMessage,
} from './templates.ts';
import type { ToolShape } from './toolSchema.ts';
import { compileParameters } from './validate.ts';

/** Problems of the `parameters` of a tool as a JSON Schema. */
export function schemaDiagnostics({ parameters }: ToolShape): MemberDiagnostic[] {
  const findings = Object.entries(parameters.properties).flatMap(([name, property]): MemberDiagnostic[] => {
    const path = ['parameters', 'properties', name];
    if (typeof property.description === 'string') return [];
    return [
      {
        path,
        severity: 'warning',
        message: l10n.t('The parameter "{0}" has no "description", so the model has to guess.', name),
      },
    ];
  });
  for (const [index, name] of parameters.required.entries()) {
    if (Object.hasOwn(parameters.properties, name)) continue;
    findings.push(
      errorAt(['parameters', 'required', index], l10n.t('"{0}" is required but missing from "properties".', name)),
    );
  }
  const compiled = compileParameters(parameters);
  if (compiled.kind === 'invalid') {
    return [...findings, ...compiled.faults.map(({ path, message }) => errorAt(['parameters', ...path], message))];
  }
  for (const keyword of compiled.unknownKeywords) {
    const message = l10n.t(
      '"{0}" is not a JSON Schema draft-07 keyword. It is sent to the model but not checked.',
      keyword,
    );
    findings.push({ path: ['parameters'], severity: 'warning', message });
  }
  return findings;
}

/** Contradictions between `run` and the declared parameters of a tool. */
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
        ...unused(shape, [...templateParameters(run.url), ...jsonParameters(run.body)], l10n.t('"url" or "body"')),
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
    if (parsed.kind === 'invalid') return [at(index, 'error', parsed.message)];
    const names = templateParameters(template);
    if (index === 0 && names.length > 0) {
      return [at(index, 'error', l10n.t('The program must not contain a parameter: what runs must be fixed.'))];
    }
    const unknown = names.filter((name) => !Object.hasOwn(parameters.properties, name));
    const option = optionWarning(parameters, run.command, index, parsed.parts);
    return [
      ...unknown.map((name) => at(index, 'error', undeclaredMessage(name))),
      ...(option === undefined ? [] : [at(index, 'warning', option)]),
    ];
  });
  const usedNames = new Set(run.command.flatMap(templateParameters));
  for (const name of run.stdin === 'json' ? [] : Object.keys(parameters.properties)) {
    if (usedNames.has(name)) continue;
    const message = l10n.t(
      'The parameter "{0}" is never passed to the program. Use {1} in "command", or "stdin": "json".',
      name,
      `"\${${name}}"`,
    );
    findings.push({ path: ['parameters', 'properties', name], severity: 'warning', message });
  }
  if (!run.contained && (run.access.write.length > 0 || run.access.network)) {
    const message = l10n.t('"access" has no effect when "contained" is false: the program can do anything you can.');
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
  if (first?.kind !== 'parameter' || second !== undefined || !standsAfterOption(command, index)) return undefined;
  if (parameters.required.includes(first.name)) return undefined;
  return l10n.t(
    'When "{0}" is missing, the option before it takes the next argument instead. Make it required.',
    first.name,
  );
}

function standsAfterOption(command: readonly string[], index: number): boolean {
  const before = command[index - 1] ?? '';
  return index > 1 && /^-./.test(before) && before !== '--' && templateParameters(before).length === 0;
}

function commandDiagnostics({ command }: Extract<ToolShape['run'], { kind: 'command' }>): MemberDiagnostic[] {
  const path = ['run', 'command'];
  if (templateParameters(command).length > 0) {
    return [errorAt(path, l10n.t('The command must not contain a parameter: what runs must be fixed.'))];
  }
  if (/^_?rolecall\b/i.test(command)) return [errorAt(path, l10n.t('Rolecall commands cannot be offered to models.'))];
  if (command !== 'runCommands') return [];
  return [
    errorAt(path, l10n.t('"runCommands" runs any other commands, including Rolecall\'s. Name a single command.')),
  ];
}

function forwardDiagnostics(tool: string): MemberDiagnostic[] {
  if (templateParameters(tool).length > 0) {
    return [errorAt(['run', 'tool'], l10n.t('The tool name must not contain a parameter: what runs must be fixed.'))];
  }
  if (!/^rolecall_/i.test(tool)) return [];
  return [
    errorAt(
      ['run', 'tool'],
      l10n.t(
        "A workspace tool cannot call Rolecall's own tools, which ask for consent themselves. Call them by their own names.",
      ),
    ),
  ];
}

function unused({ parameters }: ToolShape, used: readonly string[], where: string): MemberDiagnostic[] {
  return Object.keys(parameters.properties)
    .filter((name) => !used.includes(name))
    .map((name) => ({
      path: ['parameters', 'properties', name],
      severity: 'warning',
      message: l10n.t('The parameter "{0}" is never used. Write {1} in {2}.', name, `"\${${name}}"`, where),
    }));
}

/** Set by the protocol, not by a tool (Fetch standard, forbidden request-headers). */
const protocolHeaders =
  /^(?:host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect|keep-alive|origin|referer|via|proxy-.*|sec-.*)$/i;

/** Headers that carry secrets: everyone with access to the repository can read the file. */
const secretHeaders = /^(?:cookie2?|set-cookie|.*(?:auth|token|secret|password|credential|api-?key|session).*)$/i;

/** Problems of a tool of the kind `http`. */
function httpDiagnostics(
  { method, url, headers, body }: Extract<ToolShape['run'], { kind: 'http' }>,
  isDeclared: (name: string) => boolean,
): MemberDiagnostic[] {
  const findings: MemberDiagnostic[] = [];
  const parsed = parseUrlTemplate(url);
  if (parsed.kind === 'invalid') findings.push(errorAt(['run', 'url'], parsed.message));
  else {
    for (const part of [...parsed.segments, ...parsed.pairs].flat()) {
      if (part.kind !== 'parameter' || isDeclared(part.name)) continue;
      findings.push(errorAt(['run', 'url'], undeclaredMessage(part.name)));
    }
  }
  for (const name of Object.keys(headers)) {
    const path = ['run', 'headers', name];
    if (protocolHeaders.test(name)) findings.push(errorAt(path, l10n.t('A tool cannot set the header "{0}".', name)));
    else if (secretHeaders.test(name)) {
      findings.push(
        errorAt(
          path,
          l10n.t('The header "{0}" carries a secret, which does not belong in a workspace file. It is not sent.', name),
        ),
      );
    }
  }
  if (body === undefined) return findings;
  if (method === 'GET' || method === 'HEAD') {
    return [
      ...findings,
      errorAt(['run', 'body'], l10n.t('A {0} request cannot have a body. Use another method.', method)),
    ];
  }
  return [...findings, ...jsonDiagnostics(body, ['run', 'body'], isDeclared)];
}
