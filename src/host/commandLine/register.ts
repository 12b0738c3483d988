import * as vscode from 'vscode';
import { commands, mcpServers } from '../../ids.ts';
import { onFirstUse, registerCommand } from '../commands.ts';
import { describe } from '../showError.ts';
import type { WindowForProgramsDeps } from './windowForPrograms.ts';

export interface CommandLineDeps extends WindowForProgramsDeps {
  readonly extension: Pick<vscode.Extension<unknown>, 'packageJSON' | 'extensionPath'>;
}

/** The command line: how it is installed, and the window that it joins. */
export interface RegisteredCommandLine extends vscode.Disposable {
  /** How many programs the user has allowed to use a sign-in; whether this window answers them. */
  status(): Promise<{ readonly allowed: number; readonly isOpen: boolean }>;
}

/** Lets programs outside of the editor find this window while somebody is signed in; the code behind it is read then. */
export function registerCommandLine({ extension, ...deps }: CommandLineDeps): RegisteredCommandLine {
  const { clouds, state, log } = deps;
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
  const install = async () => (await import('./launcher.ts')).createLauncher(extension.extensionPath, state);
  const provider = onFirstUse(async () => {
    const { McpProvider } = await import('./mcpProvider.ts');
    return new McpProvider({ extension, state, address: async () => (await window()).address });
  });
  const registered = [
    vscode.lm.registerMcpServerDefinitionProvider(mcpServers, {
      provideMcpServerDefinitions: async () => (await provider()).provideMcpServerDefinitions(),
      resolveMcpServerDefinition: async (server: vscode.McpStdioServerDefinition) =>
        (await provider()).resolveMcpServerDefinition(server),
    }),
    registerCommand(commands.installCommandLine, log, async () => (await install()).installAndTell()),
    registerCommand(commands.uninstallCommandLine, log, async () => (await install()).uninstallAndTell()),
    registerCommand(commands.resetCommandLineAccess, log, async () => (await window()).reset()),
  ];
  return {
    status: async () => (await window()).status(),
    dispose: () => {
      for (const each of [follow, window, provider, ...registered]) each.dispose();
    },
  };
}
