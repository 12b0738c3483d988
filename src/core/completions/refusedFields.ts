import type { RolecallError } from '../base/errors.ts';

/**
 * Which of the fields `own` the service refused because the model does not have them. Empty when it refused anything
 * besides, since leaving out ours would not help then, or when it minds a value and not the field.
 *
 * @returns names out of `own`; `include_usage` counts as the `stream_options` it stands in.
 */
export function refusedFields(error: RolecallError, own: readonly string[]): string[] {
  if (error.kind !== 'unsupported' && error.kind !== 'invalidRequest') return [];
  const named = namedFields(error.facts.param).map((field) => aliases[field] ?? field);
  if (!named.every((field) => own.includes(field))) return [];
  const said = error.facts.serverMessage ?? '';
  // A field may also be named because its value is wrong, which leaving it out would only hide.
  if (named.length > 0) {
    return error.kind === 'unsupported' || said === '' || refusal.test(said) ? [...new Set(named)] : [];
  }
  return refusal.test(said) ? own.filter((field) => new RegExp(`\\b${field.replace('_', '[_ ]')}\\b`).test(said)) : [];
}

const aliases: Readonly<Record<string, string>> = {
  'stream_options.include_usage': 'stream_options',
  include_usage: 'stream_options',
};

const refusal =
  /not support(?:ed)?\b|unsupported|requires|not permitted|not allowed|unknown|unrecognized|unexpected|extra inputs|only (?:be )?(?:allowed|valid|set)/i;

/** The request fields in the `param` of an error, which may be a list. */
export function namedFields(param: string | undefined): string[] {
  return (param ?? '').split(/[\s,]+/).filter((field) => field !== '');
}
