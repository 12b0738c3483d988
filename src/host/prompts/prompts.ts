import * as vscode from 'vscode';
import type { Clouds } from '../clouds.ts';
import type { Handlers, PromptCommandId } from '../commands.ts';
import type { LastExchange, OpenToolRegistry } from '../conversation.ts';
import type { ModelCatalog } from '../modelCatalog.ts';
import type { RequestDeps } from '../modelRequest.ts';
import type { OpenPages } from '../pages.ts';
import { PromptCommands } from './promptCommands.ts';
import { promptDrafts } from './promptDrafts.ts';
import { resourcesOf } from './promptFiles.ts';
import { PromptLenses, registerPromptLanguage } from './promptLanguage.ts';
import { PromptModels } from './promptModels.ts';
import { PROMPT_GLOB } from './promptPattern.ts';
import { PromptProblems } from './promptProblems.ts';
import { PromptResults } from './promptResults.ts';
import { PromptRunner } from './promptRunner.ts';
import { PromptRuns } from './promptRuns.ts';
import { PromptTests } from './promptTests.ts';
import { ResultCommands } from './resultCommands.ts';
import { ResultDocuments } from './resultDocuments.ts';
import { TokenColors } from './tokenColors.ts';

export interface PromptsDeps extends RequestDeps {
  readonly clouds: Clouds;
  readonly catalog: ModelCatalog;
  readonly openTools: OpenToolRegistry;
  readonly pages: OpenPages;
  readonly lastExchange: LastExchange;
  /** Where runs of this workspace are kept. */
  readonly storage: vscode.Uri;
  readonly extension: Pick<vscode.Extension<unknown>, 'packageJSON'>;
}

/** Everything about prompt files in this window; made when the first one is opened. */
export class Prompts implements vscode.Disposable {
  readonly #commands: PromptCommands;
  readonly #resultCommands: ResultCommands;
  readonly #colors: TokenColors;
  readonly #runs: PromptRuns;
  readonly #drafts: ReturnType<typeof promptDrafts>;
  readonly #disposables: vscode.Disposable;

  constructor(deps: PromptsDeps) {
    const models = new PromptModels(deps.clouds, deps.catalog);
    const problems = new PromptProblems((uri) => resourcesOf(uri, deps.openTools), models);
    const runner = new PromptRunner({ ...deps, models, problems });
    const documents = new ResultDocuments();
    const results = new PromptResults(deps.clouds, documents);
    this.#runs = new PromptRuns({ ...deps, models, documents });
    this.#drafts = promptDrafts(deps);
    const keep: PromptRuns['keep'] = (...run) => this.#runs.keep(...run);
    const lenses = new PromptLenses((uri) => this.#commands.isRunning(uri));
    this.#commands = new PromptCommands({ ...deps, models, runner, results, keep }, () => lenses.refresh());
    this.#colors = new TokenColors(results);
    const version = String(deps.extension.packageJSON.version);
    const { openTools } = deps;
    this.#resultCommands = new ResultCommands({ results, documents, runs: this.#commands, openTools, version });
    this.#disposables = vscode.Disposable.from(
      models,
      problems,
      documents,
      results,
      lenses,
      this.#colors,
      this.#runs,
      this.#commands,
      vscode.languages.registerCodeLensProvider({ pattern: PROMPT_GLOB }, lenses),
      new PromptTests({ catalog: deps.catalog, runner, problems, keep }),
      registerPromptLanguage({ ...deps, models, problemsOf: (uri) => problems.problemsOf(uri) }),
    );
  }

  get commands(): Handlers<PromptCommandId> {
    return {
      ...this.#commands.handlers,
      ...this.#resultCommands.handlers,
      ...this.#colors.commands,
      ...this.#runs.handlers,
      ...this.#drafts,
    };
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}
