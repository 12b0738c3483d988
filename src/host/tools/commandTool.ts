import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import { commandLines } from '../../core/tools/consentText.ts';
import type { CommandRun, ToolOf } from '../../core/tools/definition.ts';
import { plainDefinitionHash } from '../../core/tools/definitionHash.ts';
import { fillJson } from '../../core/tools/jsonTemplate.ts';
import { limited } from '../../core/tools/limited.ts';
import { unwatchedCommand } from '../../core/tools/runners.ts';
import { valueResult } from '../../core/tools/valueResult.ts';
import type { PreparedTool } from './preparedTool.ts';

/** A command of the editor. It cannot be stopped: after Stop or the time limit nobody waits for it any more. */
export async function prepareCommandTool(
  definition: ToolOf<CommandRun>,
  args: Readonly<Record<string, unknown>>,
): Promise<PreparedTool> {
  const { command, arguments: templates, timeoutSeconds, outputLimit } = definition.run;
  if (!(await vscode.commands.getCommands(false)).includes(command)) {
    throw new RolecallError('tool', `The editor has no command "${command}".`);
  }
  const filled = templates.map((template) => fillJson(template, args) ?? null);
  const timeoutMs = timeoutSeconds * 1000;
  return {
    lines: commandLines(command, filled, timeoutMs),
    hash: async () => plainDefinitionHash(definition),
    unwatched: unwatchedCommand(command),
    run: async (signal) => {
      const value: unknown = await limited(vscode.commands.executeCommand(command, ...filled), { timeoutMs, signal });
      return { content: valueResult(value, outputLimit), isError: false };
    },
  };
}
