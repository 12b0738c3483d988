import { readFile } from 'node:fs/promises';
import { consentLines } from '../../core/tools/consentText.ts';
import type { ProcessRun, ToolOf } from '../../core/tools/definition.ts';
import { definitionHash } from '../../core/tools/definitionHash.ts';
import { prepareProcess } from '../../core/tools/prepare.ts';
import { runProcess } from '../../core/tools/process.ts';
import { processResultText } from '../../core/tools/processResultText.ts';
import type { PreparedTool } from './preparedTool.ts';

/** A program of this machine. */
export async function prepareProcessTool(
  definition: ToolOf<ProcessRun>,
  args: Readonly<Record<string, unknown>>,
): Promise<PreparedTool> {
  const spec = await prepareProcess(definition, args, { environment: process.env });
  return {
    lines: consentLines(spec, definition),
    hash: async () => (await definitionHash(definition, spec, readWorkspaceFile)).hash,
    run: async (signal) => processResultText(await runProcess(spec, { signal }), spec.timeoutMs),
  };
}

async function readWorkspaceFile(file: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file);
  } catch {
    return undefined;
  }
}
