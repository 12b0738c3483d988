import * as vscode from 'vscode';
import type { Log } from '../core/base/log.ts';
import type { commands } from '../ids.ts';
import { showError } from './showError.ts';

type CommandId = (typeof commands)[keyof typeof commands];

/** Registers a command whose failure is shown to the user instead of thrown at VS Code. */
export function registerCommand(id: CommandId, log: Log, run: (...args: unknown[]) => unknown): vscode.Disposable {
  return vscode.commands.registerCommand(id, async (...args: unknown[]) => {
    try {
      return await run(...args);
    } catch (error) {
      void showError(error, log); // The command is over; the message stays until the user answers it.
      return undefined;
    }
  });
}
