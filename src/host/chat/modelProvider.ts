import * as vscode from 'vscode';
import { asRolecallError, isCancelled, RolecallError } from '../../core/base/errors.ts';
import { endpoint } from '../../core/completions/address.ts';
import { estimateText } from '../../core/completions/tokenEstimate.ts';
import { defaultModelEntry, languageModelVendor } from '../../ids.ts';
import { signalOf } from '../cancellation.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import { type Model, type ModelCatalog, tokensOf } from '../modelCatalog.ts';
import { leftOut, optionsFor, parametersFor, type RequestDeps } from '../modelRequest.ts';
import { describe } from '../showError.ts';
import { estimateTokens, toChatMessages, toToolDefinitions } from './modelMessages.ts';
import { optionParameters } from './modelOptions.ts';
import { relay, reportLine, whyNoAnswer } from './relay.ts';
import type { RememberedModels } from './rememberedModels.ts';

export interface ModelProviderDeps extends RequestDeps {
  readonly clouds: Clouds;
  readonly catalog: ModelCatalog;
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

  /**
   * Never empty: without a model VS Code answers a participant's message itself, with "unavailable". The entry for the
   * default model is always there, for it is what was picked while nobody was signed in.
   */
  provideLanguageModelChatInformation(): ModelInformation[] {
    const { catalog, remembered } = this.#deps;
    const { models } = remembered;
    return [
      ...models.map(information),
      ...remembered.withdrawn.map((model) => ({ ...information(model), detail: vscode.l10n.t('not on offer now') })),
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
    const { clouds, catalog, fetch, log } = this.#deps;
    const signal = signalOf(token);
    try {
      refuseRequired(options);
      const { parameters, unknown } = optionParameters(options.modelOptions);
      if (unknown.length > 0) log.debug(`Options that the service does not know were left out: ${unknown.join(', ')}`);
      const cloud = clouds.require();
      await cloud.load();
      const model = await this.#modelId(id, cloud, signal);
      const described = catalog.models.find((each) => each.id === model);
      const tools = toToolDefinitions(described?.tools === false ? [] : (options.tools ?? []));
      // VS Code takes one answer: further ones would be paid for and lost.
      const { n: _, ...asked } = { ...parametersFor(described, this.#deps.settings), ...parameters };
      for (const text of this.#unsent(described, options, messages)) reportLine(text, progress);
      const { streamCompletion } = await import('../../core/completions/client.ts');
      const events = streamCompletion(
        { fetch, log, ...tokensOf(cloud) },
        cloud.connection,
        {
          ...asked,
          model,
          messages: toChatMessages(messages),
          ...(tools.length > 0 && { tools }),
        },
        optionsFor(described, this.#deps),
        signal,
      );
      const completion = await relay(events, progress, log);
      if (completion.usage) this.#deps.usage.add(described?.label ?? model, completion.usage);
      const reason = whyNoAnswer(completion);
      if (reason !== undefined) throw new RolecallError('protocol', reason);
    } catch (error) {
      if (isCancelled(error)) return;
      log.error(describe(error));
      throw new Error(asRolecallError(error).message, { cause: error });
    }
  }

  async provideTokenCount(
    { id }: ModelInformation,
    text: string | vscode.LanguageModelChatRequestMessage,
  ): Promise<number> {
    const estimate = typeof text === 'string' ? estimateText(text) : estimateTokens(text);
    const connection = this.#deps.clouds.active?.connection;
    return connection ? this.#deps.memory.tokens(endpoint(connection, '/v1/chat/completions'), id, estimate) : estimate;
  }

  /** What is not sent of what was set or offered, a sentence each; told once an answer, not once a round of its tools. */
  #unsent(
    model: Model | undefined,
    { tools = [] }: vscode.ProvideLanguageModelChatResponseOptions,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
  ): string[] {
    const isLaterRound = messages.at(-1)?.content.some((part) => part instanceof vscode.LanguageModelToolResultPart);
    if (isLaterRound === true) return [];
    const withheld =
      model?.tools === false && tools.length > 0
        ? [vscode.l10n.t('No tools were offered: {0} is described as a model that takes none.', model.label)]
        : [];
    return [...leftOut(model, this.#deps.settings).map(({ message }) => message), ...withheld];
  }

  /** What was picked is asked, and nothing else; only the entry for the default stands for whatever there is by now. */
  async #modelId(id: string, cloud: Cloud, signal: AbortSignal): Promise<string> {
    if (id !== defaultModelEntry) return id;
    await cloud.inference.accessToken(signal); // Says why there is none.
    await this.#deps.catalog.ready(signal);
    const model = this.#deps.catalog.choose(undefined);
    if (model) return model.id;
    throw new RolecallError(
      'configuration',
      vscode.l10n.t('The service lists no models. Name one in rolecall.models.'),
    );
  }
}

/** The service has `auto` and `none`. An answer without the call that was required would be taken for one with it. */
function refuseRequired({ toolMode }: vscode.ProvideLanguageModelChatResponseOptions): void {
  if (toolMode !== vscode.LanguageModelChatToolMode.Required) return;
  throw new RolecallError(
    'unsupported',
    vscode.l10n.t(
      'This request requires the model to call a tool. The inference service cannot promise that: its tool_choice is “auto” or “none”.',
    ),
    { facts: { param: 'tool_choice' } },
  );
}

/** @param model the default one; `undefined` while nobody knows which that is. */
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
    detail: model ? vscode.l10n.t('default: {0}', model.label) : vscode.l10n.t('sign in to see the models'),
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
