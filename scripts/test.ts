// npm test -- [tiers…] [--desktop] [--grep TEXT]: all tiers in order, or only the named ones. The last line counts.
import { parseArgs } from 'node:util';
import { endAll } from './processes.ts';
import { hasTests, type TierName, type TierOptions, type TierResult, tierNames, tiers } from './tiers.ts';

const usage = `Usage: npm test -- [${tierNames.join('|')}]… [--desktop] [--grep TEXT]`;

function readCommandLine(): { readonly names: TierName[]; readonly options: TierOptions } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { desktop: { type: 'boolean', default: false }, grep: { type: 'string' } },
  });
  const unknown = positionals.find((name) => !tierNames.includes(name as TierName));
  if (unknown !== undefined) {
    throw new Error(`There is no tier “${unknown}”.`);
  }
  const asked = new Set(positionals.length > 0 ? (positionals as TierName[]) : tierNames);
  if (asked.has('host') || asked.has('e2e')) {
    // Those run what is in dist/ and out/, which must not be of an earlier source.
    asked.add('build');
  }
  if (positionals.length === 0 && !hasTests('test/deep')) {
    asked.delete('deep');
  }
  return {
    names: tierNames.filter((name) => asked.has(name)),
    options: { desktop: values.desktop, grep: values.grep },
  };
}

async function runTier(name: TierName, options: TierOptions): Promise<TierResult> {
  try {
    return await tiers[name](options);
  } catch (error) {
    console.error((error as Error).message);
    return { passed: 0, failed: 1, pending: 0, note: 'could not run' };
  }
}

async function main(): Promise<void> {
  let commandLine: ReturnType<typeof readCommandLine>;
  try {
    commandLine = readCommandLine();
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    process.exit(2);
  }
  const { names, options } = commandLine;
  const lines: string[] = [];
  const total = { passed: 0, failed: 0, pending: 0 };
  for (const name of names) {
    console.log(`\n── ${name} ${'─'.repeat(70 - name.length)}`);
    const started = performance.now();
    const result = await runTier(name, options);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const note = result.note === undefined ? '' : `  (${result.note})`;
    lines.push(`${name.padEnd(6)} ${counts(result).padEnd(36)} ${seconds.padStart(6)} s${note}`);
    total.passed += result.passed;
    total.failed += result.failed;
    total.pending += result.pending;
  }
  if (total.passed + total.failed === 0) {
    lines.push(`No test matches ${options.grep}.`);
    total.failed = 1;
  }
  console.log(`\n${lines.join('\n')}\n\n${counts(total)}`);
  await endAll(total.failed === 0 ? 0 : 1);
}

function counts({ passed, failed, pending }: TierResult): string {
  return `${passed} passed, ${failed} failed${pending === 0 ? '' : `, ${pending} skipped`}`;
}

await main();
