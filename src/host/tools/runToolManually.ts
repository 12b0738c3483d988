import * as vscode from 'vscode';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import { signalOf } from '../cancellation.ts';
import { showQuickPick, withProgress } from '../dialogs.ts';
import { restrictedLine } from '../restrictedMode.ts';
import { askArguments } from './askArguments.ts';
import { isToolFile } from './toolFileOf.ts';
import type { ToolFiles, WorkspaceTool } from './toolFiles.ts';
import type { WorkspaceTools } from './workspaceTools.ts';

interface RunByHandDeps {
  readonly files: ToolFiles;
  readonly tools: WorkspaceTools;
  /** Where the result is shown. */
  readonly output: () => vscode.OutputChannel;
}

/**
 * Run Workspace Tool: asks for the tool (unless given), its arguments and consent, then shows the result.
 *
 * @throws RolecallError
 */
export async function runToolManually(
  { files, tools, output }: RunByHandDeps,
  uri: unknown,
  name: unknown,
): Promise<void> {
  if (uri instanceof vscode.Uri) await save(uri);
  const tool = await choose(await files.all(), uri, name);
  const { definition, folder } = tool;
  const args = await askArguments(definition.name, definition.parameters);
  const { compileParameters } = await import('../../core/tools/validate.ts');
  const compiled = compileParameters(definition.parameters);
  const errors = compiled.kind === 'ok' ? compiled.check(args) : [];
  if (errors.length > 0) throw new RolecallError('tool', errors.join(' '));
  const call = { id: crypto.randomUUID(), name: definition.name, arguments: args };
  const stop = new AbortController();
  const running = tools.run(tool, call, stop.signal, {
    whileAsking: async (question) => {
      const answer = await question;
      if (answer) void showRunning(definition.name, running, stop); // Not before: it does not run while the user is asked.
      return answer;
    },
  });
  const result = await running;
  const channel = output();
  const head = result.isError
    ? vscode.l10n.t('Tool {0} of {1} failed:', definition.name, folder.name)
    : vscode.l10n.t('Result of tool {0} of {1}:', definition.name, folder.name);
  channel.appendLine(`${head} ${JSON.stringify(args)}\n${result.content}\n`);
  channel.show(true);
}

/** A notification until the run is over, which can stop it. */
async function showRunning(name: string, running: Promise<unknown>, stop: AbortController): Promise<void> {
  const title = vscode.l10n.t('Running {0}…', name);
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  await withProgress(options, async (_, token) => {
    signalOf(token).addEventListener('abort', () => stop.abort(), { once: true });
    await running.catch(() => {}); // The command gets the error.
  });
}

/**
 * Saves the file, since the stored one is what runs, as for a model. VS Code reports late that a document has become dirty,
 * and saves only dirty ones.
 */
async function save(uri: vscode.Uri): Promise<void> {
  const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
  if (document && !(await document.save()) && document.isDirty) {
    throw new RolecallError('tool', vscode.l10n.t('The tool file could not be saved.'));
  }
}

async function choose(all: readonly WorkspaceTool[], uri: unknown, name: unknown): Promise<WorkspaceTool> {
  if (uri instanceof vscode.Uri && typeof name === 'string') {
    const found = all.find(({ definition, folder }) => definition.name === name && isToolFile(uri, folder));
    if (found) return found;
    throw new RolecallError('tool', vscode.l10n.t('The tool {0} is no longer in this file.', name));
  }
  if (all.length === 0) {
    throw new RolecallError('tool', restrictedLine() ?? vscode.l10n.t('This workspace defines no tools.'));
  }
  const items = all.map((tool) => ({
    label: tool.definition.name,
    description: tool.folder.name,
    detail: tool.definition.description,
    tool,
  }));
  const picked = await showQuickPick(items, { title: vscode.l10n.t('Run Workspace Tool') });
  if (!picked) throw cancelled();
  return picked.tool;
}
