import { parseTemplate, type TemplatePart, templateParameters } from './argv.ts';
import { choicesOf } from './choices.ts';
import type { Finding } from './finding.ts';
import { type ExecutedParameter, executedParameter } from './interpreters.ts';
import { undeclared } from './jsonTemplate.ts';
import { codeFromStdin } from './stdinCode.ts';
import type { ToolShape } from './toolSchema.ts';

type ProcessShape = Extract<ToolShape['run'], { kind: 'process' }>;

/** What is wrong between the templates of `run.command` and the declared parameters of a tool. */
export function argumentFindings({
  parameters,
  run,
}: {
  readonly parameters: ToolShape['parameters'];
  readonly run: ProcessShape;
}): Finding[] {
  const findings = run.command.flatMap((template, index): Finding[] => {
    const parsed = parseTemplate(template);
    if (parsed.kind === 'invalid') return [at(index, 'error', `This argument ${parsed.message}.`)];
    const names = templateParameters(template);
    if (index === 0 && names.length > 0) {
      return [at(index, 'error', 'The program may not hold a parameter: what runs has to be fixed.')];
    }
    const unknown = names.filter((name) => !Object.hasOwn(parameters.properties, name));
    return [
      ...unknown.map((name) => at(index, 'error', undeclared(name))),
      ...optionFindings(parameters, run.command, index, parsed.parts),
    ];
  });
  const executed = executedIn(run, parameters);
  if (executed !== undefined) findings.push(at(executed.index, 'error', executedMessage(executed)));
  const reader = run.stdin === 'json' ? codeFromStdin(run.command) : undefined;
  if (reader !== undefined) {
    const message = `"${reader}" would read what the model sends as what to run; name a fixed script that reads standard input.`;
    findings.push({ path: ['run', 'stdin'], severity: 'error', message });
  }
  return [...findings, ...unusedParameters(parameters, run)];
}

function executedIn({ command }: ProcessShape, parameters: ToolShape['parameters']): ExecutedParameter | undefined {
  for (const { command: chosen, indices } of choicesOf(command, parameters)) {
    const found = executedParameter(chosen);
    if (found !== undefined) return { ...found, index: indices[found.index] ?? found.index };
  }
  return undefined;
}

function executedMessage({ program, as, safe }: ExecutedParameter): string {
  if (as === 'code') {
    const way = safe === undefined ? '' : `add "${safe}" as its first option, `;
    return `"${program}" reads this argument as code, so the model could run anything; ${way}pass the value as a separate argument of a script, or list its values in an "enum".`;
  }
  if (as === 'script') {
    return `"${program}" reads this argument as its script or as an option of its own, so the model could run anything; write a fixed script before it, or list its values in an "enum".`;
  }
  if (as === 'option') {
    return `"${program}" reads a value that begins with "-" as an instruction behind "--" too; leave "--" out, and such values are refused.`;
  }
  return `"${program}" starts what its arguments name, so the model could run anything; write the fixed program before this argument.`;
}

function optionFindings(
  parameters: ToolShape['parameters'],
  command: readonly string[],
  index: number,
  [first, second]: readonly TemplatePart[],
): Finding[] {
  if (first?.kind === 'text' && /^--?$/.test(first.text) && second?.kind === 'parameter') {
    if (isHarmless(parameters.properties[second.name])) return [];
    return [at(index, 'warning', `The model chooses the option itself here; give "${second.name}" an "enum".`)];
  }
  if (first?.kind !== 'parameter' || second !== undefined || !standsAfterOption(command, index)) return [];
  if (parameters.required.includes(first.name)) return [];
  const message = `When "${first.name}" is missing, the option before it takes the next argument; make it required.`;
  return [at(index, 'warning', message)];
}

function at(index: number, severity: Finding['severity'], message: string): Finding {
  return { path: ['run', 'command', index], severity, message };
}

function unusedParameters(parameters: ToolShape['parameters'], run: ProcessShape): Finding[] {
  if (run.stdin === 'json') return [];
  const used = new Set(run.command.flatMap(templateParameters));
  return Object.keys(parameters.properties)
    .filter((name) => !used.has(name))
    .map((name) => ({
      path: ['parameters', 'properties', name],
      severity: 'warning',
      message: `The parameter "${name}" never reaches the program: use "\${${name}}" in "command", or "stdin": "json".`,
    }));
}

/** A choice from a list of the author's, or a number, cannot become an option the author did not think of. */
function isHarmless(property: Readonly<Record<string, unknown>> | undefined): boolean {
  return Array.isArray(property?.enum) || property?.type === 'integer' || property?.type === 'number';
}

function standsAfterOption(command: readonly string[], index: number): boolean {
  const before = command[index - 1] ?? '';
  return index > 1 && /^-./.test(before) && before !== '--' && templateParameters(before).length === 0;
}
