import * as l10n from '@vscode/l10n';
import { type ErrorDetails, type ErrorKind, RolecallError } from '../base/errors.ts';
import { formatCount, formatList, formatSeconds } from '../base/text.ts';
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
  const quoted = row.quotes?.(refusal) === false ? undefined : quote(refusal);
  const sentences = [row.what(refusal), row.step(refusal), quoted].filter((sentence) => sentence !== undefined);
  return new RolecallError(row.kind, sentences.join(' '), { details: factsOf(refusal) });
}

interface Rule {
  readonly kind: ErrorKind;
  when(refusal: ErrorResponse): boolean;
  /** What happened, as a sentence. */
  what(refusal: ErrorResponse): string;
  /** What helps, as a sentence. */
  step(refusal: ErrorResponse): string;
  /** False where the service's own message would only repeat this one. Absent: it is quoted. */
  quotes?(refusal: ErrorResponse): boolean;
}

/** The first row that matches decides. Rows about the body come before rows about the status alone. */
const rules: readonly Rule[] = [
  {
    kind: 'credit',
    when: (r) => statusOf(r) === 402 || creditWords.test(allWords(r)),
    what: () => l10n.t('The account has no credit left for this model.'),
    step: () => l10n.t('Add credit, or pick another model.'),
  },
  {
    kind: 'signedOut',
    when: (r) => statusOf(r) === 401 || saysSignedOut(r),
    what: () => l10n.t('The inference service no longer accepts your sign-in.'),
    step: () => l10n.t('Sign in again.'),
    quotes: (r) => r.status === 403, // Some services reject the model this way, whatever their code says.
  },
  {
    kind: 'rateLimited',
    when: (r) => statusOf(r) === 429 || /^rate_?limit/i.test(r.body.errorType ?? ''),
    what: () => l10n.t('Too many requests.'),
    step: (r) =>
      r.retryAfterMs
        ? l10n.t('Wait {0}, then try again.', formatSeconds(r.retryAfterMs))
        : l10n.t('Wait a moment, then try again.'),
  },
  {
    kind: 'invalidRequest',
    when: (r) => statusOf(r) === 415,
    what: () => l10n.t('The service does not accept this kind of request (415).'),
    step: () => l10n.t('Remove any images, or check the address of the inference service.'),
  },
  {
    kind: 'unsupported',
    when: (r) => unsupportedValue(r) && namedFields(r.body.param).length > 0,
    what: (r) =>
      r.model
        ? l10n.t('The model "{0}" does not support this value of {1}.', r.model, fieldList(r))
        : l10n.t('This model does not support this value of {0}.', fieldList(r)),
    step: (r) => l10n.t('Change or remove {0}, or pick another model.', fieldList(r)),
  },
  {
    kind: 'unsupported',
    when: (r) => /unsupported/i.test(`${r.body.errorType} ${r.body.code}`),
    what: unsupportedRequest,
    step: (r) =>
      fieldList(r) === ''
        ? l10n.t('Change the request, or pick another model.')
        : l10n.t('Remove {0}, or pick another model.', fieldList(r)),
  },
  {
    kind: 'server',
    when: (r) => [502, 503, 504, 529].includes(statusOf(r) ?? 0),
    what: (r) => l10n.t('The inference service is temporarily unavailable ({0}).', statusOf(r) ?? ''),
    step: () => l10n.t('Try again in a moment.'),
  },
  {
    kind: 'unsupported',
    when: (r) => refusesTools(r.body.message ?? ''),
    what: (r) =>
      r.model
        ? l10n.t('The model "{0}" does not support tools.', r.model)
        : l10n.t('This model does not support tools.'),
    step: () => l10n.t('Pick another model, or disable the tools.'),
  },
  {
    kind: 'contextOverflow',
    when: (r) => r.body.code === 'context_length_exceeded' || isContextOverflow(r.body.message ?? ''),
    what: overflow,
    step: () => l10n.t('Start a new chat, send less, or ask for a shorter answer.'),
    quotes: (r) => readContextOverflow(r.body.message ?? '').limit === undefined,
  },
  {
    kind: 'notFound',
    when: (r) => unknownModel(r),
    what: (r) =>
      r.model
        ? l10n.t('The model "{0}" does not exist, or you do not have access to it.', r.model)
        : l10n.t('This model does not exist, or you do not have access to it.'),
    step: () => l10n.t('Pick another model.'),
  },
  {
    kind: 'notFound',
    when: (r) => [404, 405, 410].includes(statusOf(r) ?? 0),
    what: (r) =>
      r.url
        ? l10n.t('No chat completion service was found at {0}.', r.url)
        : l10n.t('No chat completion service was found at this address.'),
    step: () => l10n.t('Check the address of the inference service.'),
  },
  {
    kind: 'forbidden',
    when: (r) => statusOf(r) === 403,
    what: (r) =>
      r.model
        ? l10n.t('This account does not have permission to use the model "{0}".', r.model)
        : l10n.t('This account does not have permission to use this model.'),
    step: () => l10n.t('Pick another model, or ask an administrator for access.'),
  },
  {
    kind: 'invalidRequest',
    when: (r) => statusOf(r) === 413,
    what: () => l10n.t('The request is too large for the service.'),
    step: () => l10n.t('Send less text or fewer images.'),
  },
  {
    kind: 'server',
    when: (r) => statusOf(r) === 408,
    what: () => l10n.t('The service did not receive the whole request in time (408).'),
    step: () => l10n.t('Check the network and try again.'),
  },
  {
    kind: 'server',
    when: (r) =>
      (statusOf(r) ?? 500) >= 500 &&
      (r.body.errorType === undefined || !/invalid|bad_?request/i.test(r.body.errorType)),
    what: (r) => {
      const status = statusOf(r);
      return status === undefined
        ? l10n.t('The inference service failed.')
        : l10n.t('The inference service failed ({0}).', status);
    },
    step: () => l10n.t('Try again.'),
  },
];

const fallback: Rule = {
  kind: 'invalidRequest',
  when: () => true,
  what: (r) => {
    const fields = fieldList(r);
    const status = statusOf(r);
    if (fields !== '') {
      return status === undefined
        ? l10n.t('The service rejected the request because of {0}.', fields)
        : l10n.t('The service rejected the request ({1}) because of {0}.', fields, status);
    }
    if (r.body.message === undefined) {
      return status === undefined
        ? l10n.t('The service rejected the request without giving a reason.')
        : l10n.t('The service rejected the request without giving a reason ({0}).', status);
    }
    return status === undefined
      ? l10n.t('The service rejected the request.')
      : l10n.t('The service rejected the request ({0}).', status);
  },
  step: (r) =>
    fieldList(r) === ''
      ? l10n.t('Check your parameters, or pick another model.')
      : l10n.t('Correct {0} and try again, or pick another model.', fieldList(r)),
};

const creditWords =
  /insufficient[_ -]?(?:credits?|quota|funds?|balance)|out of credits?|credit balance|exceeded your current quota/i;

/** The status, or its equivalent in a body without one. Never `code` where there is a status: they differ. */
function statusOf({ status, body }: ErrorResponse): number | undefined {
  if (status !== undefined && status >= 400) return status;
  const code = Number(body.code);
  return Number.isInteger(code) && code >= 400 && code <= 599 ? code : undefined;
}

function allWords({ body }: ErrorResponse): string {
  return [body.errorType, body.code, body.message].filter(Boolean).join(' ');
}

/** Some services, and gateways in front of them, report an invalid token with a status other than 401. */
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
  const message = r.body.message ?? '';
  if (statusOf(r) === 404) {
    return (
      r.body.isSpecified === true ||
      r.body.param === 'model' ||
      /\bmodel\b/i.test(message) ||
      mentions(message, r.model)
    );
  }
  return (
    statusOf(r) === 400 && /\bmodel\b.*(?:does not exist|not found|unknown|not available)|unknown model/i.test(message)
  );
}

function mentions(message: string, model: string | undefined): boolean {
  return model !== undefined && model !== '' && message.includes(model);
}

function overflow({ body }: ErrorResponse): string {
  const { limit, requested } = readContextOverflow(body.message ?? '');
  if (limit === undefined) return l10n.t('The conversation is too long for this model.');
  return requested === undefined
    ? l10n.t('The conversation is too long for this model: the limit is {0} tokens.', formatCount(limit))
    : l10n.t(
        'The conversation is too long for this model: {0} tokens requested, the limit is {1}.',
        formatCount(requested),
        formatCount(limit),
      );
}

/** True when the service knows the field and rejects only its value. */
function unsupportedValue({ body }: ErrorResponse): boolean {
  return /unsupported_?value/i.test(`${body.errorType} ${body.code}`);
}

function unsupportedRequest(r: ErrorResponse): string {
  const fields = fieldList(r);
  if (fields === '') {
    return r.model
      ? l10n.t('The model "{0}" does not support this request.', r.model)
      : l10n.t('This model does not support this request.');
  }
  return r.model
    ? l10n.t('The model "{0}" does not support {1}.', r.model, fields)
    : l10n.t('This model does not support {0}.', fields);
}

function quote({ body }: ErrorResponse): string | undefined {
  return body.message === undefined ? undefined : l10n.t('Server response: {0}', body.message);
}

/** The request fields that the service names; empty when it names none. */
function fieldList({ body }: ErrorResponse): string {
  return formatList(namedFields(body.param));
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
