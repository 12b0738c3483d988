import * as vscode from 'vscode';
import { promptCommands } from '../../ids.ts';
import { promptOf } from './promptFiles.ts';
import { isPromptFile } from './promptPattern.ts';

/** Links above a prompt that run it, and above each case. */
export class PromptLenses implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  readonly #isRunning: (uri: vscode.Uri) => boolean;

  constructor(isRunning: (uri: vscode.Uri) => boolean) {
    this.#isRunning = isRunning;
  }

  /** Something has begun to run, or has ended. */
  refresh(): void {
    this.#changed.fire();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const { uri } = document;
    if (!isPromptFile(uri)) return [];
    const prompt = promptOf(document);
    const { messages, cases } = prompt.file;
    const [first] = messages;
    if (!first) return [];
    const top = new vscode.Range(0, 0, 0, 0);
    const lens = (range: vscode.Range, title: string, command: string, ...more: readonly unknown[]) =>
      new vscode.CodeLens(range, { title, command, arguments: [uri, ...more] });
    const run = this.#isRunning(uri)
      ? lens(top, vscode.l10n.t('$(debug-stop) Stop'), promptCommands.stopPrompt)
      : lens(top, vscode.l10n.t('$(play) Run'), promptCommands.runPrompt);
    return [
      run,
      lens(top, vscode.l10n.t('Run with Models…'), promptCommands.runPromptWithModels),
      lens(top, vscode.l10n.t('Compare…'), promptCommands.comparePromptRuns),
      lens(top, vscode.l10n.t('Copy as curl'), promptCommands.copyPromptAsCurl),
      ...cases.flatMap(({ id, range }) => {
        if (!range) return [];
        const { start } = prompt.rangeOf(range);
        return [lens(new vscode.Range(start, start), vscode.l10n.t('$(play) Run'), promptCommands.runPrompt, id)];
      }),
    ];
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
