import * as z from 'zod/mini';
import { RolecallError } from '../core/base/errors.ts';
import { parseJson } from '../core/base/json.ts';
import { regressions } from '../core/prompts/compareRuns.ts';
import { jsonReport, junitReport, skippedChecks } from '../core/prompts/reports.ts';
import type { CaseResult, PromptRun, Verdict } from '../core/prompts/runResults.ts';
import { type StoredRun, storedRunSchema, summarizeRun } from '../core/prompts/runStore.ts';
import { caseText, countsText, durationText, reasonsOf, regressionText, verdictText } from '../core/prompts/runText.ts';
import { type ExitCode, exitCodes } from './exitCodes.ts';
import { readTextFile, writeTextFile } from './files.ts';
import type { CommandContext } from './subcommand.ts';

/** A case, and why it did not pass. */
export function resultLines(result: CaseResult, showsModel: boolean): string {
  const { verdict, attempts } = result;
  const lines = [`  ${verdictText(verdict).padEnd(8)}${caseText(result, showsModel)}`];
  // A skipped check is reported even if the others passed.
  for (const reason of reasonsOf(attempts)) lines.push(...indented(reason));
  const [diff] = attempts.flatMap(({ answers }) =>
    answers.flatMap(({ evaluations }) => evaluations.flatMap((each) => each.diff ?? [])),
  );
  // A reason that fits on one line is already there.
  if (diff && /[\r\n]/.test(diff.expected + diff.actual))
    lines.push(...indented(`- ${diff.expected}`), ...indented(`+ ${diff.actual}`));
  return lines.join('\n');
}

function indented(text: string): string[] {
  return text.split(/\r\n|\r|\n/).map((line) => `          ${line}`);
}

/**
 * The numbers of results by verdict, and the time. Skipped checks are counted separately: they would be missing
 * otherwise.
 */
export function summaryText(results: readonly CaseResult[], ms: number): string {
  const skipped = results.flatMap(skippedChecks).length;
  const checks = skipped === 0 ? '' : `, ${skipped === 1 ? '1 check' : `${skipped} checks`} skipped`;
  return `${countsText(results)}${checks} in ${durationText(ms)}`;
}

/** Writes texts in the order in which their places were reserved, each as soon as everything before it is written. */
export class OrderedOutput {
  readonly #write: (text: string) => Promise<void>;
  /** `undefined` while there is no text yet, or if there will be none. */
  readonly #places: (string | undefined)[] = [];
  #next = 0;
  #writing = Promise.resolve();

  constructor(write: (text: string) => Promise<void>) {
    this.#write = write;
  }

  /** @returns a function that puts a text at the place. */
  reserve(): (text: string) => void {
    const index = this.#places.push(undefined) - 1;
    return (text) => {
      this.#places[index] = text;
      for (; this.#places[this.#next] !== undefined; this.#next++) this.#add(this.#places[this.#next]);
    };
  }

  /** Writes the remaining texts, also those after a gap; resolves when they are written. */
  async end(): Promise<void> {
    for (const text of this.#places.slice(this.#next)) this.#add(text);
    this.#next = this.#places.length;
    await this.#writing;
  }

  #add(text: string | undefined): void {
    if (text !== undefined) this.#writing = this.#writing.then(() => this.#write(text));
  }
}

/** Writes the requested files: JUnit's XML, and the results for `--baseline` of a later run. */
export async function writeReports(
  runs: readonly PromptRun[],
  { junit, save }: { readonly junit?: string; readonly save?: string },
): Promise<void> {
  if (junit !== undefined) await writeTextFile(junit, junitReport(runs));
  if (save !== undefined)
    await writeTextFile(
      save,
      `${JSON.stringify({ version: 1, runs: runs.map((run) => summarizeRun(run, run.stopped)) }, undefined, 2)}\n`,
    );
}

const baselineSchema = z.object({ version: z.literal(1), runs: z.array(storedRunSchema) });

/** @throws RolecallError `configuration` for anything that `--save` did not write. */
export async function readBaseline(file: string): Promise<readonly StoredRun[]> {
  const read = z.safeParse(baselineSchema, parseJson(await readTextFile(file)));
  if (read.success) return read.data.runs;
  throw new RolecallError('configuration', `${file} was not written by rolecall test --save.`);
}

interface Regression {
  readonly file: string;
  readonly id: string;
  readonly label: string;
  readonly model: string;
}

/** Finds the cases that did better in the baseline, and reports each. */
export function compareWithBaseline(
  baseline: readonly StoredRun[],
  runs: readonly StoredRun[],
  note: (text: string) => void,
): Regression[] {
  return runs.flatMap((after) => {
    const before = baseline.find(({ file }) => file === after.file);
    if (!before) note(`${after.file} is not in the baseline.`);
    return (before ? regressions(before, after) : []).map((worse) => {
      const { id, label, model = '' } = worse;
      note(`${after.file}: ${label} [${model}]: ${regressionText(worse, before?.startedAt ?? '')}`);
      return { file: after.file, id, label, model };
    });
  });
}

/** The JSON report: for one file like that of `gh models eval --json`, for several a list of them. */
export async function writeJson(
  runs: readonly PromptRun[],
  worse: readonly Regression[],
  { terminal }: CommandContext,
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

/** The exit code of a run, and why, unless everything passed. A run that measured nothing has not succeeded. */
export function exitOfRuns(
  runs: readonly PromptRun[],
  {
    isWhole,
    worse,
    failOn,
  }: { readonly isWhole: boolean; readonly worse: number; readonly failOn: 'failure' | 'regression' },
): { readonly code: ExitCode; readonly why?: string } {
  const results = runs.flatMap((run) => run.results);
  const count = (...verdicts: Verdict[]) => results.filter((result) => verdicts.includes(result.verdict)).length;
  const failed = failOn === 'failure' ? count('failed') : 0;
  const unmeasured = count('error', 'skipped');
  const isFinding = failed > 0 || worse > 0;
  if (runs.length === 0 && !isWhole)
    return { code: exitCodes.usage, why: 'Nothing could be run: see the errors above.' };
  if (!isFinding && unmeasured === results.length) return nothingMeasured(results);
  const counts: readonly (readonly [number, string])[] = [
    [failed, 'failed'],
    [worse, `${worse === 1 ? 'is' : 'are'} worse than the baseline`],
    [unmeasured, 'could not be measured'],
  ];
  const parts = counts
    .filter(([amount]) => amount > 0)
    .map(([amount, what], index) => {
      return `${index === 0 ? `${amount} of ${results.length}` : amount} ${what}`;
    });
  const reasons = [
    ...(parts.length > 0 ? [`${parts.join(', ')}.`] : []),
    ...(isWhole ? [] : ['Not everything could be read: see the errors above.']),
  ];
  if (reasons.length === 0) return { code: exitCodes.done };
  return { code: isFinding ? exitCodes.finding : exitCodes.incomplete, why: reasons.join(' ') };
}

function nothingMeasured(results: readonly CaseResult[]): { readonly code: ExitCode; readonly why: string } {
  const errors = results.flatMap(({ attempts }) => attempts.flatMap(({ error }) => error ?? []));
  const [first] = errors;
  if (first && errors.every(({ kind }) => unusable.includes(kind))) {
    return { code: exitCodes.refused, why: first.message };
  }
  const why = results.length === 0 ? 'there are no cases' : countsText(results);
  return { code: exitCodes.incomplete, why: `Nothing was measured: ${why}.` };
}
