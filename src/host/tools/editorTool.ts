import * as vscode from 'vscode';
import { isCancelled } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { argumentsMisfit, rejectedCallResult, type ToolResult } from '../../core/tools/agentLoop.ts';
import { languageModelTool } from '../../ids.ts';
import { signalOf } from '../cancellation.ts';
import type { ToolRegistry } from '../conversation.ts';
import { showInformationMessage } from '../dialogs.ts';
import { manageTrust, restrictedLine } from '../restrictedMode.ts';
import { describeError } from '../showError.ts';

interface Input {
  readonly tool?: unknown;
  readonly arguments?: unknown;
}

type OpenTools = (token: vscode.ChatParticipantToolToken | undefined) => Promise<ToolRegistry>;

/**
 * The workspace's tools for every other agent of the editor, by one tool that lists them and calls one. The editor's
 * "Allow in this Session" approves every later call of this one name, so each call asks for its own definition as well.
 */
export function registerEditorTool(openTools: OpenTools, log: Log): vscode.Disposable {
  let isRestrictionTold = false;
  return vscode.lm.registerTool<Input>(languageModelTool, {
    prepareInvocation: ({ input }) => ({
      invocationMessage:
        typeof input.tool === 'string' && input.tool !== ''
          ? vscode.l10n.t('Calling the workspace tool {0}…', JSON.stringify(input.tool))
          : vscode.l10n.t('Listing the tools of this workspace…'),
    }),
    invoke: async ({ input, toolInvocationToken }, token) => {
      if (!isRestrictionTold) isRestrictionTold = tellRestriction();
      const content = await answer(await openTools(toolInvocationToken), input, signalOf(token), log);
      if (token.isCancellationRequested) throw new vscode.CancellationError();
      return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(content)]);
    },
  });
}

/**
 * Shows the user why an agent gets no tools here, which the agent may not repeat. @returns whether there was a reason.
 */
function tellRestriction(): boolean {
  const restricted = restrictedLine();
  if (restricted === undefined) return false;
  void showInformationMessage(restricted, manageTrust.title).then((chosen) =>
    chosen === undefined ? undefined : vscode.commands.executeCommand(manageTrust.command),
  ); // The agent does not wait for the user here.
  return true;
}

async function answer(registry: ToolRegistry, input: Input, signal: AbortSignal, log: Log): Promise<string> {
  if (input.tool === undefined || input.tool === '') return listed(registry.tools);
  return (await callTool(registry, input.tool, input.arguments, signal, log)).content;
}

/**
 * One call of another agent, with the user's consent. Errors go to the model as well: it may ask differently. Unlike the agent
 * loop's own, such an agent may not know the tools yet, and sees no mark of a failure.
 */
export async function callTool(
  { tools, invoke }: ToolRegistry,
  name: unknown,
  args: unknown,
  signal: AbortSignal,
  log: Log,
): Promise<ToolResult> {
  const failed = (content: string) => ({ content, isError: true });
  const tool = tools.find((each) => each.name === name);
  if (!tool) return failed(`There is no tool ${JSON.stringify(name)}. ${listed(tools)}`);
  const input = args ?? {};
  const misfit = argumentsMisfit(tool, input);
  if (misfit !== undefined) return failed(misfit);
  try {
    const call = { id: crypto.randomUUID(), name: tool.name, arguments: Object(input) };
    const { content, isError } = await invoke(call, signal);
    return isError ? failed(`The tool failed.\n${content}`) : { content, isError };
  } catch (error) {
    if (!isCancelled(error)) log.error(describeError(error));
    return rejectedCallResult(error);
  }
}

function listed(tools: ToolRegistry['tools']): string {
  if (tools.length === 0) {
    return vscode.workspace.isTrusted
      ? 'This workspace defines no tools (.vscode/rolecall.tools.json).'
      : 'This workspace is not trusted by the user, so its tools are not read.';
  }
  const list = tools.map(({ definition }) => definition.function);
  return `The tools of this workspace, with the JSON schemas of their arguments:\n${JSON.stringify(list, undefined, 2)}`;
}
