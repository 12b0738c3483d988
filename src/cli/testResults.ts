import * as z from 'zod/mini';
import { RolecallError } from '../core/base/errors.ts';
import { parseJson } from '../core/base/json.ts';
import { regressions } from '../core/prompts/compareRuns.ts';
import { jsonReport, junitReport, reasonsOf } from '../core/prompts/reports.ts';
import type { CaseResult, PromptRun, Verdict } from '../core/prompts/runResults.ts';
import { type StoredRun, storedRunSchema, summarizeRun } from '../core/prompts/storedRun.ts';
import { readTextFile, writeTextFile } from './files.ts';
import { type Context, type ExitCode, exitCodes } from './subcommand.ts';

/** A case, and why it did not pass. */
export async function writeResult(result: CaseResult, showsModel: boolean, { terminal }: Context): Promise<void> {
  const { case: one, model, verdict: found, agreement, attempts } = result;
  const model_ = showsModel ? ` [${model}]` : '';
  const share = agreement.of > 1 ? ` (${agreement.passed} of ${agreement.of})` : '';
  const lines = [`  ${found.padEnd(8)}${one.label}${model_}${share}`];
  // A check that was skipped is told also where the others passed.
  for (const reason of reasonsOf(attempts)) lines.push(...indented(reason));
  const [diff] = attempts.flatMap(({ answers }) =>
    answers.flatMap(({ evaluations }) => evaluations.flatMap((each) => each.diff ?? [])),
  );
  if (diff) lines.push(...indented(`- ${diff.expected}`), ...indented(`+ ${diff.actual}`));
  await terminal.writeLine(lines.join('\n'));
}

function indented(text: string): string[] {
  return text.split(/\r\n|\r|\n/).map((line) => `          ${line}`);
}

function count(runs: readonly PromptRun[], wanted: Verdict): number {
  return runs.flatMap(({ results }) => results).filter((result) => result.verdict === wanted).length;
}

/** How many cases came to what, in a line. */
export function summary(runs: readonly PromptRun[]): string {
  const parts = (['passed', 'failed', 'skipped'] as const).map((each) => [count(runs, each), each] as const);
  const errors = count(runs, 'error');
  const all = [...parts, [errors, errors === 1 ? 'error' : 'errors'] as const];
  return all
    .filter(([number], index) => number > 0 || index === 0)
    .map(([number, word]) => `${number} ${word}`)
    .join(', ');
}

/** The files that were asked for: JUnit's XML, and what `--baseline` of a later run reads. */
export async function writeReports(
  runs: readonly PromptRun[],
  { junit, save }: { readonly junit?: string; readonly save?: string },
): Promise<void> {
  if (junit !== undefined) await writeTextFile(junit, junitReport(runs));
  if (save !== undefined)
    await writeTextFile(save, `${JSON.stringify({ version: 1, runs: runs.map(summarizeRun) }, undefined, 2)}\n`);
}

const baselineSchema = z.object({ version: z.literal(1), runs: z.array(storedRunSchema) });

/** @throws RolecallError `configuration` for anything but what `--save` has written. */
export async function readBaseline(file: string): Promise<readonly StoredRun[]> {
  const read = z.safeParse(baselineSchema, parseJson(await readTextFile(file)));
  if (read.success) return read.data.runs;
  throw new RolecallError('configuration', `${file} is not a run that rolecall test --save has written.`);
}

interface Regression {
  readonly file: string;
  readonly id: string;
  readonly label: string;
  readonly model: string;
}

/** The cases that did better in the baseline; each is told. */
export function compareWith(
  baseline: readonly StoredRun[],
  runs: readonly StoredRun[],
  note: (text: string) => void,
): Regression[] {
  return runs.flatMap((after) => {
    const before = baseline.find(({ file }) => file === after.file);
    if (!before) note(`${after.file} is not in the baseline.`);
    return (before ? regressions(before, after) : []).map(({ id, label, model = '' }) => {
      note(`Worse than in the baseline: ${after.file}: ${label} [${model}]`);
      return { file: after.file, id, label, model };
    });
  });
}

/** One file gives the report of `gh models eval --json`, several give a list of them. */
export async function writeJson(
  runs: readonly PromptRun[],
  worse: readonly Regression[],
  { terminal }: Context,
): Promise<void> {
  const reports = runs.map(jsonReport);
  const [only] = reports;
  await terminal.writeJson(
    reports.length === 1 ? { ...only, regressions: worse } : { files: reports, regressions: worse },
  );
}

/** Failures that mean that the service could not be used at all. */
const unusable: readonly string[] = [
  'offline',
  'timeout',
  'server',
  'signedOut',
  'sessionEnded',
  'forbidden',
  'credit',
  'storage',
];

/** The exit code. A run that measured nothing has not succeeded. */
export function verdict(
  runs: readonly PromptRun[],
  {
    isWhole,
    worse,
    failOn,
  }: { readonly isWhole: boolean; readonly worse: number; readonly failOn: 'failure' | 'regression' },
  terminal: Context['terminal'],
): ExitCode {
  const failed = count(runs, 'failed');
  const measured = count(runs, 'passed') + failed;
  if (worse > 0 || (failOn === 'failure' && failed > 0)) return exitCodes.finding;
  const errors = runs.flatMap(({ results }) =>
    results.flatMap(({ attempts }) => attempts.flatMap(({ error }) => error ?? [])),
  );
  if (measured === 0) {
    const isOut = errors.length > 0 && errors.every(({ kind }) => unusable.includes(kind));
    terminal.error(isOut ? (errors[0]?.message ?? '') : 'Nothing was measured.');
    return isOut ? exitCodes.refused : exitCodes.incomplete;
  }
  const unmeasured = count(runs, 'error') + count(runs, 'skipped');
  if (unmeasured > 0) terminal.error(`${unmeasured} of ${measured + unmeasured} results could not be measured.`);
  return isWhole && unmeasured === 0 ? exitCodes.done : exitCodes.incomplete;
}
