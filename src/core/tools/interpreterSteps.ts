import { parseTemplate, templateParameters } from './argv.ts';
import type { Interpreter } from './interpreterTable.ts';

/** What is known of an interpreter's arguments before one of them is read. */
export interface State {
  /** The code or the script is fixed. */
  settled: boolean;
  /** The script that is fixed, where it is one and its name is text. */
  script: string | undefined;
  /** What follows are a script's arguments rather than options of the interpreter. */
  operandSeen: boolean;
  optionsEnded: boolean;
  /** What the next argument is the value of. */
  next: 'script' | 'load' | 'value' | undefined;
  /** The next argument is code, or the next but for options. */
  codeNext: boolean;
  commandSeen: boolean;
  /** How many arguments were seen that belong to no option. */
  operands: number;
}

export function newState(): State {
  return {
    settled: false,
    script: undefined,
    operandSeen: false,
    optionsEnded: false,
    next: undefined,
    codeNext: false,
    commandSeen: false,
    operands: 0,
  };
}

type Reading = 'code' | 'script' | 'done' | undefined;

/** @returns what the parameter in `template` is read as; `done` when all that follows is plain. */
export function step(interpreter: Interpreter, state: State, template: string): Reading {
  const isParameter = templateParameters(template).length > 0;
  const text = literalPrefix(template);
  if (state.next !== undefined) return readValue(state, text, isParameter);
  const sign = interpreter.optionsBeforeCode ? /^[-+]/ : /^-/;
  const isOption = !state.optionsEnded && sign.test(text) && (isParameter || text.length > 1);
  if (state.codeNext && !(isOption && interpreter.optionsBeforeCode)) {
    state.codeNext = false;
    if (isParameter) return 'code';
    state.settled = true;
    return interpreter.endsAtCode ? 'done' : undefined;
  }
  if (!isOption) return readOperand(interpreter, state, text, isParameter);
  return isParameter ? readFilledOption(interpreter, state, text) : readFixedOption(interpreter, state, text);
}

function readValue(state: State, text: string, isParameter: boolean): Reading {
  const isRun = state.next !== 'value';
  if (state.next === 'script') fixScript(state, text);
  state.next = undefined;
  return isParameter && isRun ? 'script' : undefined;
}

function readOperand(interpreter: Interpreter, state: State, text: string, isParameter: boolean): Reading {
  state.operands += 1;
  if (interpreter.operand === 'plain') return interpreter.optionsFirst ? 'done' : undefined;
  if (state.operands <= (interpreter.plainOperands ?? 0)) return undefined;
  if (isParameter && !state.settled) return interpreter.operand === 'script' ? 'script' : 'code';
  if (interpreter.operand === 'all') return undefined;
  // A lone hyphen ends the options of a shell; to the others it is a script, standard input.
  if (text === '-' && interpreter.fromStdin !== undefined) return undefined;
  const isFirst = !state.commandSeen && !state.settled;
  state.commandSeen = true;
  if (isFirst && interpreter.codeCommand?.test(text)) state.codeNext = true;
  else if (!isFirst || !interpreter.runCommand?.test(text)) fixScript(state, text);
  return undefined;
}

function fixScript(state: State, script: string): void {
  // Only the first is the script; what follows are its arguments.
  if (!state.settled) state.script = script;
  state.settled = true;
  state.operandSeen = true;
}

/** An option with a parameter in it; `text` is what stands before the parameter. */
function readFilledOption({ operand, code, script, loads, valued }: Interpreter, state: State, text: string): Reading {
  const place = valuePlace(code, text);
  if (place === 'next' && mayBeOwn(state, text)) return 'code';
  if (place === 'attached' && (!state.operandSeen || text.startsWith('--'))) return 'code';
  if (state.operandSeen) return undefined;
  if (operand === 'all') return state.settled ? undefined : 'code';
  const isPlainValue = /^--[\w-]+=/.test(text) || valued?.test(text.slice(0, 2));
  const runs = valuePlace(script, text) !== undefined || valuePlace(loads, text) !== undefined;
  if (operand === 'plain') return runs ? 'script' : undefined;
  return isPlainValue && !runs ? undefined : 'script';
}

function readFixedOption(interpreter: Interpreter, state: State, text: string): Reading {
  const place = valuePlace(interpreter.code, text);
  if (text === '--') state.optionsEnded = true;
  else if (place === 'next' && mayBeOwn(state, text)) state.codeNext = true;
  else if (!state.operandSeen && settles(interpreter, state, text, place)) return 'done';
  if (state.next === undefined && interpreter.valued?.test(text)) state.next = 'value';
  return undefined;
}

/** Notes what a fixed option of the interpreter fixes; true when all that follows is plain. */
function settles(
  { script, loads, fromStdin, endsAtCode }: Interpreter,
  state: State,
  text: string,
  code: ReturnType<typeof valuePlace>,
): boolean {
  const named = valuePlace(script, text);
  if (code === 'attached') state.settled = true;
  else if (named === 'attached') fixScript(state, text.replace(script ?? '', '').replace(/^=/, ''));
  else if (named === 'next') state.next = 'script';
  else if (valuePlace(loads, text) === 'next') state.next = 'load';
  return (code === 'attached' && endsAtCode === true) || (!state.codeNext && fromStdin?.test(text) === true);
}

/** Behind the script only the usual forms such as `-c` and `-lc` are in doubt: `-arch` is the script's. */
function mayBeOwn(state: State, text: string): boolean {
  return !state.operandSeen || text.startsWith('--') || text.length <= 3;
}

/** Where the value of an option stands, or undefined when `text` is another option. */
function valuePlace(option: RegExp | undefined, text: string): 'next' | 'attached' | undefined {
  const [found] = option?.exec(text) ?? [];
  if (found === undefined) return undefined;
  return found === text ? 'next' : 'attached';
}

/** What an interpreter runs by these arguments, as far as it is fixed: the script or module, and code. */
export function codeAndScript(
  interpreter: Interpreter,
  words: readonly string[],
): { readonly script: string | undefined; readonly code: readonly string[] } {
  const { operand, code: option } = interpreter;
  const state = newState();
  const code: string[] = [];
  for (const word of words) {
    const { codeNext, settled, operandSeen } = state;
    const isDone = step(interpreter, state, word) === 'done';
    const isValue = codeNext && !state.codeNext;
    const isAttached = !operandSeen && valuePlace(option, word) === 'attached';
    const isOperand = (operand === 'all' || (operand === 'code' && !settled)) && !word.startsWith('-');
    if (isValue || isAttached || isOperand) code.push(word);
    if (isDone) break;
  }
  return { script: state.script, code };
}

/** What stands before the first parameter. */
export function literalPrefix(template: string): string {
  const parsed = parseTemplate(template);
  const [first] = parsed.kind === 'ok' ? parsed.parts : [];
  return first?.kind === 'text' ? first.text : '';
}
