import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import { heading, type Line, type PageDocument, paragraph, table } from '../../core/access/pageDocument.ts';
import { RolecallError } from '../../core/base/errors.ts';
import {
  type Change,
  type ComparedCase,
  comparableRuns,
  compareModels,
  compareRuns,
  regressions,
  runForBaseline,
} from '../../core/prompts/compareRuns.ts';
import type { PromptRun } from '../../core/prompts/runResults.ts';
import { RunStore, type StoredResult, type StoredRun, summarizeRun } from '../../core/prompts/runStore.ts';
import { countsText, regressionText, storedResultText } from '../../core/prompts/runText.ts';
import { documentPanel, promptCommands } from '../../ids.ts';
import { ownerOf } from '../cancellation.ts';
import type { Clouds } from '../clouds.ts';
import type { Handlers } from '../commands.ts';
import { showInformationMessage, showQuickPick } from '../dialogs.ts';
import type { OpenPages } from '../pages.ts';
import { promptUri } from './promptCommands.ts';
import type { OpenedPrompt } from './promptFiles.ts';
import type { PromptModels } from './promptModels.ts';
import type { ResultDocuments } from './resultDocuments.ts';

export interface PromptRunsDeps {
  readonly clouds: Pick<Clouds, 'active' | 'onDidChange'>;
  readonly models: PromptModels;
  readonly pages: OpenPages;
  readonly documents: ResultDocuments;
  /** The folder for the runs of this workspace. */
  readonly storage: vscode.Uri;
}

/** Two runs, or two models of a run. */
interface Comparison {
  readonly title: string;
  readonly before: string;
  readonly after: string;
  readonly cases: readonly ComparedCase[];
}

/** Stored runs, and how two of them differ. They belong to the account that ran them. */
export class PromptRuns implements vscode.Disposable {
  readonly #deps: PromptRunsDeps;
  readonly #store: RunStore;
  /** Pages with answers close with the account. */
  readonly #open = new Set<{ close(): void }>();
  readonly #subscription: vscode.Disposable;
  #owner: string;

  constructor(deps: PromptRunsDeps) {
    this.#deps = deps;
    this.#store = new RunStore(storageIn(vscode.Uri.joinPath(deps.storage, 'promptRuns')));
    this.#owner = ownerOf(deps.clouds);
    this.#subscription = deps.clouds.onDidChange(() => {
      if (ownerOf(deps.clouds) === this.#owner) return;
      this.#owner = ownerOf(deps.clouds);
      this.#closePages();
    });
  }

  get handlers() {
    return {
      [promptCommands.comparePromptRuns]: (uri) => this.#compare(promptUri(uri)),
      [promptCommands.setPromptBaseline]: (uri) => this.#setBaseline(promptUri(uri)),
      [promptCommands.clearPromptRuns]: () => this.#clear(),
    } satisfies Partial<Handlers>;
  }

  /** Stores a run. @returns the cases that the baseline did better, by their IDs, each with a sentence. */
  async keep({ uri }: OpenedPrompt, run: PromptRun, isPartial: boolean): Promise<ReadonlyMap<string, string>> {
    if (run.results.length === 0) return new Map();
    const key = this.#keyOf(uri);
    const stored = summarizeRun(run, isPartial);
    // Both at once: who compares from now on gets this run, too.
    const [baseline] = await Promise.all([this.#store.baseline(key), this.#store.add(key, stored)]);
    if (!baseline) return new Map();
    const when = timeOf(baseline);
    return new Map(regressions(baseline, stored).map((worse) => [worse.id, regressionText(worse, when)]));
  }

  #keyOf(uri: vscode.Uri): string {
    const owned = JSON.stringify([ownerOf(this.#deps.clouds), uri.toString()]);
    return createHash('sha256').update(owned).digest('hex').slice(0, 24);
  }

  async #compare(uri: vscode.Uri): Promise<void> {
    const key = this.#keyOf(uri);
    const runs = await this.#store.runs(key);
    const baseline = await this.#store.baseline(key);
    const [latest] = runs;
    const choices = latest ? [...this.#modelsOf(latest), ...this.#runsOf(latest, runs, baseline)] : [];
    if (choices.length === 0) {
      throw new RolecallError(
        'invalidRequest',
        vscode.l10n.t('There is nothing to compare yet. Run the tests of this file twice, or with several models.'),
      );
    }
    const chosen = await showQuickPick(choices, {
      title: vscode.l10n.t('Compare the Latest Run'),
      placeHolder: vscode.l10n.t('Compare with what?'),
      matchOnDescription: true,
    });
    if (chosen) await this.#show(uri, chosen.make());
  }

  /** Each pair of neighbouring models. */
  #modelsOf(run: StoredRun) {
    return run.models.slice(1).map((after, index) => {
      const before = run.models[index] ?? '';
      const [labelBefore, labelAfter] = [this.#labelOf(before), this.#labelOf(after)];
      return {
        label: vscode.l10n.t('{0} with {1}', labelBefore, labelAfter),
        description: vscode.l10n.t('models of the latest run'),
        make: (): Comparison => ({
          title: vscode.l10n.t('Models'),
          before: labelBefore,
          after: labelAfter,
          cases: compareModels(run, before, after),
        }),
      };
    });
  }

  #runsOf(latest: StoredRun, runs: readonly StoredRun[], baseline: StoredRun | undefined) {
    const listed = comparableRuns(runs, baseline).map(({ run, isBaseline }) => ({
      run,
      name: isBaseline ? vscode.l10n.t('Baseline of {0}', timeOf(run)) : vscode.l10n.t('Run of {0}', timeOf(run)),
    }));
    return listed.map(({ run, name }) => ({
      label: name,
      description: [run.models.map((id) => this.#labelOf(id)).join(', '), countsText(run.results)].join(' · '),
      make: (): Comparison => ({
        title: vscode.l10n.t('Runs'),
        before: this.#nameOf(name, run),
        after: this.#nameOf(vscode.l10n.t('Run of {0}', timeOf(latest)), latest),
        cases: compareRuns(run, latest),
      }),
    }));
  }

  #nameOf(name: string, { models }: StoredRun): string {
    return `${name} (${models.map((id) => this.#labelOf(id)).join(', ')})`;
  }

  #labelOf(id: string): string {
    return this.#deps.models.labelOf(id);
  }

  async #show(uri: vscode.Uri, comparison: Comparison): Promise<void> {
    const owner = this.#owner;
    const pages = await this.#deps.pages();
    if (owner !== this.#owner) return;
    const name = uri.path.split('/').at(-1) ?? '';
    const page = pages.open<ComparedCase>({
      key: JSON.stringify(['promptComparison', uri.toString()]),
      kind: documentPanel,
      title: vscode.l10n.t('Comparison: {0}', name),
      icon: 'diff',
      column: 'active',
      refresh: () => this.#compare(uri), // With a run that has been made since.
      linkTitle: () => vscode.l10n.t('Show the difference of the answers'),
      follow: ({ label, before, after }) =>
        this.#deps.documents.showDifference(answersText(before), answersText(after), `${name}: ${label}`),
    });
    this.#open.add(page);
    page.closed.addEventListener('abort', () => this.#open.delete(page), { once: true });
    page.show({ document: documentOf(name, comparison, (model) => this.#labelOf(model)) });
  }

  async #setBaseline(uri: vscode.Uri): Promise<void> {
    const key = this.#keyOf(uri);
    const latest = runForBaseline(await this.#store.runs(key));
    if (!latest) {
      throw new RolecallError('invalidRequest', vscode.l10n.t('Run the tests of this file first.'));
    }
    await this.#store.setBaseline(key, latest);
    const remove = vscode.l10n.t('Remove Baseline');
    const chosen = await showInformationMessage(
      vscode.l10n.t(
        'The run of {0} ({1}) is now the baseline. From now on, a case that does worse than in that run fails.',
        timeOf(latest),
        countsText(latest.results),
      ),
      remove,
    );
    if (chosen === remove) await this.#store.setBaseline(key, undefined);
  }

  async #clear(): Promise<void> {
    const clear = vscode.l10n.t('Delete');
    const chosen = await showInformationMessage(
      vscode.l10n.t('Delete all kept runs of prompt files in this workspace, with their baselines?'),
      { modal: true },
      clear,
    );
    if (chosen === clear) await this.#store.clear();
  }

  #closePages(): void {
    for (const page of [...this.#open]) page.close();
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#closePages();
  }
}

/** In the order of their importance. */
const changes: readonly Change[] = ['worse', 'better', 'different', 'unmeasured', 'added', 'removed', 'unchanged'];

function changeText(change: Change, { before, after }: Pick<Comparison, 'before' | 'after'>): string {
  return {
    worse: vscode.l10n.t('Worse'),
    better: vscode.l10n.t('Better'),
    different: vscode.l10n.t('Different'),
    unmeasured: vscode.l10n.t('Not measured'),
    added: vscode.l10n.t('Only in "{0}"', after),
    removed: vscode.l10n.t('Only in "{0}"', before),
    unchanged: vscode.l10n.t('Same'),
  }[change];
}

function documentOf(
  name: string,
  { before, after, cases }: Comparison,
  labelOf: (model: string) => string,
): PageDocument<ComparedCase> {
  const counts = changes.flatMap((change) => {
    const count = cases.filter((each) => each.change === change).length;
    return count === 0 ? [] : [`${changeText(change, { before, after })}: ${count}`];
  });
  const sorted = changes.flatMap((change) => cases.filter((each) => each.change === change));
  const hasModels = new Set(cases.map(({ model }) => model)).size > 1;
  const rows = sorted.map((each): Line<ComparedCase>[] => [
    [{ text: each.label, link: each }, ...(hasModels && each.model !== undefined ? [` · ${labelOf(each.model)}`] : [])],
    [{ strong: changeText(each.change, { before, after }) }],
    cellOf(each.before),
    cellOf(each.after),
  ]);
  const columns = [vscode.l10n.t('Case'), vscode.l10n.t('Change'), before, after];
  return {
    title: name,
    about: [vscode.l10n.t('{0} ↔ {1}', before, after)],
    blocks: [
      paragraph<ComparedCase>(counts.join(' · ')),
      heading(vscode.l10n.t('Cases')),
      table<ComparedCase>(columns, rows, vscode.l10n.t('No cases.')),
    ],
  };
}

const LONGEST_CELL = 300;

function cellOf(result: StoredResult | undefined): Line<ComparedCase> {
  if (!result) return ['–'];
  const [first] = result.answers;
  const text = (first?.text || first?.calls?.join(', ') || first?.reasons[0] || '').replace(/\s+/g, ' ');
  const shown = text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL)}…` : text;
  return [{ strong: storedResultText(result) }, ` ${shown}`];
}

function answersText(result: StoredResult | undefined): string {
  return (result?.answers ?? [])
    .map(({ text, calls = [], reasons }) => [text, ...calls, ...reasons.map((reason) => `(${reason})`)].join('\n'))
    .join('\n\n');
}

/** With seconds: two runs can follow one another within a minute. */
function timeOf({ startedAt }: StoredRun): string {
  const date = new Date(startedAt);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday
    ? date.toLocaleTimeString(vscode.env.language)
    : date.toLocaleString(vscode.env.language, { dateStyle: 'medium', timeStyle: 'medium' });
}

function storageIn(folder: vscode.Uri) {
  const { fs } = vscode.workspace;
  const at = (name: string) => vscode.Uri.joinPath(folder, name);
  return {
    list: async () => {
      try {
        return (await fs.readDirectory(folder)).map(([name]) => name);
      } catch {
        return []; // Nothing was kept yet.
      }
    },
    read: async (name: string) => new TextDecoder().decode(await fs.readFile(at(name))),
    write: async (name: string, text: string) => {
      await fs.createDirectory(folder);
      await fs.writeFile(at(name), new TextEncoder().encode(text));
    },
    delete: async (name: string) => fs.delete(at(name)),
  };
}
