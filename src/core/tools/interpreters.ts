import { templateParameters } from './argv.ts';

/**
 * Programs that read an argument as code. A parameter inside such an argument would let the model write the code, which
 * is what filling arguments one by one is there to exclude.
 */
interface Interpreter {
  readonly names: RegExp;
  /** The option whose next argument (or whose part after `=`) is code; undefined when every argument is. */
  readonly codeOption?: RegExp;
  /** Once this option came, what follows is a script and its plain arguments. */
  readonly scriptOption?: RegExp;
}

const interpreters: readonly Interpreter[] = [
  { names: /^(?:ba|z|da|k|mk|a|fi|c|tc|pd|ya)?sh$/, codeOption: /^(?:-[a-zA-Z]*c|--command)$/ },
  { names: /^(?:su|runuser)$/, codeOption: /^(?:-[a-zA-Z]*c|--command|--session-command)$/ },
  { names: /^cmd$/ },
  { names: /^(?:ssh|eval|watch)$/ },
  { names: /^(?:powershell|pwsh)$/, scriptOption: /^-f(?:i|il|ile)?$/i },
  { names: /^(?:python|pypy)[\d.]*w?$|^py$/, codeOption: /^-[a-zA-Z]*c$/ },
  { names: /^(?:node|nodejs|bun|deno|tsx)$/, codeOption: /^(?:-[a-z]*[ep]|--eval|--print|eval)$/ },
  { names: /^(?:perl|ruby|lua|julia|Rscript|osascript)[\d.]*$/, codeOption: /^-[a-zA-Z]*[eE]$/ },
  { names: /^php[\d.]*$/, codeOption: /^(?:-[a-zA-Z]*[rBRE]|--run)$/ },
];

/** Programs that start another one; behind any other program, a word such as `ssh` is only a word. */
const launchers =
  /^(?:env|sudo|doas|nice|nohup|time|timeout|xargs|busybox|docker|podman|kubectl|npx|wsl|cmd|stdbuf|setsid)$/;

/**
 * Looks for a parameter inside code, also behind launchers such as `env bash -c`.
 *
 * @returns the index in `command` of the argument and the interpreter's name, or undefined.
 */
export function parameterInCode(command: readonly string[]): { index: number; program: string } | undefined {
  const launched = launchers.test(programName(command[0] ?? ''));
  for (const [start, word] of command.entries()) {
    if (start > 0 && !launched) break;
    const program = programName(word);
    const interpreter = interpreters.find((each) => each.names.test(program));
    if (interpreter === undefined) continue;
    const index = command.findIndex(
      (template, at) =>
        at > start && templateParameters(template).length > 0 && isCode(interpreter, command, start, at),
    );
    if (index !== -1) return { index, program };
  }
  return undefined;
}

function isCode(interpreter: Interpreter, command: readonly string[], start: number, at: number): boolean {
  const before = command.slice(start + 1, at);
  if (interpreter.scriptOption !== undefined) {
    const { scriptOption } = interpreter;
    return !before.some((word) => scriptOption.test(word));
  }
  const { codeOption } = interpreter;
  if (codeOption === undefined) return true;
  const own = /^(--?[a-zA-Z-]+)=/.exec(command[at] ?? '')?.[1];
  if (own !== undefined && codeOption.test(own)) return true;
  // Shells take further options between `-c` and the code.
  const option = before.findIndex((word) => codeOption.test(word));
  return option !== -1 && before.slice(option + 1).every((word) => word.startsWith('-'));
}

function programName(word: string): string {
  return (word.split(/[\\/]/).at(-1) ?? '').replace(/\.exe$/i, '');
}
