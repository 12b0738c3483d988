import { type ErrorFacts, type ErrorKind, RolecallError } from '../base/errors.ts';
import { isContextOverflow, readContextOverflow } from './contextOverflow.ts';
import type { ErrorBody } from './errorBody.ts';
import { count, list, seconds } from './words.ts';

/** What is known about a refused request besides the body of the answer. */
export interface Refusal {
  /** HTTP status; absent for an error in the middle of a stream. */
  readonly status?: number;
  readonly body: ErrorBody;
  /** The model that was asked for, as the service knows it. */
  readonly model?: string;
  readonly retryAfterMs?: number;
  /** Where the request went, without a query: told when nothing seems to live there. */
  readonly url?: string;
}

/** An error of the service as one sentence about what happened and one about what helps. */
export function refusalError(refusal: Refusal): RolecallError {
  const row = rules.find((rule) => rule.when(refusal)) ?? fallback;
  return new RolecallError(row.kind, row.say(refusal), { facts: factsOf(refusal) });
}

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

interface Rule {
  readonly kind: ErrorKind;
  when(refusal: Refusal): boolean;
  say(refusal: Refusal): string;
}

/** The first row that matches decides. Rows about the body stand before rows about the status alone. */
const rules: readonly Rule[] = [
  {
    kind: 'credit',
    when: (r) => statusOf(r) === 402 || creditWords.test(allWords(r)),
    say: (r) =>
      `The account has no credit left for this model. Top it up, or pick a model that it can pay for.${quote(r)}`,
  },
  {
    kind: 'signedOut',
    when: (r) => statusOf(r) === 401 || (statusOf(r) === 400 && /authorization header/i.test(r.body.message ?? '')),
    say: () => 'The inference service does not accept the sign-in any more. Sign in again.',
  },
  {
    kind: 'rateLimited',
    when: (r) => statusOf(r) === 429 || /^rate_?limit/i.test(r.body.errorType ?? ''),
    say: (r) =>
      `Too many requests. ${r.retryAfterMs ? `Wait ${seconds(r.retryAfterMs)}` : 'Wait a moment'}, then try again.${quote(r)}`,
  },
  {
    kind: 'unsupported',
    when: (r) => /unsupported/i.test(`${r.body.errorType} ${r.body.code}`),
    say: (r) => {
      const fields = namedFields(r.body.param);
      if (fields.length === 0) return `${modelWords(r)} does not support this request.${quote(r)}`;
      return `${modelWords(r)} does not support ${list(fields)}. Leave ${fields.length > 1 ? 'them' : 'it'} out, or pick another model.`;
    },
  },
  {
    kind: 'contextOverflow',
    when: (r) => r.body.code === 'context_length_exceeded' || isContextOverflow(r.body.message ?? ''),
    say: (r) => overflowSentence(r),
  },
  {
    kind: 'notFound',
    when: (r) => unknownModel(r),
    say: (r) =>
      `The service has no model ${r.model ? `"${r.model}"` : 'of this name'}, or it is not open to you. Pick another model.${quote(r)}`,
  },
  {
    kind: 'notFound',
    when: (r) => [404, 405, 410].includes(statusOf(r) ?? 0),
    say: (r) =>
      `There is no chat completion service${r.url ? ` at ${r.url}` : ' here'}. Check the address of the inference service.${quote(r)}`,
  },
  {
    kind: 'forbidden',
    when: (r) => statusOf(r) === 403,
    say: (r) =>
      `The service does not let this account use ${r.model ? `the model "${r.model}"` : 'this model'}.${quote(r)}`,
  },
  {
    kind: 'invalidRequest',
    when: (r) => statusOf(r) === 413,
    say: (r) => `The request is too large for the service. Send less text or fewer images.${quote(r)}`,
  },
  {
    kind: 'server',
    when: (r) => [502, 503, 504, 529].includes(statusOf(r) ?? 0),
    say: (r) => `The inference service is not available just now (${statusOf(r)}). Try again in a moment.${quote(r)}`,
  },
  {
    kind: 'server',
    when: (r) =>
      (statusOf(r) ?? 500) >= 500 &&
      (r.body.errorType === undefined || !/invalid|bad_?request/i.test(r.body.errorType)),
    say: (r) => `The inference service failed${statusOf(r) ? ` (${statusOf(r)})` : ''}. Try again.${quote(r)}`,
  },
];

const fallback: Rule = {
  kind: 'invalidRequest',
  when: () => true,
  say: (r) => {
    const fields = namedFields(r.body.param);
    const about = fields.length > 0 ? ` because of ${list(fields)}` : '';
    return `The service refused the request${about}${statusOf(r) ? ` (${statusOf(r)})` : ''}.${quote(r) || ' It did not say why.'}`;
  },
};

const creditWords =
  /insufficient[_ -]?(?:credits?|quota|funds?|balance)|out of credits?|credit balance|exceeded your current quota/i;

/** The status, or what stands for it in a body that came without one. Never `code` where a status exists: they differ. */
function statusOf({ status, body }: Refusal): number | undefined {
  if (status !== undefined && status >= 400) return status;
  const code = Number(body.code);
  return Number.isInteger(code) && code >= 400 && code <= 599 ? code : undefined;
}

function allWords({ body }: Refusal): string {
  return [body.errorType, body.code, body.message].filter(Boolean).join(' ');
}

function unknownModel(r: Refusal): boolean {
  if (r.body.code === 'model_not_found' || /model_?not_?found/i.test(r.body.errorType ?? '')) return true;
  const said = r.body.message ?? '';
  if (statusOf(r) === 404) return r.body.param === 'model' || /\bmodel\b/i.test(said) || mentions(said, r.model);
  return (
    statusOf(r) === 400 && /\bmodel\b.*(?:does not exist|not found|unknown|not available)|unknown model/i.test(said)
  );
}

function mentions(said: string, model: string | undefined): boolean {
  return model !== undefined && model !== '' && said.includes(model);
}

function overflowSentence(r: Refusal): string {
  const { limit, requested } = readContextOverflow(r.body.message ?? '');
  const what = 'The conversation is too long for this model';
  const help = 'Start a new chat, send less, or ask for a shorter answer.';
  if (limit === undefined) return `${what}. ${help}${quote(r)}`;
  const numbers =
    requested === undefined ? `at most ${count(limit)}` : `${count(requested)} were asked of ${count(limit)}`;
  return `${what}: ${numbers} tokens. ${help}`;
}

function modelWords({ model }: Refusal): string {
  return model ? `The model "${model}"` : 'This model';
}

function quote({ body }: Refusal): string {
  return body.message === undefined ? '' : ` It said: ${body.message}`;
}

function namedFields(param: string | undefined): string[] {
  return (param ?? '').split(/[\s,]+/).filter((field) => field !== '');
}

function factsOf({ status, body, retryAfterMs }: Refusal): ErrorFacts {
  const { code, errorType, param, message, traceId } = body;
  const { limit, requested } = isContextOverflow(message ?? '') ? readContextOverflow(message ?? '') : {};
  return {
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { code }),
    ...(errorType === undefined ? {} : { errorType }),
    ...(param === undefined ? {} : { param }),
    ...(message === undefined ? {} : { serverMessage: message }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(traceId === undefined ? {} : { traceId }),
    ...(limit === undefined ? {} : { contextLimit: limit }),
    ...(requested === undefined ? {} : { contextRequested: requested }),
  };
}
