import * as vscode from 'vscode';
import { asRolecallError, isCancelled } from '../../core/base/errors.ts';
import { formatList } from '../../core/base/text.ts';
import type { PromptCase } from '../../core/prompts/promptCases.ts';
import { nameCases } from '../../core/prompts/promptCases.ts';
import { RequestQueue } from '../../core/prompts/promptClient.ts';
import { hasErrors } from '../../core/prompts/promptFile.ts';
import { filesOf } from '../../core/prompts/promptRequest.ts';
import type { PromptRun } from '../../core/prompts/runResults.ts';
import { notSentText } from '../../core/prompts/runText.ts';
import { signalOf } from '../cancellation.ts';
import { plainText } from '../dialogs.ts';
import type { ModelCatalog } from '../modelCatalog.ts';
import { EXCLUDED_GLOB, fileExists } from '../watchedFiles.ts';
import { documentOf, type OpenedPrompt, readPrompt } from './promptFiles.ts';
import { isPromptFile, PROMPT_GLOB } from './promptPattern.ts';
import type { PromptProblems } from './promptProblems.ts';
import { type PromptRunner, requireRunnable } from './promptRunner.ts';
import { type TestCase, TestRunReporter } from './testRunReporter.ts';

export interface PromptTestsDeps {
  readonly catalog: ModelCatalog;
  readonly runner: PromptRunner;
  readonly problems: PromptProblems;
  /**
   * Stores a run, of all cases of the file or of some. @returns what its cases did better in the baseline, by their
   * IDs.
   */
  keep(prompt: OpenedPrompt, run: PromptRun, isPartial: boolean): Promise<ReadonlyMap<string, string>>;
}

/** The requested tests of a file. */
interface WantedRun {
  readonly run: vscode.TestRun;
  readonly file: vscode.TestItem;
  readonly tests: readonly vscode.TestItem[];
  /** Replaces the file's own. */
  readonly models: readonly string[] | undefined;
  readonly mayAsk: boolean;
  /** The user has not answered a question. */
  declined(): void;
}

/** The tests of a file, and the models to run them with. */
interface FileRun {
  readonly run: vscode.TestRun;
  readonly file: vscode.TestItem;
  readonly tests: readonly vscode.TestItem[];
  readonly prompt: OpenedPrompt;
  readonly models: readonly string[];
  fail(message: string): void;
}

/** The most run profiles; further models are run from the prompt's editor. */
const MAX_PROFILES = 8;
/** A file that is saved twice at once is read once. */
const RELOAD_MS = 200;

/** Prompt files in the Test view: each file a suite, each case a test. */
export class PromptTests implements vscode.Disposable {
  readonly #deps: PromptTestsDeps;
  readonly #controller = vscode.tests.createTestController('rolecall.prompts', vscode.l10n.t('Prompt Files'));
  readonly #profiles = new Map<string, vscode.TestRunProfile>();
  /** The case of each test. */
  readonly #cases = new WeakMap<vscode.TestItem, PromptCase>();
  /** The text whose cases each suite shows. */
  readonly #texts = new WeakMap<vscode.TestItem, string>();
  /** The addresses of the things that each file names. */
  readonly #filesOf = new WeakMap<vscode.TestItem, ReadonlySet<string>>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #disposables: vscode.Disposable[];

  constructor(deps: PromptTestsDeps) {
    this.#deps = deps;
    const { Run } = vscode.TestRunProfileKind;
    const run = this.#controller.createRunProfile(
      vscode.l10n.t('Run'),
      Run,
      (request, token) => this.#run(request, undefined, token),
      true,
    );
    this.#controller.resolveHandler = (item) => (item ? this.#load(item) : this.#discover());
    this.#controller.refreshHandler = () => this.#discover();
    // Prompt files, and what they name beside themselves: data, included texts and images have any name.
    const watcher = vscode.workspace.createFileSystemWatcher('**/*');
    this.#disposables = [
      this.#controller,
      run,
      watcher,
      watcher.onDidCreate((uri) => this.#changed(uri)),
      watcher.onDidChange((uri) => this.#changed(uri)),
      watcher.onDidDelete((uri) => void this.#deleted(uri)), // Never rejects.
      vscode.workspace.onDidChangeWorkspaceFolders(() => void this.#discover()),
      deps.problems.onDidCheck((prompt) => this.#edited(prompt)),
      deps.catalog.onDidChange(() => this.#offerModels()),
    ];
    this.#offerModels();
    // Those that were open before.
    for (const { uri } of vscode.workspace.textDocuments) if (isPromptFile(uri)) this.#add(uri);
  }

  /** By name: no file is read before somebody looks at it. */
  async #discover(): Promise<void> {
    const files = await vscode.workspace.findFiles(PROMPT_GLOB, EXCLUDED_GLOB);
    const open = vscode.workspace.textDocuments.map(({ uri }) => uri).filter(isPromptFile);
    const uris = new Map([...files, ...open].map((uri) => [uri.toString(), uri]));
    for (const [id] of this.#controller.items) if (!uris.has(id)) this.#controller.items.delete(id);
    for (const uri of uris.values()) this.#add(uri);
  }

  #add(uri: vscode.Uri): vscode.TestItem {
    const existing = this.#controller.items.get(uri.toString());
    if (existing) return existing;
    const path = vscode.workspace.asRelativePath(uri);
    const item = this.#controller.createTestItem(uri.toString(), path.split('/').at(-1) ?? path, uri);
    if (path.includes('/')) item.description = path.slice(0, path.lastIndexOf('/'));
    item.canResolveChildren = true;
    this.#controller.items.add(item);
    if (documentOf(uri)) void this.#load(item); // Never rejects.
    return item;
  }

  /** The file, or everything in that folder: a deleted folder is one event, and none for its files. Never rejects. */
  async #deleted(uri: vscode.Uri): Promise<void> {
    this.#changedBeside(uri);
    const address = uri.toString();
    for (const [id, item] of [...this.#controller.items]) {
      if (id !== address && !id.startsWith(`${address}/`)) continue;
      // The event can be late, and the file exist again: git and many editors replace files.
      const exists = item.uri && (await fileExists(item.uri).catch(() => false));
      if (!exists) this.#controller.items.delete(id);
    }
  }

  /** The file on disk has changed: an open editor has a newer text. */
  #changed(uri: vscode.Uri): void {
    if (!isPromptFile(uri)) {
      this.#changedBeside(uri);
      return;
    }
    const item = this.#add(uri);
    if (!documentOf(uri) && item.children.size > 0) this.#loadSoon(item);
  }

  /** A data file, an included text or an image has changed: there may be other cases, and the results are outdated. */
  #changedBeside(uri: vscode.Uri): void {
    for (const [, item] of this.#controller.items) {
      if (!this.#filesOf.get(item)?.has(uri.toString())) continue;
      this.#controller.invalidateTestResults(item);
      this.#loadSoon(item);
    }
  }

  #loadSoon(item: vscode.TestItem): void {
    clearTimeout(this.#timers.get(item.id));
    this.#timers.set(
      item.id,
      setTimeout(() => {
        this.#timers.delete(item.id);
        void this.#load(item); // Never rejects.
      }, RELOAD_MS),
    );
  }

  #edited(prompt: OpenedPrompt): void {
    if (prompt.uri.scheme === 'untitled') return;
    const item = this.#add(prompt.uri);
    void this.#fill(item, prompt).then((isOther) => {
      if (isOther) this.#controller.invalidateTestResults(item);
    });
  }

  async #load(item: vscode.TestItem): Promise<void> {
    if (!item.uri) return;
    item.busy = true;
    try {
      await this.#fill(item, await readPrompt(item.uri));
    } catch (error) {
      item.error = asRolecallError(error).message;
    } finally {
      item.busy = false;
    }
  }

  /** Never rejects. @returns whether the results that are shown belong to another text. */
  async #fill(item: vscode.TestItem, prompt: OpenedPrompt): Promise<boolean> {
    const { file, text } = prompt;
    const before = this.#texts.get(item);
    this.#texts.set(item, text);
    const folder = vscode.Uri.joinPath(prompt.uri, '..');
    this.#filesOf.set(item, new Set(filesOf(file).map((path) => vscode.Uri.joinPath(folder, path).toString())));
    const firstError = file.problems.find(({ severity }) => severity === 'error');
    item.error = firstError && hasErrors(file) ? errorOf(prompt, firstError) : undefined;
    const { cases, problem } = await this.#casesOf(prompt);
    if (this.#texts.get(item) !== text) return false; // A later reading has precedence.
    if (problem !== undefined) item.error = problem;
    item.range = prompt.rangeOf({ start: 0, end: 0 });
    item.canResolveChildren = cases.length > 0;
    if (cases.length === 0) this.#cases.set(item, caseWithoutValues());
    item.children.replace(cases.map((one, index) => this.#itemOf(item, prompt, one, index)));
    return before !== undefined && before !== text;
  }

  #itemOf(parent: vscode.TestItem, prompt: OpenedPrompt, promptCase: PromptCase, index: number): vscode.TestItem {
    // The same item stays, so that its results do.
    const item =
      parent.children.get(promptCase.id) ??
      this.#controller.createTestItem(promptCase.id, plainText(promptCase.label), prompt.uri);
    item.label = plainText(promptCase.label);
    item.sortText = String(index).padStart(6, '0');
    item.range = promptCase.range && prompt.rangeOf(promptCase.range);
    if (promptCase.source) item.description = `${promptCase.source.path}:${promptCase.source.line}`;
    this.#cases.set(item, promptCase);
    return item;
  }

  async #casesOf(prompt: OpenedPrompt) {
    try {
      const { cases, problems } = await this.#deps.runner.casesOf(prompt, new AbortController().signal);
      const [first] = problems;
      const place = first && [first.path, first.line].filter((each) => each !== undefined && each !== '').join(':');
      return { cases, problem: first && (place ? `${place}: ${first.message}` : first.message) };
    } catch (error) {
      return { cases: prompt.file.cases, problem: asRolecallError(error).message };
    }
  }

  /** A run profile for each of the first models. */
  #offerModels(): void {
    const models = this.#deps.catalog.models.slice(0, MAX_PROFILES);
    for (const [id, profile] of this.#profiles) {
      if (models.some((model) => model.id === id)) continue;
      profile.dispose();
      this.#profiles.delete(id);
    }
    for (const { id, label } of models) {
      if (this.#profiles.has(id)) continue;
      const profile = this.#controller.createRunProfile(
        vscode.l10n.t('Run with {0}', label),
        vscode.TestRunProfileKind.Run,
        (request, token) => this.#run(request, [id], token),
        false,
      );
      this.#profiles.set(id, profile);
    }
  }

  async #run(
    request: vscode.TestRunRequest,
    models: readonly string[] | undefined,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const run = this.#controller.createTestRun(request);
    const signal = AbortSignal.any([signalOf(token), signalOf(run.token)]);
    try {
      if (!request.include) await this.#discover();
      const queue = new RequestQueue();
      const prepared: FileRun[] = [];
      // Questions to the user come before the first request, one after the other, until one is not answered.
      let mayAsk = true;
      const declined = () => {
        mayAsk = false;
      };
      for (const [file, wanted] of await this.#wanted(request)) {
        if (signal.aborted) break;
        const work = await this.#prepare({ run, file, tests: wanted, models, mayAsk, declined });
        if (work) prepared.push(work);
      }
      await Promise.all(prepared.map((work) => this.#runFile(work, queue, signal)));
    } finally {
      run.end();
    }
  }

  /** The tests of a request, by their files, in order. */
  async #wanted(request: vscode.TestRunRequest): Promise<ReadonlyMap<vscode.TestItem, readonly vscode.TestItem[]>> {
    const wanted = new Map<vscode.TestItem, vscode.TestItem[]>();
    const excluded = new Set(request.exclude);
    for (const item of request.include ?? [...this.#controller.items].map(([, each]) => each)) {
      const file = item.parent ?? item;
      if (excluded.has(item) || excluded.has(file)) continue;
      if (!item.parent && item.children.size === 0) await this.#load(item);
      const tests = item.parent || item.children.size === 0 ? [item] : [...item.children].map(([, each]) => each);
      const list = wanted.get(file) ?? [];
      list.push(...tests.filter((each) => !excluded.has(each) && !list.includes(each)));
      wanted.set(file, list);
    }
    return wanted;
  }

  /** Never rejects. @returns `undefined` if there is nothing to run, which is reported in the run. */
  async #prepare({ run, file, tests, models, mayAsk, declined }: WantedRun): Promise<FileRun | undefined> {
    for (const test of tests) run.enqueued(test);
    if (!file.uri) return undefined;
    const fail = (message: string) => {
      for (const test of tests) run.errored(test, new vscode.TestMessage(message));
    };
    let prompt: OpenedPrompt | undefined;
    try {
      prompt = await readPrompt(file.uri);
      await this.#fill(file, prompt);
      if (file.error !== undefined && hasErrors(prompt.file)) {
        fail(typeof file.error === 'string' ? file.error : file.error.value);
        return undefined;
      }
      requireRunnable(prompt);
      const reason = notRunnable(prompt, file);
      if (reason) {
        for (const test of tests) {
          run.skipped(test);
          run.appendOutput(`${test.label}: ${reason}\r\n`, undefined, test);
        }
        return undefined;
      }
      const { runner } = this.#deps;
      const modelIds = models ?? (await runner.modelsOf(prompt, mayAsk));
      await runner.askForJudges(prompt, mayAsk);
      return { run, file, tests, prompt, models: modelIds, fail };
    } catch (error) {
      if (!isCancelled(error)) fail(asRolecallError(error).message);
      else {
        declined();
        const names = prompt ? this.#deps.runner.unclearNames(prompt) : [];
        fail(
          names.length === 0
            ? vscode.l10n.t('Not run: no model was chosen.')
            : vscode.l10n.t('Not run: no model was chosen for {0}.', formatList(names)),
        );
      }
      return undefined;
    }
  }

  /** Never rejects. */
  async #runFile({ run, file, tests, prompt, models, fail }: FileRun, queue: RequestQueue, signal: AbortSignal) {
    try {
      const work = new TestRunReporter(run, prompt, this.#caseItems(tests), models.length);
      const order = { cases: [...work.cases], models, queue };
      const finishedRun = await this.#deps.runner.run(prompt, order, (event) => work.accept(event), signal);
      const isPartial = finishedRun.stopped || tests.length < file.children.size;
      work.compare(await this.#deps.keep(prompt, finishedRun, isPartial));
      // Cases of a data file that could not be read are missing: the others say nothing about them.
      if (file.error !== undefined) run.errored(file, new vscode.TestMessage(file.error));
    } catch (error) {
      if (!isCancelled(error)) fail(asRolecallError(error).message);
    }
  }

  #caseItems(tests: readonly vscode.TestItem[]): Map<string, TestCase> {
    return new Map(
      tests.flatMap((test) => {
        const promptCase = this.#cases.get(test);
        return promptCase ? [[promptCase.id, { test, promptCase }] as const] : [];
      }),
    );
  }

  dispose(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const profile of this.#profiles.values()) profile.dispose();
    vscode.Disposable.from(...this.#disposables).dispose();
  }
}

/** Why nothing of a file is sent: its variables have no values, or nothing would check the answers. */
function notRunnable({ file: { variables, evaluators } }: OpenedPrompt, { children }: vscode.TestItem) {
  if (children.size === 0 && variables.length > 0) {
    return vscode.l10n.t('This file has no cases that give values to: {0}.', variables.join(', '));
  }
  return evaluators.length === 0 ? notSentText() : undefined;
}

function caseWithoutValues(): PromptCase {
  const [promptCase] = nameCases([{ values: new Map() }]);
  if (!promptCase) throw new RangeError('No case was made.');
  return promptCase;
}

/** The first error of a file, with a link to its place. */
function errorOf(prompt: OpenedPrompt, problem: { start: number; end: number; message: string }): string {
  const { line } = prompt.rangeOf(problem).start;
  return vscode.l10n.t('Line {0}: {1}', line + 1, problem.message);
}
