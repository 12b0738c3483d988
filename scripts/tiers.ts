import fs from 'node:fs';
import path from 'node:path';
import { buildProduction, buildTests, sizeLines } from '../esbuild.mjs';
import { check } from './check.ts';
import { chooseHost, desktopTestCommand, type HostChoice } from './editor/chooseHost.ts';
import { hostFacts } from './editor/findDesktop.ts';
import { runInServedEditor } from './editor/hostTests.ts';
import { bareSettings } from './editor/quietSettings.ts';
import type { Results } from './mocha/reporter.ts';
import { at } from './paths.ts';
import { type RunResult, run, type Write } from './run.ts';
import { startSandbox } from './sandbox.ts';
import { extractStrings } from './strings.ts';

/** The build comes first: some of the others run what it makes. */
export const tierNames = ['build', 'check', 'unit', 'host', 'e2e', 'deep'] as const;
export type TierName = (typeof tierNames)[number];

export interface TierOptions {
  readonly desktop: boolean;
  /** The version of desktop VS Code to run the host tests in, downloaded: a number, `stable` or `insiders`. */
  readonly vscodeVersion?: string | undefined;
  /** Only tests whose full title matches; a tier may then run none. */
  readonly grep: string | undefined;
  /** Whether the end-to-end tests take screenshots; not unless said. */
  readonly screenshots?: boolean;
  /** Takes what the tier prints. Absent: it prints where this process does. */
  readonly write?: Write | undefined;
}

export interface TierResult extends Results {
  /** What to say beside the counts: why it failed without a failed test, or which editor ran it. */
  readonly note?: string;
}

const minute = 60_000;

/** What no tier comes near: a busy machine is slow, only what hangs takes this long. */
const limitMs = 25 * minute;

/** Runs one tier. A tier that cannot run has failed, with the reason as its note. */
export async function runTier(name: TierName, options: TierOptions): Promise<TierResult> {
  try {
    return await tiers[name](options);
  } catch (error) {
    return notRun((error as Error).message);
  }
}

const tiers: Readonly<Record<TierName, (options: TierOptions) => Promise<TierResult>>> = {
  check: async ({ write }) => {
    const steps = await check(write);
    const failed = steps.filter(({ result }) => result.code !== 0);
    const note = failed.map(({ name }) => `failed: ${name}`).join(', ');
    return {
      ...nothing,
      passed: steps.length - failed.length,
      failed: failed.length,
      ...(note === '' ? {} : { note }),
    };
  },
  build: async ({ write = (text) => process.stdout.write(text) }) => {
    const bundles = [...(await buildProduction()), ...(await buildTests())];
    write(`${sizeLines(bundles).join('\n')}\n`);
    const bytes = bundles.reduce((sum, bundle) => sum + bundle.bytes, 0);
    return { ...nothing, note: `${bundles.length} files, ${(bytes / 1024).toFixed(0)} KiB` };
  },
  unit: (options) => mochaTier('unit', 'test/unit', options, ['--timeout', '60000']),
  host: hostTier,
  e2e: async (options) => {
    const file = resultsFile('e2e');
    const ran = await run(
      process.execPath,
      [
        ...[at('node_modules', '@playwright', 'test', 'cli.js'), 'test', '--config', at('test', 'e2e')],
        ...(options.grep === undefined ? [] : ['--grep', options.grep, '--pass-with-no-tests']),
      ],
      {
        limitMs,
        env: { ROLECALL_RESULTS: file, ...(options.screenshots ? { ROLECALL_SCREENSHOTS: '1' } : {}) },
        write: options.write,
      },
    );
    return resultOf(file, ran, options);
  },
  deep: (options) =>
    mochaTier('deep', 'test/deep', options, ['--parallel', '--jobs', '3', '--timeout', '300000', '--slow', '60000']),
};

/** Whether a folder holds a test file anywhere. */
function hasTests(folder: string): boolean {
  const full = at(folder);
  return (
    fs.existsSync(full) && fs.readdirSync(full, { recursive: true }).some((file) => String(file).endsWith('.test.ts'))
  );
}

async function mochaTier(
  tier: TierName,
  folder: string,
  options: TierOptions,
  flags: readonly string[] = [],
): Promise<TierResult> {
  if (!hasTests(folder)) {
    return notRun(`${folder} has no test`);
  }
  const file = resultsFile(tier);
  const ran = await run(
    process.execPath,
    [
      '--max-semi-space-size=32', // Tests make much garbage: collecting it more often costs an eighth of their time.
      at('node_modules', 'mocha', 'bin', 'mocha.js'),
      ...['--reporter', at('scripts', 'mocha', 'reporter.ts'), '--no-config'],
      ...(process.env.CI === undefined ? [] : ['--forbid-only']),
      ...(options.grep === undefined ? [] : ['--grep', options.grep]),
      ...flags,
      `${folder}/**/*.test.ts`,
    ],
    // Some tests count how often code runs, which V8 does not do exactly for what comes out of a cache.
    { limitMs, env: { ROLECALL_RESULTS: file, NODE_COMPILE_CACHE: '' }, write: options.write },
  );
  return resultOf(file, ran, options);
}

async function hostTier(options: TierOptions): Promise<TierResult> {
  const choice = chooseHost(hostFacts(options.desktop, options.vscodeVersion));
  if (choice.kind === 'none') {
    return notRun(choice.reason);
  }
  if (!hasTests('test/host')) {
    return notRun('test/host has no test');
  }
  const file = resultsFile('host');
  // Links to the editor come back to the one that runs.
  const scheme = choice.kind === 'served' ? 'code-oss' : 'vscode';
  const redirectUri = `${scheme}://rolecall.rolecall/callback`;
  // Answers come as fast as they can: what is tested of a stream in progress is held by a fault, not by slow words.
  const starting = startSandbox(['--link-redirect-uri', redirectUri, '--pace-ms', '0']);
  const [sandbox] = await Promise.all([starting, extractStrings()]); // For the tests in a pseudo-language.
  try {
    const env = {
      ROLECALL_RESULTS: file,
      ROLECALL_TEST_SANDBOX: JSON.stringify(sandbox.descriptor),
      ...(options.grep === undefined ? {} : { ROLECALL_GREP: options.grep }),
      ...(process.stdout.isTTY ? { ROLECALL_COLOR: '1' } : {}),
    };
    const ran = await (choice.kind === 'served' ? served(env, options) : desktop(choice, env, options));
    const result = resultOf(file, ran, options);
    const host = choice.kind === 'served' ? 'in the served editor' : 'in desktop VS Code';
    return { ...result, note: result.note === undefined ? host : `${host}; ${result.note}` };
  } finally {
    await sandbox.stop();
  }
}

async function served(env: NodeJS.ProcessEnv, { write }: TierOptions): Promise<RunResult> {
  const workspace = at('examples', 'workspace');
  const code = await runInServedEditor({ env, settings: bareSettings, workspace, limitMs, write });
  return { code: code ?? null, timedOut: code === undefined };
}

function desktop(
  choice: HostChoice & { kind: 'desktop' },
  env: NodeJS.ProcessEnv,
  { write }: TierOptions,
): Promise<RunResult> {
  const test = [process.execPath, at('scripts', 'editor', 'desktop.ts'), at('examples', 'workspace')];
  const command = desktopTestCommand(choice, test);
  return run(command[0] as string, command.slice(1), { limitMs, env, write });
}

function resultsFile(tier: TierName): string {
  const file = at('out', 'results', `${tier}.json`);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  // Results of an earlier run must not speak for this one.
  fs.rmSync(file, { force: true });
  return file;
}

const nothing: Results = { passed: 0, failed: 0, pending: 0, notRun: 0, failures: [], flaky: [] };

function notRun(note: string): TierResult {
  return { ...nothing, failed: 1, note };
}

/** A tier that did not come to its end, or tested nothing, failed, whatever else it reported. */
function resultOf(file: string, ran: RunResult, options: TierOptions): TierResult {
  const results = readResults(file);
  const wrong = (note: string): TierResult => ({
    ...(results ?? nothing),
    failed: Math.max(1, results?.failed ?? 0),
    note,
  });
  if (ran.timedOut) {
    return wrong(`did not end within ${limitMs / minute} minutes`);
  }
  if (results === undefined) {
    return wrong(`could not run (exit code ${ran.code})`);
  }
  if (results.failed === 0 && ran.code !== 0) {
    return wrong(`ended with exit code ${ran.code} although no test failed`);
  }
  if (results.passed + results.failed === 0 && options.grep === undefined) {
    return wrong('ran no test');
  }
  return results;
}

function readResults(file: string): Results | undefined {
  return fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, 'utf8')) as Results) : undefined;
}
