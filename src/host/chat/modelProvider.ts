import * as vscode from 'vscode';
import { defaultModelEntry, languageModelVendor } from '../../ids.ts';
import { escapeMarkdown } from '../markdown.ts';
import { ASSUMED, type Model } from '../modelCatalog.ts';
import { type ConfigurationSchema, configurationSchema } from '../pickerChoices.ts';
import { priceText } from '../tokenUsage.ts';
import type { ModelResponseDeps } from './modelResponse.ts';
import { UTILITY_MODELS, utilityModelNote } from './nativeChat.ts';
import type { RememberedModels } from './rememberedModels.ts';

export interface ModelProviderDeps extends ModelResponseDeps {
  readonly remembered: RememberedModels;
}

/**
 * The picker's data of a model, besides the members that the stable API declares. Editors that don't know them ignore
 * them.
 */
interface PickerInformation {
  /** The picker of some editors hides models without it. */
  readonly isUserSelectable: true;
  /** Its enums become menus of the model. */
  readonly configurationSchema?: ConfigurationSchema;
  readonly pricing?: string;
  /** Markdown, by a name. */
  readonly warningText?: Readonly<Record<string, string>>;
  readonly infoText?: Readonly<Record<string, string>>;
}

type ModelInformation = vscode.LanguageModelChatInformation & PickerInformation;

/** Offers the cloud's models to VS Code's own chat. Has no state of a request: two chats at once never mix. */
export class RolecallModelProvider implements vscode.LanguageModelChatProvider<ModelInformation> {
  readonly #deps: ModelProviderDeps;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeLanguageModelChatInformation: vscode.Event<void>;
  /** Models are listed with only the members that the stable API declares. */
  #isPlain = false;

  constructor(deps: ModelProviderDeps) {
    this.#deps = deps;
    this.onDidChangeLanguageModelChatInformation = (...listener) =>
      vscode.Disposable.from(deps.catalog.onDidChange(...listener), this.#changed.event(...listener));
  }

  static register(deps: ModelProviderDeps): vscode.Disposable {
    const provider = new RolecallModelProvider(deps);
    const registration = vscode.lm.registerLanguageModelChatProvider(languageModelVendor, provider);
    // In a fresh profile VS Code resolves models only after the first message, which then finds none and fails.
    void provider.resolveIn(() => vscode.lm.selectChatModels({ vendor: languageModelVendor }));
    const followSetting = vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(UTILITY_MODELS)) provider.#changed.fire();
    });
    return vscode.Disposable.from(registration, followSetting, provider.#changed);
  }

  /**
   * Makes the editor resolve the models. An editor that lists none may refuse members that the stable API doesn't
   * declare, so they are then left out. Never rejects.
   */
  async resolveIn(select: () => Thenable<readonly unknown[]>): Promise<void> {
    const listed = await Promise.resolve(select()).catch(() => []);
    if (listed.length > 0) return;
    this.#isPlain = true;
    this.#changed.fire();
  }

  /**
   * Never empty: without a model VS Code answers a participant's message itself, with "unavailable". The entry for the
   * default model is always there, since it was picked while signed out.
   */
  provideLanguageModelChatInformation(): ModelInformation[] {
    const { catalog, remembered } = this.#deps;
    const { models } = remembered;
    const listed = [
      ...models.map(information),
      ...remembered.withdrawn.map((model) => ({ ...information(model), detail: vscode.l10n.t('No longer available') })),
      defaultEntry(models.length > 0 ? catalog.choose(undefined) : undefined),
    ];
    if (!this.#isPlain) return listed;
    return listed.map(({ configurationSchema: _, pricing: __, warningText: ___, infoText: ____, ...plain }) => plain);
  }

  async provideLanguageModelChatResponse(
    { id }: ModelInformation,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: vscode.Progress<vscode.LanguageModelResponsePart>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const { streamModelResponse } = await import('./modelResponse.ts');
    const isWithdrawn = this.#deps.remembered.withdrawn.some((model) => model.id === id);
    const modelId = id === defaultModelEntry ? undefined : id;
    await streamModelResponse(this.#deps, { id: modelId, isWithdrawn, messages, options, progress, token });
  }

  async provideTokenCount(
    { id }: ModelInformation,
    text: string | vscode.LanguageModelChatRequestMessage,
  ): Promise<number> {
    const { countTokens } = await import('./modelResponse.ts');
    return countTokens(this.#deps, id, text);
  }
}

/** @param model the default one; `undefined` while it is unknown. */
function defaultEntry(model: Model | undefined): ModelInformation {
  const unknown: Model = {
    id: defaultModelEntry,
    label: 'Rolecall',
    ...ASSUMED,
    isLengthKnown: false,
    vision: false,
  };
  const note = model && utilityModelNote(); // Here only: it would be read aloud for each model.
  return {
    ...information({ ...(model ?? unknown), id: defaultModelEntry, label: unknown.label }),
    ...(note !== undefined && { infoText: { rolecall: escapeMarkdown(note) } }),
    tooltip: vscode.l10n.t('The default model of your cloud, through Rolecall'),
    detail: model ? vscode.l10n.t('Default: {0}', model.label) : vscode.l10n.t('Sign in to see the models'),
  };
}

function information(model: Model): ModelInformation {
  const { id, label, contextLength, maxOutput, vision, price, warning } = model;
  return {
    id,
    name: label,
    family: id,
    version: '1',
    tooltip:
      model.tools === false
        ? vscode.l10n.t('{0}, served by your cloud through Rolecall. It doesn’t call tools.', id)
        : vscode.l10n.t('{0}, served by your cloud through Rolecall', id),
    maxInputTokens: Math.max(1, contextLength - maxOutput),
    maxOutputTokens: maxOutput,
    // Agent mode accepts only models that declare tool calling. A service that refuses tools is asked without them.
    capabilities: { toolCalling: true, imageInput: vision },
    isUserSelectable: true,
    configurationSchema: configurationSchema(model),
    ...(price && { pricing: priceText(price) }),
    ...(warning && { warningText: { rolecall: escapeMarkdown(warning) } }),
  };
}
