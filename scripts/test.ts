// npm test -- [tiers…] [--desktop | --vscode-version VERSION] [--grep TEXT]: all tiers, or only the named ones. The last line counts.
//
// Several tiers run in two lanes side by side, one for each core of a small machine: what needs an editor, and what does not.
// Each tier then prints into out/results/TIER.log, and here stands what became of it. A single tier prints as it goes.
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { ensureBubblewrap } from './bubblewrap.ts';
import { at } from './paths.ts';
import { endAll } from './processes.ts';
import { runTier, type TierName, type TierOptions, type TierResult, tierNames } from './tiers.ts';

const usage = `Usage: npm test -- [${tierNames.join('|')}]… [--desktop | --vscode-version VERSION] [--grep TEXT]`;

const lanes: ReadonlyArray<readonly TierName[]> = [
  ['host', 'e2e'],
  ['check', 'unit', 'deep'],
];

/** How often a run of several tiers says that it is alive, in milliseconds. */
const progressEveryMs = 30_000;

interface Ended {
  readonly name: TierName;
  readonly result: TierResult;
  readonly seconds: number;
}

function readCommandLine(): { readonly names: TierName[]; readonly options: TierOptions } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      desktop: { type: 'boolean', default: false },
      'vscode-version': { type: 'string' },
      grep: { type: 'string' },
    },
  });
  const unknown = positionals.find((name) => !tierNames.includes(name as TierName));
  if (unknown !== undefined) {
    throw new Error(`There is no tier “${unknown}”.`);
  }
  const asked = new Set(positionals.length > 0 ? (positionals as TierName[]) : tierNames);
  // A full run takes no screenshots, except in CI, which keeps them.
  const screenshots = positionals.length > 0 || process.env.CI !== undefined;
  if (asked.has('host') || asked.has('e2e')) {
    // Those run what is in dist/ and out/, which must not be of an earlier source.
    asked.add('build');
  }
  return {
    names: tierNames.filter((name) => asked.has(name)),
    options: { desktop: values.desktop, vscodeVersion: values['vscode-version'], grep: values.grep, screenshots },
  };
}

async function timed(name: TierName, options: TierOptions): Promise<Ended> {
  const started = performance.now();
  const result = await runTier(name, options);
  return { name, result, seconds: (performance.now() - started) / 1000 };
}

/** Runs the tiers of each lane in order, and the lanes side by side. */
async function runLanes(names: readonly TierName[], options: TierOptions): Promise<Ended[]> {
  fs.mkdirSync(at('out', 'results'), { recursive: true });
  const running = new Map<TierName, () => string>();
  const progress = setInterval(() => {
    const told = [...running].map(([name, state]) => `${name} (${state()})`);
    console.log(`…      running: ${told.join(', ')}`);
  }, progressEveryMs);
  const runLane = async (lane: readonly TierName[]): Promise<Ended[]> => {
    const all: Ended[] = [];
    for (const name of lane) {
      const log = fs.createWriteStream(at('out', 'results', `${name}.log`));
      const started = performance.now();
      let passed = 0;
      running.set(name, () => {
        const count = passed === 0 ? '' : `${passed} passed, `;
        return `${count}${((performance.now() - started) / 1000).toFixed(0)} s`;
      });
      const ended = await timed(name, {
        ...options,
        write: (text) => {
          log.write(text);
          passed += text.match(/^\s*[✔✓] /gm)?.length ?? 0;
        },
      });
      running.delete(name);
      log.end();
      console.log(`${lineOf(ended)}${failuresOf(ended)}`);
      all.push(ended);
    }
    return all;
  };
  const all = await Promise.all(lanes.map((lane) => runLane(lane.filter((name) => names.includes(name)))));
  clearInterval(progress);
  return all.flat();
}

async function main(): Promise<void> {
  let commandLine: ReturnType<typeof readCommandLine>;
  try {
    commandLine = readCommandLine();
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    process.exit(2);
  }
  const { options } = commandLine;
  // Most of what a program costs that is started many times, as the tests' are, is compiling it again.
  const compiled = at('out', 'compiled');
  fs.rmSync(compiled, { recursive: true, force: true });
  process.env.NODE_COMPILE_CACHE ??= compiled;
  const all: Ended[] = [];
  let names = commandLine.names;
  if (names[0] === 'build') {
    const built = await timed('build', { ...options, write: () => {} });
    console.log(`${lineOf(built)}${failuresOf(built)}`);
    all.push(built);
    // What cannot be built cannot be tested in an editor.
    names = built.result.failed > 0 ? [] : names.slice(1);
  }
  // What the deep tier proves of contained programs has to be said where it cannot be proven.
  const uncontained = names.includes('deep') ? ensureBubblewrap() : undefined;
  const [only] = names;
  if (names.length === 1 && only !== undefined) {
    all.push(await timed(only, options));
    console.log(lineOf(all.at(-1) as Ended));
  } else {
    all.push(...(await runLanes(names, options)));
  }

  const count = (key: keyof Counts): number => all.reduce((sum, { result }) => sum + result[key], 0);
  const total = {
    passed: count('passed'),
    failed: count('failed'),
    notRun: count('notRun'),
    pending: count('pending'),
  };
  const notes = all.flatMap(({ name, result }) => result.flaky.map((title) => `Flaky (${name}): ${title}`));
  if (uncontained !== undefined) {
    notes.push(`Not run: ${uncontained}.`);
  }
  if (total.passed + total.failed === 0 && options.grep !== undefined) {
    notes.push(`No test matches ${options.grep}.`);
    total.failed = 1;
  }
  console.log(`\n${notes.map((note) => `${note}\n`).join('')}${counts(total)}`);
  await endAll(total.failed === 0 ? 0 : 1);
}

type Counts = Pick<TierResult, 'passed' | 'failed' | 'notRun' | 'pending'>;

function counts({ passed, failed, notRun, pending }: Counts): string {
  const some = (count: number, what: string): string => (count === 0 ? '' : `, ${count} ${what}`);
  return `${passed} passed, ${failed} failed${some(notRun, 'not run')}${some(pending, 'skipped')}`;
}

function lineOf({ name, result, seconds }: Ended): string {
  const flaky = result.flaky.length === 0 ? '' : `, ${result.flaky.length} flaky`;
  const counted = result.passed + result.failed === 0 ? (result.note ?? '') : `${counts(result)}${flaky}`;
  const note = result.note === undefined || counted === result.note ? '' : `  (${result.note})`;
  return `${name.padEnd(6)} ${counted.padEnd(36)} ${seconds.toFixed(1).padStart(6)} s${note}`;
}

/** What failed, and where the rest stands. */
function failuresOf({ name, result }: Ended): string {
  if (result.failed === 0) {
    return '';
  }
  const failures = result.failures.map(({ title, error }) => `\n  ✖ ${title}\n${error.replaceAll(/^/gm, '      ')}`);
  return `${failures.join('')}\n  All that ${name} printed is in out/results/${name}.log.`;
}

await main();
