import * as vscode from 'vscode';
import { cancelled } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import type { commands, promptCommands } from '../ids.ts';
import { showError } from './showError.ts';

export type CommandId = (typeof commands)[keyof typeof commands] | PromptCommandId;
export type PromptCommandId = (typeof promptCommands)[keyof typeof promptCommands];

/** The functions of some commands. */
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

/** Registers commands whose code is loaded when one of them is called; `load` returns their functions. */
export function registerCommands<Id extends CommandId>(
  ids: readonly Id[],
  log: Log,
  load: () => Promise<Handlers<Id>>,
): vscode.Disposable {
  return vscode.Disposable.from(
    ...ids.map((id) => registerCommand(id, log, async (...args) => (await load())[id](...args))),
  );
}

/**
 * @returns a function that gives every caller the one value of `make`, which the first call creates, mostly with code
 * of features.cjs. After a failure the next call tries again. The value is disposed of with it, if it is disposable.
 */
export function onFirstUse<T extends object>(make: () => Promise<T>): vscode.Disposable & (() => Promise<T>) {
  let instance: Promise<T> | undefined;
  let isDisposed = false;
  const get = async (): Promise<T> => {
    if (isDisposed) throw cancelled();
    instance ??= make().catch((error: unknown) => {
      instance = undefined;
      throw error;
    });
    return instance;
  };
  const dispose = () => {
    isDisposed = true;
    instance?.then(
      (part: Partial<vscode.Disposable>) => part.dispose?.(),
      () => {}, // Whoever requested it handles its failure.
    );
  };
  return Object.assign(get, { dispose });
}
