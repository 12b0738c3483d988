import * as vscode from 'vscode';
import type { Clouds } from './clouds.ts';
import { showQuickPick } from './dialogs.ts';
import { numberText } from './formats.ts';
import type { Model, ModelCatalog } from './modelCatalog.ts';
import type { Settings } from './settings.ts';

/** The longest wait for the list of models before it is shown incomplete. */
const LIST_WAIT_MS = 10_000;

export interface SelectModelDeps {
  readonly clouds: Clouds;
  readonly catalog: ModelCatalog;
  readonly settings: Settings;
}

/** Select Default Model: the one used by editor commands and wherever no model of Rolecall's is picked; kept as the default. */
export async function selectModel({ clouds, catalog, settings }: SelectModelDeps): Promise<void> {
  await usableModels(clouds, catalog);
  const current = catalog.picked?.id;
  const items = catalog.models.map((model) => ({
    id: model.id,
    label: model.label,
    ...(model.id === current && { iconPath: new vscode.ThemeIcon('check') }),
    description: model.label === model.id ? '' : model.id,
    detail: abilitiesOf(model),
  }));
  const chosen = await showQuickPick(items, {
    title: vscode.l10n.t('Select Default Model'),
    placeHolder: vscode.l10n.t('For editor commands, and for @rolecall where another vendor’s model is picked'),
    matchOnDescription: true,
  });
  if (!chosen) return;
  catalog.pick(chosen.id);
  if (!clouds.sandbox) await settings.setDefaultModel(chosen.id); // Nothing chosen in the sandbox leaves it.
}

/**
 * The models of the active cloud once they are known, at least one.
 *
 * @throws RolecallError that says why there is none: not configured, not signed in, not read, nothing listed.
 */
export async function usableModels(clouds: Clouds, catalog: ModelCatalog): Promise<readonly [Model, ...Model[]]> {
  await requireAccount(clouds);
  await catalog.ready(AbortSignal.timeout(LIST_WAIT_MS));
  const [first, ...others] = catalog.models;
  if (first) return [first, ...others];
  throw catalog.whyNone();
}

/**
 * The picked model, which may be described without a list.
 *
 * @throws RolecallError as {@link usableModels}.
 */
export async function usableModel(clouds: Clouds, catalog: ModelCatalog): Promise<Model> {
  await requireAccount(clouds);
  const model = await catalog.resolvePicked(AbortSignal.timeout(LIST_WAIT_MS));
  if (model) return model;
  throw catalog.whyNone();
}

async function requireAccount(clouds: Clouds): Promise<void> {
  const cloud = clouds.require();
  await cloud.load();
  if (cloud.inferenceAccount === undefined) await cloud.inference.accessToken(new AbortController().signal); // Says why there is none.
}

/** The known facts about a model, on one line. */
export function abilitiesOf({ contextLength, isLengthKnown, tools, vision, reasoning }: Model): string {
  return [
    ...(isLengthKnown ? [vscode.l10n.t('{0} tokens', numberText(contextLength))] : []),
    ...(vision ? [vscode.l10n.t('images')] : []),
    ...(tools === false ? [vscode.l10n.t('no tools')] : tools ? [vscode.l10n.t('tools')] : []),
    ...(reasoning ? [vscode.l10n.t('reasoning')] : []),
  ].join(' · ');
}
