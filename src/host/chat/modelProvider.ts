import * as vscode from 'vscode';
import { languageModelVendor } from '../../ids.ts';
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
    void vscode.lm.selectChatModels({ vendor: languageModelVendor }); // Asking is the point; the answer is not needed.
    return registration;
  }

  /** Never empty: without a model VS Code answers a participant's message itself, with "unavailable". */
  provideLanguageModelChatInformation(): ModelInformation[] {
    const { models } = this.#deps.remembered;
    return models.length > 0 ? models.map(information) : [placeholder()];
  }

  async provideLanguageModelChatResponse(
    { id }: ModelInformation,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: vscode.Progress<vscode.LanguageModelResponsePart>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const { respond } = await import('./modelResponse.ts');
    await respond(this.#deps, { id: id === PLACEHOLDER ? undefined : id, messages, options, progress, token });
  }

  async provideTokenCount(
    { id }: ModelInformation,
    text: string | vscode.LanguageModelChatRequestMessage,
  ): Promise<number> {
    const { countTokens } = await import('./modelResponse.ts');
    return countTokens(this.#deps, id, text);
  }
}

const PLACEHOLDER = 'rolecall';

function placeholder(): ModelInformation {
  return {
    ...information({
      id: PLACEHOLDER,
      label: 'Rolecall',
      contextLength: 32_768,
      maxOutput: 4_096,
      isLengthKnown: false,
      vision: false,
    }),
    detail: vscode.l10n.t('sign in to see the models'),
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
    // Agent mode takes only models that declare tool calling. Where the service refuses tools, it is asked without.
    capabilities: { toolCalling: true, imageInput: vision },
    isUserSelectable: true,
  };
}
