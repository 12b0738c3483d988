import * as vscode from 'vscode';
import { cancelled } from '../../core/base/errors.ts';
import type { ParametersSchema } from '../../core/tools/definition.ts';
import { workspacePathFormat } from '../../core/tools/permissions.ts';
import { showInputBox, showQuickPick } from '../dialogs.ts';

type Property = Readonly<Record<string, unknown>>;

/**
 * Asks for the arguments of a tool one after the other, each checked against its part of the schema while it is typed.
 *
 * @throws RolecallError `cancelled` when the user cancels.
 */
export async function askArguments(tool: string, schema: ParametersSchema): Promise<Record<string, unknown>> {
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
          'Enter a path inside the workspace folder, relative to it, without “..” and not starting with “-”.',
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
