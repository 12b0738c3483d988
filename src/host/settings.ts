import * as vscode from 'vscode';
import { checkIdentityUrl, checkInferenceUrl, checkRedirectUri } from '../core/base/addresses.ts';
import type { ClientAuthentication, Connection } from '../core/base/connection.ts';
import { RolecallError } from '../core/base/errors.ts';
import { isJsonObject } from '../core/base/json.ts';
import {
  arrayOf,
  type Guard,
  isArray,
  isBoolean,
  isNumber,
  isString,
  matchesShape,
  oneOf,
  optional,
  type Shape,
} from '../core/base/shape.ts';
import { type Deadlines, defaultDeadlines } from '../core/completions/deadlineSignal.ts';
import { type ExtraHeaders, readExtraHeaders } from '../core/completions/extraHeaders.ts';
import type { ParameterLayer } from '../core/completions/parameters.ts';
import { settings } from '../ids.ts';
import { isPrice, type Price } from './tokenUsage.ts';

/** A model as the user describes it (`rolecall.models`). */
export interface ConfiguredModel {
  readonly id: string;
  readonly label?: string | undefined;
  readonly contextLength?: number | undefined;
  readonly maxOutput?: number | undefined;
  readonly tools?: boolean | undefined;
  readonly vision?: boolean | undefined;
  readonly reasoning?: boolean | undefined;
  /** The values of `reasoning_effort` to choose from. */
  readonly reasoningEfforts?: readonly string[] | undefined;
  readonly price?: Price | undefined;
  /** Shown where the model is picked. */
  readonly warning?: string | undefined;
}

const isPositive = (value: unknown): value is number => isNumber(value) && value > 0;
const isText = (value: unknown): value is string => isString(value) && value !== '';

/** Of what describes a model. */
export const modelShape: Shape<ConfiguredModel> = {
  id: isText,
  label: optional(isString),
  contextLength: optional(isPositive),
  maxOutput: optional(isPositive),
  tools: optional(isBoolean),
  vision: optional(isBoolean),
  reasoning: optional(isBoolean),
  reasoningEfforts: optional(arrayOf(isText)),
  price: optional(isPrice),
  warning: optional(isString),
};

/** True for a valid description of a model. */
export function isConfiguredModel(value: unknown): value is ConfiguredModel {
  return matchesShape<ConfiguredModel>(value, modelShape);
}

/** A part of a setting that is not used, with a sentence why. */
export interface SettingProblem {
  /** Without the section. */
  readonly setting: string;
  readonly message: string;
}

/** Where a parameter was written. */
export type ParameterSource = 'user' | 'workspace' | 'folder';

const defaultToolRounds = 10;

const isMinutes = (value: unknown): value is number => isNumber(value) && value >= 0 && value <= 1440;
const isClientAuthentication = oneOf<ClientAuthentication>('client_secret_post', 'client_secret_basic', 'none');

/** Reads the settings of Rolecall; users write them, so they are checked here. */
export class Settings {
  /** Fires when any setting of Rolecall has changed. */
  readonly onDidChange: vscode.Event<void> = (listener, thisArgs, disposables) =>
    vscode.workspace.onDidChangeConfiguration(
      (event) => {
        if (event.affectsConfiguration(settings.section)) listener.call(thisArgs, undefined);
      },
      undefined,
      disposables,
    );

  /**
   * The configured services, or `undefined` while the addresses are not set.
   *
   * @throws RolecallError `configuration` with a message that says what to change.
   */
  serviceConnection(): Connection | undefined {
    const identityUrl = this.#text(settings.identityUrl);
    const inferenceUrl = this.#text(settings.inferenceUrl);
    if (identityUrl === '' && inferenceUrl === '') return undefined;
    const identity = checkIdentityUrl(identityUrl);
    return {
      id: 'service',
      label: new URL(identity).host,
      identityUrl: identity,
      inferenceUrl: checkInferenceUrl(inferenceUrl),
      clientId: this.#clientId(),
      clientAuthentication: this.#clientAuthentication(),
      redirectUri: checkRedirectUri(this.#text(settings.redirectUri)),
      scope: this.#text(settings.scopes),
    };
  }

  /** The organization IDs of the user, then those that the workspace adds, without repetitions. */
  organizations(): readonly string[] {
    const typed = this.#layers(settings.organizations).filter(isArray).flat();
    const ids = typed.flatMap((id) => (typeof id === 'string' ? [id.trim()] : [])); // One wrong entry does not hide the others.
    return [...new Set(ids.filter((id) => id !== ''))];
  }

  async addOrganization(id: string): Promise<void> {
    if (this.organizations().includes(id)) return;
    const [own] = this.#layers(settings.organizations);
    await this.#updateOwn(settings.organizations, [...(isArray(own) ? own : []), id]);
  }

  /** Removes an organization from every setting that names it: the workspace's and the user's. */
  async removeOrganization(id: string): Promise<void> {
    const configuration = vscode.workspace.getConfiguration(settings.section);
    const inspected = configuration.inspect<unknown>(settings.organizations);
    const places: readonly (readonly [unknown, vscode.ConfigurationTarget])[] = [
      [inspected?.workspaceValue, vscode.ConfigurationTarget.Workspace],
      [inspected?.globalValue, vscode.ConfigurationTarget.Global],
    ];
    for (const [value, target] of places) {
      if (!Array.isArray(value)) continue;
      const remaining = value.filter((typed) => typeof typed !== 'string' || typed.trim() !== id);
      if (remaining.length < value.length) await configuration.update(settings.organizations, remaining, target);
    }
  }

  /** Labels by organization ID: the user's, else the workspace's. */
  organizationLabels(): ReadonlyMap<string, string> {
    const [own, theirs] = this.#layers(settings.organizationLabels);
    const labels = { ...(isJsonObject(theirs) && theirs), ...(isJsonObject(own) && own) };
    return new Map(
      Object.entries(labels).flatMap(([id, label]): [string, string][] =>
        typeof label === 'string' && label.trim() !== '' ? [[id, label.trim()]] : [],
      ),
    );
  }

  /** An empty label removes it. */
  async labelOrganization(id: string, label: string): Promise<void> {
    const [own] = this.#layers(settings.organizationLabels);
    const { [id]: _before, ...others } = isJsonObject(own) ? own : {};
    const labels = label.trim() === '' ? others : { ...others, [id]: label.trim() };
    await this.#updateOwn(settings.organizationLabels, labels);
  }

  /** The number of minutes after which visible data is read again; 0 for never. */
  refreshMinutes(): number {
    return this.#get(settings.refreshMinutes, isMinutes, 0);
  }

  /** The models that the user describes; of two with one ID the first. Invalid parts of a description are left out. */
  models(): readonly ConfiguredModel[] {
    return this.#readModels().models;
  }

  /** The parts of settings that cannot be used, except for the addresses of the services. */
  problems(): readonly SettingProblem[] {
    const sentences = { [settings.models]: this.#readModels(), [settings.inferenceHeaders]: this.inferenceHeaders() };
    return Object.entries(sentences).flatMap(([setting, { problems }]) =>
      problems.map((message) => ({ setting, message })),
    );
  }

  #readModels(): { readonly models: readonly ConfiguredModel[]; readonly problems: readonly string[] } {
    const described = new Map<string, ConfiguredModel>();
    const problems: string[] = [];
    for (const [at, item] of this.#get(settings.models, isArray, []).entries()) {
      if (!isJsonObject(item) || !modelShape.id(item.id)) {
        problems.push(vscode.l10n.t('rolecall.models: entry {0} is ignored because it has no "id".', at + 1));
        continue;
      }
      const wrong = Object.entries(modelShape).flatMap(([name, isRight]) => (isRight(item[name]) ? [] : [name]));
      const right = Object.fromEntries(Object.entries(item).filter(([name]) => !wrong.includes(name)));
      for (const name of wrong) {
        problems.push(
          vscode.l10n.t(
            'rolecall.models: "{0}" of {1} is ignored because its value is not valid.',
            name,
            String(item.id),
          ),
        );
      }
      if (isConfiguredModel(right) && !described.has(right.id)) described.set(right.id, right);
    }
    return { models: [...described.values()], problems };
  }

  defaultModel(): string | undefined {
    return this.#text(settings.defaultModel) || undefined;
  }

  /** Makes a model the default: for the workspace where it names one of its own, else for the user. */
  async setDefaultModel(id: string): Promise<void> {
    const configuration = vscode.workspace.getConfiguration(settings.section);
    const here = vscode.workspace.isTrusted && configuration.inspect(settings.defaultModel)?.workspaceValue;
    const target = here === undefined || here === false ? 'Global' : 'Workspace';
    await configuration.update(settings.defaultModel, id, vscode.ConfigurationTarget[target]);
  }

  /**
   * `rolecall.chat.parameters` from every place, unchanged; nothing of a workspace that is not trusted. For
   * `resolveParameters`.
   */
  chatParameters(): readonly ParameterLayer<ParameterSource>[] {
    const written = vscode.workspace.getConfiguration(settings.section).inspect<unknown>(settings.chatParameters);
    const theirs = vscode.workspace.isTrusted ? written : undefined;
    return [
      { source: 'user', value: written?.globalValue },
      { source: 'workspace', value: theirs?.workspaceValue, isForeign: true },
      { source: 'folder', value: theirs?.workspaceFolderValue, isForeign: true },
    ];
  }

  /** The headers that the user adds to requests to their inference service. A workspace's settings don't count. */
  inferenceHeaders(): ExtraHeaders {
    const configuration = vscode.workspace.getConfiguration(settings.section);
    return readExtraHeaders(configuration.inspect(settings.inferenceHeaders)?.globalValue);
  }

  /** How long to wait for the inference service, in milliseconds. */
  deadlines(): Deadlines {
    const { connectMs, firstEventMs, idleMs } = defaultDeadlines;
    return {
      connectMs: this.#seconds(settings.connectTimeout, connectMs),
      firstEventMs: this.#seconds(settings.firstEventTimeout, firstEventMs),
      idleMs: this.#seconds(settings.idleTimeout, idleMs),
    };
  }

  /** A time limit in milliseconds, within the possible range: `fetch` gives up by itself after 300 s. */
  #seconds(name: string, fallbackMs: number): number {
    const typed = this.#get(name, isNumber, fallbackMs / 1000);
    return Math.min(290, Math.max(1, typed)) * 1000;
  }

  /** Hosts the user allows workspace tools to send requests to, as typed. Workspace settings do not count. */
  allowedToolHosts(): readonly string[] {
    const typed = vscode.workspace.getConfiguration(settings.section).inspect(settings.allowedToolHosts)?.globalValue;
    return Array.isArray(typed) ? typed.filter((host) => typeof host === 'string') : [];
  }

  /** The most requests in one answer, from 1 to 100. */
  maxToolRounds(): number {
    const rounds = this.#get(settings.maxToolRounds, isNumber, defaultToolRounds);
    return Math.min(Math.max(Math.round(rounds), 1), 100);
  }

  /** May be empty: a service token needs no client. */
  #clientId(): string {
    const id = this.#text(settings.clientId);
    if (/\s/.test(id)) {
      throw new RolecallError('configuration', vscode.l10n.t('rolecall.identity.clientId must not contain spaces.'), {
        remedy: { kind: 'changeSetting', setting: settings.clientId, value: id.replace(/\s/g, '') },
      });
    }
    return id;
  }

  /** The values of the user and of the workspace; nothing of a workspace that is not trusted. */
  #layers(name: string): readonly [own: unknown, theirs: unknown] {
    const written = vscode.workspace.getConfiguration(settings.section).inspect<unknown>(name);
    return [written?.globalValue, vscode.workspace.isTrusted ? written?.workspaceValue : undefined];
  }

  /** Personal choices go to the user's settings, never to those of a shared workspace. */
  async #updateOwn(name: string, value: unknown): Promise<void> {
    const configuration = vscode.workspace.getConfiguration(settings.section);
    await configuration.update(name, value, vscode.ConfigurationTarget.Global);
  }

  #clientAuthentication(): ClientAuthentication {
    return this.#get(settings.clientAuthentication, isClientAuthentication, 'client_secret_post');
  }

  #text(name: string): string {
    return this.#get(name, isString, '').trim();
  }

  #get<T>(name: string, isRight: Guard<T>, fallback: T): T {
    const value = vscode.workspace.getConfiguration(settings.section).get<unknown>(name);
    return isRight(value) ? value : fallback;
  }
}
