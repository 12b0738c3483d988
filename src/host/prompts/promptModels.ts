import * as vscode from 'vscode';
import * as z from 'zod';
import { cancelled } from '../../core/base/errors.ts';
import { type ModelNames, resolveModel } from '../../core/prompts/modelNames.ts';
import { settings } from '../../ids.ts';
import type { Clouds } from '../clouds.ts';
import { showQuickPick } from '../dialogs.ts';
import type { Model, ModelCatalog } from '../modelCatalog.ts';
import { abilitiesOf, usableModels } from '../selectModel.ts';

const chosenSchema = z.record(z.string(), z.string().min(1));

/** The cloud's models for the names in prompt files. The user is asked once about a name of another cloud. */
export class PromptModels implements vscode.Disposable {
  readonly #clouds: Clouds;
  readonly #catalog: ModelCatalog;
  /** Choices in the sandbox stay there. */
  readonly #chosenInSandbox = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<void>();
  /** Names may resolve to other models now: the list has changed, or the user has chosen one. */
  readonly onDidChange = this.#changed.event;
  readonly #disposables: vscode.Disposable;

  constructor(clouds: Clouds, catalog: ModelCatalog) {
    this.#clouds = clouds;
    this.#catalog = catalog;
    this.#disposables = vscode.Disposable.from(
      this.#changed,
      catalog.onDidChange(() => this.#changed.fire()),
    );
  }

  /** The known models so far. */
  get available(): readonly Model[] {
    return this.#catalog.models;
  }

  /** Whether these are all: the service's list is known. */
  get isComplete(): boolean {
    return this.#catalog.isComplete;
  }

  labelOf(id: string): string {
    return this.#catalog.models.find((model) => model.id === id)?.label ?? id;
  }

  /** The model for a name in a file, or for none; `undefined` while the user has not chosen one. */
  find(name: string | undefined): string | undefined {
    return resolveModel(name, this.names);
  }

  /**
   * The models for these names, each once. Asks about unclear names, and stores the answers in the settings.
   *
   * @param mayAsk false: an unclear name is `cancelled` as well.
   * @throws RolecallError that says why no model can answer; `cancelled` when nothing is chosen.
   */
  async require(names: readonly (string | undefined)[], mayAsk = true): Promise<string[]> {
    await usableModels(this.#clouds, this.#catalog);
    const ids = new Set<string>();
    for (const name of names) {
      const model = this.find(name);
      if (model === undefined && !mayAsk) throw cancelled();
      ids.add(model ?? (await this.#ask(name ?? '')));
    }
    return [...ids];
  }

  /** Several models to run a prompt with. @throws RolecallError as {@link require}. */
  async pickSeveral(picked: readonly string[]): Promise<string[]> {
    const items = (await usableModels(this.#clouds, this.#catalog)).map((model) => ({
      ...itemOf(model),
      picked: picked.includes(model.id),
    }));
    const chosen = await showQuickPick(items, {
      title: vscode.l10n.t('Run with Models'),
      placeHolder: vscode.l10n.t('Each model answers the same prompt'),
      canPickMany: true,
      matchOnDescription: true,
    });
    if (!chosen || chosen.length === 0) throw cancelled();
    return chosen.map(({ id }) => id);
  }

  async #ask(name: string): Promise<string> {
    const items = this.#catalog.models.map(itemOf);
    const chosen = await showQuickPick(items, {
      title: vscode.l10n.t('Model for {0}', name),
      placeHolder: this.#clouds.sandbox
        ? vscode.l10n.t('The sandbox has no model with this name. Your choice is remembered in this window.')
        : vscode.l10n.t('Your cloud has no model with this name. Your choice is remembered in the settings.'),
      matchOnDescription: true,
      ignoreFocusOut: true,
    });
    if (!chosen) throw cancelled();
    if (this.#clouds.sandbox) this.#chosenInSandbox.set(name, chosen.id);
    else {
      const configuration = vscode.workspace.getConfiguration(settings.section);
      const own = chosenSchema.safeParse(configuration.inspect(settings.promptModels)?.globalValue);
      const models = { ...own.data, [name]: chosen.id };
      await configuration.update(settings.promptModels, models, vscode.ConfigurationTarget.Global);
    }
    this.#changed.fire();
    return chosen.id;
  }

  /** The data by which names are resolved now. */
  get names(): ModelNames {
    const available = this.#catalog.models.map(({ id }) => id);
    const written = vscode.workspace.getConfiguration(settings.section).get<unknown>(settings.promptModels);
    const chosen = this.#clouds.sandbox
      ? [...this.#chosenInSandbox]
      : Object.entries(chosenSchema.safeParse(written).data ?? {});
    // A model that no longer exists is asked for anew.
    const usable = chosen.filter(([, id]) => available.length === 0 || available.includes(id));
    return { available, chosen: Object.fromEntries(usable), fallback: this.#catalog.picked?.id };
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}

function itemOf(model: Model): vscode.QuickPickItem & { readonly id: string } {
  const { id, label } = model;
  return { id, label, description: label === id ? '' : id, detail: abilitiesOf(model) };
}
