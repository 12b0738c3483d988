import fs from 'node:fs';
import path from 'node:path';
import { buildHostTests, buildProduction, sizeLines } from '../esbuild.mjs';
import { check } from './check.ts';
import { chooseHost, type HostChoice } from './editor/chooseHost.ts';
import { hostFacts } from './editor/findDesktop.ts';
import { runInServedEditor } from './editor/hostTests.ts';
import { quiet } from './editor/quiet.ts';
import type { Results } from './mocha/reporter.ts';
import { at } from './paths.ts';
import { type Ran, run } from './run.ts';
import { startSandbox } from './sandbox.ts';

/** In the order in which they run. */
export const tierNames = ['check', 'build', 'unit', 'host', 'e2e', 'deep'] as const;
export type TierName = (typeof tierNames)[number];

export interface TierOptions {
  readonly desktop: boolean;
  /** Only tests whose full title matches; a tier may then run none. */
  readonly grep: string | undefined;
}

export interface TierResult {
  readonly passed: number;
  readonly failed: number;
  readonly pending: number;
  /** What to say beside the counts: why it failed without a failed test, or which editor ran it. */
  readonly note?: string;
}

const minute = 60_000;

export const tiers: Readonly<Record<TierName, (options: TierOptions) => Promise<TierResult>>> = {
  check: async () => {
    const steps = await check();
    const failed = steps.filter(({ ran }) => ran.code !== 0);
    const note = failed.map(({ name }) => `failed: ${name}`).join(', ');
    return {
      passed: steps.length - failed.length,
      failed: failed.length,
      pending: 0,
      ...(note === '' ? {} : { note }),
    };
  },
  build: async () => {
    const bundles = [...(await buildProduction()), ...(await buildHostTests())];
    console.log(sizeLines(bundles).join('\n'));
    return { passed: bundles.length, failed: 0, pending: 0 };
  },
  unit: (options) => mochaTier('unit', 'test/unit', 5 * minute, options),
  host: hostTier,
  e2e: (options) => {
    // Pictures of an earlier run's failures would be taken for this one's.
    fs.rmSync(at('out', 'screenshots', 'failed'), { recursive: true, force: true });
    return mochaTier('e2e', 'test/e2e', 12 * minute, options, [
      ...['--timeout', '120000', '--slow', '20000'],
      ...['--require', at('test', 'harness', 'hooks.ts')],
    ]);
  },
  deep: (options) => mochaTier('deep', 'test/deep', 8 * minute, options, ['--timeout', '300000', '--slow', '60000']),
};

/** Whether a folder holds a test file anywhere. */
export function hasTests(folder: string): boolean {
  const full = at(folder);
  return (
    fs.existsSync(full) && fs.readdirSync(full, { recursive: true }).some((file) => String(file).endsWith('.test.ts'))
  );
}

async function mochaTier(
  tier: TierName,
  folder: string,
  limitMs: number,
  options: TierOptions,
  flags: readonly string[] = [],
): Promise<TierResult> {
  if (!hasTests(folder)) {
    return { passed: 0, failed: 1, pending: 0, note: `${folder} has no test` };
  }
  const file = resultsFile(tier);
  const ran = await run(
    process.execPath,
    [
      at('node_modules', 'mocha', 'bin', 'mocha.js'),
      ...['--reporter', at('scripts', 'mocha', 'reporter.ts'), '--no-config'],
      ...(process.env.CI === undefined ? [] : ['--forbid-only']),
      ...(options.grep === undefined ? [] : ['--grep', options.grep]),
      ...flags,
      `${folder}/**/*.test.ts`,
    ],
    { limitMs, env: { ROLECALL_RESULTS: file } },
  );
  return resultOf(file, ran, limitMs, options);
}

async function hostTier(options: TierOptions): Promise<TierResult> {
  const choice = chooseHost(hostFacts(options.desktop));
  if (choice.kind === 'none') {
    return { passed: 0, failed: 1, pending: 0, note: choice.reason };
  }
  if (!hasTests('test/host')) {
    return { passed: 0, failed: 1, pending: 0, note: 'test/host has no test' };
  }
  const limitMs = 5 * minute;
  const file = resultsFile('host');
  // Links to the editor come back to the one that runs.
  const scheme = choice.kind === 'served' ? 'code-oss' : 'vscode';
  const sandbox = await startSandbox(['--link-redirect-uri', `${scheme}://rolecall.rolecall/callback`]);
  try {
    const env = {
      ROLECALL_RESULTS: file,
      ROLECALL_TEST_SANDBOX: JSON.stringify(sandbox.descriptor),
      ...(options.grep === undefined ? {} : { ROLECALL_GREP: options.grep }),
      ...(process.stdout.isTTY ? { ROLECALL_COLOR: '1' } : {}),
    };
    const ran = choice.kind === 'served' ? await served(env, limitMs) : await desktop(choice, env, limitMs);
    const result = resultOf(file, ran, limitMs, options);
    const host = choice.kind === 'served' ? 'in the served editor' : 'in desktop VS Code';
    return { ...result, note: result.note === undefined ? host : `${host}; ${result.note}` };
  } finally {
    await sandbox.stop();
  }
}

async function served(env: NodeJS.ProcessEnv, limitMs: number): Promise<Ran> {
  const started = performance.now();
  const code = await runInServedEditor({ env, settings: quiet, workspace: at('examples', 'workspace'), limitMs });
  return { code: code ?? null, timedOut: code === undefined, durationMs: performance.now() - started };
}

function desktop(choice: HostChoice & { kind: 'desktop' }, env: NodeJS.ProcessEnv, limitMs: number): Promise<Ran> {
  const command = [
    ...(choice.xvfbRun === undefined ? [] : [choice.xvfbRun, '-a']),
    ...[process.execPath, at('scripts', 'editor', 'desktop.ts'), at('examples', 'workspace')],
    ...(choice.executable === undefined ? [] : [choice.executable]),
  ];
  return run(command[0] as string, command.slice(1), { limitMs, env });
}

function resultsFile(tier: TierName): string {
  const file = at('out', 'results', `${tier}.json`);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  // Results of an earlier run must not speak for this one.
  fs.rmSync(file, { force: true });
  return file;
}

/** A tier that did not come to its end, or tested nothing, failed, whatever else it said. */
function resultOf(file: string, ran: Ran, limitMs: number, options: TierOptions): TierResult {
  const results = readResults(file);
  const { passed, failed, pending } = results ?? { passed: 0, failed: 0, pending: 0 };
  const wrong = (note: string): TierResult => ({ passed, failed: Math.max(1, failed), pending, note });
  if (ran.timedOut) {
    return wrong(`did not end within ${limitMs / 1000} s`);
  }
  if (results === undefined) {
    return wrong(`could not run (exit code ${ran.code})`);
  }
  if (failed === 0 && ran.code !== 0) {
    return wrong(`ended with exit code ${ran.code} although no test failed`);
  }
  if (passed + failed === 0 && options.grep === undefined) {
    return wrong('ran no test');
  }
  return { passed, failed, pending };
}

function readResults(file: string): Results | undefined {
  return fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, 'utf8')) as Results) : undefined;
}
