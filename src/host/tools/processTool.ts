import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { consentLines } from '../../core/tools/consentText.ts';
import type { ProcessRun, ToolOf } from '../../core/tools/definition.ts';
import { definitionHash } from '../../core/tools/definitionHash.ts';
import type { WorkspaceFiles } from '../../core/tools/namedFiles.ts';
import { prepareProcess } from '../../core/tools/prepare.ts';
import { runProcess } from '../../core/tools/process.ts';
import { processResultText } from '../../core/tools/processResultText.ts';
import { unwatchedProgram } from '../../core/tools/runners.ts';
import type { PreparedTool } from './preparedTool.ts';

/**
 * A program of this machine.
 *
 * @param folders paths of all folders of the workspace: a tool may name a script in each of them.
 */
export async function prepareProcessTool(
  definition: ToolOf<ProcessRun>,
  args: Readonly<Record<string, unknown>>,
  folders: readonly string[],
): Promise<PreparedTool> {
  const spec = await prepareProcess(definition, args, { environment: process.env });
  const links = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)));
  const workspace: WorkspaceFiles = { folders: [...folders, ...links], read: readWorkspaceFile, isFolder, list };
  return {
    lines: consentLines(spec, definition),
    hash: async () => (await definitionHash(definition, spec, workspace)).hash,
    unwatched: unwatchedProgram(definition, spec),
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

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

async function list(folder: string): Promise<readonly string[] | undefined> {
  try {
    return await readdir(folder);
  } catch (error) {
    // A folder that may not be listed can still be used by those who know what is in it.
    return isFileMissing(error) ? [] : undefined;
  }
}

function isFileMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
