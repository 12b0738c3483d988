import type { Fetch } from '../core/base/http.ts';
import type { Log } from '../core/base/log.ts';
import type { CompletionOptions } from '../core/completions/client.ts';
import type { ModelMemory } from '../core/completions/modelMemory.ts';
import type { CompletionParameters } from '../core/completions/request.ts';
import type { Model } from './modelCatalog.ts';
import type { Settings } from './settings.ts';
import type { UsageLedger } from './usageLedger.ts';

/** What everybody who asks a model is given. */
export interface RequestDeps {
  readonly settings: Settings;
  readonly memory: ModelMemory;
  readonly usage: UsageLedger;
  readonly fetch: Fetch;
  readonly log: Log;
}

/** The user's parameters as they apply to a model; what cannot be sent is told by Show Effective Parameters. */
export function parametersFor(model: Model | undefined, settings: Settings): CompletionParameters {
  const { reasoning_effort, ...others } = settings.chatParameters().parameters;
  const reasons = model?.reasoning !== false && reasoning_effort !== undefined;
  return { ...others, ...(reasons && { reasoning_effort }) };
}

/** How a model is asked: the user's time limits, and the history fitted where the model's length is known. */
export function optionsFor(model: Model | undefined, { settings, memory }: RequestDeps): CompletionOptions {
  return {
    toolsAreOptional: true,
    deadlines: settings.deadlines(),
    memory,
    ...(model?.isLengthKnown && { limits: { contextLength: model.contextLength, maxOutput: model.maxOutput } }),
  };
}
