import * as vscode from 'vscode';
import type { DocumentProblem } from '../../core/base/errors.ts';
import { mistypedModels } from '../../core/prompts/modelNames.ts';
import { type PromptResources, rangesOfFields } from '../../core/prompts/promptRequest.ts';
import { ReferenceChecker } from '../../core/prompts/referenceChecker.ts';
import type { PromptRun } from '../../core/prompts/runResults.ts';
import type { PromptProblem } from '../../core/prompts/yamlText.ts';
import { DIAGNOSTIC_SOURCE, TOOL_FILE } from '../../ids.ts';
import { documentOf, type OpenedPrompt, promptOf } from './promptFiles.ts';
import type { PromptModels } from './promptModels.ts';
import { isPromptFile } from './promptPattern.ts';

/** The pause after typing before problems are shown; longer for a long file, which is read less often. */
const PAUSE_MS = 250;
const CHARACTERS_A_MS = 500;
/** A file that is saved several times at once is read once. */
const CHANGED_MS = 200;

type KnownModels = Pick<PromptModels, 'isComplete' | 'names' | 'onDidChange'>;

/** An open prompt file, with the things that it names. */
interface Watched {
  readonly references: ReferenceChecker;
  looking: AbortController;
  timer: NodeJS.Timeout | undefined;
}

/** The service's refusal when this text was run. */
interface Refusal {
  readonly text: string;
  readonly diagnostics: readonly vscode.Diagnostic[];
}

/**
 * Shows the problems of open prompt files at their places: of their text, of the files, tools and models that they
 * name, and of the fields that the service refused last.
 */
export class PromptProblems implements vscode.Disposable {
  readonly #resourcesOf: (uri: vscode.Uri) => PromptResources;
  readonly #models: KnownModels;
  readonly #diagnostics = vscode.languages.createDiagnosticCollection('rolecall-prompts');
  /** By the address of the file: also of one that is not open, which shows it when it is opened. */
  readonly #refusals = new Map<string, Refusal>();
  readonly #open = new Map<string, Watched>();
  readonly #checked = new vscode.EventEmitter<OpenedPrompt>();
  /** A file in an editor has been read: when it was opened, and a moment after each change. */
  readonly onDidCheck = this.#checked.event;
  readonly #disposables: vscode.Disposable[];

  constructor(resourcesOf: (uri: vscode.Uri) => PromptResources, models: KnownModels) {
    this.#resourcesOf = resourcesOf;
    this.#models = models;
    const watcher = vscode.workspace.createFileSystemWatcher('**/*');
    const changed = (uri: vscode.Uri) => this.#changedBeside(uri);
    this.#disposables = [
      this.#diagnostics,
      this.#checked,
      watcher,
      watcher.onDidCreate(changed),
      watcher.onDidChange(changed),
      watcher.onDidDelete(changed),
      // Outside the workspace, there is no other event.
      vscode.workspace.onDidSaveTextDocument(({ uri }) => changed(uri)),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#checkAll()),
      models.onDidChange(() => this.#showAll()),
      vscode.workspace.onDidOpenTextDocument((document) => this.#check(document)),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) this.#checkSoon(document);
      }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#forget(uri)),
    ];
    this.#checkAll();
  }

  /** The problems that are shown of an open file. */
  problemsOf(uri: vscode.Uri): readonly PromptProblem[] {
    const document = documentOf(uri);
    if (!document) return [];
    const { text, file } = promptOf(document);
    const references = this.#open.get(uri.toString())?.references.problems(text, file) ?? [];
    const models = this.#models.isComplete ? mistypedModels(text, file, this.#models.names) : [];
    return [...file.problems, ...references, ...models];
  }

  /** Shows a refusal of the service at the fields that it names, until the file is edited or run again. */
  showRefusals(prompt: OpenedPrompt, { results }: PromptRun): void {
    const { uri, text, file } = prompt;
    const errors = results.flatMap(({ attempts }) => attempts).flatMap(({ error }) => error ?? []);
    const shown = new Map<string, vscode.Diagnostic>();
    for (const { message, param } of errors) {
      for (const place of rangesOfFields(file, param)) {
        const diagnostic = new vscode.Diagnostic(prompt.rangeOf(place), message, vscode.DiagnosticSeverity.Error);
        diagnostic.source = vscode.l10n.t('inference service');
        shown.set(`${place.start} ${message}`, diagnostic);
      }
    }
    if (shown.size === 0) return;
    this.#refusals.set(uri.toString(), { text, diagnostics: [...shown.values()] });
    this.#recheck(uri);
  }

  /** To be called before a run: the last refusal of the service is then outdated. */
  forgetRefusals(uri: vscode.Uri): void {
    if (this.#refusals.delete(uri.toString())) this.#recheck(uri);
  }

  #checkAll(): void {
    for (const document of vscode.workspace.textDocuments) this.#check(document);
  }

  #showAll(): void {
    for (const document of vscode.workspace.textDocuments) {
      if (this.#open.has(document.uri.toString())) this.#show(promptOf(document));
    }
  }

  #recheck(uri: vscode.Uri): void {
    const document = documentOf(uri);
    if (document) this.#check(document);
  }

  #checkSoon(document: vscode.TextDocument): void {
    if (!isPromptFile(document.uri)) return;
    this.#schedule(document.uri, PAUSE_MS + document.getText().length / CHARACTERS_A_MS);
  }

  #schedule(uri: vscode.Uri, ms: number): void {
    const watched = this.#open.get(uri.toString());
    if (!watched) return;
    clearTimeout(watched.timer);
    watched.timer = setTimeout(() => this.#recheck(uri), ms);
  }

  /** A file, or a folder with everything in it, which is one event. */
  #changedBeside(changed: vscode.Uri): void {
    const address = changed.toString();
    for (const document of vscode.workspace.textDocuments) {
      const watched = this.#open.get(document.uri.toString());
      if (!watched) continue;
      const folder = vscode.Uri.joinPath(document.uri, '..');
      const files = watched.references.files(promptOf(document).file);
      const named = files.map((file) => vscode.Uri.joinPath(folder, file).toString());
      const isNamed = named.some((each) => each === address || each.startsWith(`${address}/`));
      if (!isNamed && !changed.path.endsWith(`/${TOOL_FILE}`)) continue;
      watched.references.invalidate();
      this.#schedule(document.uri, CHANGED_MS);
    }
  }

  #check(document: vscode.TextDocument): void {
    const { uri } = document;
    if (!isPromptFile(uri) || document.isClosed) return;
    const key = uri.toString();
    const watched = this.#open.get(key) ?? {
      references: new ReferenceChecker(this.#resourcesOf(uri)),
      looking: new AbortController(),
      timer: undefined,
    };
    this.#open.set(key, watched);
    clearTimeout(watched.timer);
    const prompt = promptOf(document);
    this.#show(prompt);
    this.#checked.fire(prompt);
    void this.#look(prompt, watched);
  }

  /** Never rejects. */
  async #look(prompt: OpenedPrompt, watched: Watched): Promise<void> {
    watched.looking.abort();
    watched.looking = new AbortController();
    const { signal } = watched.looking;
    // Files are read only where the workspace is trusted; the banner of Restricted Mode says so.
    if (!vscode.workspace.isTrusted) return;
    try {
      await watched.references.look(prompt.file, signal);
    } catch {
      return; // A later look has taken its place, or what cannot be read now is said by the run.
    }
    if (!signal.aborted) this.#show(prompt);
  }

  #show(prompt: OpenedPrompt): void {
    const problems = this.problemsOf(prompt.uri).map((problem) => diagnosticOf(prompt, problem));
    const refused = this.#refusals.get(prompt.uri.toString());
    const refusals = refused?.text === prompt.text ? refused.diagnostics : [];
    this.#diagnostics.set(prompt.uri, [...problems, ...refusals]);
  }

  #forget(uri: vscode.Uri): void {
    const key = uri.toString();
    this.#stop(this.#open.get(key));
    this.#open.delete(key);
    this.#diagnostics.delete(uri);
  }

  #stop(watched: Watched | undefined): void {
    clearTimeout(watched?.timer);
    watched?.looking.abort();
  }

  dispose(): void {
    for (const watched of this.#open.values()) this.#stop(watched);
    vscode.Disposable.from(...this.#disposables).dispose();
  }
}

const severities: Readonly<Record<DocumentProblem['severity'], vscode.DiagnosticSeverity>> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  information: vscode.DiagnosticSeverity.Information,
};

function diagnosticOf(prompt: OpenedPrompt, problem: DocumentProblem): vscode.Diagnostic {
  const shown = new vscode.Diagnostic(prompt.rangeOf(problem), problem.message, severities[problem.severity]);
  shown.source = DIAGNOSTIC_SOURCE;
  shown.code = problem.code;
  return shown;
}
