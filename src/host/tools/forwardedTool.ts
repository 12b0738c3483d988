import * as vscode from 'vscode';
import { RolecallError } from '../../core/base/errors.ts';
import { forwardLines } from '../../core/tools/consentText.ts';
import type { ForwardRun, ToolOf } from '../../core/tools/definition.ts';
import { plainDefinitionHash } from '../../core/tools/definitionHash.ts';
import { fillJson } from '../../core/tools/jsonTemplate.ts';
import { limited } from '../../core/tools/limited.ts';
import { shortened } from '../../core/tools/valueResult.ts';
import type { PreparedTool } from './preparedTool.ts';

/**
 * A tool the editor knows already, those of MCP servers included. What it says of itself is part of what the user
 * consents to: another tool that takes the name later asks again. The editor may ask for itself besides.
 */
export async function prepareForwardedTool(
  definition: ToolOf<ForwardRun>,
  args: Readonly<Record<string, unknown>>,
  toolInvocationToken: vscode.ChatParticipantToolToken | undefined,
): Promise<PreparedTool> {
  const { run } = definition;
  const found = find(run.tool);
  const input = Object(run.input === undefined ? args : fillJson(run.input, args));
  const timeoutMs = run.timeoutSeconds * 1000;
  return {
    lines: forwardLines(found, input, timeoutMs),
    hash: async () => {
      const { description, inputSchema } = find(run.tool);
      return plainDefinitionHash(definition, { description, inputSchema });
    },
    run: async (signal) => {
      const stop = new vscode.CancellationTokenSource();
      const cancel = () => stop.cancel();
      signal.addEventListener('abort', cancel, { once: true });
      try {
        const called = vscode.lm.invokeTool(run.tool, { input, toolInvocationToken }, stop.token);
        const { content } = await limited(called, { timeoutMs, signal });
        return { content: shortened(content.map(text).join('\n'), run.outputLimit), isError: false };
      } finally {
        signal.removeEventListener('abort', cancel);
        stop.cancel(); // Also after the time limit: the tool may heed it.
        stop.dispose();
      }
    },
  };
}

function find(name: string): vscode.LanguageModelToolInformation {
  const found = vscode.lm.tools.find((tool) => tool.name === name);
  if (found) return found;
  throw new RolecallError('tool', `The editor knows no tool "${name}" at this moment.`);
}

function text(part: unknown): string {
  if (part instanceof vscode.LanguageModelTextPart) return part.value;
  if (part instanceof vscode.LanguageModelDataPart) {
    if (/^text\/|json/.test(part.mimeType)) return new TextDecoder().decode(part.data);
    return `[${part.data.byteLength} bytes of ${part.mimeType} left out]`;
  }
  return part instanceof vscode.LanguageModelPromptTsxPart ? (JSON.stringify(part.value) ?? '') : '';
}
