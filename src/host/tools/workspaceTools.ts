import { readFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import type { ToolDefinition as OfferedTool } from '../../core/completions/request.ts';
import { consentLines } from '../../core/tools/consentText.ts';
import { definitionHash } from '../../core/tools/definitionHash.ts';
import type { CheckedCall, InvokeResult, LoopTool } from '../../core/tools/loopTypes.ts';
import { prepareProcess } from '../../core/tools/prepare.ts';
import { runProcess } from '../../core/tools/process.ts';
import { processResultText } from '../../core/tools/processResultText.ts';
import { compileParameters } from '../../core/tools/validate.ts';
import type { Toolbox } from '../conversation.ts';
import type { ToolConsent } from './toolConsent.ts';
import type { ToolFiles, WorkspaceTool } from './toolFiles.ts';

/** Makes the workspace's tools ready for one conversation. */
export class WorkspaceTools {
  readonly #files: ToolFiles;
  readonly #consent: ToolConsent;
  readonly #log: Log;

  constructor(files: ToolFiles, consent: ToolConsent, log: Log) {
    this.#files = files;
    this.#consent = consent;
    this.#log = log;
  }

  /** Empty in untrusted workspaces: nothing is read or offered there. */
  async open(): Promise<Toolbox> {
    const tools = await this.#files.tools();
    const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
    return {
      tools: tools.flatMap(({ definition }) => offer(definition)),
      invoke: async (call, signal) => {
        const tool = byName.get(call.name);
        if (!tool) return { content: `There is no tool named ${call.name}.`, isError: true };
        return this.#run(tool, call, signal);
      },
    };
  }

  async #run({ definition, folder }: WorkspaceTool, call: CheckedCall, signal: AbortSignal): Promise<InvokeResult> {
    if (folder.uri.scheme !== 'file') {
      const content = vscode.l10n.t(
        'This tool runs a program, and the workspace is on another machine than Rolecall. Programs cannot be run there yet.',
      );
      return { content, isError: true };
    }
    const spec = await prepareProcess(definition, call.arguments, { environment: process.env });
    const asked = await definitionHash(definition, spec, readWorkspaceFile);
    const question = {
      name: definition.name,
      folder: folder.name,
      lines: consentLines(spec, definition),
      hash: asked.hash,
    };
    if (!(await this.#consent.ask(question, signal))) throw cancelled();
    if (signal.aborted) throw cancelled(signal.reason);
    // The dialog may have stood open for long: what runs must be what was shown.
    const now = await definitionHash(definition, spec, readWorkspaceFile);
    if (now.hash !== asked.hash) {
      throw new RolecallError('tool', 'A file of the tool was changed while you were asked; it was not run.');
    }
    this.#log.info(`Running the workspace tool ${definition.name}.`);
    const result = await runProcess(spec, { signal });
    this.#log.info(`The workspace tool ${definition.name} ended with ${result.exitCode ?? result.signal}.`);
    return processResultText(result, spec.timeoutMs);
  }
}

function offer(definition: WorkspaceTool['definition']): LoopTool<OfferedTool>[] {
  const { name, description, parameters } = definition;
  const compiled = compileParameters(parameters);
  if (compiled.kind === 'invalid') return []; // Its problem stands at its line in the file.
  return [
    { name, definition: { type: 'function', function: { name, description, parameters } }, check: compiled.check },
  ];
}

async function readWorkspaceFile(file: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file);
  } catch {
    return undefined;
  }
}
