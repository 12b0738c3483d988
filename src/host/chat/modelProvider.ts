import * as vscode from 'vscode';
import { asRolecallError, isCancelled } from '../../core/base/errors.ts';
import type { Fetch } from '../../core/base/http.ts';
import type { Log } from '../../core/base/log.ts';
import { streamCompletion } from '../../core/completions/client.ts';
import type { CompletionEvent } from '../../core/completions/completion.ts';
import { languageModelVendor } from '../../ids.ts';
import { signalOf } from '../cancellation.ts';
import type { Clouds } from '../clouds.ts';
import { type Model, type ModelCatalog, tokensOf } from '../modelCatalog.ts';
import { describe } from '../showError.ts';
import { toChatMessages, toToolDefinitions } from './modelMessages.ts';

export interface ModelProviderDeps {
  readonly clouds: Clouds;
  readonly catalog: ModelCatalog;
  readonly fetch: Fetch;
  readonly log: Log;
}

/** Characters a token stands for, roughly, in English; VS Code only wants an idea. */
const CHARACTERS_PER_TOKEN = 4;

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
    const { models } = this.#deps.catalog;
    return models.length > 0 ? models.map(information) : [placeholder()];
  }

  async provideLanguageModelChatResponse(
    { id }: ModelInformation,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: vscode.Progress<vscode.LanguageModelResponsePart>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const { clouds, catalog, fetch, log } = this.#deps;
    try {
      const cloud = clouds.require();
      await cloud.load();
      const model = catalog.choose(id === PLACEHOLDER ? undefined : id)?.id ?? id;
      const tools = toToolDefinitions(options.tools ?? []);
      const events = streamCompletion(
        { fetch, log, ...tokensOf(cloud) },
        cloud.connection,
        // The service has no `required`; VS Code's wish for it is asked as `auto`, the nearest there is.
        { model, messages: toChatMessages(messages), ...(tools.length > 0 && { tools, tool_choice: 'auto' as const }) },
        {},
        signalOf(token),
      );
      for await (const event of events) report(event, progress);
    } catch (error) {
      if (isCancelled(error)) return;
      log.error(describe(error));
      throw new Error(asRolecallError(error).message, { cause: error });
    }
  }

  async provideTokenCount(
    _model: ModelInformation,
    text: string | vscode.LanguageModelChatRequestMessage,
  ): Promise<number> {
    const characters = typeof text === 'string' ? text.length : JSON.stringify(toChatMessages([text])).length;
    return Math.ceil(characters / CHARACTERS_PER_TOKEN);
  }
}

function report(event: CompletionEvent, progress: vscode.Progress<vscode.LanguageModelResponsePart>): void {
  if (event.kind === 'text' && event.choice === 0) progress.report(new vscode.LanguageModelTextPart(event.text));
  if (event.kind === 'toolCall' && event.choice === 0) {
    progress.report(new vscode.LanguageModelToolCallPart(event.call.id, event.call.name, event.call.parsed ?? {}));
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
