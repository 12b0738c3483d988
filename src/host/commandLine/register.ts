import * as vscode from 'vscode';
import { commands, mcpServers } from '../../ids.ts';
import { onFirstUse, registerCommand } from '../commands.ts';
import { describeError } from '../showError.ts';
import type { WindowForProgramsDeps } from './windowForPrograms.ts';

export interface CommandLineDeps extends WindowForProgramsDeps {
  readonly extension: Pick<vscode.Extension<unknown>, 'packageJSON'>;
  readonly extensionUri: vscode.Uri;
}

/** The command line: how it is installed, and the window that it joins. */
export interface RegisteredCommandLine extends vscode.Disposable {
  /** The number of programs that the user has allowed to use a sign-in, and whether this window answers them. */
  status(): Promise<{ readonly allowed: number; readonly isOpen: boolean }>;
}

/** Lets programs outside the editor find this window while somebody is signed in; the code for that is loaded then. */
export function registerCommandLine({ extension, extensionUri, ...deps }: CommandLineDeps): RegisteredCommandLine {
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
      .catch((error: unknown) => log.warn(`The command line cannot use this window: ${describeError(error)}`));
  });
  const install = async () => (await import('./launcher.ts')).createLauncher(extensionUri.fsPath, state);
  const registered = [
    vscode.lm.registerMcpServerDefinitionProvider(mcpServers, {
      // The editor asks for it in every window.
      provideMcpServerDefinitions: () => [mcpServer({ extension, extensionUri })],
      resolveMcpServerDefinition: async (server: vscode.McpStdioServerDefinition) => {
        const { address } = await window();
        server.env = {
          ...server.env,
          ...(address !== undefined && { ROLECALL_WINDOW: address }),
          ...(state !== undefined && { ROLECALL_STATE: state }),
        };
        return server;
      },
    }),
    registerCommand(commands.installCommandLine, log, async () => (await install()).installAndTell()),
    registerCommand(commands.uninstallCommandLine, log, async () => (await install()).uninstallAndTell()),
    registerCommand(commands.resetCommandLineAccess, log, async () => (await window()).reset()),
  ];
  return {
    status: async () => (await window()).status(),
    dispose: () => {
      for (const disposable of [follow, window, ...registered]) disposable.dispose();
    },
  };
}

/** Variables by which a terminal chooses another sign-in. */
const OF_TERMINALS = ['ROLECALL_TOKEN', 'ROLECALL_IDENTITY_URL', 'ROLECALL_INFERENCE_URL', 'ROLECALL_ORGANIZATION'];

/** `rolecall mcp`, for agents that see only the tools of MCP servers. The editor starts it when one wants them. */
function mcpServer({
  extension,
  extensionUri,
}: Pick<CommandLineDeps, 'extension' | 'extensionUri'>): vscode.McpStdioServerDefinition {
  const program = vscode.Uri.joinPath(extensionUri, 'dist', 'cli.cjs').fsPath;
  const env = { ELECTRON_RUN_AS_NODE: '1', ...Object.fromEntries(OF_TERMINALS.map((name) => [name, null])) };
  const { version } = extension.packageJSON as { version: string };
  // Those of the workspace are among the editor's tools already. To list them the user would be asked before anything was called.
  const args = [program, 'mcp', '--no-workspace-tools'];
  const server = new vscode.McpStdioServerDefinition('Rolecall', process.execPath, args, env, version);
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file');
  if (folder) server.cwd = folder.uri;
  return server;
}
