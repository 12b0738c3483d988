import * as vscode from 'vscode';
import { asRolecallError, isCancelled, RolecallError } from '../../core/base/errors.ts';
import { streamCompletion } from '../../core/completions/client.ts';
import { endpointUrl } from '../../core/completions/endpoint.ts';
import { estimateText } from '../../core/completions/history.ts';
import { resolveParameters } from '../../core/completions/parameters.ts';
import type { CompletionParameters } from '../../core/completions/request.ts';
import { type AccountSignal, accountSignal, signalOf } from '../cancellation.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import { inferenceAccess, type Model, type ModelCatalog } from '../modelCatalog.ts';
import { optionsFor, parametersFor, type RequestDeps, unsentParameters } from '../modelRequest.ts';
import type { PickerChoices } from '../pickerChoices.ts';
import type { Settings } from '../settings.ts';
import { describeError } from '../showError.ts';
import { estimateMessageTokens, toChatMessages, toFunctionTools } from './modelMessages.ts';
import { answerProblem, reportLine, streamToChat } from './streamAdapter.ts';

export interface ModelResponseDeps extends RequestDeps {
  readonly clouds: Clouds;
  readonly catalog: ModelCatalog;
}

/** A request of VS Code's own chat. */
export interface ModelChatRequest {
  /** `undefined`: the default model at the time of the request. */
  readonly id: string | undefined;
  /** It was offered earlier and is listed only so that VS Code does not refuse the message. */
  readonly isWithdrawn: boolean;
  readonly messages: readonly vscode.LanguageModelChatRequestMessage[];
  readonly options: vscode.ProvideLanguageModelChatResponseOptions;
  readonly progress: vscode.Progress<vscode.LanguageModelResponsePart>;
  readonly token: vscode.CancellationToken;
}

/** @throws Error with a sentence that VS Code shows. */
export async function streamModelResponse(
  deps: ModelResponseDeps,
  { id, isWithdrawn, messages, options, progress, token }: ModelChatRequest,
): Promise<void> {
  const { clouds, catalog, settings, usage, fetch, log } = deps;
  let account: AccountSignal | undefined;
  try {
    refuseRequired(options);
    const { parameters, unknown } = optionParameters(options.modelOptions);
    if (unknown.length > 0) log.debug(`Options that the service does not know were left out: ${unknown.join(', ')}`);
    const cloud = clouds.require();
    await cloud.load();
    // Not before: that the session becomes known is no change of account.
    account = accountSignal(clouds, signalOf(token));
    const { signal } = account;
    if (isWithdrawn) {
      await cloud.inference.accessToken(signal); // Throws the reason when there is none.
      throw new RolecallError('notFound', vscode.l10n.t('{0} is no longer available. Pick another model.', id ?? ''));
    }
    const model = id ?? (await anyModel(catalog, cloud, signal));
    const described = catalog.models.find((each) => each.id === model);
    const tools = toFunctionTools(described?.tools === false ? [] : (options.tools ?? []));
    const choices = catalog.readChoices(described, options);
    // What an extension asks for in its request takes precedence over what was chosen for all of them. VS Code takes one
    // answer: further ones would be paid for and lost.
    const { n: _, ...requestParameters } = { ...parametersFor(described, settings, choices), ...parameters };
    for (const text of unsent({ cloud, model: described, choices }, settings, options, messages))
      reportLine(text, progress);
    const events = streamCompletion(
      { fetch, log, ...inferenceAccess(cloud, settings) },
      cloud.connection,
      {
        ...requestParameters,
        model,
        messages: toChatMessages(messages),
        ...(tools.length > 0 && { tools }),
      },
      optionsFor(described, deps),
      signal,
    );
    const completion = await streamToChat(events, progress, log);
    if (completion.usage) usage.add(described ?? { id: model, label: model }, completion.usage);
    const reason = answerProblem(completion);
    if (reason !== undefined) throw new RolecallError('protocol', reason);
  } catch (error) {
    if (token.isCancellationRequested) return;
    if (account?.signal.aborted) throw new Error(vscode.l10n.t('Stopped because the account was signed out.'));
    if (isCancelled(error)) return;
    log.error(describeError(error));
    const shown = new Error(asRolecallError(error).message, { cause: error });
    shown.stack = ''; // The editor's own chat shows it to the user; the log has it.
    throw shown;
  } finally {
    account?.dispose();
  }
}

/** Tokens of a text or a message, as the model counts them, as far as that is known. */
export function countTokens(
  { clouds, observations }: ModelResponseDeps,
  id: string,
  text: string | vscode.LanguageModelChatRequestMessage,
): number {
  const estimate = typeof text === 'string' ? estimateText(text) : estimateMessageTokens(text);
  const connection = clouds.active?.connection;
  return connection
    ? observations.correctEstimate(endpointUrl(connection, '/v1/chat/completions'), id, estimate)
    : estimate;
}

/**
 * The settings and tools that are not sent, one sentence each; once for each answer, not for each round of tool calls.
 */
function unsent(
  target: { readonly cloud: Cloud; readonly model: Model | undefined; readonly choices: PickerChoices | undefined },
  settings: Settings,
  { tools = [] }: vscode.ProvideLanguageModelChatResponseOptions,
  messages: readonly vscode.LanguageModelChatRequestMessage[],
): string[] {
  const isLaterRound = messages.at(-1)?.content.some((part) => part instanceof vscode.LanguageModelToolResultPart);
  if (isLaterRound === true) return [];
  const withheld =
    target.model?.tools === false && tools.length > 0
      ? [vscode.l10n.t('No tools were sent, because {0} doesn’t support tools.', target.model.label)]
      : [];
  return [...unsentParameters(target, settings).map(({ message }) => message), ...withheld];
}

/** A picked model is never replaced by another; only the default entry stands for the current default. */
async function anyModel(catalog: ModelCatalog, cloud: Cloud, signal: AbortSignal): Promise<string> {
  await cloud.inference.accessToken(signal); // Throws the reason when there is none.
  const model = await catalog.resolve(undefined, signal);
  if (model) return model.id;
  throw catalog.whyNone();
}

/** The service supports `auto` and `none` only, and an answer without the required call would be mistaken for one with it. */
function refuseRequired({ toolMode }: vscode.ProvideLanguageModelChatResponseOptions): void {
  if (toolMode !== vscode.LanguageModelChatToolMode.Required) return;
  throw new RolecallError(
    'unsupported',
    vscode.l10n.t(
      'This request requires the model to call a tool, which the inference service cannot guarantee. It supports only "auto" and "none" as tool_choice.',
    ),
    { details: { param: 'tool_choice' } },
  );
}

/** What another extension asks for in a request, as parameters of the service. */
export interface OptionParameters {
  readonly parameters: CompletionParameters;
  /** Names that only mean something to other vendors; they are not sent. */
  readonly unknown: readonly string[];
}

/**
 * `modelOptions` of a request to a language model: what the specification knows is passed on.
 *
 * @throws RolecallError `invalidRequest` for a field with a value that the service cannot take.
 */
function optionParameters(modelOptions: Readonly<Record<string, unknown>> | undefined): OptionParameters {
  const { entries } = resolveParameters([{ source: 'request', value: modelOptions }]);
  const specified = entries.filter(({ isSpecified }) => isSpecified);
  const wrong = specified.find(({ problem }) => problem !== undefined);
  if (wrong?.problem !== undefined) {
    throw new RolecallError('invalidRequest', wrong.problem, { details: { param: wrong.field } });
  }
  return {
    parameters: Object.fromEntries(specified.map(({ field, value }) => [field, value])),
    unknown: entries.filter(({ isSpecified }) => !isSpecified).map(({ field }) => field),
  };
}
