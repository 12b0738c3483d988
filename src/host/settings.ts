import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { checkIdentityUrl, checkInferenceUrl, checkRedirectUri } from '../core/base/addresses.ts';
import type { ClientAuthentication, Connection } from '../core/base/connection.ts';
import { RolecallError } from '../core/base/errors.ts';
import { settings } from '../ids.ts';

/** A model as the user describes it (`rolecall.models`). */
const modelSchema = z.object({
  id: z.string().check(z.minLength(1)),
  label: z.optional(z.string()),
  contextLength: z.optional(z.number().check(z.positive())),
  maxOutput: z.optional(z.number().check(z.positive())),
  vision: z.optional(z.boolean()),
});
export type ConfiguredModel = z.infer<typeof modelSchema>;

const defaultToolRounds = 10;

/** Reads the settings of Rolecall; everything in them was typed by somebody and is checked here. */
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
   * @throws RolecallError `configuration` with the sentence that says what to write.
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

  /** Organization ids the user typed, without repetitions. */
  organizations(): readonly string[] {
    const typed = this.#get(settings.organizations, z.array(z.unknown()), []);
    const ids = typed.flatMap((id) => (typeof id === 'string' ? [id.trim()] : [])); // One slip does not hide the others.
    return [...new Set(ids.filter((id) => id !== ''))];
  }

  async addOrganization(id: string): Promise<void> {
    // What an untrusted workspace says is not heard (`restrictedConfigurations`).
    const target =
      vscode.workspace.workspaceFolders && vscode.workspace.isTrusted
        ? vscode.ConfigurationTarget.Workspace
        : vscode.ConfigurationTarget.Global;
    const configuration = vscode.workspace.getConfiguration(settings.section);
    await configuration.update(settings.organizations, [...new Set([...this.organizations(), id])], target);
  }

  /** The models the user describes; of two with one id the first. */
  models(): readonly ConfiguredModel[] {
    const described = new Map<string, ConfiguredModel>();
    for (const item of this.#get(settings.models, z.array(z.unknown()), [])) {
      const model = z.safeParse(modelSchema, item);
      if (model.success && !described.has(model.data.id)) described.set(model.data.id, model.data);
    }
    return [...described.values()];
  }

  defaultModel(): string | undefined {
    return this.#text(settings.defaultModel) || undefined;
  }

  /** Hosts the user allows workspace tools to send requests to, as typed. No workspace has a say in it. */
  allowedToolHosts(): readonly string[] {
    const typed = vscode.workspace.getConfiguration(settings.section).inspect(settings.allowedToolHosts)?.globalValue;
    return Array.isArray(typed) ? typed.filter((host) => typeof host === 'string') : [];
  }

  /** Requests in one answer at most, from 1 to 100. */
  maxToolRounds(): number {
    const rounds = this.#get(settings.maxToolRounds, z.number(), defaultToolRounds);
    return Math.min(Math.max(Math.round(rounds), 1), 100);
  }

  /** May be empty: a service token needs no client. */
  #clientId(): string {
    const id = this.#text(settings.clientId);
    if (/\s/.test(id)) {
      throw new RolecallError('configuration', 'rolecall.identity.clientId must not hold spaces.', {
        remedy: { kind: 'changeSetting', setting: settings.clientId, value: id.replace(/\s/g, '') },
      });
    }
    return id;
  }

  #clientAuthentication(): ClientAuthentication {
    const schema = z.enum(['client_secret_post', 'client_secret_basic', 'none']);
    return this.#get(settings.clientAuthentication, schema, 'client_secret_post');
  }

  #text(name: string): string {
    return this.#get(name, z.string(), '').trim();
  }

  #get<T>(name: string, schema: z.ZodMiniType<T>, fallback: T): T {
    const value = z.safeParse(schema, vscode.workspace.getConfiguration(settings.section).get(name));
    return value.success ? value.data : fallback;
  }
}
