import * as vscode from 'vscode';
import { commands } from '../../ids.ts';
import { onFirstUse, registerCommand } from '../commands.ts';
import type { SandboxDeps } from './trySandbox.ts';

export interface RegisteredSandbox extends vscode.Disposable {
  /** After a reload: back into the sandbox that this window was in. Never throws. */
  resume(): Promise<void>;
}

const IN_SANDBOX = 'rolecall.inSandbox';

/**
 * Try the Sandbox and Leave the Sandbox.
 *
 * @param state of this window, kept when it is reloaded.
 */
export function registerSandbox(state: vscode.Memento, more: Omit<SandboxDeps, 'memory'>): RegisteredSandbox {
  const memory = {
    get: () => state.get<string>(IN_SANDBOX),
    set: (identityUrl: string | undefined) => void state.update(IN_SANDBOX, identityUrl), // Matters after a reload.
  };
  const deps = { ...more, memory };
  const sandbox = onFirstUse(async () => {
    const { Sandbox } = await import('./trySandbox.ts');
    return new Sandbox(deps);
  });
  const end = new AbortController();
  const disposables = vscode.Disposable.from(
    sandbox,
    registerCommand(commands.trySandbox, deps.log, async () => (await sandbox()).enter()),
    registerCommand(commands.leaveSandbox, deps.log, async () => (await sandbox()).leave()),
  );
  return {
    resume: async () => {
      if (memory.get() === undefined) return;
      try {
        await (await sandbox()).resume(end.signal);
      } catch (error) {
        deps.log.warn(`The sandbox from before the reload is not shown: ${String(error)}`);
      }
    },
    dispose: () => {
      end.abort();
      disposables.dispose();
    },
  };
}
