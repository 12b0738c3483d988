import { RolecallError } from '../../core/base/errors.ts';
import { resolveParameters } from '../../core/completions/parameters.ts';
import type { CompletionParameters } from '../../core/completions/request.ts';

/** What another extension asks for in a request, as parameters of the service. */
export interface OptionParameters {
  readonly parameters: CompletionParameters;
  /** Names that mean something to other vendors only; they are not sent. */
  readonly unknown: readonly string[];
}

/**
 * `modelOptions` of a request to a language model: what the specification knows is passed on.
 *
 * @throws RolecallError `invalidRequest` for a field with a value that the service cannot take.
 */
export function optionParameters(modelOptions: Readonly<Record<string, unknown>> | undefined): OptionParameters {
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
