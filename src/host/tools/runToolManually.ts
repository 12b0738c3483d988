import * as vscode from 'vscode';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import type { ParametersSchema } from '../../core/tools/definition.ts';
import { workspacePathFormat } from '../../core/tools/permissions.ts';
import { signalOf } from '../cancellation.ts';
import { showInputBox, showQuickPick, withProgress } from '../dialogs.ts';
import { restrictedLine } from '../restrictedMode.ts';
import { isToolFile, type ToolFiles, type WorkspaceTool } from './toolFiles.ts';
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
    ? vscode.l10n.t('Tool {0} of {1} failed.', definition.name, folder.name)
    : vscode.l10n.t('Result of tool {0} of {1}:', definition.name, folder.name);
  channel.appendLine(`${definition.name} ${JSON.stringify(args)}\n${head}\n${result.content}\n`);
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
 * Saves the file, since the stored one is run, as for a model. VS Code reports late that a document has become dirty,
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
    const tool = all.find(({ definition, folder }) => definition.name === name && isToolFile(uri, folder));
    if (tool) return tool;
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

type Property = Readonly<Record<string, unknown>>;

/**
 * Asks for the arguments of a tool one after the other, each checked against its part of the schema while it is typed.
 *
 * @throws RolecallError `cancelled` when the user cancels.
 */
async function askArguments(tool: string, schema: ParametersSchema): Promise<Record<string, unknown>> {
  const args: Record<string, unknown> = {};
  const properties = Object.entries(schema.properties);
  for (const [index, [name, property]] of properties.entries()) {
    const title = vscode.l10n.t('{0}: {1} ({2} of {3})', tool, name, index + 1, properties.length);
    const value = await askOne(title, name, property, schema);
    if (value !== undefined) args[name] = value;
  }
  return args;
}

async function askOne(title: string, name: string, property: Property, schema: ParametersSchema): Promise<unknown> {
  const isRequired = schema.required.includes(name);
  const choices = Array.isArray(property.enum)
    ? property.enum
    : property.type === 'boolean'
      ? [true, false]
      : undefined;
  const description = typeof property.description === 'string' ? property.description : '';
  if (choices) {
    const items = choices.map((value: unknown) => ({ label: asText(value), value }));
    const none = { label: vscode.l10n.t('(omit)'), value: undefined };
    const picked = await showQuickPick(isRequired ? items : [...items, none], {
      title,
      placeHolder: description,
      ignoreFocusOut: true,
    });
    if (!picked) throw cancelled();
    return picked.value;
  }
  const check = await checkOf(name, property, schema);
  const typed = await showInputBox({
    title,
    prompt: isRequired ? description : `${description} ${vscode.l10n.t('Leave empty to omit.')}`.trim(),
    ignoreFocusOut: true,
    validateInput: (text) => {
      const read = readValue(text, property, isRequired);
      if (read.kind === 'invalid') return vscode.l10n.t('Enter valid JSON: {0}', read.message);
      return read.value === undefined ? undefined : check(read.value);
    },
  });
  if (typed === undefined) throw cancelled();
  const read = readValue(typed, property, isRequired);
  return read.kind === 'ok' ? read.value : undefined;
}

/** Checks one parameter alone; the whole is checked afterwards, because a schema can relate parameters to each other. */
async function checkOf(
  name: string,
  property: Property,
  schema: ParametersSchema,
): Promise<(value: unknown) => string | undefined> {
  const { $defs, definitions } = schema;
  const alone = { type: 'object' as const, properties: { [name]: property }, required: [], $defs, definitions };
  const { compileParameters } = await import('../../core/tools/validate.ts');
  const compiled = compileParameters(JSON.parse(JSON.stringify(alone)));
  return (value) => {
    const [problem] = compiled.kind === 'ok' ? compiled.check({ [name]: value }) : [];
    if (problem === undefined) return undefined;
    // The sentence is for models, in English; the one that example tools need has words of its own.
    return property.format === workspacePathFormat
      ? vscode.l10n.t(
          'Enter a path inside the workspace folder, relative to it, without ".." and not starting with "-".',
        )
      : vscode.l10n.t('The tool does not accept this: {0}', problem);
  };
}

type Read = { readonly kind: 'ok'; readonly value: unknown } | { readonly kind: 'invalid'; readonly message: string };

/** Text is used unchanged where the schema expects a string; everything else is entered as JSON. */
function readValue(text: string, { type }: Property, isRequired: boolean): Read {
  if (text === '' && !isRequired) return { kind: 'ok', value: undefined };
  if (type === 'string') return { kind: 'ok', value: text };
  try {
    return { kind: 'ok', value: JSON.parse(text) };
  } catch (error) {
    if (type === undefined || (Array.isArray(type) && type.includes('string'))) return { kind: 'ok', value: text };
    return { kind: 'invalid', message: error instanceof Error ? error.message : String(error) };
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
