import { templateParameters } from './argv.ts';
import { commandRunners } from './commandTable.ts';
import { literalPrefix, newState, step } from './interpreterSteps.ts';
import { type Interpreter, languages } from './interpreterTable.ts';
import { behindMarks, launched, launches, readsOptionsAlways } from './launchers.ts';
import { programName } from './programName.ts';

/** A parameter that decides what runs, which is what filling arguments one by one is there to exclude. */
export interface ExecutedParameter {
  /** Of the argument, in the command. */
  readonly index: number;
  /** The interpreter or launcher that reads it. */
  readonly program: string;
  /** What it is read as; `script` also stands for an option of the interpreter itself, `option` for one behind `--`. */
  readonly as: 'code' | 'script' | 'program' | 'option';
  /** An option that would make the code harmless. */
  readonly safe?: string | undefined;
}

/** Everything the tables say of the program at the start of a command. */
export function interpretersOf([word = '', ...words]: readonly string[]): Interpreter[] {
  const program = programName(word);
  const rows = [...languages, ...commandRunners].filter(({ names }) => names.test(program));
  if (rows.length === 0) return rows;
  const text = words.map((each) => ` ${each}`).join('');
  return rows.filter((row) => (row.with?.test(text) ?? true) && !isSafe(row, words));
}

/** Whether the option that makes code harmless is read as one: behind anything else it may be a value or an operand. */
function isSafe({ safe, flags }: Interpreter, words: readonly string[]): boolean {
  const first = words.find((word) => !flags?.test(word));
  return safe !== undefined && first === safe;
}

/**
 * Looks for a parameter that would be code, the script or the program, also behind launchers such as `env bash -c`.
 * Where it is in doubt whether an option is the interpreter's or the script's, it counts as the interpreter's.
 */
export function executedParameter(command: readonly string[]): ExecutedParameter | undefined {
  return followLaunchers(command, 0) ?? anyCode(command);
}

function followLaunchers(command: readonly string[], start: number): ExecutedParameter | undefined {
  const program = programName(command[start] ?? '');
  for (const interpreter of interpretersOf(command.slice(start))) {
    const found = interpreted(interpreter, command, start);
    if (found !== undefined) return found;
  }
  for (const behind of behindMarks(command.slice(start))) {
    const index = start + behind.start;
    if (templateParameters(command[index] ?? '').length > 0) return { index, program, as: 'program' };
    const found = followLaunchers(command.slice(0, start + behind.end), index);
    if (found !== undefined) return found;
  }
  if (readsOptionsAlways(program)) return optionBehindEnd(program, command, start);
  const found = launched(command.slice(start));
  if (found.kind === 'plain') return undefined;
  if (found.kind === 'program') {
    const at = start + found.index;
    return followLaunchers(command.with(at, found.program), at);
  }
  return { index: start + found.index, program, as: 'program' };
}

function optionBehindEnd(program: string, command: readonly string[], start: number): ExecutedParameter | undefined {
  const end = command.indexOf('--', start);
  const index = command.findIndex(
    (template, at) => at > end && literalPrefix(template) === '' && templateParameters(template).length > 0,
  );
  return end === -1 || index === -1 ? undefined : { index, program, as: 'option' };
}

/** A launcher's options may hide where its program stands; the code option of a shell is telling wherever it stands. */
function anyCode(command: readonly string[]): ExecutedParameter | undefined {
  for (const start of command.keys()) {
    if (start === 0) continue;
    for (const interpreter of interpretersOf(command.slice(start))) {
      const { operand, argumentsOnly } = interpreter;
      if (operand === 'code' || operand === 'plain' || argumentsOnly || !launches(command.slice(0, start))) continue;
      const found = interpreted(interpreter, command, start);
      if (found?.as === 'code') return found;
    }
  }
  return undefined;
}

function interpreted(
  interpreter: Interpreter,
  command: readonly string[],
  start: number,
): ExecutedParameter | undefined {
  const program = programName(command[start] ?? '');
  const state = newState();
  for (const [index, template] of command.entries()) {
    if (index <= start) continue;
    const as = step(interpreter, state, template);
    if (as === 'done') return undefined;
    if (as !== undefined) return { index, program, as, safe: interpreter.safe };
  }
  return undefined;
}
