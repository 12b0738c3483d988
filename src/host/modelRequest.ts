import * as vscode from 'vscode';
import type { Fetch } from '../core/base/http.ts';
import type { Log } from '../core/base/log.ts';
import type { CompletionOptions } from '../core/completions/client.ts';
import type { Notice } from '../core/completions/completion.ts';
import type { ModelTokenLimits } from '../core/completions/history.ts';
import type { ModelObservations } from '../core/completions/modelObservations.ts';
import { type ParameterLayer, resolveParameters } from '../core/completions/parameters.ts';
import type { CompletionParameters } from '../core/completions/request.ts';
import type { Cloud } from './cloud.ts';
import type { Model } from './modelCatalog.ts';
import type { PickerChoices } from './pickerChoices.ts';
import type { ParameterSource, Settings } from './settings.ts';
import type { TokenUsage } from './tokenUsage.ts';

/** The data for every request to a model. */
export interface RequestDeps {
  readonly settings: Settings;
  readonly observations: ModelObservations;
  readonly usage: TokenUsage;
  readonly fetch: Fetch;
  readonly log: Log;
}

/** Where a field of a request comes from. A later one takes precedence: settings, then the choice in VS Code's picker. */
export function parameterLayers(
  settings: Settings,
  choices: PickerChoices | undefined,
): readonly ParameterLayer<ParameterSource | 'picker'>[] {
  return [...settings.chatParameters(), { source: 'picker', value: choices?.parameters }];
}

/** The user's parameters as they apply to a model; Show Effective Parameters lists what cannot be sent. */
export function parametersFor(
  model: Model | undefined,
  settings: Settings,
  choices: PickerChoices | undefined,
): CompletionParameters {
  const { reasoning_effort, ...others } = resolveParameters(parameterLayers(settings, choices)).parameters;
  const reasons = model?.reasoning !== false && reasoning_effort !== undefined;
  return { ...others, ...(reasons && { reasoning_effort }) };
}

/** The options of a request: the user's time limits, and the history fitted if the model's length is known. */
export function optionsFor(model: Model | undefined, { settings, observations }: RequestDeps): CompletionOptions {
  return {
    toolsAreOptional: true,
    deadlines: settings.deadlines(),
    observations,
    ...(model && { limits: limitsOf(model) }),
  };
}

/** Where the context length is unknown, the service says so when it is too short: it is then remembered. */
function limitsOf({ isLengthKnown, contextLength, maxOutput }: Model): ModelTokenLimits {
  return { contextLength: isLengthKnown ? contextLength : Number.POSITIVE_INFINITY, maxOutput };
}

/**
 * Sentences about the user's parameters that are not sent, with the reasons: nothing that was set is dropped silently.
 */
export function unsentParameters(
  { cloud, model, choices }: { cloud: Cloud; model: Model | undefined; choices: PickerChoices | undefined },
  settings: Settings,
): Notice[] {
  const { entries } = resolveParameters(parameterLayers(settings, choices));
  const problems = entries.flatMap(({ field, problem }) =>
    problem === undefined ? [] : [vscode.l10n.t('The chat parameter {0} was not sent: {1}', field, problem)],
  );
  const isReasoningSet = entries.some(({ field, problem }) => field === 'reasoning_effort' && problem === undefined);
  const reasons =
    model?.reasoning === false && isReasoningSet
      ? [vscode.l10n.t('reasoning_effort was not sent: {0} does not support reasoning.', model.label)]
      : [];
  const headers = cloud.connection.id === 'service' ? settings.inferenceHeaders().problems : [];
  return [...problems, ...reasons, ...(choices?.problems ?? []), ...headers].map((message) => ({
    code: 'parameterLeftOut',
    message,
  }));
}
