import {
  type ErrorDetails,
  type ErrorKind,
  formatCount,
  formatList,
  formatSeconds,
  RolecallError,
} from '../base/errors.ts';
import { type ErrorBody, isContextOverflow, readContextOverflow } from './errorBody.ts';
import { namedFields, refusesTools } from './retry.ts';

/** What is known about a refused request besides the body of the answer. */
export interface ErrorResponse {
  /** HTTP status; absent for an error in the middle of a stream. */
  readonly status?: number;
  readonly body: ErrorBody;
  /** The model that was asked for, as the service knows it. */
  readonly model?: string;
  readonly retryAfterMs?: number;
  /** Where the request went, without a query: shown when nothing seems to be there. */
  readonly url?: string;
}

/** An error of the service as one sentence about what happened and one about what helps. */
export function errorOfResponse(refusal: ErrorResponse): RolecallError {
  const row = rules.find((rule) => rule.when(refusal)) ?? fallback;
  const said = row.quotes?.(refusal) === false ? '' : quote(refusal);
  return new RolecallError(row.kind, `${row.what(refusal)} ${row.step(refusal)}${said}`, { details: factsOf(refusal) });
}

interface Rule {
  readonly kind: ErrorKind;
  when(refusal: ErrorResponse): boolean;
  /** What happened, as a sentence. */
  what(refusal: ErrorResponse): string;
  /** What helps, as a sentence. */
  step(refusal: ErrorResponse): string;
  /** False where the service's own words would say the same once more; they are quoted unless this is given. */
  quotes?(refusal: ErrorResponse): boolean;
}

/** The first row that matches decides. Rows about the body stand before rows about the status alone. */
const rules: readonly Rule[] = [
  {
    kind: 'credit',
    when: (r) => statusOf(r) === 402 || creditWords.test(allWords(r)),
    what: () => 'The account has no credit left for this model.',
    step: () => 'Top it up, or pick a model that it can pay for.',
  },
  {
    kind: 'signedOut',
    when: (r) => statusOf(r) === 401 || saysSignedOut(r),
    what: () => 'The inference service does not accept the sign-in any more.',
    step: () => 'Sign in again.',
    quotes: (r) => r.status === 403, // Some services mean the model by that, whatever their code says.
  },
  {
    kind: 'rateLimited',
    when: (r) => statusOf(r) === 429 || /^rate_?limit/i.test(r.body.errorType ?? ''),
    what: () => 'Too many requests.',
    step: (r) => `${r.retryAfterMs ? `Wait ${formatSeconds(r.retryAfterMs)}` : 'Wait a moment'}, then try again.`,
  },
  {
    kind: 'invalidRequest',
    when: (r) => statusOf(r) === 415,
    what: () => 'The service does not take requests of this form (415).',
    step: () => 'Send no images, or check the address of the inference service.',
  },
  {
    kind: 'unsupported',
    when: (r) => unsupportedValue(r) && namedFields(r.body.param).length > 0,
    what: (r) => `${modelWords(r)} does not support this value of ${formatList(namedFields(r.body.param))}.`,
    step: (r) => `Change ${itOrThem(r)} or leave ${itOrThem(r)} out, or pick another model.`,
  },
  {
    kind: 'unsupported',
    when: (r) => /unsupported/i.test(`${r.body.errorType} ${r.body.code}`),
    what: (r) => `${modelWords(r)} does not support ${formatList(namedFields(r.body.param)) || 'this request'}.`,
    step: (r) =>
      `${namedFields(r.body.param).length > 0 ? `Leave ${itOrThem(r)} out` : 'Ask for something else'}, or pick another model.`,
  },
  {
    kind: 'server',
    when: (r) => [502, 503, 504, 529].includes(statusOf(r) ?? 0),
    what: (r) => `The inference service is not available just now (${statusOf(r)}).`,
    step: () => 'Try again in a moment.',
  },
  {
    kind: 'unsupported',
    when: (r) => refusesTools(r.body.message ?? ''),
    what: (r) => `${modelWords(r)} does not support tools.`,
    step: () => 'Pick another model, or switch the tools off.',
  },
  {
    kind: 'contextOverflow',
    when: (r) => r.body.code === 'context_length_exceeded' || isContextOverflow(r.body.message ?? ''),
    what: (r) => `The conversation is too long for this model${overflowNumbers(r)}.`,
    step: () => 'Start a new chat, send less, or ask for a shorter answer.',
    quotes: (r) => overflowNumbers(r) === '',
  },
  {
    kind: 'notFound',
    when: (r) => unknownModel(r),
    what: (r) => `The service has no model ${r.model ? `"${r.model}"` : 'of this name'}, or it is not open to you.`,
    step: () => 'Pick another model.',
  },
  {
    kind: 'notFound',
    when: (r) => [404, 405, 410].includes(statusOf(r) ?? 0),
    what: (r) => `There is no chat completion service${r.url ? ` at ${r.url}` : ' here'}.`,
    step: () => 'Check the address of the inference service.',
  },
  {
    kind: 'forbidden',
    when: (r) => statusOf(r) === 403,
    what: (r) => `The service does not let this account use ${r.model ? `the model "${r.model}"` : 'this model'}.`,
    step: () => 'Pick another model, or ask an administrator for access to it.',
  },
  {
    kind: 'invalidRequest',
    when: (r) => statusOf(r) === 413,
    what: () => 'The request is too large for the service.',
    step: () => 'Send less text or fewer images.',
  },
  {
    kind: 'server',
    when: (r) => statusOf(r) === 408,
    what: () => 'The service did not get the whole request in time (408).',
    step: () => 'Check the network and try again.',
  },
  {
    kind: 'server',
    when: (r) =>
      (statusOf(r) ?? 500) >= 500 &&
      (r.body.errorType === undefined || !/invalid|bad_?request/i.test(r.body.errorType)),
    what: (r) => `The inference service failed${inBrackets(r)}.`,
    step: () => 'Try again.',
  },
];

const fallback: Rule = {
  kind: 'invalidRequest',
  when: () => true,
  what: (r) => {
    const fields = namedFields(r.body.param);
    const about = fields.length > 0 ? ` because of ${formatList(fields)}` : '';
    const reason = r.body.message === undefined ? ' and did not say why' : '';
    return `The service refused the request${about}${inBrackets(r)}${reason}.`;
  },
  step: (r) =>
    namedFields(r.body.param).length > 0
      ? `Correct ${itOrThem(r)} and try again, or pick another model.`
      : 'Check the parameters that are set, or pick another model.',
};

const creditWords =
  /insufficient[_ -]?(?:credits?|quota|funds?|balance)|out of credits?|credit balance|exceeded your current quota/i;

/** The status, or what stands for it in a body that came without one. Never `code` where a status exists: they differ. */
function statusOf({ status, body }: ErrorResponse): number | undefined {
  if (status !== undefined && status >= 400) return status;
  const code = Number(body.code);
  return Number.isInteger(code) && code >= 400 && code <= 599 ? code : undefined;
}

function allWords({ body }: ErrorResponse): string {
  return [body.errorType, body.code, body.message].filter(Boolean).join(' ');
}

/** Some services, and gateways before them, tell of a token that is not valid with another status than 401. */
function saysSignedOut({ status, body }: ErrorResponse): boolean {
  const isPlausible = status === undefined || status < 400 || status === 400 || status === 403;
  if (!isPlausible) return false;
  if ([body.code, body.errorType].some((word) => word !== undefined && signedOutWord.test(word))) return true;
  return signedOutWord.test(body.message ?? '') || (status === 400 && /authorization header/i.test(body.message ?? ''));
}

const signedOutWord =
  /^(?:401|access_denied|unauthori[sz]ed|unauthenticated|(?:invalid|expired)_(?:access_)?token|token_expired|authentication_?error|invalid_(?:api_key|authentication))\.?$/i;

function unknownModel(r: ErrorResponse): boolean {
  if (r.body.code === 'model_not_found' || /model_?not_?found/i.test(r.body.errorType ?? '')) return true;
  const said = r.body.message ?? '';
  if (statusOf(r) === 404) {
    return (
      r.body.isSpecified === true || r.body.param === 'model' || /\bmodel\b/i.test(said) || mentions(said, r.model)
    );
  }
  return (
    statusOf(r) === 400 && /\bmodel\b.*(?:does not exist|not found|unknown|not available)|unknown model/i.test(said)
  );
}

function mentions(said: string, model: string | undefined): boolean {
  return model !== undefined && model !== '' && said.includes(model);
}

function overflowNumbers({ body }: ErrorResponse): string {
  const { limit, requested } = readContextOverflow(body.message ?? '');
  if (limit === undefined) return '';
  return requested === undefined
    ? `: at most ${formatCount(limit)} tokens`
    : `: ${formatCount(requested)} were asked of ${formatCount(limit)} tokens`;
}

/** True when the service knows the field and minds only what stands in it. */
function unsupportedValue({ body }: ErrorResponse): boolean {
  return /unsupported_?value/i.test(`${body.errorType} ${body.code}`);
}

function modelWords({ model }: ErrorResponse): string {
  return model ? `The model "${model}"` : 'This model';
}

function quote({ body }: ErrorResponse): string {
  return body.message === undefined ? '' : ` It said: ${body.message}`;
}

function inBrackets(r: ErrorResponse): string {
  const status = statusOf(r);
  return status === undefined ? '' : ` (${status})`;
}

function itOrThem(r: ErrorResponse): string {
  return namedFields(r.body.param).length > 1 ? 'them' : 'it';
}

function factsOf({ status, body, retryAfterMs }: ErrorResponse): ErrorDetails {
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
