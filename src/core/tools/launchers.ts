import { templateParameters } from './argv.ts';
import { programName } from './programName.ts';

/** A program that starts another one, which its arguments name. */
interface Launcher {
  readonly names: RegExp;
  /** Options whose value is the next argument. */
  readonly valued?: RegExp;
  /** How many arguments stand before the program: a duration, a container. */
  readonly operands?: number;
  /** First words with which it launches; with any other it does not. Undefined: it always launches. */
  readonly commands?: RegExp;
  /** Words before such a first word, as `tool` in `uv tool run`. */
  readonly groups?: RegExp;
  /** A word behind which the program stands, each time it occurs; without it nothing is launched. */
  readonly mark?: RegExp;
  /** An option that names the program. */
  readonly programOption?: RegExp;
}

const launchers: readonly Launcher[] = [
  { names: /^env$/, valued: /^(?:-[uCa]|--(?:unset|chdir|argv0))$/ },
  {
    names: /^(?:sudo|doas)$/,
    valued:
      /^(?:-[a-zA-Z]*[ugphCcDRTUrta]|--(?:user|group|prompt|host|chdir|chroot|close-from|command-timeout|other-user|role|type))$/,
  },
  {
    names:
      /^(?:nohup|setsid|busybox|toybox|command|exec|fakeroot|caffeinate|pkexec|unbuffer|rlwrap|winpty|xvfb-run|dbus-run-session|systemd-inhibit|unshare|nsenter|setarch|firejail|bwrap|entr)$/,
  },
  { names: /^(?:nice|ionice)$/, valued: /^(?:-[ncpPu]|--(?:adjustment|class|classdata))$/ },
  { names: /^time$/, valued: /^(?:-[fo]|--(?:format|output))$/ },
  { names: /^timeout$/, valued: /^(?:-[sk]|--(?:signal|kill-after))$/, operands: 1 },
  { names: /^(?:flock|taskset|chrt|chroot)$/, valued: /^(?:-[wE]|--(?:timeout|conflict-exit-code))$/, operands: 1 },
  {
    names: /^xargs$/,
    valued: /^(?:-[nIPLdEsaJRS]|--(?:max-args|max-procs|max-lines|delimiter|max-chars|arg-file))$/,
  },
  { names: /^g?find$/, mark: /^-(?:exec|ok)(?:dir)?$/ },
  { names: /^fd(?:find)?$/, mark: /^(?:-[xX]|--exec(?:-batch)?)$/ },
  { names: /^(?:gdb|lldb)$/, mark: /^--(?:args)?$/ },
  {
    names: /^systemd-run$/,
    valued:
      /^(?:-[EHMpu]|--(?:background|description|gid|host|machine|nice|on-[a-z-]+|property|service-type|setenv|slice|uid|unit|working-directory))$/,
  },
  { names: /^sshpass$/, valued: /^-[pfdP]$/ },
  { names: /^(?:gosu|su-exec)$/, operands: 1 },
  { names: /^go$/, commands: /^(?:run|tool)$/ },
  { names: /^stdbuf$/, valued: /^(?:-[ioe]|--(?:input|output|error))$/ },
  { names: /^(?:strace|ltrace)$/, valued: /^-[aeEIopPsSuU]$/ },
  { names: /^wsl$/, valued: /^(?:-[du]|--(?:distribution|user|cd|shell-type))$/ },
  { names: /^(?:npx|bunx|pnpx)$/, valued: /^(?:-[pw]|--(?:package|workspace))$/ },
  { names: /^uvx$/, valued: /^(?:-p|--(?:from|with|python|index-url))$/ },
  { names: /^pipx$/, valued: /^--(?:spec|python|index-url|pip-args)$/, commands: /^run$/ },
  {
    names: /^(?:docker|podman|nerdctl)$/,
    valued:
      /^(?:-[a-zA-Z]*[evwupmhlfHc]|--(?:add-host|attach|cap-add|cap-drop|context|cpus|detach-keys|device|env|env-file|file|gpus|host|hostname|label|log-driver|log-opt|memory|mount|name|network|pids-limit|platform|profile|project-name|publish|pull|restart|runtime|security-opt|shm-size|stop-signal|stop-timeout|tmpfs|ulimit|user|userns|volume|volumes-from|workdir))$/,
    operands: 1,
    commands: /^(?:run|exec|create)$/,
    groups: /^(?:container|compose)$/,
    programOption: /^--entrypoint(?==|$)/,
  },
  {
    names: /^(?:kubectl|oc)$/,
    valued: /^(?:-[ncfsl]|--(?:namespace|container|context|cluster|kubeconfig|user|image|filename|server|env|labels))$/,
    operands: 1,
    commands: /^(?:run|exec|debug|rsh)$/,
  },
  {
    names: /^uv$/,
    valued:
      /^(?:-[pwCif]|--(?:python|with|with-editable|with-requirements|project|directory|extra|group|no-group|only-group|env-file|index|index-url|extra-index-url|default-index|find-links|package|from|cache-dir|config-file|config-setting|color))$/,
    commands: /^run$/,
    groups: /^tool$/,
  },
  {
    names: /^(?:npm|pnpm|yarn)$/,
    valued: /^(?:-[wC]|--(?:package|workspace|prefix|dir|filter|cwd))$/,
    commands: /^(?:exec|x|dlx|run|run-script)$/,
  },
  {
    names: /^(?:poetry|pdm|hatch|pipenv|rye|pixi|conda|mamba|micromamba|bundle)$/,
    valued: /^(?:-[nCPepE]|--(?:name|prefix|directory|project|env|environment|cwd|manifest-path))$/,
    commands: /^(?:run|exec)$/,
  },
];

type Launched =
  | { readonly kind: 'plain' }
  | { readonly kind: 'parameter'; readonly index: number }
  | { readonly kind: 'program'; readonly index: number; readonly program: string };

/**
 * Where the program that `command` launches stands, or the parameter in its place.
 *
 * @returns `plain` when it launches nothing, `parameter` when one stands before the program is known, and `program` with
 *   the fixed program, whose arguments follow `index`.
 */
export function launched(command: readonly string[]): Launched {
  const name = programName(command[0] ?? '');
  const launcher = launchers.find((each) => each.names.test(name));
  if (launcher === undefined || launcher.mark !== undefined) return { kind: 'plain' };
  if (launcher.commands === undefined) return findProgram(launcher, command, 1);
  const subcommand = findSubcommand(launcher, command);
  return subcommand.kind === 'program' ? findProgram(launcher, command, subcommand.index + 1) : subcommand;
}

function findSubcommand(launcher: Launcher, command: readonly string[]): Launched {
  for (const { index, word, role, isParameter } of words(launcher, command, 1)) {
    if (role === 'operand' && !isParameter) {
      if (launcher.groups?.test(word)) continue;
      return launcher.commands?.test(word) ? { kind: 'program', index, program: word } : { kind: 'plain' };
    }
    // A value of the launcher's own options may be a parameter: `kubectl -n ${namespace} get pods` launches nothing.
    if (isParameter && role !== 'value' && !/^--[\w-]+=/.test(word)) return { kind: 'parameter', index };
  }
  return { kind: 'plain' };
}

function findProgram(launcher: Launcher, command: readonly string[], from: number): Launched {
  let operands = launcher.operands ?? 0;
  let program: string | undefined;
  for (const { index, word, role, isParameter } of words(launcher, command, from)) {
    if (isParameter) return { kind: 'parameter', index };
    if (role === 'option' && launcher.programOption?.test(word)) {
      program = /=(.*)$/s.exec(word)?.[1] ?? command[index + 1];
    }
    if (role !== 'operand' || /^\w+=/.test(word)) continue;
    if (operands === 0) return { kind: 'program', index, program: word };
    operands -= 1;
    if (operands === 0 && program !== undefined) return { kind: 'program', index, program };
  }
  return { kind: 'plain' };
}

interface Word {
  readonly index: number;
  readonly word: string;
  readonly role: 'option' | 'value' | 'operand';
  readonly isParameter: boolean;
}

function* words({ valued, programOption }: Launcher, command: readonly string[], from: number): Generator<Word> {
  let isValue = false;
  let optionsEnded = false;
  for (const [index, word] of command.entries()) {
    if (index < from) continue;
    const option = !optionsEnded && word.startsWith('-') ? 'option' : 'operand';
    const role: Word['role'] = isValue ? 'value' : option;
    if (role === 'option' && word === '--') optionsEnded = true;
    isValue = role === 'option' && (valued?.test(word) === true || programOption?.exec(word)?.[0] === word);
    yield { index, word, role, isParameter: templateParameters(word).length > 0 };
  }
}

/**
 * The programs that the program at the start launches behind a mark such as `-exec`, each from where it stands to the
 * next mark: a program that has marks of its own is part of the list.
 */
export function behindMarks([word = '', ...words]: readonly string[]): {
  readonly start: number;
  readonly end: number;
}[] {
  const mark = launchers.find(({ names }) => names.test(programName(word)))?.mark;
  const marks = words.flatMap((each, index) => (mark?.test(each) ? [index + 1] : []));
  return marks.map((at, index) => ({ start: at + 1, end: marks[index + 1] ?? words.length + 1 }));
}

/** True when what follows these words may be a program they launch, with whatever options between. */
export function launches([word = '', ...words]: readonly string[]): boolean {
  return launchers.some(
    ({ names, commands, mark }) =>
      names.test(programName(word)) && [commands, mark].every((each) => !each || words.some((it) => each.test(it))),
  );
}

/** `find` takes what begins with a hyphen for part of its expression, behind `--` too. */
export function readsOptionsAlways(program: string): boolean {
  return /^g?find$/.test(program);
}
