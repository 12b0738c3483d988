import path from 'node:path';
import process from 'node:process';
import { asRolecallError, cancelled, RolecallError } from '../core/base/errors.ts';
import { listModels } from '../core/completions/models.ts';
import { allCases } from '../core/prompts/caseFiles.ts';
import { type ModelNames, resolveModel } from '../core/prompts/modelNames.ts';
import type { PromptCase } from '../core/prompts/promptCases.ts';
import { RequestQueue } from '../core/prompts/promptClient.ts';
import { hasErrors, type PromptFile, readPromptFile } from '../core/prompts/promptFile.ts';
import type { PromptResources } from '../core/prompts/promptRequest.ts';
import { runCases } from '../core/prompts/runCases.ts';
import type { PromptRun } from '../core/prompts/runResults.ts';
import { summarizeRun } from '../core/prompts/runStore.ts';
import { waitText } from '../core/prompts/runText.ts';
import { isInside } from '../core/tools/permissions.ts';
import type { CommonOptions } from './configuration.ts';
import type { ExitCode } from './exitCodes.ts';
import { displayPath, findFiles, readTextFile, resourcesOfFile } from './files.ts';
import { inferenceConnection, type Services } from './services.ts';
import type { CommandContext } from './subcommand.ts';
import {
  compareWithBaseline,
  exitOfRuns,
  OrderedOutput,
  readBaseline,
  resultLines,
  summaryText,
  writeJson,
  writeReports,
} from './testResults.ts';

export interface TestOptions extends CommonOptions {
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

const PROMPT_FILE = /\.prompt\.ya?ml$/;

/** A prompt file with cases. */
interface Suite {
  readonly path: string;
  readonly file: PromptFile;
  readonly full: string;
}

/** `rolecall test`. */
export async function testFiles(
  named: readonly string[],
  options: TestOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { terminal, signal } = context;
  if (options.failOn === 'regression' && options.baseline === undefined) {
    throw new RolecallError('configuration', 'Specify the run to compare with: --baseline FILE.');
  }
  const baseline = options.baseline === undefined ? undefined : await readBaseline(options.baseline);
  const { suites, isSound } = await readSuites(await findFiles(named, process.cwd(), PROMPT_FILE), terminal.note);
  let isWhole = isSound;
  const started = performance.now();
  const output = new OrderedOutput(async (text) => {
    if (!options.json) await terminal.writeLine(text);
  });
  const names = once((services: Services) => modelNames(services, options, signal));
  // Mistakes in the last file are reported before the first one costs anything.
  const prepared: PreparedSuite[] = [];
  for (const suite of suites) {
    const { ready, isWhole: isRead } = await prepareSuite(suite, options, names, context);
    if (ready) prepared.push(ready);
    if (!isRead) isWhole = false;
  }
  const queue = new RequestQueue(options.concurrency);
  const runs = await Promise.all(prepared.map((one) => runSuite(one, options, { queue, output }, context)));
  if (runs.length > 1) {
    const results = runs.flatMap((run) => run.results);
    output.reserve()(`${runs.length} files: ${summaryText(results, performance.now() - started)}`);
  }
  await output.end();
  if (signal.aborted) throw cancelled(signal.reason);
  await writeReports(runs, options);
  const stored = runs.map((run) => summarizeRun(run, run.stopped));
  const worse = baseline ? compareWithBaseline(baseline, stored, terminal.note) : [];
  if (options.json) await writeJson(runs, worse, context);
  const { code, why } = exitOfRuns(runs, { isWhole, worse: worse.length, failOn: options.failOn ?? 'failure' });
  if (why !== undefined) terminal.error(why);
  return code;
}

/**
 * Reads the files, and reports their mistakes at their lines. A file that cannot be used does not affect the others.
 */
async function readSuites(
  files: readonly string[],
  note: (text: string) => void,
): Promise<{ readonly suites: readonly Suite[]; readonly isSound: boolean }> {
  const suites: Suite[] = [];
  for (const full of files) {
    const shown = displayPath(full);
    const text = await readTextFile(shown).catch((error: unknown) => {
      note(`${shown}: error: ${asRolecallError(error).message}`);
      return undefined;
    });
    if (text === undefined) continue;
    const file = readPromptFile(text);
    for (const { severity, message, start } of file.problems) {
      if (severity === 'information') continue;
      note(`${shown}:${text.slice(0, start).split('\n').length}: ${severity}: ${message}`);
    }
    if (!hasErrors(file)) suites.push({ path: shown, file, full });
  }
  return { suites, isSound: suites.length === files.length };
}

/** Caches the result of the first call. */
function once<Argument, Value>(ask: (argument: Argument) => Promise<Value>): (argument: Argument) => Promise<Value> {
  let result: Promise<Value> | undefined;
  return (argument) => {
    result ??= ask(argument);
    return result;
  };
}

/** A prompt file with everything that its run needs. */
interface PreparedSuite extends Suite {
  readonly resources: PromptResources;
  readonly cases: readonly PromptCase[];
  readonly models: readonly string[];
  readonly names: ModelNames;
  readonly services: Services;
}

/** The cases of a file that can be run, and whether these are all. A file without cases is a prompt, not a test. */
async function prepareSuite(
  suite: Suite,
  options: TestOptions,
  modelsOfService: (services: Services) => Promise<ModelNames>,
  { terminal, signal, open }: CommandContext,
): Promise<{ readonly ready?: PreparedSuite; readonly isWhole: boolean }> {
  const { path: shown, file, full } = suite;
  const folder = process.cwd();
  const resources = resourcesOfFile(full, isInside(folder, full) ? folder : path.dirname(full));
  const { cases, problems } = await allCases(file, resources.readText, signal);
  for (const { path: name, line, message } of problems) {
    terminal.note(`${name || shown}${line === undefined ? '' : `:${line}`}: error: ${message}`);
  }
  const isWhole = problems.length === 0;
  if (cases.length === 0) {
    terminal.note(`${shown} has no cases.`);
    return { isWhole };
  }
  const services = await open();
  const namesJudge =
    file.extensions.judge !== undefined ||
    file.evaluators.some(({ check }) => check.method === 'llm' && check.model !== undefined);
  const needsNames = !options.models || namesJudge;
  const names = needsNames
    ? await modelsOfService(services)
    : { available: [], ...(options.map && { chosen: options.map }) };
  const models = modelsOf(file, options, names);
  if (typeof models === 'string') {
    terminal.note(`${shown}: error: ${models}`);
    return { isWhole: false };
  }
  return { ready: { ...suite, resources, cases, models, names, services }, isWhole };
}

async function runSuite(
  { path: shown, file, resources, cases, models, names, services }: PreparedSuite,
  { repeats, judge }: TestOptions,
  { queue, output }: { readonly queue: RequestQueue; readonly output: OrderedOutput },
  { terminal, signal }: CommandContext,
): Promise<PromptRun> {
  output.reserve()(`${shown} (${models.join(', ')})`);
  const keyOf = (one: PromptCase, model: string) => JSON.stringify([one.id, model]);
  const places = new Map(cases.flatMap((one) => models.map((model) => [keyOf(one, model), output.reserve()] as const)));
  const end = output.reserve();
  const run = await runCases(
    { file, path: shown, cases, models, onlyChecked: true, ...(repeats !== undefined && { repeats }) },
    {
      inference: services.inference,
      connection: inferenceConnection(services),
      resources,
      queue,
      judgeModel: (name) => resolveModel(name, names),
      judge,
      judgeAdvice: 'Specify one with --judge ID.',
    },
    (event) => {
      if (event.kind === 'waiting') terminal.note(waitText(event.ms));
      if (event.kind !== 'finished') return;
      const { result } = event;
      places.get(keyOf(result.case, result.model))?.(resultLines(result, models.length > 1));
    },
    signal,
  );
  end(`  ${summaryText(run.results, run.durationMs)}`);
  return run;
}

/** The models among which names in files are looked for. */
async function modelNames(services: Services, options: TestOptions, signal: AbortSignal): Promise<ModelNames> {
  const listed = (await listModels(services.inference, inferenceConnection(services), signal)) ?? [];
  return {
    available: listed.map(({ id }) => id),
    fallback: services.defaultModel,
    ...(options.map && { chosen: options.map }),
  };
}

/** The models to run a file with, or the reason why there are none. */
function modelsOf(file: PromptFile, { models }: TestOptions, names: ModelNames): readonly string[] | string {
  if (models) return [...new Set(models)];
  const named: readonly (string | undefined)[] =
    file.extensions.models.length > 0 ? file.extensions.models.map(({ value }) => value) : [file.model?.value];
  const resolved = new Set<string>();
  for (const name of named) {
    const model = resolveModel(name, names);
    if (model === undefined) {
      return name === undefined
        ? 'The file names no model. Specify one with --models or ROLECALL_MODEL.'
        : `The service does not offer the model "${name}". Specify one with --models or --map ${name}=ID.`;
    }
    resolved.add(model);
  }
  return [...resolved];
}
