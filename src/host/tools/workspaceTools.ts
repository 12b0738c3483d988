import * as vscode from 'vscode';
import { asRolecallError, cancelled, RolecallError } from '../../core/base/errors.ts';
import type { Fetch } from '../../core/base/http.ts';
import type { Log } from '../../core/base/log.ts';
import type { FunctionTool } from '../../core/completions/request.ts';
import type { AgentTool, CheckedCall, ToolResult } from '../../core/tools/agentLoop.ts';
import { escapeInvisible } from '../../core/tools/consent.ts';
import type { Containment } from '../../core/tools/containment.ts';
import { contextKeys } from '../../ids.ts';
import { setContextKey } from '../contextKeys.ts';
import type { ToolRegistry, ToolRegistryOptions } from '../conversation.ts';
import { ownAccessToolNames } from '../ownAccessTools.ts';
import type { Settings } from '../settings.ts';
import type { ToolConsent } from './toolConsent.ts';
import { type CallPermissions, notContainedLine, permissionsLine } from './toolConsent.ts';
import type { ToolFiles, WorkspaceTool } from './toolFiles.ts';
import { prepareTool, toolPermissions } from './toolKinds.ts';

export interface WorkspaceToolsDeps {
  readonly files: ToolFiles;
  readonly consent: ToolConsent;
  readonly settings: Pick<Settings, 'allowedToolHosts'>;
  readonly fetch: Fetch;
  /** How this machine contains programs. */
  readonly containment: (signal: AbortSignal) => Promise<Containment>;
  readonly log: Log;
}

/** Makes the workspace's tools ready for one conversation. */
export class WorkspaceTools {
  readonly #deps: WorkspaceToolsDeps;

  constructor(deps: WorkspaceToolsDeps) {
    this.#deps = deps;
  }

  /** Empty in untrusted workspaces: nothing is read or offered there. */
  async open({ answered = new Set(), ...opening }: ToolRegistryOptions = {}): Promise<ToolRegistry> {
    const { tools, problems } = await this.#deps.files.contents();
    const isContained = ({ definition: { run } }: WorkspaceTool) => run.kind === 'process' && run.contained;
    const containment = tools.some(isContained)
      ? await this.#deps.containment(new AbortController().signal)
      : undefined;
    const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
    return {
      tools: (await Promise.all(tools.map(({ definition }) => offer(definition)))).flat(),
      problems,
      remarks: containment?.kind === 'none' ? [notContainedLine(containment)] : [],
      reach: async (name) => {
        const tool = byName.get(name);
        return tool && this.#reach(tool);
      },
      invoke: async (call, signal) => {
        const tool = byName.get(call.name);
        if (!tool) return { content: `There is no tool named ${call.name}.`, isError: true };
        return this.run(tool, call, signal, { ...opening, answered });
      },
    };
  }

  /**
   * Asks the user and runs one call whose arguments are checked.
   *
   * @throws RolecallError `cancelled` when the user declines or stops; what preparing and running throws.
   */
  async run(
    { definition, folder }: WorkspaceTool,
    call: CheckedCall,
    signal: AbortSignal,
    { token, answered = new Set(), whileAsking = (answer) => answer }: ToolRegistryOptions = {},
  ): Promise<ToolResult> {
    const { consent, log } = this.#deps;
    if (isElsewhere({ definition, folder })) return { content: elsewhereLine(), isError: true };
    const prepared = await prepareTool(definition, call.arguments, {
      containment: await this.#deps.containment(signal),
      folders: openFolders(),
      allowedHosts: this.#deps.settings.allowedToolHosts(),
      fetch: this.#deps.fetch,
      token,
    });
    const hash = await prepared.hash();
    const { permissions, lines, always } = prepared;
    const carries = canSend(permissions) ? carried(answered) : [];
    const question = { name: definition.name, folder: folder.name, permissions, lines, always, hash, carries };
    if (!(await whileAsking(consent.ask(question, signal)))) throw cancelled();
    if (signal.aborted) throw cancelled(signal.reason);
    // The dialog may have stood open for long: what runs must be what was shown.
    if ((await prepared.hash()) !== hash) {
      throw new RolecallError('tool', vscode.l10n.t('The tool changed while you were being asked, so it was not run.'));
    }
    log.info(`Running the workspace tool ${definition.name}.`);
    const result = await prepared.run(signal);
    if (permissions.kind === 'uncontained' || permissions.kind === 'editor') answered.add(definition.name);
    setContextKey(contextKeys.hasRunTool, true);
    log.info(`The workspace tool ${definition.name} ${result.isError ? 'failed' : 'succeeded'}.`);
    return result;
  }

  async #reach({ definition, folder }: WorkspaceTool): Promise<string> {
    if (isElsewhere({ definition, folder })) return elsewhereLine();
    try {
      const containment = await this.#deps.containment(new AbortController().signal);
      const allowedHosts = this.#deps.settings.allowedToolHosts();
      return permissionsLine(await toolPermissions(definition, { containment, folders: openFolders(), allowedHosts }));
    } catch (error) {
      return asRolecallError(error).message; // The same as for every call.
    }
  }
}

/** The most tools that are named; one dialog has to show them. */
const MAX_NAMED = 5;

/** The confidential data in a conversation that a tool could send, in words, by the tools that have answered in it. */
function carried(answered: ReadonlySet<string>): string[] {
  const others = [...answered].filter((name) => !ownAccessToolNames.has(name));
  const named = others.slice(0, MAX_NAMED).map(escapeInvisible).join(', ');
  const more = others.length - MAX_NAMED;
  return [
    ...(others.length < answered.size
      ? [vscode.l10n.t('who has access to what in your organizations, including email addresses')]
      : []),
    ...(others.length === 0
      ? []
      : [
          more > 0
            ? vscode.l10n.t('results of {0} and {1} more, which can read anything you can', named, more)
            : vscode.l10n.t('results of {0}, which can read anything you can', named),
        ]),
  ];
}

function isElsewhere({ definition, folder }: WorkspaceTool): boolean {
  return definition.run.kind === 'process' && folder.uri.scheme !== 'file';
}

function elsewhereLine(): string {
  return vscode.l10n.t(
    'This tool runs a program, but the workspace is on another machine than Rolecall. Programs cannot be run there yet.',
  );
}

function canSend(permissions: CallPermissions): boolean {
  return permissions.kind !== 'contained' || permissions.network;
}

/** Paths of the folders of the workspace that are on this machine. */
function openFolders(): string[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.flatMap(({ uri }) => (uri.scheme === 'file' ? [uri.fsPath] : []));
}

async function offer(definition: WorkspaceTool['definition']): Promise<AgentTool<FunctionTool>[]> {
  const { compileParameters } = await import('../../core/tools/validate.ts');
  const { name, description, parameters } = definition;
  const compiled = compileParameters(parameters);
  if (compiled.kind === 'invalid') return []; // The problem is shown at its line in the file.
  return [
    { name, definition: { type: 'function', function: { name, description, parameters } }, check: compiled.check },
  ];
}
