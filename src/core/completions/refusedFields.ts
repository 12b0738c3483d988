import type { RolecallError } from '../base/errors.ts';

/**
 * Which of the fields `own` the service refused because the model does not have them. Empty when it refused anything
 * besides, since leaving out ours would not help then, or when it minds a value and not the field.
 *
 * @returns names out of `own`; `include_usage` counts as the `stream_options` it stands in.
 */
export function refusedFields(error: RolecallError, own: readonly string[]): string[] {
  if (error.kind !== 'unsupported' && error.kind !== 'invalidRequest') return [];
  const said = error.facts.serverMessage ?? '';
  const tools = own.includes('tools') && refusesTools(said) ? ['tools'] : [];
  const named = namedFields(error.facts.param)
    .map((field) => aliases[field] ?? field)
    .filter((field) => tools.length === 0 || field !== 'model');
  if (!named.every((field) => own.includes(field))) return [];
  // A field may also be named because its value is wrong, which leaving it out would only hide.
  if (named.length > 0) {
    return error.kind === 'unsupported' || said === '' || refusal.test(said) ? [...new Set([...named, ...tools])] : [];
  }
  const inProse = own.filter((field) => new RegExp(`\\b${field.replace('_', '[_ ]')}\\b`).test(said));
  return [...new Set([...(refusal.test(said) ? inProse : []), ...tools])];
}

/** True when a service says in prose that the model, or whoever would run it, takes no tools. */
export function refusesTools(said: string): boolean {
  return toolRefusals.some((pattern) => pattern.test(said));
}

const offer = '(?:tools|(?:tool|function)[ _-]?(?:call(?:s|ing)?|use|usage))';
const toolRefusals = [
  new RegExp(
    `(?:\\bnot|n't|\\bno endpoints found that|\\bunable to) (?:currently )?support (?:the use of )?${offer}\\b`,
    'i',
  ),
  new RegExp(`\\b${offer} (?:is|are) (?:currently )?(?:not |un)(?:supported|available|enabled)`, 'i'),
];

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
