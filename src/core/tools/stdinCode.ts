import { newState, step } from './interpreterSteps.ts';
import { interpretersOf } from './interpreters.ts';
import type { Interpreter } from './interpreterTable.ts';
import { launched } from './launchers.ts';
import { programName } from './programName.ts';

/** Standard input as a script: by its usual names, or `-`. */
const stdinNames = /^(?:-|\/dev\/(?:stdin|fd\/0)|\/proc\/self\/fd\/0)$/;

/**
 * The program that would read its code from standard input, or that makes arguments of it (`xargs`); undefined when the
 * command fixes what runs. For tools that write what the model chose there.
 */
export function codeFromStdin(command: readonly string[]): string | undefined {
  let words = command;
  for (let start = 0; ; ) {
    const program = programName(words[start] ?? '');
    if (/^(?:xargs|parallel)$/.test(program)) return program;
    const readers = interpretersOf(words.slice(start)).filter(({ operand }) => operand !== 'plain');
    if (readers.length > 0) {
      return readers.some((reader) => isStdinRead(reader, words.slice(start + 1))) ? program : undefined;
    }
    const found = launched(words.slice(start));
    if (found.kind !== 'program') return undefined;
    start += found.index;
    words = words.with(start, found.program);
  }
}

function isStdinRead(interpreter: Interpreter, words: readonly string[]): boolean {
  const operands = words.filter((word) => !word.startsWith('-'));
  const state = newState();
  for (const word of words) if (step(interpreter, state, word) === 'done') break;
  if (state.settled) return state.script !== undefined && stdinNames.test(state.script);
  if (interpreter.operand !== 'all') return true;
  if (interpreter.argumentsOnly) return words.some((word) => stdinNames.test(word.replace(/^(?:-f|--\w*file=)/, '')));
  // `ssh host` and `su name` begin a shell; with a command behind, that command reads the input.
  return (
    words.includes('-') || operands.length < (interpreter.names.test('ssh') ? 2 : 1 + (interpreter.plainOperands ?? 0))
  );
}
