import * as vscode from 'vscode';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import { formatList, oneLine, truncateWithEllipsis } from '../../core/base/text.ts';
import { readMessages } from '../../core/completions/parameters.ts';
import { compareAttempts } from '../../core/prompts/compareRuns.ts';
import { trimmedAnswer } from '../../core/prompts/evaluate.ts';
import { attemptJson, junitReport, markdownReport } from '../../core/prompts/reports.ts';
import type { AttemptResult, PromptRun } from '../../core/prompts/runResults.ts';
import { continuePrompt } from '../../core/prompts/writePromptFile.ts';
import { promptCommands } from '../../ids.ts';
import { signalOf } from '../cancellation.ts';
import type { Handlers } from '../commands.ts';
import type { OpenToolRegistry } from '../conversation.ts';
import { showInformationMessage, showQuickPick, withProgress } from '../dialogs.ts';
import { openDraft } from '../drafts.ts';
import type { ModelAnswer } from './modelAnswer.ts';
import type { PromptCommands } from './promptCommands.ts';
import { PROMPT_EXTENSION } from './promptPattern.ts';
import type { PromptResult, PromptResults } from './promptResults.ts';
import type { ResultDocuments } from './resultDocuments.ts';

export interface ResultCommandsDeps {
  readonly results: PromptResults;
  readonly documents: ResultDocuments;
  readonly runs: PromptCommands;
  readonly openTools: OpenToolRegistry;
  /** Of Rolecall. */
  readonly version: string;
}

/** The most UTF-16 units of it that are shown. */
const LONGEST_TOOL_RESULT = 50_000;

/** The functions of a result's links. Each gets the result's address and the model. */
export class ResultCommands {
  readonly #deps: ResultCommandsDeps;

  constructor(deps: ResultCommandsDeps) {
    this.#deps = deps;
  }

  get handlers() {
    return {
      [promptCommands.foldPromptResult]: async (uri, model, what) => this.#fold(uri, model, what),
      [promptCommands.continuePrompt]: async (uri, model) =>
        this.#continue(await this.#find(uri, model, vscode.l10n.t('Continue from Which Model’s Answer?'))),
      [promptCommands.reproducePrompt]: async (uri, model) =>
        this.#runAgain(await this.#find(uri, model, vscode.l10n.t('Run Which Model Again?'))),
      [promptCommands.runPromptToolCall]: async (uri, model, choice, call) =>
        this.#callTool(await this.#find(uri, model), choice, call),
      [promptCommands.savePromptResult]: async (uri, model) =>
        this.#save(await this.#find(uri, model, vscode.l10n.t('Save Which Model’s Result?'))),
    } satisfies Partial<Handlers>;
  }

  /**
   * @param model that of a link; the title of the editor and the Command Palette name none.
   * @param question of several models, which one is meant.
   */
  async #find(uri: unknown, model: unknown, question = vscode.l10n.t('Which Model?')): Promise<Found> {
    const shown = uri instanceof vscode.Uri ? uri : vscode.window.activeTextEditor?.document.uri;
    const result = this.#deps.results.of(shown);
    const answers = result?.models.filter((each) => typeof model !== 'string' || each.model === model) ?? [];
    const answer = answers.length > 1 ? await pickModel(answers, question) : answers[0];
    if (result && answer) return { result, answer };
    throw new RolecallError('invalidRequest', vscode.l10n.t('Run a prompt first, and open its result.'));
  }

  async #fold(uri: unknown, model: unknown, what: unknown): Promise<void> {
    const { result, answer } = await this.#find(uri, model);
    if (typeof what !== 'string') return;
    if (!answer.unfolded.delete(what)) answer.unfolded.add(what);
    result.show();
  }

  /** A new prompt file with the conversation and its answer; the cursor is in the next turn. */
  async #continue({ result, answer }: Found): Promise<void> {
    const sentMessages = readMessages(answer.result?.request?.messages);
    const [choice] = sentMessages ? await pickChoice(answer) : [];
    if (!sentMessages) throw notComplete();
    if (!choice) return;
    const { prompt } = result;
    const conversation = [...sentMessages, { role: 'assistant', content: trimmedAnswer(choice) }];
    const { text, offset } = continuePrompt(prompt.file, answer.model, answer.result?.seed, conversation);
    const editor = vscode.window.visibleTextEditors.find(
      (each) => each.document.uri.toString() === prompt.uri.toString(),
    );
    await openDraft(prompt.name.replace(/\.?prompt\.ya?ml$/, '') || 'prompt', PROMPT_EXTENSION, text, {
      ...(prompt.uri.scheme !== 'untitled' && { folder: vscode.Uri.joinPath(prompt.uri, '..') }),
      cursor: offset,
      column: editor?.viewColumn ?? vscode.ViewColumn.One,
    });
  }

  /** Reproduce: says whether the same request gets the same answer from the same service. */
  async #runAgain({ result, answer }: Found): Promise<void> {
    const before = answer.result;
    const after = await this.#deps.runs.run(result.prompt, result.case, [answer.model], before?.seed);
    const [attempt] = after?.results[0]?.attempts ?? [];
    if (before && attempt) await this.#tell(result, before, attempt);
  }

  async #tell(result: PromptResult, before: AttemptResult, after: AttemptResult): Promise<void> {
    const { isMeasured, isSameRequest, isSameAnswer, fingerprint, differences } = compareAttempts(before, after);
    if (!isMeasured) return; // The result says why.
    const request = isSameRequest ? '' : vscode.l10n.t('The prompt has changed since. ');
    if (isSameAnswer) {
      const same = {
        same: vscode.l10n.t('Same answer, same fingerprint.'),
        changed: vscode.l10n.t('Same answer, but the service sent a different fingerprint.'),
        unknown: vscode.l10n.t('Same answer. The service sends no fingerprint.'),
      }[fingerprint];
      await showInformationMessage(`${request}${same}`);
      return;
    }
    const changed = {
      same: vscode.l10n.t('The answer has changed. The service sent the same fingerprint.'),
      changed: vscode.l10n.t('The answer has changed, and the service sent a different fingerprint.'),
      unknown: vscode.l10n.t('The answer has changed. The service sends no fingerprint.'),
    }[fingerprint];
    const show = vscode.l10n.t('Show Difference');
    const seed = after.seed ?? after.request?.seed;
    const why = seed === undefined ? vscode.l10n.t(' No seed is set, so answers can differ.') : '';
    const chosen = await showInformationMessage(`${request}${changed}${why}`, show);
    const [difference] = differences;
    if (chosen !== show || !difference) return;
    const title = vscode.l10n.t('{0}: first answer ↔ second answer', result.prompt.name);
    await this.#deps.documents.showDifference(difference.before, difference.after, title);
  }

  async #callTool({ result, answer }: Found, choiceIndex: unknown, callIndex: unknown): Promise<void> {
    const choice = answer.choices.find(({ index }) => index === choiceIndex);
    const call = choice?.calls[Number(callIndex)];
    if (!call) return;
    const registry = await this.#deps.openTools();
    const tool = registry.tools.find(({ name }) => name === call.name);
    if (!tool) {
      throw new RolecallError('tool', vscode.l10n.t('This workspace has no tool named "{0}".', call.name));
    }
    const wrong = call.parsed ? tool.check(call.parsed) : [vscode.l10n.t('The arguments are not valid JSON.')];
    if (!call.parsed || wrong.length > 0) {
      throw new RolecallError('tool', vscode.l10n.t('{0} was not run: {1}', call.name, wrong.join(' ')));
    }
    const { id, name, parsed } = call;
    const ran = await withProgress(
      {
        location: vscode.ProgressLocation.Notification,
        title: vscode.l10n.t('Running {0}…', name),
        cancellable: true,
      },
      (_report, token) => registry.invoke({ id, name, arguments: parsed }, signalOf(token)),
    );
    if (ran.refused) return;
    choice.toolResults.set(Number(callIndex), truncateWithEllipsis(ran.content, LONGEST_TOOL_RESULT));
    result.show();
  }

  async #save({ result, answer }: Found): Promise<void> {
    const { run } = result;
    const { result: attempt } = answer;
    if (!attempt || !run) throw notComplete();
    const base = result.uri.path.split('/').at(-1)?.replace(/\.md$/, '') ?? 'result';
    const folder = result.prompt.uri.scheme === 'untitled' ? undefined : vscode.Uri.joinPath(result.prompt.uri, '..');
    const title = oneLine(`${result.prompt.file.name ?? result.prompt.name} · ${answer.label}`);
    const formats: readonly SaveFormat[] = [
      {
        name: vscode.l10n.t('JSON with the request, the answer and all events'),
        extension: 'json',
        text: () => `${JSON.stringify(attemptJson(attempt, { version: this.#deps.version }), undefined, 2)}\n`,
      },
      { name: vscode.l10n.t('Markdown'), extension: 'md', text: () => markdownReport(attempt, title) },
      { name: vscode.l10n.t('JUnit XML'), extension: 'xml', text: () => junitReport([onlyOf(run, answer.model)]) },
    ];
    const extensions = formats.map(({ extension }) => `.${extension}`);
    const uri = await vscode.window.showSaveDialog({
      // Not every dialog shows the filters.
      title: vscode.l10n.t('Save Result ({0})', extensions.join(', ')),
      filters: Object.fromEntries(formats.map(({ name, extension }) => [name, [extension]])),
      ...(folder && { defaultUri: vscode.Uri.joinPath(folder, `${base}.json`) }),
    });
    if (!uri) return;
    const format = formats.find(({ extension }) => uri.path.toLowerCase().endsWith(`.${extension}`));
    if (!format) {
      const endings = formatList(extensions);
      throw new RolecallError(
        'invalidRequest',
        vscode.l10n.t('Choose a file name with one of these endings: {0}.', endings),
      );
    }
    const text = format.text();
    await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
    const open = vscode.l10n.t('Open');
    const name = uri.path.split('/').at(-1) ?? '';
    const chosen = await showInformationMessage(vscode.l10n.t('Result saved to {0}.', name), open);
    if (chosen === open) await vscode.window.showTextDocument(uri);
  }
}

function notComplete(): RolecallError {
  return new RolecallError('invalidRequest', vscode.l10n.t('The answer is not complete yet.'));
}

interface Found {
  readonly result: PromptResult;
  readonly answer: ModelAnswer;
}

/** The formats of a saved answer. The extension of the file name decides. */
interface SaveFormat {
  readonly name: string;
  readonly extension: string;
  text(): string;
}

function onlyOf(run: PromptRun, model: string): PromptRun {
  const results = run.results.filter((each) => each.model === model);
  return { ...run, models: [model], planned: results.length, results };
}

async function pickModel(answers: readonly ModelAnswer[], title: string): Promise<ModelAnswer> {
  const items = answers.map((answer) => ({ label: answer.label, answer }));
  const chosen = await showQuickPick(items, { title });
  if (!chosen) throw cancelled();
  return chosen.answer;
}

/** Of several answers the one that the user picks. */
async function pickChoice({ choices }: ModelAnswer) {
  if (choices.length < 2) return choices;
  const items = choices.map((choice) => ({
    label: vscode.l10n.t('Answer {0}', choice.index + 1),
    description: truncateWithEllipsis(choice.text.replace(/\s+/g, ' '), 100),
    choice,
  }));
  const chosen = await showQuickPick(items, { title: vscode.l10n.t('Continue from Which Answer?') });
  return chosen ? [chosen.choice] : [];
}
