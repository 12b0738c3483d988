import { InvalidArgumentError } from 'commander';
import { type Subcommand, withCommonOptions } from '../subcommand.ts';
import type { TestOptions } from '../testFiles.ts';

export const test: Subcommand = (program, run) => {
  withCommonOptions(program.command('test').description('run the cases of prompt files (*.prompt.yml)'))
    .argument('[files...]', 'prompt files or folders (default: the current folder)')
    .option('-m, --models <ids>', 'comma-separated model IDs, instead of those in the files', list)
    .option('--map <name=id>', 'model ID to use for a model name in a file; repeatable', addPair)
    .option('--judge <id>', 'judge model, if a file names none that is available (default: the first model asked)')
    .option('--repeats <n>', 'times that each case is sent', positive)
    .option('--concurrency <n>', 'maximum concurrent requests (default: 4)', positive)
    .option('--junit <file>', 'write the results as JUnit XML')
    .option('--save <file>', 'write the results for --baseline of a later run')
    .option('--baseline <file>', 'compare with the results of an earlier run')
    .addOption(
      program
        .createOption(
          '--fail-on <what>',
          'exit with 1 if any case fails, or only if a case is worse than in the baseline',
        )
        .choices(['failure', 'regression']),
    )
    .action((files: readonly string[], options: TestOptions) =>
      run(options, async (context) => {
        const { testFiles } = await import('../testFiles.ts'); // Read only by this command.
        return testFiles(files, options, context);
      }),
    );
};

function list(text: string): string[] {
  const ids = text.split(',').map((id) => id.trim());
  if (ids.includes('')) throw new InvalidArgumentError('Put one comma between model IDs.');
  return ids;
}

function addPair(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.lastIndexOf('=');
  if (at < 1 || at === text.length - 1) throw new InvalidArgumentError('Write name=id.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('Enter a whole number from 1 to 9999.');
  return Number(text);
}
