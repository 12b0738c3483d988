import * as vscode from 'vscode';
import { type Block, heading, type PageDocument, paragraph } from '../../core/access/pageDocument.ts';
import type { Log } from '../../core/base/log.ts';
import { endpointUrl } from '../../core/completions/endpoint.ts';
import type { ModelObservations } from '../../core/completions/modelObservations.ts';
import { type ParameterEntry, type ResolvedParameters, resolveParameters } from '../../core/completions/parameters.ts';
import { type OptionalField, requestFields } from '../../core/completions/request.ts';
import { fieldDependencies, fieldsToDrop, optionalFieldsOf } from '../../core/completions/retry.ts';
import { documentPanel } from '../../ids.ts';
import type { Clouds } from '../clouds.ts';
import type { OpenToolRegistry } from '../conversation.ts';
import type { Model, ModelCatalog } from '../modelCatalog.ts';
import { parameterLayers } from '../modelRequest.ts';
import type { OpenPage, OpenPages } from '../pages.ts';
import type { ParameterSource as SettingSource, Settings } from '../settings.ts';
import { showError } from '../showError.ts';

type ParameterSource = SettingSource | 'picker';

/** What the fields of a request depend on. */
export interface Effective {
  readonly service: string | undefined;
  readonly model: Model | undefined;
  readonly resolved: ResolvedParameters<ParameterSource>;
  /** Names of the tools that are offered now. */
  readonly tools: readonly string[];
  /** The fields of Rolecall's own that the model has refused in this window. */
  readonly refused: readonly OptionalField[];
}

interface Row {
  readonly field: string;
  /** The value that is sent; empty if none is. */
  readonly value: string;
  readonly source: string;
}

/** The parameters of the next request: each field, what is sent, and where it comes from. */
export function effectiveParametersDocument(effective: Effective): PageDocument<never> {
  const { service, model, resolved } = effective;
  const rows = [...specifiedRows(effective), ...unspecifiedRows(resolved.entries)];
  const problems = resolved.entries.filter(({ problem }) => problem !== undefined);
  const columns = [vscode.l10n.t('Field'), vscode.l10n.t('Sent'), vscode.l10n.t('Source')];
  return {
    title: vscode.l10n.t('Effective parameters'),
    about: [
      vscode.l10n.t('Model: {0}', model?.id ?? vscode.l10n.t('none yet')),
      ' · ',
      vscode.l10n.t('Service: {0}', service ?? vscode.l10n.t('not configured')),
    ],
    blocks: [
      {
        kind: 'table',
        columns,
        rows: rows.map(({ field, value, source }) => [[field], [value === '' ? '—' : value], [source]]),
      },
      ...notSent(problems),
      paragraph(
        vscode.l10n.t('Only fields that are set are sent. Change them in the setting {0}.', 'rolecall.chat.parameters'),
      ),
    ],
  };
}

function notSent(problems: readonly ParameterEntry<ParameterSource>[]): readonly Block<never>[] {
  if (problems.length === 0) return [];
  const lines = problems.map(({ field, problem, sources }) => [
    { strong: field },
    ` (${placesOf(sources)}): ${problem ?? ''}`,
  ]);
  return [heading(vscode.l10n.t('Not sent')), { kind: 'list', lines }];
}

function specifiedRows(effective: Effective): Row[] {
  const { resolved, model, refused } = effective;
  const droppedFields = fieldsToDrop(refused, optionalFieldsOf(resolved.parameters, true), resolved.parameters);
  return requestFields
    .filter((field) => field !== 'model' && field !== 'messages')
    .map((field): Row => {
      const entry = resolved.entries.find((each) => each.field === field && each.problem === undefined);
      if (field === 'reasoning_effort' && entry && model?.reasoning === false) {
        return { field, value: '', source: vscode.l10n.t('not sent: the model does not support reasoning') };
      }
      // Servers reject a tool choice without tools.
      const goes =
        droppedFields.includes(field as OptionalField) || (field === 'tool_choice' && effective.tools.length === 0);
      return entry && !goes ? writtenRow(entry) : ownRow(field, effective, droppedFields);
    });
}

/** Fields that are not in the specification are sent as well. */
function unspecifiedRows(entries: readonly ParameterEntry<ParameterSource>[]): Row[] {
  return entries
    .filter(({ isSpecified, problem }) => !isSpecified && problem === undefined)
    .map((entry) => {
      const row = writtenRow(entry);
      return { ...row, source: vscode.l10n.t('{0}; not in the specification', row.source) };
    });
}

function writtenRow({ field, value, sources }: ParameterEntry<ParameterSource>): Row {
  return { field, value: JSON.stringify(value), source: placesOf(sources) };
}

function ownRow(field: string, { resolved, tools, refused, model }: Effective, gone: readonly OptionalField[]): Row {
  const streams = resolved.parameters.stream !== false;
  const own: Readonly<Record<string, string | undefined>> = {
    stream: 'true',
    stream_options: streams ? '{"include_usage":true}' : undefined,
    tools: tools.length > 0 ? tools.join(', ') : undefined,
    tool_choice: tools.length > 0 ? '"auto"' : undefined,
  };
  if (!Object.hasOwn(own, field)) return { field, value: '', source: vscode.l10n.t('the service’s default') };
  const goes = gone.find((each) => each === field);
  if (goes === 'stream')
    return { field, value: 'false', source: vscode.l10n.t('Rolecall: the model does not support streaming') };
  if (goes && refused.includes(goes)) {
    return { field, value: '', source: vscode.l10n.t('not sent: the model rejected it') };
  }
  if (goes === 'stream_options' && !streams) {
    return { field, value: '', source: vscode.l10n.t('not sent: the answer is not streamed') };
  }
  if (goes) {
    // Tools are dropped with another field only for a tool choice of "none".
    const refusal = fieldDependencies[goes] ?? 'tool_choice';
    return {
      field,
      value: '',
      source: vscode.l10n.t('not sent: it depends on {0}, which the model rejected', refusal),
    };
  }
  if (field.startsWith('tool') && model?.tools === false) {
    return { field, value: '', source: vscode.l10n.t('not sent: the model does not support tools') };
  }
  const value = own[field];
  if (value === undefined) return { field, value: '', source: vscode.l10n.t('Rolecall: nothing to send') };
  return {
    field,
    value,
    source: field === 'tools' ? vscode.l10n.t('Rolecall: this workspace’s tools') : vscode.l10n.t('Rolecall'),
  };
}

function placesOf(sources: readonly ParameterSource[]): string {
  const words: Record<ParameterSource, string> = {
    user: vscode.l10n.t('user settings'),
    workspace: vscode.l10n.t('workspace settings'),
    folder: vscode.l10n.t('folder settings'),
    picker: vscode.l10n.t('model picker, as of your last message'),
  };
  return sources.map((source) => words[source]).join(' + ');
}

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
  /** Counts the updates: an earlier one that finishes late does not replace a later one. */
  #updates = 0;

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
      refresh: () => this.#draw(), // There is no event for a model's rejection.
    });
    await this.#draw();
  }

  async #draw(): Promise<void> {
    if (this.#page === undefined || this.#page.closed.aborted) return;
    this.#updates += 1;
    const update = this.#updates;
    const { clouds, catalog, settings, observations, openTools } = this.#deps;
    const { tools } = await openTools();
    if (update !== this.#updates) return;
    const connection = clouds.active?.connection;
    const model = catalog.picked;
    const document = effectiveParametersDocument({
      service: connection?.inferenceUrl,
      model,
      resolved: resolveParameters(parameterLayers(settings, catalog.choicesOf(model))),
      tools: tools.map(({ name }) => name),
      refused:
        connection && model
          ? observations.refusedFields(endpointUrl(connection, '/v1/chat/completions'), model.id)
          : [],
    });
    this.#page.show({ document });
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#page?.close();
  }
}
