import path from 'node:path';
import process from 'node:process';
import { InvalidArgumentError } from 'commander';
import { cancelled, formatSeconds, RolecallError } from '../../core/base/errors.ts';
import { listModels } from '../../core/completions/models.ts';
import { allCases } from '../../core/prompts/caseFiles.ts';
import { type ModelNames, resolveModel } from '../../core/prompts/modelNames.ts';
import { hasErrors, type PromptFile, readPromptFile } from '../../core/prompts/promptFile.ts';
import { runCases } from '../../core/prompts/runCases.ts';
import type { PromptRun } from '../../core/prompts/runResults.ts';
import { summarizeRun } from '../../core/prompts/storedRun.ts';
import { isInside } from '../../core/tools/permissions.ts';
import type { CommonOptions } from '../configuration.ts';
import { findFiles, readTextFile, resourcesOfFile, shownPath } from '../files.ts';
import { inferenceConnection, type Services } from '../services.ts';
import { type Context, type ExitCode, type Subcommand, withCommonOptions } from '../subcommand.ts';
import { compareWith, readBaseline, summary, verdict, writeJson, writeReports, writeResult } from '../testResults.ts';

interface TestOptions extends CommonOptions {
  readonly models?: readonly string[];
  readonly map?: Readonly<Record<string, string>>;
  readonly judge?: string;
  readonly repeats?: number;
  readonly concurrency?: number;
  readonly junit?: string;
  readonly save?: string;
  readonly baseline?: string;
  readonly failOn?: 'failure' | 'regression';
}

export const test: Subcommand = (program, run) => {
  withCommonOptions(program.command('test').description('run the cases of prompt files (*.prompt.yml)'))
    .argument('[files...]', 'prompt files or folders (default: the current folder)')
    .option('-m, --models <ids>', 'comma-separated model IDs, instead of those in the files', list)
    .option('--map <name=id>', 'model ID to use for a model name in a file; repeatable', addPair, {})
    .option('--judge <id>', 'judge model, if a file names none that is available')
    .option('--repeats <n>', 'runs per case', positive)
    .option('--concurrency <n>', 'maximum concurrent requests (default: 4)', positive)
    .option('--junit <file>', 'write the results as JUnit XML')
    .option('--save <file>', 'write the results for --baseline of a later run')
    .option('--baseline <file>', 'compare with the results of an earlier run')
    .addOption(
      program
        .createOption(
          '--fail-on <what>',
          'exit with 1 on any failed case, or only on cases that did better in the baseline',
        )
        .choices(['failure', 'regression']),
    )
    .action((files: readonly string[], options: TestOptions) =>
      run(options, (context) => testFiles(files, options, context)),
    );
};

function list(text: string): string[] {
  const ids = text.split(',').map((id) => id.trim());
  if (ids.includes('')) throw new InvalidArgumentError('Put one comma between model IDs.');
  return ids;
}

function addPair(text: string, before: Readonly<Record<string, string>>): Record<string, string> {
  const at = text.lastIndexOf('=');
  if (at < 1 || at === text.length - 1) throw new InvalidArgumentError('Write name=id.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('Write a whole number from 1 to 9999.');
  return Number(text);
}

const PROMPT_FILE = /\.prompt\.ya?ml$/;

/** A prompt file with cases. */
interface Suite {
  readonly path: string;
  readonly file: PromptFile;
  readonly full: string;
}

async function testFiles(named: readonly string[], options: TestOptions, context: Context): Promise<ExitCode> {
  const { terminal, signal } = context;
  if (options.failOn === 'regression' && options.baseline === undefined) {
    throw new RolecallError('configuration', 'Name the run to compare with: --baseline FILE.');
  }
  const baseline = options.baseline === undefined ? undefined : await readBaseline(options.baseline);
  const { suites, isSound } = await readSuites(await findFiles(named, process.cwd(), PROMPT_FILE), terminal.note);
  let isWhole = isSound;
  const names = once((services: Services) => modelNames(services, options, signal));
  const runs: PromptRun[] = [];
  for (const suite of suites) {
    const done = await runSuite(suite, options, names, context);
    if (done) runs.push(done.run);
    if (done && !done.isWhole) isWhole = false;
    if (signal.aborted) throw cancelled(signal.reason);
  }
  await writeReports(runs, options);
  const stored = runs.map(summarizeRun);
  const worse = baseline ? compareWith(baseline, stored, terminal.note) : [];
  if (options.json) await writeJson(runs, worse, context);
  return verdict(runs, { isWhole, worse: worse.length, failOn: options.failOn ?? 'failure' }, terminal);
}

/** Reads the files, and tells what is wrong with them at their lines. */
async function readSuites(
  files: readonly string[],
  note: (text: string) => void,
): Promise<{ readonly suites: readonly Suite[]; readonly isSound: boolean }> {
  const suites: Suite[] = [];
  for (const full of files) {
    const shown = shownPath(full);
    const text = await readTextFile(full);
    const file = readPromptFile(text);
    for (const { severity, message, start } of file.problems) {
      if (severity === 'information') continue;
      note(`${shown}:${text.slice(0, start).split('\n').length}: ${severity}: ${message}`);
    }
    if (!hasErrors(file)) suites.push({ path: shown, file, full });
  }
  return { suites, isSound: suites.length === files.length };
}

/** Asks once, when it is needed first. */
function once<Argument, Value>(ask: (argument: Argument) => Promise<Value>): (argument: Argument) => Promise<Value> {
  let asked: Promise<Value> | undefined;
  return (argument) => {
    asked ??= ask(argument);
    return asked;
  };
}

/** @returns `undefined` for a file without cases, which is a prompt and no test. */
async function runSuite(
  { path: shown, file, full }: Suite,
  options: TestOptions,
  modelsOfService: (services: Services) => Promise<ModelNames>,
  context: Context,
): Promise<{ readonly run: PromptRun; readonly isWhole: boolean } | undefined> {
  const { terminal, signal } = context;
  const folder = process.cwd();
  const resources = resourcesOfFile(full, isInside(folder, full) ? folder : path.dirname(full));
  const { cases, problems } = await allCases(file, resources.readText, signal);
  for (const { path: name, line, message } of problems) {
    terminal.note(`${name || shown}${line === undefined ? '' : `:${line}`}: error: ${message}`);
  }
  if (cases.length === 0) {
    terminal.note(`${shown} has no cases.`);
    return undefined;
  }
  const services = await context.open();
  const needsNames = !options.models || file.evaluators.some(({ check }) => check.method === 'llm');
  const names = needsNames
    ? await modelsOfService(services)
    : { available: [], ...(options.map && { chosen: options.map }) };
  const models = modelsOf(file, shown, options, names);
  if (!options.json) await terminal.writeLine(`${shown} (${models.join(', ')})`);
  const writing: Promise<void>[] = [];
  const run = await runCases(
    {
      file,
      path: shown,
      cases,
      models,
      ...(options.repeats !== undefined && { repeats: options.repeats }),
      ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
    },
    {
      inference: services.inference,
      connection: inferenceConnection(services),
      resources,
      judgeModel: (name) => (name === undefined ? undefined : resolveModel(name, names)) ?? options.judge,
    },
    (event) => {
      if (event.kind === 'waiting') terminal.note(`The service asked to wait for ${formatSeconds(event.ms)}.`);
      if (event.kind === 'finished' && !options.json)
        writing.push(writeResult(event.result, models.length > 1, context));
    },
    signal,
  );
  await Promise.all(writing);
  if (!options.json) await terminal.writeLine(`  ${summary([run])} in ${formatSeconds(run.durationMs)}`);
  return { run, isWhole: problems.length === 0 };
}

/** Where names in files are looked for. */
async function modelNames(services: Services, options: TestOptions, signal: AbortSignal): Promise<ModelNames> {
  const listed = (await listModels(services.inference, inferenceConnection(services), signal)) ?? [];
  return {
    available: listed.map(({ id }) => id),
    fallback: services.defaultModel,
    ...(options.map && { chosen: options.map }),
  };
}

function modelsOf(file: PromptFile, shown: string, { models }: TestOptions, names: ModelNames): readonly string[] {
  if (models) return [...new Set(models)];
  const named: readonly (string | undefined)[] =
    file.extensions.models.length > 0 ? file.extensions.models.map(({ value }) => value) : [file.model?.value];
  const resolved = named.map((name) => {
    const model = resolveModel(name, names);
    if (model !== undefined) return model;
    const what =
      name === undefined ? `${shown} names no model.` : `The model "${name}" of ${shown} is not one of the service's.`;
    const map = name === undefined ? 'ROLECALL_MODEL' : `--map ${name}=ID`;
    throw new RolecallError('configuration', `${what} Name one with --models or ${map}.`);
  });
  return [...new Set(resolved)];
}
