import * as vscode from 'vscode';
import { commands } from '../../ids.ts';
import { chatUnavailable } from '../chatView.ts';
import { onFirstUse, registerCommand } from '../commands.ts';
import type { ModelCatalog } from '../modelCatalog.ts';
import type { SandboxDeps } from './trySandbox.ts';

export interface RegisterSandboxDeps extends Pick<SandboxDeps, 'clouds' | 'openChat' | 'log'> {
  /** The folder of a sandbox's shared state. */
  readonly sandboxFolder: string;
  readonly addSandboxSecret: SandboxDeps['rememberSecret'];
  readonly session: Pick<SandboxDeps, 'signIn'>;
  readonly catalog: Pick<ModelCatalog, 'describeSandbox'>;
  /** The state of this window, kept when it is reloaded. */
  readonly workspaceState: vscode.Memento;
  readonly extensionUri: vscode.Uri;
}

export interface RegisteredSandbox extends vscode.Disposable {
  /** After a reload: back into the sandbox that this window was in. Never throws. */
  resume(): Promise<void>;
}

const IN_SANDBOX = 'rolecall.inSandbox';

/** Try the Sandbox and Leave the Sandbox. */
export function registerSandbox(deps: RegisterSandboxDeps): RegisteredSandbox {
  const { clouds, session, catalog, workspaceState, extensionUri, log } = deps;
  const memory = {
    get: () => workspaceState.get<string>(IN_SANDBOX),
    // Matters after a reload.
    set: (identityUrl: string | undefined) => void workspaceState.update(IN_SANDBOX, identityUrl),
  };
  const sandbox = onFirstUse(async () => {
    const { Sandbox } = await import('./trySandbox.ts');
    return new Sandbox({
      clouds,
      program: { file: vscode.Uri.joinPath(extensionUri, 'dist', 'sandbox.js').fsPath, folder: deps.sandboxFolder },
      running: process.env.ROLECALL_SANDBOX,
      memory,
      rememberSecret: deps.addSandboxSecret,
      describeModels: (models) => catalog.describeSandbox(models),
      signIn: (cloud) => session.signIn(cloud),
      openChat: async (prompt) => ((await chatUnavailable()) ? undefined : deps.openChat(prompt)),
      log,
    });
  });
  const end = new AbortController();
  const disposables = vscode.Disposable.from(
    sandbox,
    registerCommand(commands.trySandbox, log, async () => (await sandbox()).enter()),
    registerCommand(commands.leaveSandbox, log, async () => (await sandbox()).leave()),
  );
  return {
    resume: async () => {
      if (memory.get() === undefined) return;
      try {
        await (await sandbox()).resume(end.signal);
      } catch (error) {
        log.warn(`The sandbox from before the reload is not shown: ${String(error)}`);
      }
    },
    dispose: () => {
      end.abort();
      disposables.dispose();
    },
  };
}
