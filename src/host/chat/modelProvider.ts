import * as vscode from 'vscode';
import { defaultModelEntry, languageModelVendor } from '../../ids.ts';
import type { Model } from '../modelCatalog.ts';
import type { ModelResponseDeps } from './modelResponse.ts';
import type { RememberedModels } from './rememberedModels.ts';

export interface ModelProviderDeps extends ModelResponseDeps {
  readonly remembered: RememberedModels;
}

/** `isUserSelectable` is not declared in the stable API; the picker of some editors hides models without it. */
type ModelInformation = vscode.LanguageModelChatInformation & { readonly isUserSelectable: true };

/** Offers the cloud's models to VS Code's own chat. Holds nothing of a request: two chats at once never mix. */
export class RolecallModelProvider implements vscode.LanguageModelChatProvider<ModelInformation> {
  readonly #deps: ModelProviderDeps;
  readonly onDidChangeLanguageModelChatInformation: vscode.Event<void>;

  constructor(deps: ModelProviderDeps) {
    this.#deps = deps;
    this.onDidChangeLanguageModelChatInformation = deps.catalog.onDidChange;
  }

  static register(deps: ModelProviderDeps): vscode.Disposable {
    const registration = vscode.lm.registerLanguageModelChatProvider(
      languageModelVendor,
      new RolecallModelProvider(deps),
    );
    // In a fresh profile VS Code resolves models only after the first message, which then finds none and fails.
    void vscode.lm.selectChatModels({ vendor: languageModelVendor }); // Called for its effect; the answer is not needed.
    return registration;
  }

  /**
   * Never empty: without a model VS Code answers a participant's message itself, with "unavailable". The entry for the
   * default model is always there, since it was picked while signed out.
   */
  provideLanguageModelChatInformation(): ModelInformation[] {
    const { catalog, remembered } = this.#deps;
    const { models } = remembered;
    return [
      ...models.map(information),
      ...remembered.withdrawn.map((model) => ({ ...information(model), detail: vscode.l10n.t('No longer available') })),
      defaultEntry(models.length > 0 ? catalog.choose(undefined) : undefined),
    ];
  }

  async provideLanguageModelChatResponse(
    { id }: ModelInformation,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: vscode.Progress<vscode.LanguageModelResponsePart>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const { respond } = await import('./modelResponse.ts');
    const isWithdrawn = this.#deps.remembered.withdrawn.some((model) => model.id === id);
    const asked = id === defaultModelEntry ? undefined : id;
    await respond(this.#deps, { id: asked, isWithdrawn, messages, options, progress, token });
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
    contextLength: 32_768,
    maxOutput: 4_096,
    isLengthKnown: false,
    vision: false,
  };
  return {
    ...information({ ...(model ?? unknown), id: defaultModelEntry, label: unknown.label }),
    tooltip: vscode.l10n.t('The default model of your cloud, through Rolecall'),
    detail: model ? vscode.l10n.t('Default: {0}', model.label) : vscode.l10n.t('Sign in to see the models'),
  };
}

function information({ id, label, contextLength, maxOutput, vision }: Model): ModelInformation {
  return {
    id,
    name: label,
    family: id,
    version: '1',
    tooltip: vscode.l10n.t('{0}, served by your cloud through Rolecall', id),
    maxInputTokens: Math.max(1, contextLength - maxOutput),
    maxOutputTokens: maxOutput,
    // Agent mode accepts only models that declare tool calling. A service that refuses tools is asked without them.
    capabilities: { toolCalling: true, imageInput: vision },
    isUserSelectable: true,
  };
}
