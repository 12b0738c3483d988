import * as vscode from 'vscode';
import type { DocumentProblem } from '../../core/base/errors.ts';
import { rangesOfFields } from '../../core/prompts/promptRequest.ts';
import type { AttemptError } from '../../core/prompts/runResults.ts';
import { documentOf, type OpenedPrompt, promptOf } from './promptFiles.ts';
import { isPromptFile } from './promptPattern.ts';

/** Somebody who types is left alone for so long, and a long file is read less often. */
const PAUSE_MS = 250;
const CHARACTERS_A_MS = 500;

/** What is wrong with the prompt files that are open, at its places, and what the service said of them last. */
export class PromptProblems implements vscode.Disposable {
  readonly #diagnostics = vscode.languages.createDiagnosticCollection('rolecall-prompts');
  /** What the service refused, by the address of the file: until it is edited or run again. */
  readonly #refusals = new Map<string, readonly vscode.Diagnostic[]>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #checked = new vscode.EventEmitter<OpenedPrompt>();
  /** A file in an editor has been read: when it was opened, and a moment after each change. */
  readonly onDidCheck = this.#checked.event;
  readonly #disposables: vscode.Disposable[];

  constructor() {
    this.#disposables = [
      this.#diagnostics,
      this.#checked,
      vscode.workspace.onDidOpenTextDocument((document) => this.#check(document)),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) this.#checkSoon(document);
      }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#forget(uri)),
    ];
    for (const document of vscode.workspace.textDocuments) this.#check(document);
  }

  /** Shows what the service said about fields of a file that is open; nothing where it names none. */
  showRefusal(prompt: OpenedPrompt, { message, param }: AttemptError): void {
    const { uri, file } = prompt;
    const ranges = rangesOfFields(file, param).map((range) => prompt.rangeOf(range));
    if (ranges.length === 0 || !documentOf(uri)) return;
    const refusals = ranges.map((range) => {
      const shown = new vscode.Diagnostic(range, message, vscode.DiagnosticSeverity.Error);
      shown.source = vscode.l10n.t('inference service');
      return shown;
    });
    this.#refusals.set(uri.toString(), refusals);
    this.#recheck(uri);
  }

  /** Before a run: what the service said last is no longer true. */
  forgetRefusal(uri: vscode.Uri): void {
    if (this.#refusals.delete(uri.toString())) this.#recheck(uri);
  }

  #recheck(uri: vscode.Uri): void {
    const document = documentOf(uri);
    if (document) this.#check(document);
  }

  #checkSoon(document: vscode.TextDocument): void {
    if (!isPromptFile(document.uri)) return;
    const key = document.uri.toString();
    this.#refusals.delete(key);
    clearTimeout(this.#timers.get(key));
    const pause = PAUSE_MS + document.getText().length / CHARACTERS_A_MS;
    this.#timers.set(
      key,
      setTimeout(() => this.#check(document), pause),
    );
  }

  #check(document: vscode.TextDocument): void {
    if (!isPromptFile(document.uri) || document.isClosed) return;
    const key = document.uri.toString();
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
    const prompt = promptOf(document);
    const found = prompt.file.problems.map((problem) => diagnosticOf(prompt, problem));
    this.#diagnostics.set(document.uri, [...found, ...(this.#refusals.get(key) ?? [])]);
    this.#checked.fire(prompt);
  }

  #forget(uri: vscode.Uri): void {
    const key = uri.toString();
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
    this.#refusals.delete(key);
    this.#diagnostics.delete(uri);
  }

  dispose(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    vscode.Disposable.from(...this.#disposables).dispose();
  }
}

const severities: Readonly<Record<DocumentProblem['severity'], vscode.DiagnosticSeverity>> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  information: vscode.DiagnosticSeverity.Information,
};

export const PROBLEM_SOURCE = 'Rolecall';

function diagnosticOf(prompt: OpenedPrompt, problem: DocumentProblem): vscode.Diagnostic {
  const shown = new vscode.Diagnostic(prompt.rangeOf(problem), problem.message, severities[problem.severity]);
  shown.source = PROBLEM_SOURCE;
  shown.code = problem.code;
  return shown;
}
