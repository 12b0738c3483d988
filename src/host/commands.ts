import * as vscode from 'vscode';
import { Lazy } from '../core/base/lazy.ts';
import type { Log } from '../core/base/log.ts';
import type { commands } from '../ids.ts';
import { showError } from './showError.ts';

export type CommandId = (typeof commands)[keyof typeof commands];

/** What each of some commands does. */
export type Handlers<Id extends CommandId = CommandId> = Readonly<Record<Id, (...args: unknown[]) => unknown>>;

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

/**
 * Registers commands whose code is read when one of them is called for the first time; `load` says what they do. What it
 * makes lives as long as the window.
 */
export function registerCommands<Id extends CommandId>(
  ids: readonly Id[],
  log: Log,
  load: () => Promise<Handlers<Id>>,
): vscode.Disposable {
  const handlers = new Lazy(load);
  return vscode.Disposable.from(
    ...ids.map((id) => registerCommand(id, log, async (...args) => (await handlers.get())[id](...args))),
  );
}
