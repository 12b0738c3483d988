import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { withTimeout } from '../../core/base/abort.ts';
import { RolecallError } from '../../core/base/errors.ts';
import type { Fetch } from '../../core/base/http.ts';
import { homeOfUser } from '../../core/oauth/rotation/statePaths.ts';
import type { ToolResult } from '../../core/tools/agentLoop.ts';
import {
  type ConsentLine,
  commandLines,
  consentLines,
  definitionHash,
  escapeInvisible,
  forwardLines,
  httpLines,
  shownPermissions,
} from '../../core/tools/consent.ts';
import { type Containment, runPrepared } from '../../core/tools/containment.ts';
import type {
  CommandRun,
  ForwardRun,
  HttpRun,
  ProcessRun,
  ToolOf,
  WorkspaceToolDefinition,
} from '../../core/tools/definition.ts';
import { prepareHttp, refuseOtherHosts, runHttp } from '../../core/tools/http.ts';
import { headAndTail, processResultText, valueResult } from '../../core/tools/output.ts';
import { checkWorkspacePaths, isInside } from '../../core/tools/permissions.ts';
import { type ProcessSpec, prepareProcess, prepareProgram, type ToolHost } from '../../core/tools/prepare.ts';
import { fillJson } from '../../core/tools/templates.ts';
import type { Leftover } from '../../core/tools/writableFolders.ts';
import { type CallPermissions, permissionsLine } from './toolConsent.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** One prepared call: what the user is shown, what identifies it, and how to run exactly that. */
export interface PreparedCall {
  readonly permissions: CallPermissions;
  readonly lines: readonly ConsentLine[];
  /** Identifies the definition with everything that decides what runs; computed again for each call. */
  readonly hash: () => Promise<string>;
  /** What can be always allowed: the definition with any arguments, only with these, or nothing. */
  readonly always: 'definition' | 'arguments' | 'never';
  /** @throws RolecallError */
  readonly run: (signal: AbortSignal) => Promise<ToolResult>;
}

/** The data with which calls are prepared. */
export interface ToolContext {
  readonly containment: Containment;
  /** Paths of all folders of the workspace on this machine. */
  readonly folders: readonly string[];
  readonly allowedHosts: readonly string[];
  readonly fetch: Fetch;
  /** The token of the chat request that the call belongs to. */
  readonly token: vscode.ChatParticipantToolToken | undefined;
}

/**
 * @throws RolecallError when something is refused before the user is asked.
 */
export async function prepareTool(
  definition: WorkspaceToolDefinition,
  args: Arguments,
  context: ToolContext,
): Promise<PreparedCall> {
  const { run, folder, parameters } = definition;
  const check = () => checkWorkspacePaths(parameters, args, { folder, cwd: run.kind === 'process' ? run.cwd : '.' });
  await check();
  const prepared = await prepareKind(definition, args, context);
  return {
    ...prepared,
    hash: async () => {
      await check(); // A link may have replaced what the user was shown.
      return prepared.hash();
    },
  };
}

async function prepareKind(
  definition: WorkspaceToolDefinition,
  args: Arguments,
  context: ToolContext,
): Promise<PreparedCall> {
  const { run } = definition;
  switch (run.kind) {
    case 'process':
      return prepareProcessTool({ ...definition, run }, args, context);
    case 'command':
      return prepareCommandTool({ ...definition, run }, args);
    case 'tool':
      return prepareForwardedTool({ ...definition, run }, args, context.token);
    case 'http':
      return prepareRequestTool({ ...definition, run }, args, context);
  }
}

/**
 * The most that any call of a tool can do.
 *
 * @throws RolecallError when every call would be refused.
 */
export async function toolPermissions(
  { run, folder }: WorkspaceToolDefinition,
  { containment, folders, allowedHosts }: Pick<ToolContext, 'containment' | 'folders' | 'allowedHosts'>,
): Promise<CallPermissions> {
  switch (run.kind) {
    case 'process':
      return programReach(
        run,
        await prepareProgram({ folder, run }, thisMachine({ containment, folders })),
        containment,
      );
    case 'http': {
      const url = new URL(run.url); // Parameters stand behind the host only.
      refuseOtherHosts(url, allowedHosts);
      return { kind: 'request', host: url.host };
    }
    default:
      return { kind: 'editor' };
  }
}

function thisMachine({ containment, folders }: Pick<ToolContext, 'containment' | 'folders'>): ToolHost {
  return { environment: process.env, homes: [homedir(), homeOfUser()], folders, contains: containment.kind !== 'none' };
}

function programReach(
  run: ProcessRun,
  { permissions, root }: Pick<ProcessSpec, 'permissions' | 'root'>,
  containment: Containment,
): CallPermissions {
  if (permissions) return { kind: 'contained', ...shownPermissions(permissions, root) };
  return { kind: 'uncontained', ...(run.contained && containment.kind === 'none' && reasonOf(containment)) };
}

/** A program of this machine. */
async function prepareProcessTool(
  definition: ToolOf<ProcessRun>,
  args: Arguments,
  { containment, folders }: ToolContext,
): Promise<PreparedCall> {
  const { run } = definition;
  const machine = thisMachine({ containment, folders });
  const prepare = () => prepareProcess(definition, args, machine);
  const spec = await prepare();
  const permissions = programReach(run, spec, containment);
  const always = await alwaysOf(spec, folders);
  return {
    permissions,
    lines: consentLines(spec, definition),
    hash: async () => {
      const now = await prepare();
      const target = {
        executable: now.executable,
        cwd: now.cwd,
        reach: now.permissions,
        contained: now.permissions !== undefined,
      };
      return definitionHash(definition, target);
    },
    always,
    run: async (signal) => {
      const result = await runPrepared(spec, containment, { signal });
      const leftovers = leftoverLines(result.leftovers);
      const remarks = [
        ...leftovers,
        ...(spec.permissions ? [vscode.l10n.t('It ran contained. {0}', permissionsLine(permissions))] : []),
      ];
      return processResultText(result, spec.timeoutMs, { remarks, isError: leftovers.length > 0 });
    },
  };
}

/**
 * The files of a workspace decide what a program that reads them does: `make` runs its Makefile. So "always" needs a limit to
 * what that can be. One without a network can do no more than was shown. One with a network that sees nothing of the
 * workspace does what its arguments say. All others ask each time.
 */
async function alwaysOf(
  { executable, permissions }: ProcessSpec,
  folders: readonly string[],
): Promise<PreparedCall['always']> {
  if (permissions === undefined) return 'never';
  if (!permissions.network) return 'definition';
  const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)));
  const isInWorkspace = (file: string) => [...folders, ...real].some((folder) => isInside(folder, file));
  const seesWorkspace = permissions.read.length + permissions.write.length > 0;
  return seesWorkspace || isInWorkspace(executable.path) || isInWorkspace(executable.realPath) ? 'never' : 'arguments';
}

/** The most leftovers that are named; a program can leave any number. */
const MAX_LEFTOVERS = 10;

function leftoverLines(leftovers: readonly Leftover[]): string[] {
  const lines = leftovers.slice(0, MAX_LEFTOVERS).map(leftoverLine);
  const more = leftovers.length - lines.length;
  return more > 0 ? [...lines, vscode.l10n.t('{0} more were found.', more)] : lines;
}

function leftoverLine({ kind, path }: Leftover): string {
  const file = escapeInvisible(path);
  switch (kind) {
    case 'renamed':
      return vscode.l10n.t('The tool created something that is not allowed. It was renamed to {0}.', file);
    case 'deleted':
      return vscode.l10n.t('The tool left a pipe, socket or device behind. It was deleted: {0}.', file);
    case 'modeCleared':
      return vscode.l10n.t('The tool allowed other users to run {0} as you. This was undone.', file);
    case 'remains':
      return vscode.l10n.t('{0} could not be checked or cleaned up. Check it before you use it.', file);
  }
}

function reasonOf({ reason, remedy }: Extract<Containment, { kind: 'none' }>) {
  return { reason, remedy };
}

/** A command of the editor. It cannot be stopped: after Stop or the time limit its result is ignored. */
async function prepareCommandTool(definition: ToolOf<CommandRun>, args: Arguments): Promise<PreparedCall> {
  const { command, arguments: templates, timeoutSeconds, outputLimit } = definition.run;
  if (!(await vscode.commands.getCommands(false)).includes(command)) {
    throw new RolecallError('tool', vscode.l10n.t('The editor has no command "{0}".', command));
  }
  const filled = templates.map((template) => fillJson(template, args) ?? null);
  const timeoutMs = timeoutSeconds * 1000;
  return {
    permissions: { kind: 'editor' },
    lines: commandLines(command, filled, timeoutMs),
    hash: async () => definitionHash(definition),
    always: 'never', // A task or a test runner does what files of the workspace say.
    run: async (signal) => {
      const value: unknown = await withTimeLimit(vscode.commands.executeCommand(command, ...filled), timeoutMs, signal);
      return { content: valueResult(value, outputLimit), isError: false };
    },
  };
}

/**
 * A tool that is available in the editor, including those of MCP servers. Its description is part of what the user
 * consents to: another tool that takes the name later asks again. The editor may also ask for its own consent.
 */
async function prepareForwardedTool(
  definition: ToolOf<ForwardRun>,
  args: Arguments,
  toolInvocationToken: vscode.ChatParticipantToolToken | undefined,
): Promise<PreparedCall> {
  const { run } = definition;
  const tool = findTool(run.tool);
  const input = Object(run.input === undefined ? args : fillJson(run.input, args));
  const timeoutMs = run.timeoutSeconds * 1000;
  return {
    permissions: { kind: 'editor' },
    lines: forwardLines(tool, input, timeoutMs),
    hash: async () => {
      const { description, inputSchema } = findTool(run.tool);
      return definitionHash(definition, { description, inputSchema });
    },
    always: 'never', // As for a command.
    run: async (signal) => {
      const stop = new vscode.CancellationTokenSource();
      const cancel = () => stop.cancel();
      signal.addEventListener('abort', cancel, { once: true });
      try {
        const called = vscode.lm.invokeTool(run.tool, { input, toolInvocationToken }, stop.token);
        const { content } = await withTimeLimit(called, timeoutMs, signal);
        return { content: headAndTail(content.map(text).join('\n'), run.outputLimit), isError: false };
      } finally {
        signal.removeEventListener('abort', cancel);
        stop.cancel(); // Also after the time limit: the tool may respond to it.
        stop.dispose();
      }
    },
  };
}

/** Waits for work that cannot be ended from outside: after the time limit or an abort its result is ignored. */
async function withTimeLimit<T>(work: PromiseLike<T>, timeoutMs: number, signal: AbortSignal): Promise<T> {
  const result = async () => ({ value: await work });
  const outcome = await withTimeout(result(), timeoutMs, signal);
  if (outcome) return outcome.value;
  const message = `Timed out after ${timeoutMs / 1000} seconds, the time limit of the tool. It may still be running.`;
  throw new RolecallError('timeout', message);
}

function findTool(name: string): vscode.LanguageModelToolInformation {
  const tool = vscode.lm.tools.find((tool) => tool.name === name);
  if (tool) return tool;
  throw new RolecallError('tool', vscode.l10n.t('The tool "{0}" is not available in the editor.', name));
}

function text(part: unknown): string {
  if (part instanceof vscode.LanguageModelTextPart) return part.value;
  if (part instanceof vscode.LanguageModelDataPart) {
    if (/^text\/|json/.test(part.mimeType)) return new TextDecoder().decode(part.data);
    return `[${part.data.byteLength} bytes of ${part.mimeType} left out]`;
  }
  return part instanceof vscode.LanguageModelPromptTsxPart ? (JSON.stringify(part.value) ?? '') : '';
}

/** A request to a host the user allowed. */
function prepareRequestTool(
  definition: ToolOf<HttpRun>,
  args: Arguments,
  { allowedHosts, fetch }: ToolContext,
): PreparedCall {
  const spec = prepareHttp(definition.run, args, allowedHosts);
  return {
    permissions: { kind: 'request', host: new URL(spec.url).host },
    lines: httpLines(spec),
    hash: async () => definitionHash(definition),
    always: 'definition',
    run: (signal) => runHttp(spec, { fetch, signal }),
  };
}
