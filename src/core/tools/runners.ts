import { parseTemplate } from './argv.ts';
import { choicesOf } from './choices.ts';
import { commandsIn } from './codeWords.ts';
import type { ProcessRun, ToolDefinition } from './definition.ts';
import { codeAndScript } from './interpreterSteps.ts';
import { interpretersOf } from './interpreters.ts';
import { behindMarks, launched, launches } from './launchers.ts';
import type { ProcessSpec } from './prepare.ts';
import { programName } from './programName.ts';
import { installed, type Runner, runners, runsWorkspace } from './runnerTable.ts';

type Subject = Pick<ToolDefinition, 'parameters'> & { readonly run: ProcessRun };

/** Stands for the value of a free parameter: in no name, and no path. */
export const gap = '\0';

/** What of a command is fixed, for each choice of listed values; free parameters are gaps. */
export function fixedWords({ parameters, run }: Subject): string[][] {
  return choicesOf(run.command, parameters).map(({ command }) => command.map(withGaps));
}

function withGaps(template: string): string {
  const parsed = parseTemplate(template);
  if (parsed.kind === 'invalid') return template;
  return parsed.parts.map((part) => (part.kind === 'text' ? part.text : gap)).join('');
}

/**
 * The program of a command that may run code from more files than can be told from outside; undefined when none is known
 * to. Also a shell whose code names what it runs by a variable or a pattern.
 */
export function unwatchedProgram(
  definition: Subject,
  { executable }: Pick<ProcessSpec, 'executable'>,
): string | undefined {
  for (const words of fixedWords(definition)) {
    for (const [word = '', ...rest] of [...programs(words), [executable.realPath, ...words.slice(1)]]) {
      if (matching(word, rest).length > 0) return programName(word);
      if (installed.test(word) && interpretersOf([word]).length === 0) return word;
      if (isUntold(word, rest)) return programName(words[0] ?? '');
    }
  }
  return undefined;
}

/** The same for a command of the editor. */
export function unwatchedCommand(command: string): string | undefined {
  return runsWorkspace.test(command) ? command : undefined;
}

/** The files in which the programs of a command begin to read what they run, relative to some folder. */
export function runnerFiles(definition: Subject): Set<string> {
  const found = fixedWords(definition).flatMap(programs);
  return new Set(found.flatMap(([word = '', ...rest]) => matching(word, rest).flatMap(({ files = [] }) => files)));
}

function matching(word: string, rest: readonly string[]): Runner[] {
  const name = programName(word);
  const named = runners.filter(({ names }) => names.test(name));
  if (named.length === 0) return named;
  const text = rest.map((each) => ` ${each}`).join('');
  return named.filter(({ with: condition }) => condition?.test(text) ?? true);
}

function isUntold(word: string, [next = '$']: readonly string[]): boolean {
  return /[$*?]/.test(word) || (/^(?:cd|pushd)$/.test(word) && next.includes('$'));
}

/** What is started, each with the words behind it: the program, what it launches, its module or script, what its code starts. */
function programs(words: readonly string[]): (readonly string[])[] {
  const found: (readonly string[])[] = [words];
  for (const interpreter of interpretersOf(words)) {
    const { script, code } = codeAndScript(interpreter, words.slice(1));
    if (script !== undefined) found.push([script, ...words.slice(1)]);
    const isShell = interpreter.fromStdin !== undefined || interpreter.operand === 'all';
    for (const text of code) found.push(...commandsIn(text, isShell).flatMap(programs));
  }
  for (const { start, end } of behindMarks(words)) found.push(...programs(words.slice(start, end)));
  const next = launched(words);
  if (next.kind === 'program') found.push(...programs([next.program, ...words.slice(next.index + 1)]));
  // Where it is in doubt which word is the program, each of them counts.
  else if (launches(words)) found.push(...words.slice(1).map((_, index) => words.slice(index + 1)));
  return found;
}
