import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { Patches } from './patches.ts';

/** Commands that a feature registers, to be called as VS Code would: their names are the running extension's. */
export class Commands {
  /** Messages of errors that were shown. */
  readonly errors: string[] = [];
  /** Other messages that were shown. */
  readonly told: string[] = [];
  /** The buttons of each of these. */
  readonly buttons: string[][] = [];
  /** What the user answers to modal questions and messages: a pattern of the button. */
  press: RegExp | undefined;
  /** What the user chooses in lists, one after the other: a pattern of label or description. */
  readonly choices: RegExp[] = [];
  /** The labels of each list that was offered. */
  readonly offered: string[][] = [];
  readonly #run = new Map<string, (...args: unknown[]) => Promise<unknown>>();

  constructor(patches: Patches) {
    patches.set(vscode.window, 'showErrorMessage', async (message: string) => void this.errors.push(message));
    for (const name of ['showInformationMessage', 'showWarningMessage'] as const) {
      patches.set(vscode.window, name, async (message: string, ...more: unknown[]) => {
        const detail = more.find((each): each is { detail?: string } => typeof each === 'object');
        this.told.push([message, detail?.detail].filter(Boolean).join('\n'));
        this.buttons.push(more.filter((each) => typeof each === 'string'));
        return more.find((each) => typeof each === 'string' && this.press?.test(each));
      });
    }
    patches.set(
      vscode.window,
      'showQuickPick',
      async (items: vscode.QuickPickItem[], options?: { canPickMany?: boolean }) => {
        this.offered.push(items.map(({ label }) => label));
        const wanted = this.choices.shift();
        const picked = items.find(({ label, description }) => wanted?.test(`${label} ${description ?? ''}`));
        return options?.canPickMany && picked ? [picked] : picked;
      },
    );
  }

  /** Runs `register` and keeps what it registers. The running extension may register its own at any other time. */
  of(register: () => vscode.Disposable): vscode.Disposable {
    const patches = new Patches();
    patches.set(vscode.commands, 'registerCommand', (id: string, command: (...args: unknown[]) => Promise<unknown>) => {
      this.#run.set(id, command);
      return new vscode.Disposable(() => {});
    });
    try {
      return register();
    } finally {
      patches.restore();
    }
  }

  async call(id: string, ...args: unknown[]): Promise<unknown> {
    return (this.#run.get(id) ?? assert.fail(`${id} is not registered`))(...args);
  }
}
