import type * as vscode from 'vscode';
import { commands } from '../../ids.ts';
import { onFirstUse, registerCommand } from '../commands.ts';
import { describe } from '../showError.ts';
import type { WindowForProgramsDeps } from './windowForPrograms.ts';

export interface CommandLineDeps extends WindowForProgramsDeps {
  readonly extensionPath: string;
}

/** The command line: how it is installed, and the window that it joins. */
export interface RegisteredCommandLine extends vscode.Disposable {
  /** How many programs the user has allowed to use a sign-in; whether this window answers them. */
  status(): Promise<{ readonly allowed: number; readonly isOpen: boolean }>;
}

/** Lets programs outside of the editor find this window while somebody is signed in; the code behind it is read then. */
export function registerCommandLine({ extensionPath, ...deps }: CommandLineDeps): RegisteredCommandLine {
  const { clouds, log } = deps;
  const window = onFirstUse(async () => {
    const { WindowForPrograms } = await import('./windowForPrograms.ts');
    return new WindowForPrograms(deps);
  });
  let isWanted = false;
  const follow = clouds.onDidChange(() => {
    const isSignedIn = clouds.active?.tokenManager.session !== undefined;
    if (isSignedIn === isWanted) return;
    isWanted = isSignedIn;
    void window()
      .then((it) => it.follow(isWanted))
      .catch((error: unknown) => log.warn(`The command line cannot use this window: ${describe(error)}`));
  });
  const install = async () => (await import('./launcher.ts')).createLauncher(extensionPath, deps.state);
  const registered = [
    registerCommand(commands.installCommandLine, log, async () => (await install()).installAndTell()),
    registerCommand(commands.uninstallCommandLine, log, async () => (await install()).uninstallAndTell()),
    registerCommand(commands.resetCommandLineAccess, log, async () => (await window()).reset()),
  ];
  return {
    status: async () => (await window()).status(),
    dispose: () => {
      for (const each of [follow, window, ...registered]) each.dispose();
    },
  };
}
