import * as vscode from 'vscode';
import { raceWithSignal } from '../core/base/abort.ts';
import { asRolecallError, RolecallError } from '../core/base/errors.ts';
import type { Fetch } from '../core/base/http.ts';
import type { Log } from '../core/base/log.ts';
import type { Cloud } from './cloud.ts';
import type { Clouds } from './clouds.ts';
import { type PickerChoices, readPickerChoices } from './pickerChoices.ts';
import type { ConfiguredModel, Settings } from './settings.ts';
import { describeError } from './showError.ts';
import type { Price } from './tokenUsage.ts';

/** A model that can be used. */
export interface Model {
  /** Its ID at the service; may contain `/`. */
  readonly id: string;
  readonly label: string;
  /** Tokens of prompt and answer together. */
  readonly contextLength: number;
  /** Tokens of the longest answer. */
  readonly maxOutput: number;
  /** False where the context length is not configured or reported, only assumed. */
  readonly isLengthKnown: boolean;
  readonly vision: boolean;
  /** False: described as not supporting tools. Unset: unknown, so they are offered. */
  readonly tools?: boolean;
  /** False: described as not reasoning. */
  readonly reasoning?: boolean;
  /** The described values of `reasoning_effort`; unset without a description. */
  readonly reasoningEfforts?: readonly string[];
  readonly price?: Price;
  /** Shown where the model is picked. */
  readonly warning?: string;
}

/** A list that was requested, or is being requested. */
interface Probe {
  readonly cloud: Cloud;
  readonly account: string;
  readonly stop: AbortController;
  /** Never rejects. */
  readonly finished: Promise<void>;
}

/** Assumed if neither the user nor the service knows: small enough for every current model. */
export const ASSUMED = { contextLength: 32_768, maxOutput: 4_096 };

/** The models of the active connection: those that the user describes, then the others that the service lists. */
export class ModelCatalog implements vscode.Disposable {
  readonly #deps: { readonly clouds: Clouds; readonly settings: Settings; readonly fetch: Fetch; readonly log: Log };
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #pickedOne = new vscode.EventEmitter<Model | undefined>();
  /** The user has picked this model, or used it again; `undefined` for the default one. */
  readonly onDidPick = this.#pickedOne.event;
  readonly #changedChoices = new vscode.EventEmitter<void>();
  readonly onDidRememberChoices = this.#changedChoices.event;
  readonly #subscription: vscode.Disposable;
  #probe: Probe | undefined;
  /** The account whose list could not be read when it was last requested, and why. */
  #failed: (Pick<Probe, 'cloud' | 'account'> & { readonly error: RolecallError }) | undefined;
  #listed: readonly Model[] = [];
  #picked: string | undefined;
  /** The choices in VS Code's picker when a model was last used there, by its ID. */
  readonly #choices = new Map<string, PickerChoices>();
  #isComplete = false;
  #ofSandbox: readonly ConfiguredModel[] = [];

  constructor(deps: { clouds: Clouds; settings: Settings; fetch: Fetch; log: Log }) {
    this.#deps = deps;
    this.#subscription = vscode.Disposable.from(
      deps.clouds.onDidChange(() => this.#follow()),
      deps.settings.onDidChange(() => this.#changed.fire()), // The user may describe other models.
    );
  }

  get models(): readonly Model[] {
    // The user's list describes the user's services, the sandbox describes its own.
    const described = this.#deps.clouds.sandbox ? this.#ofSandbox : this.#deps.settings.models();
    const configured = described.map((model): Model => {
      const listed = this.#listed.find(({ id }) => id === model.id);
      return {
        id: model.id,
        label: model.label ?? model.id,
        contextLength: model.contextLength ?? listed?.contextLength ?? ASSUMED.contextLength,
        maxOutput: model.maxOutput ?? ASSUMED.maxOutput,
        isLengthKnown: model.contextLength !== undefined || listed?.isLengthKnown === true,
        vision: model.vision ?? false,
        ...(model.tools !== undefined && { tools: model.tools }),
        ...(model.reasoning !== undefined && { reasoning: model.reasoning }),
        ...(model.reasoningEfforts !== undefined && { reasoningEfforts: model.reasoningEfforts }),
        ...(model.price !== undefined && { price: model.price }),
        ...(model.warning !== undefined && { warning: model.warning }),
      };
    });
    const ids = new Set(configured.map(({ id }) => id));
    return [...configured, ...this.#listed.filter(({ id }) => !ids.has(id))];
  }

  /** The sandbox's own description of its models. */
  describeSandbox(models: readonly ConfiguredModel[]): void {
    this.#ofSandbox = models;
    this.#changed.fire();
  }

  /** True while signed in and the service's list of models is known. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The model that was used or selected last in this window, else like {@link choose} without a name. */
  get picked(): Model | undefined {
    return this.choose(this.#picked);
  }

  /**
   * Stores the model that the user has picked or used, for the commands that offer no choice and for the status bar.
   *
   * @param id `undefined` if the default one was used.
   */
  pick(id: string | undefined): void {
    this.#picked = id;
    this.#pickedOne.fire(this.models.find((each) => each.id === id));
  }

  /**
   * The choices in VS Code's picker for the model of a request. VS Code sends them only with requests, so they are
   * stored. `modelConfiguration` is not declared in the stable API.
   */
  readChoices(model: Model | undefined, request: object): PickerChoices | undefined {
    if (!model) return undefined;
    const choices = readPickerChoices(model, 'modelConfiguration' in request ? request.modelConfiguration : undefined);
    this.#choices.set(model.id, choices);
    this.#changedChoices.fire();
    return choices;
  }

  /** The choices in VS Code's picker when this model was last used there, in this window. */
  choicesOf(model: Model | undefined): PickerChoices | undefined {
    return model && this.#choices.get(model.id);
  }

  /** Why there is no model: the error of the list, or that it is empty. */
  whyNone(): RolecallError {
    const { active } = this.#deps.clouds;
    if (this.#failed && this.#failed.cloud === active && this.#failed.account === active.inferenceAccount) {
      const { kind, message, details, remedy = { kind: 'diagnose' } } = this.#failed.error;
      const text = vscode.l10n.t('The list of models could not be read. {0}', message);
      return new RolecallError(kind, text, { cause: this.#failed.error, details, remedy });
    }
    if (!this.#isComplete) {
      return new RolecallError('timeout', vscode.l10n.t('The service has not listed its models yet. Try again.'));
    }
    return new RolecallError(
      'configuration',
      vscode.l10n.t('The service lists no models. Add one to the setting rolecall.models.'),
      { remedy: { kind: 'changeSetting', setting: 'models' } },
    );
  }

  /** The model named by `id`, else the user's default, else the first. */
  choose(id: string | undefined): Model | undefined {
    const { models } = this;
    const wanted = [id, this.#deps.settings.defaultModel()];
    for (const name of wanted) {
      const found = models.find((model) => model.id === name);
      if (found) return found;
    }
    return models[0];
  }

  /**
   * The result of {@link choose}, as soon as the service's list can no longer change it. The list is not in the
   * specification, and a service without one may take long to answer: it delays only users who have configured no
   * model, and those once.
   */
  async resolve(id: string | undefined, signal: AbortSignal): Promise<Model | undefined> {
    this.#follow();
    const name = id ?? this.#deps.settings.defaultModel();
    const isKnown = name === undefined ? this.models.length > 0 : this.models.some((model) => model.id === name);
    const { cloud, account } = this.#probe ?? {};
    const failedBefore = this.#failed?.cloud === cloud && this.#failed?.account === account;
    if (!isKnown && !(failedBefore && this.models.length > 0)) await this.ready(signal);
    return this.choose(id);
  }

  /** {@link picked}, in the way of {@link resolve}. */
  resolvePicked(signal: AbortSignal): Promise<Model | undefined> {
    return this.resolve(this.#picked, signal);
  }

  /** Resolves when the service's list is known, requesting it again if it failed; or when `signal` aborts. */
  async ready(signal: AbortSignal): Promise<void> {
    this.#follow();
    await raceWithSignal(this.#probe?.finished ?? Promise.resolve(), signal).catch(() => {}); // Whoever stopped it knows.
  }

  /** Requests the service's models once per session; silently, because the list is not in the specification. */
  #follow(): void {
    const { clouds } = this.#deps;
    const cloud = clouds.active;
    const account = cloud?.inferenceAccount;
    const before = this.#probe;
    if (before && before.cloud === cloud && before.account === account) return;
    before?.stop.abort();
    this.#listed = [];
    this.#isComplete = false;
    this.#probe = undefined;
    this.#changed.fire();
    if (!cloud || account === undefined) return;
    const stop = new AbortController();
    const finished = this.#list(cloud, stop.signal).then((listed) => {
      if (this.#probe?.stop !== stop) return; // The models of another session are dropped.
      const error = listed instanceof RolecallError ? listed : undefined;
      this.#isComplete = error === undefined;
      this.#failed = error && { cloud, account, error };
      if (listed instanceof RolecallError)
        this.#probe = undefined; // A failed request is repeated at the next occasion.
      else this.#listed = listed;
      this.#changed.fire();
    });
    this.#probe = { cloud, account, stop, finished };
  }

  /** @returns the error if it failed, which is also logged. */
  async #list(cloud: Cloud, signal: AbortSignal): Promise<readonly Model[] | RolecallError> {
    const { settings, fetch, log } = this.#deps;
    try {
      const { listModels } = await import('../core/completions/models.ts');
      const listed = await listModels({ fetch, log, ...inferenceAccess(cloud, settings) }, cloud.connection, signal);
      return (listed ?? []).map(({ id, contextLength }) => ({
        id,
        label: id,
        contextLength: contextLength ?? ASSUMED.contextLength,
        maxOutput: ASSUMED.maxOutput,
        isLengthKnown: contextLength !== undefined,
        vision: false,
      }));
    } catch (error) {
      const rolecallError = asRolecallError(error);
      if (rolecallError.kind !== 'cancelled')
        log.info(`The list of models could not be read: ${describeError(rolecallError)}`);
      return rolecallError;
    }
  }

  dispose(): void {
    this.#probe?.stop.abort();
    this.#subscription.dispose();
    this.#changed.dispose();
    this.#pickedOne.dispose();
    this.#changedChoices.dispose();
  }
}

/** What core's clients need for requests to the cloud's inference service: its token, and the user's headers. */
export function inferenceAccess({ connection, inference }: Cloud, settings: Settings) {
  return {
    accessToken: (signal: AbortSignal) => inference.accessToken(signal),
    refreshAfter401: (token: string, signal: AbortSignal) => inference.refreshAfter401(token, signal),
    // They are for the configured service, and may be secrets.
    ...(connection.id === 'service' && { headers: settings.inferenceHeaders().headers }),
  };
}
