import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import type { CompletionOptions } from '../../core/completions/client.ts';
import { allCases } from '../../core/prompts/caseFiles.ts';
import type { RequestQueue } from '../../core/prompts/promptClient.ts';
import type { PromptFile } from '../../core/prompts/promptFile.ts';
import { type RunEvent, type RunPlan, runCases } from '../../core/prompts/runCases.ts';
import type { PromptRun } from '../../core/prompts/runResults.ts';
import { accountSignal } from '../cancellation.ts';
import type { Clouds } from '../clouds.ts';
import type { OpenToolRegistry } from '../conversation.ts';
import { inferenceAccess, type ModelCatalog } from '../modelCatalog.ts';
import type { RequestDeps } from '../modelRequest.ts';
import { manageTrust } from '../restrictedMode.ts';
import type { OpenedPrompt } from './promptFiles.ts';
import { resourcesOf } from './promptFiles.ts';
import type { PromptModels } from './promptModels.ts';
import type { PromptProblems } from './promptProblems.ts';

export interface PromptRunnerDeps extends RequestDeps {
  readonly clouds: Clouds;
  readonly catalog: ModelCatalog;
  readonly openTools: OpenToolRegistry;
  readonly models: PromptModels;
  readonly problems: Pick<PromptProblems, 'showRefusals' | 'forgetRefusals'>;
}

export interface RunRequest extends Omit<RunPlan, 'file' | 'path'> {
  /** One request for each case and model, whatever the file says about repeats and seeds. */
  readonly isSingle?: boolean;
  /** Instead of the file's seeds. */
  readonly seed?: number | undefined;
  /** Shared with the runs at the same time. */
  readonly queue?: RequestQueue;
}

/** Runs prompt files against the active cloud. A run ends with the account that began it. */
export class PromptRunner {
  readonly #deps: PromptRunnerDeps;

  constructor(deps: PromptRunnerDeps) {
    this.#deps = deps;
  }

  /** All cases of a file, including those of its data files, and the problems of the data files. */
  async casesOf({ uri, file }: OpenedPrompt, signal: AbortSignal): ReturnType<typeof allCases> {
    return allCases(file, resourcesOf(uri, this.#deps.openTools).readText, signal);
  }

  /**
   * The models of a file.
   *
   * @throws RolecallError that says why it cannot be run; `cancelled` if the user did not choose a model.
   */
  async modelsOf({ file }: OpenedPrompt, mayAsk = true): Promise<string[]> {
    return this.#deps.models.require(answeringOf(file), mayAsk);
  }

  /** Asks for the models that judge, if the file names an unknown one. */
  async askForJudges({ file }: OpenedPrompt, mayAsk = true): Promise<void> {
    await this.#deps.models.require(judgesOf(file), mayAsk);
  }

  /** The names in a file for which a model has to be chosen. */
  unclearNames({ file }: OpenedPrompt): string[] {
    const names = [...answeringOf(file), ...judgesOf(file)].filter((name) => name !== undefined);
    return [...new Set(names)].filter((name) => this.#deps.models.find(name) === undefined);
  }

  /** @throws RolecallError before anything was sent. Later failures are part of the result. */
  async run(
    prompt: OpenedPrompt,
    { isSingle = false, seed, queue, ...order }: RunRequest,
    onEvent: (event: RunEvent) => void,
    signal: AbortSignal,
  ): Promise<PromptRun> {
    requireRunnable(prompt);
    const { clouds, catalog, settings, observations, usage, fetch, log, openTools, models, problems } = this.#deps;
    const cloud = clouds.require();
    problems.forgetRefusals(prompt.uri);
    const options: CompletionOptions = { deadlines: settings.deadlines(), observations };
    const account = accountSignal(clouds, signal);
    const observe = (event: RunEvent) => {
      if (event.kind === 'event' && event.event.kind === 'usage') {
        const model = catalog.models.find(({ id }) => id === event.model) ?? { id: event.model, label: event.model };
        usage.add(model, event.event.usage);
      }
      onEvent(event);
    };
    try {
      const run = await runCases(
        {
          ...order,
          file: isSingle ? onceEach(prompt.file, seed) : prompt.file,
          path: vscode.workspace.asRelativePath(prompt.uri),
        },
        {
          inference: { fetch, log, ...inferenceAccess(cloud, settings) },
          connection: cloud.connection,
          options,
          resources: resourcesOf(prompt.uri, openTools),
          ...(queue && { queue }),
          judgeModel: (name) => models.find(name),
          judgeAdvice: vscode.l10n.t('Choose one.'),
        },
        observe,
        account.signal,
      );
      problems.showRefusals(prompt, run);
      return run;
    } finally {
      account.dispose();
    }
  }
}

function onceEach(file: PromptFile, seed: number | undefined): PromptFile {
  const { passes: _passes, ...extensions } = file.extensions;
  return {
    ...file,
    extensions: { ...extensions, repeats: 1, seeds: seed === undefined ? extensions.seeds.slice(0, 1) : [seed] },
  };
}

/** @throws RolecallError `invalidRequest` for a file with errors, and in Restricted Mode. */
export function requireRunnable(prompt: OpenedPrompt): void {
  if (!vscode.workspace.isTrusted) {
    throw new RolecallError(
      'invalidRequest',
      vscode.l10n.t('Prompt files can be run only in a trusted workspace. Run "{0}" first.', manageTrust.title),
    );
  }
  const first = firstError(prompt);
  if (first) throw new RolecallError('invalidRequest', first.sentence);
}

/** Why a file cannot be run, with its line; `undefined` if it can. */
export function firstError(
  prompt: OpenedPrompt,
): { readonly range: vscode.Range; readonly sentence: string } | undefined {
  const first = prompt.file.problems.find(({ severity }) => severity === 'error');
  if (!first) return undefined;
  const range = prompt.rangeOf(first);
  return {
    range,
    sentence: vscode.l10n.t('{0} has errors. Line {1}: {2}', prompt.name, range.start.line + 1, first.message),
  };
}

function answeringOf({ model, extensions }: PromptFile): (string | undefined)[] {
  const own = extensions.models.length > 0 ? extensions.models : [model];
  return own.map((each) => each?.value);
}

/** The names of the models that judge. If none is named, the tested model judges. */
function judgesOf({ evaluators, extensions: { judge } }: PromptFile): string[] {
  return evaluators.flatMap(({ check }) => {
    if (check.method !== 'llm' && check.method !== 'uses') return [];
    return (check.method === 'llm' ? check.model : undefined) ?? judge?.value ?? [];
  });
}
