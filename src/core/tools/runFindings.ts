import { argumentFindings } from './argumentFindings.ts';
import { templateParameters } from './argv.ts';
import { error, type Finding } from './finding.ts';
import { httpFindings } from './httpFindings.ts';
import { jsonFindings, jsonParameters } from './jsonTemplate.ts';
import type { ToolShape } from './toolSchema.ts';

/** What is wrong between `run` and the declared parameters of a tool. */
export function runFindings(shape: ToolShape): Finding[] {
  const { run, parameters } = shape;
  const isDeclared = (name: string): boolean => Object.hasOwn(parameters.properties, name);
  switch (run.kind) {
    case 'process':
      return argumentFindings({ parameters, run });
    case 'command':
      return [
        ...commandFindings(run),
        ...jsonFindings(run.arguments, ['run', 'arguments'], isDeclared),
        ...unused(shape, jsonParameters(run.arguments), '"arguments"'),
      ];
    case 'tool':
      return [
        ...forwardFindings(run.tool),
        ...(run.input === undefined
          ? []
          : [
              ...jsonFindings(run.input, ['run', 'input'], isDeclared),
              ...unused(shape, jsonParameters(run.input), '"input"'),
            ]),
      ];
    case 'http':
      return [
        ...httpFindings(run, isDeclared),
        ...unused(shape, [...templateParameters(run.url), ...jsonParameters(run.body)], '"url" or "body"'),
      ];
  }
}

/** Commands that run whatever their arguments say. */
const runsItsArguments: ReadonlyMap<string, string> = new Map([
  ['runCommands', 'it runs other commands; name the one command'],
  ['workbench.action.terminal.sendSequence', 'it types into a shell; use a tool of the kind "process"'],
]);

function commandFindings({ command, arguments: args }: Extract<ToolShape['run'], { kind: 'command' }>): Finding[] {
  const path = ['run', 'command'];
  if (templateParameters(command).length > 0) {
    return [error(path, 'The command may not hold a parameter: what runs has to be fixed.')];
  }
  if (/^_?rolecall\b/i.test(command)) return [error(path, 'Commands of Rolecall itself are not for models.')];
  const reason = runsItsArguments.get(command);
  if (reason === undefined) return [];
  if (command !== 'runCommands' && jsonParameters(args).length === 0) return [];
  return [error(path, `The model could run anything with "${command}": ${reason}.`)];
}

function forwardFindings(tool: string): Finding[] {
  if (templateParameters(tool).length > 0) {
    return [error(['run', 'tool'], 'The name of the tool may not hold a parameter: what runs has to be fixed.')];
  }
  if (!/^rolecall_/i.test(tool)) return [];
  return [
    error(
      ['run', 'tool'],
      'Tools of Rolecall itself ask for consent of their own and are called by their own names: a tool of a workspace cannot stand in for them.',
    ),
  ];
}

function unused({ parameters }: ToolShape, used: readonly string[], where: string): Finding[] {
  return Object.keys(parameters.properties)
    .filter((name) => !used.includes(name))
    .map((name) => ({
      path: ['parameters', 'properties', name],
      severity: 'warning',
      message: `The parameter "${name}" is never used: write "\${${name}}" in ${where}.`,
    }));
}
