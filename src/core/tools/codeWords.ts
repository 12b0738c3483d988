/** What ends a word of code, in a shell and elsewhere. */
export const separators = /[\s;&|()<>{}[\]"'`$,=]+/;

/** Words of a shell before which no command ends: what follows is started. */
const prefix = /^(?:then|do|else|elif|if|while|until|!|time|exec|command|builtin|eval|\.|source|[A-Za-z_]\w*=.*)$/;

/**
 * The commands that a piece of code may start, split into words without quotes: every simple command of a shell, and in
 * any language what its texts would be as such commands. No parser: what is quoted twice, or put together, is not found.
 */
export function commandsIn(code: string, isShell: boolean): string[][] {
  const texts = [...code.matchAll(/"([^"]*)"|'([^']*)'|`([^`]*)`/g)].map(([, ...groups]) => groups.join(''));
  const quoted = texts.flatMap(simpleCommands).filter(([word = '']) => !/[$*?]/.test(word)); // Mostly values.
  return isShell ? [...simpleCommands(code), ...quoted] : quoted;
}

function simpleCommands(text: string): string[][] {
  return text
    .split(/\$\(|[;&|()`\n]+/)
    .map((part) =>
      withoutPrefix(
        part
          .split(/\s+/)
          .map((word) => word.replaceAll(/["']/g, ''))
          .filter(Boolean),
      ),
    )
    .filter((words) => words.length > 0);
}

function withoutPrefix(words: readonly string[]): string[] {
  const start = words.findIndex((word) => !prefix.test(word));
  return start === -1 ? [] : words.slice(start);
}
