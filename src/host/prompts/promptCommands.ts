import * as vscode from 'vscode';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import { endpointUrl } from '../../core/completions/endpoint.ts';
import { serializeRequest } from '../../core/completions/request.ts';
import { caseFileProblemText } from '../../core/prompts/caseFiles.ts';
import { nameCases, type PromptCase } from '../../core/prompts/promptCases.ts';
import { RequestQueue } from '../../core/prompts/promptClient.ts';
import type { PromptFile } from '../../core/prompts/promptFile.ts';
import { buildRequest } from '../../core/prompts/promptRequest.ts';
import type { PromptRun } from '../../core/prompts/runResults.ts';
import { promptCommands, promptContextKeys } from '../../ids.ts';
import type { Clouds } from '../clouds.ts';
import type { Handlers } from '../commands.ts';
import { pathsOf, setContextKey } from '../contextKeys.ts';
import type { OpenToolRegistry } from '../conversation.ts';
import { showErrorMessage, showInformationMessage, showInputBox, showQuickPick } from '../dialogs.ts';
import type { Settings } from '../settings.ts';
import { type OpenedPrompt, promptOf, readPrompt, resourcesOf } from './promptFiles.ts';
import type { PromptModels } from './promptModels.ts';
import { isPromptFile } from './promptPattern.ts';
import type { PromptResults } from './promptResults.ts';
import { firstError, type PromptRunner, requireRunnable } from './promptRunner.ts';

export interface PromptCommandsDeps {
  readonly clouds: Clouds;
  readonly settings: Settings;
  readonly openTools: OpenToolRegistry;
  readonly models: PromptModels;
  readonly runner: PromptRunner;
  readonly results: PromptResults;
  /** Stores a run of several models, to compare them. It is one of some cases, not of the whole file. */
  keep(prompt: OpenedPrompt, run: PromptRun, isPartial: true): Promise<unknown>;
}

/** Run, Stop, Run with Models… and Copy as curl. */
export class PromptCommands {
  readonly #deps: PromptCommandsDeps;
  readonly #running = new Map<string, AbortController>();
  /** The values last typed for variables, by the address of the file. */
  readonly #typed = new Map<string, ReadonlyMap<string, string>>();
  readonly #changed: () => void;

  /** @param changed called when a run begins or ends. */
  constructor(deps: PromptCommandsDeps, changed: () => void) {
    this.#deps = deps;
    this.#changed = changed;
  }

  get handlers() {
    return {
      [promptCommands.runPrompt]: (uri, id) => this.#run(uri, id, (prompt) => this.#deps.runner.modelsOf(prompt)),
      [promptCommands.runPromptWithModels]: (uri, id) => this.#run(uri, id, (prompt) => this.#pickModels(prompt)),
      [promptCommands.stopPrompt]: async (uri) => this.#running.get(promptUri(uri).toString())?.abort(),
      [promptCommands.copyPromptAsCurl]: (uri, id) => this.#copyAsCurl(uri, id),
    } satisfies Partial<Handlers>;
  }

  isRunning(uri: vscode.Uri): boolean {
    return this.#running.has(uri.toString());
  }

  dispose(): void {
    for (const running of this.#running.values()) running.abort();
  }

  async #pickModels(prompt: OpenedPrompt): Promise<string[]> {
    const { models } = this.#deps;
    const own = [prompt.file.model, ...prompt.file.extensions.models].flatMap((each) => models.find(each?.value) ?? []);
    return models.pickSeveral(own);
  }

  async #run(
    uri: unknown,
    id: unknown,
    modelsFor: (prompt: OpenedPrompt) => Promise<readonly string[]>,
  ): Promise<void> {
    const prompt = await readRunnable(promptUri(uri));
    const models = await modelsFor(prompt);
    await this.#deps.runner.askForJudges(prompt);
    const promptCase = await this.#chooseCase(prompt, id);
    await this.run(prompt, promptCase, models);
  }

  /** Runs one case with each of these models, and shows the result beside. @param seed instead of the file's. */
  async run(
    prompt: OpenedPrompt,
    promptCase: PromptCase,
    models: readonly string[],
    seed?: number,
  ): Promise<PromptRun | undefined> {
    const { runner, results, models: names } = this.#deps;
    const key = prompt.uri.toString();
    this.#running.get(key)?.abort();
    const running = new AbortController();
    this.#begin(key, running);
    try {
      const shown = models.map((model) => ({ id: model, label: names.labelOf(model) }));
      const result = await results.open(prompt, promptCase, shown);
      const signal = AbortSignal.any([running.signal, result.closed.signal]);
      const queue = new RequestQueue(models.length); // All models at once.
      const order = { cases: [promptCase], models, isSingle: true, seed, queue, withEvents: true };
      const run = await runner
        .run(prompt, order, (event) => result.accept(event), signal)
        .finally(() => {
          if (!result.run) result.end();
        });
      result.end(run);
      if (models.length > 1) await this.#deps.keep(prompt, run, true);
      return run;
    } finally {
      if (this.#running.get(key) === running) this.#end(key);
    }
  }

  #begin(key: string, running: AbortController): void {
    this.#running.set(key, running);
    this.#tell();
  }

  #end(key: string): void {
    this.#running.delete(key);
    this.#tell();
  }

  #tell(): void {
    setContextKey(
      promptContextKeys.runningPrompts,
      pathsOf([...this.#running.keys()].map((key) => vscode.Uri.parse(key))),
    );
    this.#changed();
  }

  /** The case with this ID, the one at the cursor, or the one that the user picks; a typed one where there are none. */
  async #chooseCase(prompt: OpenedPrompt, id: unknown): Promise<PromptCase> {
    const { cases, problems } = await this.#deps.runner.casesOf(prompt, new AbortController().signal);
    const named = cases.find((each) => each.id === id) ?? caseAtCursor(prompt, cases);
    if (named) return named;
    const [first, ...others] = cases;
    if (!first) {
      const [problem] = problems;
      if (problem) throw new RolecallError('invalidRequest', caseFileProblemText(problem));
      return this.#typeCase(prompt);
    }
    if (others.length === 0) return first;
    const items = cases.map((one) => ({ label: one.label, description: textOfValues(one), one }));
    const chosen = await showQuickPick(items, {
      title: vscode.l10n.t('Select a Case'),
      matchOnDescription: true,
    });
    if (!chosen) throw cancelled();
    return chosen.one;
  }

  /** Asks for the values of the variables in the messages. Variables that only checks need may have no value. */
  async #typeCase({ uri, file }: OpenedPrompt): Promise<PromptCase> {
    const before = this.#typed.get(uri.toString());
    const values = new Map<string, string>();
    const names = variablesOf(file);
    for (const [index, name] of names.entries()) {
      const title =
        names.length === 1
          ? vscode.l10n.t('Value of {0}', name)
          : vscode.l10n.t('Value of {0} ({1} of {2})', name, index + 1, names.length);
      const value = await showInputBox({
        title,
        prompt: vscode.l10n.t('Replaces {0} in the messages.', `{{${name}}}`),
        value: before?.get(name) ?? '',
        ignoreFocusOut: true,
      });
      if (value === undefined) throw cancelled();
      values.set(name, value);
    }
    this.#typed.set(uri.toString(), values);
    const [promptCase] = nameCases([{ values }]);
    if (!promptCase) throw cancelled();
    return promptCase;
  }

  async #copyAsCurl(uri: unknown, id: unknown): Promise<void> {
    const { clouds, settings, runner, openTools } = this.#deps;
    const prompt = await readRunnable(promptUri(uri));
    const { connection } = clouds.require();
    const [model = ''] = await runner.modelsOf(prompt);
    const { values } = await this.#chooseCase(prompt, id);
    const { seeds } = prompt.file.extensions;
    const resources = resourcesOf(prompt.uri, openTools);
    const input = { file: prompt.file, values, model, seed: seeds[0], resources };
    const request = await buildRequest(input, new AbortController().signal);
    const headers = connection.id === 'service' ? Object.keys(settings.inferenceHeaders().headers) : [];
    const command = curlCommand(endpointUrl(connection, '/v1/chat/completions'), serializeRequest(request), headers);
    await vscode.env.clipboard.writeText(command);
    await showInformationMessage(
      vscode.l10n.t('Copied. The command takes the access token from the variable ROLECALL_TOKEN.'),
    );
  }
}

/** @throws RolecallError when it is no prompt file, and none is open. */
export function promptUri(argument: unknown): vscode.Uri {
  const uri = argument instanceof vscode.Uri ? argument : vscode.window.activeTextEditor?.document.uri;
  if (uri && isPromptFile(uri)) return uri;
  throw new RolecallError('invalidRequest', vscode.l10n.t('Open a prompt file (*.prompt.yml) first.'));
}

/**
 * @throws RolecallError that says why the file cannot be run; `cancelled` for one with errors, which shows the first of them with a
 * way to all.
 */
async function readRunnable(uri: vscode.Uri): Promise<OpenedPrompt> {
  const prompt = await readPrompt(uri);
  const first = vscode.workspace.isTrusted ? firstError(prompt) : undefined;
  if (!first) {
    requireRunnable(prompt);
    return prompt;
  }
  const show = vscode.l10n.t('Show Problems');
  if ((await showErrorMessage(first.sentence, show)) === show) {
    await vscode.window.showTextDocument(uri, { selection: first.range });
    await vscode.commands.executeCommand('workbench.actions.view.problems');
  }
  throw cancelled();
}

/** The variables of the messages, in order. */
function variablesOf({ messages }: PromptFile): string[] {
  const placeholders = messages
    .flatMap(({ content }) => content)
    .flatMap((part) => (part.type === 'text' ? part.text : part.url).placeholders);
  return [...new Set(placeholders.filter(({ kind }) => kind === 'variable').map(({ name }) => name))];
}

function caseAtCursor(prompt: OpenedPrompt, cases: readonly PromptCase[]): PromptCase | undefined {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.uri.toString() !== prompt.uri.toString()) return undefined;
  // The file may have changed since it was read.
  if (promptOf(editor.document) !== prompt) return undefined;
  return cases.find(({ range }) => range && prompt.rangeOf(range).contains(editor.selection.active));
}

/**
 * A request as a command for a POSIX shell. Secrets are variables: the token ROLECALL_TOKEN, and each further header's value one
 * of its name.
 */
function curlCommand(url: string, body: string, headers: readonly string[]): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const variable = (header: string) => header.toUpperCase().replaceAll(/[^A-Z\d]/g, '_');
  const lines = [
    `curl ${quoted(url)}`,
    '-H "Authorization: Bearer $ROLECALL_TOKEN"',
    ...headers.map((header) => `-H ${quoted(`${header}: `)}"$${variable(header)}"`),
    `-H ${quoted('Content-Type: application/json')}`,
    `--data-raw ${quoted(body)}`,
  ];
  return lines.join(' \\\n  ');
}

function textOfValues({ values }: PromptCase): string {
  return [...values]
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')
    .replace(/\s+/g, ' ')
    .slice(0, 200);
}
