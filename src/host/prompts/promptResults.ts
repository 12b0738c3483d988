import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import type { PromptCase } from '../../core/prompts/promptCases.ts';
import type { RunEvent } from '../../core/prompts/runCases.ts';
import type { PromptRun } from '../../core/prompts/runResults.ts';
import { waitText } from '../../core/prompts/runText.ts';
import { promptCommands, promptContextKeys } from '../../ids.ts';
import { ownerOf } from '../cancellation.ts';
import type { Clouds } from '../clouds.ts';
import { pathsOf, setContextKey } from '../contextKeys.ts';
import { clockTime } from '../formats.ts';
import { ModelAnswer } from './modelAnswer.ts';
import type { OpenedPrompt } from './promptFiles.ts';
import { RESULT_SCHEME, type ResultDocuments } from './resultDocuments.ts';
import { type AnswerPlace, type LinkPlace, type ResultText, resultText } from './resultText.ts';

/** Each update compares the whole text again, so not every token causes one. */
const REFRESH_MS = 80;

/** The result of a run, beside its prompt. */
export class PromptResult {
  readonly uri: vscode.Uri;
  readonly prompt: OpenedPrompt;
  readonly case: PromptCase;
  readonly models: readonly ModelAnswer[];
  /** Aborts when the user closes the result or the account changes. */
  readonly closed = new AbortController();
  run: PromptRun | undefined;
  readonly #documents: ResultDocuments;
  readonly #drawn: () => void;
  readonly #startedAt = Date.now();
  #shown: ResultText = { text: '', answers: [], links: [] };
  #timer: NodeJS.Timeout | undefined;

  constructor(
    parts: Pick<PromptResult, 'uri' | 'prompt' | 'case' | 'models'>,
    documents: ResultDocuments,
    drawn: () => void,
  ) {
    this.uri = parts.uri;
    this.prompt = parts.prompt;
    this.case = parts.case;
    this.models = parts.models;
    this.#documents = documents;
    this.#drawn = drawn;
    this.show();
  }

  get text(): string {
    return this.#shown.text;
  }

  get answers(): readonly AnswerPlace[] {
    return this.#shown.answers;
  }

  get links(): readonly LinkPlace[] {
    return this.#shown.links;
  }

  accept(event: RunEvent): void {
    if (event.kind === 'waiting') {
      const text = waitText(event.ms);
      for (const model of this.models) if (!model.isOver) model.notices.push(text);
      this.show();
    }
    if (!('model' in event)) return;
    this.models.find(({ model }) => model === event.model)?.accept(event);
    if (event.kind === 'attempted') this.show();
    else this.#timer ??= setTimeout(() => this.show(), REFRESH_MS);
  }

  /** All of it, now. */
  end(run?: PromptRun): void {
    this.run = run;
    for (const model of this.models) if (!model.isOver) model.end();
    this.show();
  }

  show(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.closed.signal.aborted) return;
    const { name, file } = this.prompt;
    const named = this.case.values.size > 0 ? [vscode.l10n.t('Case: {0}', this.case.label)] : [];
    const { repeats, seeds } = file.extensions;
    const requests = repeats * Math.max(1, seeds.length);
    const share = requests > 1 ? [vscode.l10n.t('1 of {0} requests (the Test view sends all)', requests)] : [];
    const about = [name, ...named, ...share, clockTime(this.#startedAt, Date.now())].join(' · ');
    this.#shown = resultText({ title: file.name ?? name, about }, this.models);
    this.#documents.put(this.uri, this.#shown.text);
    this.#drawn();
  }
}

/** Results beside their prompts: one for each prompt file. They belong to the account that asked, and close with it. */
export class PromptResults implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #clouds: Pick<Clouds, 'active' | 'onDidChange'>;
  readonly #documents: ResultDocuments;
  readonly #results = new Map<string, PromptResult>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  readonly #disposables: vscode.Disposable;
  #owner: string;

  constructor(clouds: Pick<Clouds, 'active' | 'onDidChange'>, documents: ResultDocuments) {
    this.#clouds = clouds;
    this.#documents = documents;
    this.#owner = ownerOf(clouds);
    this.#disposables = vscode.Disposable.from(
      this.#changed,
      documents.onDidClose((uri) => this.#forget(uri)),
      clouds.onDidChange(() => this.#follow()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#keepEndInSight(document)),
      vscode.languages.registerCodeLensProvider({ scheme: RESULT_SCHEME }, this),
    );
  }

  /** Opens a result beside its prompt, which keeps the focus. The run of the previous result is stopped. */
  async open(
    prompt: OpenedPrompt,
    promptCase: PromptCase,
    models: readonly { readonly id: string; readonly label: string }[],
  ): Promise<PromptResult> {
    const base = prompt.name.replace(/\.?prompt\.ya?ml$/, '') || 'prompt';
    const key = createHash('sha256').update(prompt.uri.toString()).digest('hex').slice(0, 12);
    const uri = vscode.Uri.from({ scheme: RESULT_SCHEME, path: `/${key}/${base}.result.md` });
    this.#results.get(uri.toString())?.closed.abort();
    const answers = models.map(({ id, label }) => new ModelAnswer(id, label));
    const result = new PromptResult({ uri, prompt, case: promptCase, models: answers }, this.#documents, () =>
      this.#drawn(),
    );
    this.#results.set(uri.toString(), result);
    this.#drawn();
    const document = await vscode.workspace.openTextDocument(uri);
    const visible = vscode.window.visibleTextEditors.find((editor) => editor.document === document);
    const viewColumn = visible?.viewColumn ?? vscode.ViewColumn.Beside;
    await vscode.window.showTextDocument(document, { viewColumn, preserveFocus: true, preview: false });
    return result;
  }

  #drawn(): void {
    this.#changed.fire();
    const colored = [...this.#results.values()].filter(({ answers }) =>
      answers.some(({ choice }) => choice.places.length > 0),
    );
    const paths = pathsOf(colored.map(({ uri }) => uri));
    if (String(paths) === String(this.#colored)) return; // As for nearly all updates of an answer that arrives.
    this.#colored = paths;
    setContextKey(promptContextKeys.coloredResults, paths);
  }
  #colored: ReturnType<typeof pathsOf> = false;

  /** The result that a document shows. */
  of(uri: vscode.Uri | undefined): PromptResult | undefined {
    return uri && this.#results.get(uri.toString());
  }

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    const result = this.of(uri);
    return (result?.links ?? []).flatMap((link) => lensesOf(uri, link));
  }

  /** A reader at the end of the text follows it. */
  #keepEndInSight(document: vscode.TextDocument): void {
    if (document.uri.scheme !== RESULT_SCHEME) return;
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document !== document) continue;
      const last = this.#lastLines.get(document) ?? document.lineCount;
      const isAtEnd = editor.visibleRanges.some(({ end }) => end.line >= last - 2);
      const end = new vscode.Position(document.lineCount - 1, 0);
      if (isAtEnd && document.lineCount > last) editor.revealRange(new vscode.Range(end, end));
    }
    this.#lastLines.set(document, document.lineCount);
  }
  readonly #lastLines = new WeakMap<vscode.TextDocument, number>();

  #follow(): void {
    const owner = ownerOf(this.#clouds);
    if (owner === this.#owner) return;
    this.#owner = owner;
    void this.clear(); // The texts are dropped at once; VS Code closes the tabs later.
  }

  #forget(uri: vscode.Uri): void {
    this.of(uri)?.closed.abort();
    this.#results.delete(uri.toString());
    this.#drawn();
  }

  async clear(): Promise<void> {
    for (const { closed } of this.#results.values()) closed.abort();
    this.#results.clear();
    this.#drawn();
    await this.#documents.closeAll();
  }

  dispose(): void {
    void this.clear();
    this.#disposables.dispose();
  }
}

function lensesOf(uri: vscode.Uri, { line, model, choice, action }: LinkPlace): vscode.CodeLens[] {
  const lens = (title: string, command: string, ...more: readonly unknown[]) =>
    new vscode.CodeLens(new vscode.Range(line, 0, line, 0), { title, command, arguments: [uri, ...more] });
  switch (action.kind) {
    case 'fold': {
      const title = action.isShown
        ? vscode.l10n.t('$(chevron-down) Hide {0}', action.title)
        : vscode.l10n.t('$(chevron-right) Show {0}', action.title);
      return [lens(title, promptCommands.foldPromptResult, model.model, action.what)];
    }
    case 'callTool': {
      const title = vscode.l10n.t('$(play) Run Tool');
      return [lens(title, promptCommands.runPromptToolCall, model.model, choice?.index, action.call)];
    }
    case 'answer':
      return [
        lens(vscode.l10n.t('Continue from This Answer'), promptCommands.continuePrompt, model.model),
        lens(vscode.l10n.t('Run Again'), promptCommands.reproducePrompt, model.model),
        lens(vscode.l10n.t('Save…'), promptCommands.savePromptResult, model.model),
      ];
  }
}
