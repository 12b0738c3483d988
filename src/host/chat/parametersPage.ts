import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import { endpoint } from '../../core/completions/endpoint.ts';
import type { ModelObservations } from '../../core/completions/modelObservations.ts';
import { resolveParameters } from '../../core/completions/parameters.ts';
import { documentPanel } from '../../ids.ts';
import type { Clouds } from '../clouds.ts';
import type { OpenToolRegistry } from '../conversation.ts';
import type { ModelCatalog } from '../modelCatalog.ts';
import { parameterLayers } from '../modelRequest.ts';
import type { OpenPage, OpenPages } from '../pages.ts';
import type { Settings } from '../settings.ts';
import { showError } from '../showError.ts';
import { effectiveParametersDocument } from './effectiveParameters.ts';

export interface ParametersPageDeps {
  readonly clouds: Clouds;
  readonly catalog: ModelCatalog;
  readonly settings: Settings;
  readonly observations: ModelObservations;
  readonly openTools: OpenToolRegistry;
  readonly pages: OpenPages;
}

/** Show Effective Parameters: one page, which follows the settings while it is open. */
export class ParametersPage implements vscode.Disposable {
  readonly #deps: ParametersPageDeps;
  readonly #subscription: vscode.Disposable;
  #page: OpenPage<never> | undefined;
  /** Counts the drawings: an earlier one that finishes late does not replace a later one. */
  #asked = 0;

  constructor(deps: ParametersPageDeps, log: Log) {
    this.#deps = deps;
    const changed = () => void this.#draw().catch((error: unknown) => showError(error, log));
    const { settings, catalog } = deps;
    this.#subscription = vscode.Disposable.from(
      settings.onDidChange(changed),
      catalog.onDidChange(changed),
      catalog.onDidPick(changed),
      catalog.onDidRememberChoices(changed),
    );
  }

  async show(): Promise<void> {
    const pages = await this.#deps.pages();
    this.#page = pages.open<never>({
      key: 'effectiveParameters',
      kind: documentPanel,
      title: vscode.l10n.t('Effective Parameters'),
      icon: 'settings',
      column: 'active',
      refresh: () => this.#draw(), // There is no event for what a model rejected.
    });
    await this.#draw();
  }

  async #draw(): Promise<void> {
    if (this.#page === undefined || this.#page.closed.aborted) return;
    this.#asked += 1;
    const asked = this.#asked;
    const { clouds, catalog, settings, observations, openTools } = this.#deps;
    const { tools } = await openTools();
    if (asked !== this.#asked) return;
    const connection = clouds.active?.connection;
    const model = catalog.picked;
    const document = effectiveParametersDocument({
      service: connection?.inferenceUrl,
      model,
      resolved: resolveParameters(parameterLayers(settings, catalog.choicesOf(model))),
      tools: tools.map(({ name }) => name),
      refused:
        connection && model ? observations.refusedFields(endpoint(connection, '/v1/chat/completions'), model.id) : [],
    });
    this.#page.show({ document });
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#page?.close();
  }
}
