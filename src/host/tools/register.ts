import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import type { FunctionTool } from '../../core/completions/request.ts';
import type { ToolResult } from '../../core/tools/agentLoop.ts';
import type { Containment } from '../../core/tools/containment.ts';
import { commands, TOOL_FILE } from '../../ids.ts';
import { onFirstUse, registerCommand } from '../commands.ts';
import type { ToolRegistry, ToolRegistryOptions } from '../conversation.ts';
import { callTool, registerEditorTool } from './editorTool.ts';
import { hasToolFile, isToolFile } from './toolFiles.ts';
import type { WorkspaceToolsDeps } from './workspaceTools.ts';

export interface ToolsDeps extends Omit<WorkspaceToolsDeps, 'files' | 'consent' | 'containment'> {
  /** Names that no tool of a file may have. */
  readonly reserved: ReadonlySet<string>;
  /** Names of the tools that have answered to other agents. The editor does not tell their conversations apart. */
  readonly answered: Set<string>;
  /** The storage of consent: that of the workspace. */
  readonly workspaceState: vscode.Memento;
  readonly log: Log;
}

/** The workspace's tools, and the commands for them. */
export interface RegisteredTools extends vscode.Disposable {
  /** The tools for one conversation of `@rolecall` or an editor command. */
  open(opening: ToolRegistryOptions): Promise<ToolRegistry>;
  /** The workspace's tools for a program outside the editor, as models see them. */
  list(): Promise<readonly FunctionTool['function'][]>;
  /** One call of such a program, with the user's consent. */
  call(name: string, args: unknown, signal: AbortSignal): Promise<ToolResult>;
  /** How this machine contains programs, found by one attempt. */
  containment(signal: AbortSignal): Promise<Containment>;
}

/** Reads the tool files and shows what is wrong with them; offers their tools to other agents and in their editors. */
export function registerTools({ workspaceState, reserved, answered, ...deps }: ToolsDeps): RegisteredTools {
  const { log } = deps;
  // Most windows have no tool file, and never read the code for one. Those that have had one watch it from then on.
  const files = onFirstUse(async () => {
    const { ToolFiles } = await import('./toolFiles.ts');
    return new ToolFiles(log, reserved);
  });
  const look = async () => {
    if (await hasToolFile()) await (await files()).check(); // Its problems are in Problems.
  };
  const lookAgain = () => void look().catch((error) => log.error(`The tool files were not checked: ${String(error)}`));
  const watcher = vscode.workspace.createFileSystemWatcher(`**/${TOOL_FILE}`, false, true, true);
  const consent = onFirstUse(async () => {
    const { ToolConsent } = await import('./toolConsent.ts');
    return new ToolConsent(workspaceState);
  });
  let cached: Containment | undefined;
  // A failure is tried again by the next call: it may work by then.
  const containment = async (signal: AbortSignal) => {
    if (cached === undefined || cached.kind === 'none') {
      const { findContainment } = await import('../../core/tools/containment.ts');
      cached = await findContainment({}, signal);
    }
    return cached;
  };
  const tools = onFirstUse(async () => {
    const { WorkspaceTools } = await import('./workspaceTools.ts');
    return new WorkspaceTools({ ...deps, files: await files(), containment, consent: await consent() });
  });
  const open = async (opening: ToolRegistryOptions) => (await tools()).open(opening);
  // Created when it is first needed: most windows never run a tool by command.
  let channel: vscode.OutputChannel | undefined;
  const output = () => {
    channel ??= vscode.window.createOutputChannel(vscode.l10n.t('Rolecall Tools'));
    return channel;
  };
  const disposables = vscode.Disposable.from(
    files,
    watcher,
    watcher.onDidCreate(lookAgain),
    vscode.workspace.onDidGrantWorkspaceTrust(lookAgain),
    vscode.workspace.onDidChangeWorkspaceFolders(lookAgain),
    new vscode.Disposable(() => channel?.dispose()),
    registerEditorTool((token) => open({ token, answered }), log),
    vscode.languages.registerCodeLensProvider({ pattern: `**/${TOOL_FILE}` }, new ToolLenses()),
    registerCommand(commands.runWorkspaceTool, log, async (uri, name) => {
      const { runToolManually } = await import('./runToolManually.ts');
      await runToolManually({ files: await files(), tools: await tools(), output }, uri, name);
    }),
    registerCommand(commands.newWorkspaceTool, log, async () => {
      const { newWorkspaceTool } = await import('./newWorkspaceTool.ts');
      await newWorkspaceTool(await files());
    }),
    registerCommand(commands.forgetToolConsent, log, async () => (await consent()).forget()),
  );
  lookAgain();
  const openToOthers = () => open({ answered });
  return {
    open,
    list: async () => (await openToOthers()).tools.map(({ definition }) => definition.function),
    call: async (name, args, signal) => callTool(await openToOthers(), name, args, signal, log),
    containment,
    dispose: () => disposables.dispose(),
  };
}

/** A link above each tool of a tool file that runs it. */
export class ToolLenses implements vscode.CodeLensProvider {
  /** A visible tool file gets its links when trust is given. */
  readonly onDidChangeCodeLenses = vscode.workspace.onDidGrantWorkspaceTrust;

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const folder = vscode.workspace.getWorkspaceFolder(document.uri);
    if (!vscode.workspace.isTrusted || !folder || !isToolFile(document.uri, folder)) return [];
    const { readToolFile } = await import('../../core/tools/toolFile.ts');
    return readToolFile(document.getText(), { folder: folder.uri.fsPath }).tools.map(({ name, place }) => {
      const at = new vscode.Position(place.line, place.column);
      return new vscode.CodeLens(new vscode.Range(at, at), {
        title: vscode.l10n.t('$(play) Run Tool'),
        tooltip: vscode.l10n.t('Asks for arguments and for your consent, then runs the tool'),
        command: commands.runWorkspaceTool,
        arguments: [document.uri, name],
      });
    });
  }
}
