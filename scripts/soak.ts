// npm run soak -- [--times N] [--load N] [tiers…]: repeats host and e2e while other programs keep the machine busy, and says
// what failed or was flaky, run by run. It fails when a test did.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { countOption } from './main.ts';
import { at } from './paths.ts';
import { endAll, onEnd } from './processes.ts';
import { runTier, type TierName, tierNames } from './tiers.ts';

const usage = `Usage: npm run soak -- [--times 10] [--load 4] [${tierNames.join('|')}]…`;

function readCommandLine(): { readonly times: number; readonly load: number; readonly names: readonly TierName[] } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { times: { type: 'string', default: '10' }, load: { type: 'string', default: '4' } },
  });
  const unknown = positionals.find((name) => !tierNames.includes(name as TierName));
  if (unknown !== undefined) {
    throw new Error(`There is no tier “${unknown}”.`);
  }
  const names = positionals.length === 0 ? (['host', 'e2e'] as const) : (positionals as TierName[]);
  return { times: countOption(values, 'times', 1), load: countOption(values, 'load', 0), names };
}

/** Programs that do nothing but keep a core busy. They end with this one. */
function startLoad(count: number): void {
  for (let index = 0; index < count; index += 1) {
    // It asks now and then whether its parent still lives: nothing else would end it after a kill -9.
    const busy =
      'const { ppid } = process; for (;;) { const until = Date.now() + 1000; while (Date.now() < until); if (process.ppid !== ppid) break; }';
    const child = spawn(process.execPath, ['-e', busy], { stdio: 'ignore' });
    onEnd(async () => void child.kill('SIGKILL'));
  }
}

async function main(): Promise<number> {
  let commandLine: ReturnType<typeof readCommandLine>;
  try {
    commandLine = readCommandLine();
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    return 2;
  }
  const { times, load, names } = commandLine;
  const build = await runTier('build', { desktop: false, grep: undefined, write: () => {} });
  if (build.failed > 0) {
    console.error(build.note);
    return 1;
  }
  fs.mkdirSync(at('out', 'results'), { recursive: true });
  startLoad(load);
  console.log(`| run | tier | passed | failed | flaky | seconds | which |\n|---|---|---|---|---|---|---|`);
  const total = { passed: 0, failed: 0, flaky: 0 };
  for (let round = 1; round <= times; round += 1) {
    for (const name of names) {
      const started = performance.now();
      const log = fs.createWriteStream(at('out', 'results', `soak-${round}-${name}.log`));
      const result = await runTier(name, { desktop: false, grep: undefined, write: (text) => void log.write(text) });
      log.end();
      const seconds = ((performance.now() - started) / 1000).toFixed(0);
      const { passed, failed, flaky, failures, note } = result;
      const which = [
        ...failures.map(({ title }) => title),
        ...flaky,
        ...(failed > 0 && note !== undefined ? [note] : []),
      ];
      console.log(
        `| ${round} | ${name} | ${passed} | ${failed} | ${flaky.length} | ${seconds} | ${which.join('; ')} |`,
      );
      total.passed += passed;
      total.failed += failed;
      total.flaky += flaky.length;
    }
  }
  console.log(`\n${total.flaky} flaky\n${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
}

await endAll(await main());
