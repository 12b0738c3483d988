import * as l10n from '@vscode/l10n';
import type { RolecallError } from '../base/errors.ts';
import { formatSeconds } from '../base/text.ts';
import type { Notice } from './completion.ts';
import type { PreparedRequest } from './history.ts';
import { type CompletionParameters, type CompletionRequest, type OptionalField, optionalFields } from './request.ts';

/** One try to send a request. */
export interface RequestAttempt {
  readonly request: CompletionRequest;
  readonly token: string;
}

/** What the retry policy needs from the request and the client. */
export interface RetryRules {
  /** Those of `optionalFields` that the user did not set in the request. */
  readonly own: readonly OptionalField[];
  /** The longest time a service may ask to wait, in milliseconds; 0 for never. */
  readonly longestWaitMs: number;
  /** A newer token than the one that was rejected, if there is one. */
  newerToken(token: string): Promise<string | undefined>;
  /** A shorter request, after one was refused as too long; `undefined` when nothing can be left out. */
  shorter(error: RolecallError, request: CompletionRequest): PreparedRequest | undefined;
  /** Called with those of our fields that a model refused, so that they are not sent to it again. */
  refused(fields: readonly OptionalField[]): void;
}

/** The next attempt, the notices about it, and how long to wait first. */
export interface RetryDecision extends RequestAttempt {
  readonly notices?: readonly Notice[];
  readonly waitMs?: number;
}

const MAX_WAITS = 2;

/**
 * Decides whether a refused request is sent once more. That happens only after a change, once for each kind: a newer
 * token, fields of ours left out, a shorter history; or after a pause whose length the service names. A completion
 * costs money and is never repeated on a guess, so after network errors and 5xx the user decides.
 */
export class CompletionRetryPolicy {
  readonly #rules: RetryRules;
  readonly #spent = new Set<string>();
  #waits = 0;

  constructor(rules: RetryRules) {
    this.#rules = rules;
  }

  /** @param error thrown by the last attempt before any part of an answer came. */
  async next(error: RolecallError, last: RequestAttempt): Promise<RetryDecision | undefined> {
    if (error.kind === 'signedOut') return this.#withNewerToken(last);
    if (error.kind === 'rateLimited') return this.#afterWaiting(error, last);
    if (error.kind === 'contextOverflow') return this.#shorter(error, last);
    return this.#withoutOwnFields(error, last);
  }

  async #withNewerToken(last: RequestAttempt): Promise<RetryDecision | undefined> {
    if (!this.#once('token')) return undefined;
    const token = await this.#rules.newerToken(last.token);
    return token === undefined ? undefined : { ...last, token };
  }

  #afterWaiting({ details }: RolecallError, last: RequestAttempt): RetryDecision | undefined {
    const waitMs = details.retryAfterMs;
    const { longestWaitMs } = this.#rules;
    if (waitMs === undefined || longestWaitMs === 0 || waitMs > longestWaitMs) return undefined;
    if (this.#waits >= MAX_WAITS) return undefined;
    this.#waits++;
    const message = l10n.t('Too many requests. Trying again in {0}, as the service requested.', formatSeconds(waitMs));
    return { ...last, waitMs, notices: [{ code: 'waiting', message }] };
  }

  #shorter(error: RolecallError, last: RequestAttempt): RetryDecision | undefined {
    if (!this.#once('length')) return undefined;
    const shorter = this.#rules.shorter(error, last.request);
    return shorter && { ...last, ...shorter };
  }

  #withoutOwnFields(error: RolecallError, last: RequestAttempt): RetryDecision | undefined {
    const { own } = this.#rules;
    const refused = withTools(error, refusedFields(error, this.#mayGo(last.request)) as OptionalField[], own);
    const { request, notices } = dropRefusedFields(last.request, refused, own);
    const isLeft = refused.some((field) => request[field] !== undefined && field !== 'stream');
    if (refused.length === 0 || isLeft || !this.#once(refused.join())) return undefined;
    this.#rules.refused(refused);
    return { ...last, request, notices };
  }

  /** A field that depends on one of ours may be refused with it, even if the user set it. */
  #mayGo(request: CompletionRequest): OptionalField[] {
    const { own } = this.#rules;
    return optionalFields.filter((field) => {
      const whole = fieldDependencies[field];
      return request[field] !== undefined && (own.includes(field) || (whole !== undefined && own.includes(whole)));
    });
  }

  #once(reason: string): boolean {
    if (this.#spent.has(reason)) return false;
    this.#spent.add(reason);
    return true;
  }
}

/** Prose about "tool choice" means that tools are turned off; the bare parameter name means only that field. */
function withTools(
  { details }: RolecallError,
  refused: readonly OptionalField[],
  own: readonly OptionalField[],
): OptionalField[] {
  const isProse = refused.includes('tool_choice') && details.param === undefined;
  return isProse && own.includes('tools') ? [...new Set([...refused, 'tools' as const])] : [...refused];
}

/** The field that another one depends on. */
export const fieldDependencies: Partial<Readonly<Record<OptionalField, OptionalField>>> = {
  stream_options: 'stream',
  tool_choice: 'tools',
};

/** The optional fields that the user left to Rolecall; tools only where Rolecall offers them. */
export function optionalFieldsOf(parameters: CompletionParameters, toolsAreOptional: boolean): OptionalField[] {
  return optionalFields.filter((field) => {
    if (field === 'tools') return toolsAreOptional;
    return parameters[field] === undefined && (field !== 'tool_choice' || toolsAreOptional);
  });
}

/**
 * The fields to drop when a model refuses `refused`: those of `own`, and `tool_choice` with its tools. Where only the
 * choice is refused and it is "none", the tools are dropped with it, which means the same. `stream_options`, whoever
 * set them, are dropped with the stream: servers refuse them without one, unless they are null.
 */
export function fieldsToDrop(
  refused: readonly OptionalField[],
  own: readonly OptionalField[],
  { stream, stream_options, tool_choice }: CompletionParameters,
): OptionalField[] {
  const isNone = tool_choice === 'none' && refused.includes('tool_choice');
  const droppedFields = own.filter((field) => refused.includes(field));
  const goesWithStream =
    stream === false ? Boolean(stream_options) : droppedFields.includes('stream') && stream_options !== null;
  if (goesWithStream) droppedFields.push('stream_options');
  if (droppedFields.includes('tools') || (isNone && own.includes('tools'))) droppedFields.push('tools', 'tool_choice');
  return [...new Set(droppedFields)];
}

/** `request` without the fields that the model refuses, as far as they can be dropped, and the notices about them. */
export function dropRefusedFields(
  request: CompletionRequest,
  refused: readonly OptionalField[],
  own: readonly OptionalField[],
): { readonly request: CompletionRequest; readonly notices: readonly Notice[] } {
  const droppedFields = fieldsToDrop(refused, own, request).filter((field) => request[field] !== undefined);
  return {
    request: withoutFields(request, droppedFields),
    notices: noticesOf(droppedFields, refused, own, request.model),
  };
}

/** Without `stream` a request asks for the answer in one piece, which is what that means. */
function withoutFields(request: CompletionRequest, fields: readonly OptionalField[]): CompletionRequest {
  const kept = Object.entries(request).filter(([name]) => !fields.includes(name as OptionalField));
  return {
    ...(Object.fromEntries(kept) as unknown as CompletionRequest),
    ...(fields.includes('stream') && { stream: false }),
  };
}

function noticesOf(
  gone: readonly OptionalField[],
  refused: readonly OptionalField[],
  own: readonly OptionalField[],
  model: string,
): Notice[] {
  const notices: Notice[] = [];
  if (gone.includes('stream')) {
    const message = l10n.t('The model "{0}" does not support streaming, so its answer arrives all at once.', model);
    notices.push({ code: 'streamDropped', message });
  } else if (gone.includes('stream_options') && refused.includes('stream_options')) {
    const message = l10n.t('The service does not report token counts for streamed answers.');
    notices.push({ code: 'streamOptionsDropped', message });
  }
  if (gone.includes('stream_options') && !own.includes('stream_options')) {
    const message = l10n.t('stream_options was not sent because this answer is not streamed.');
    notices.push({ code: 'parameterLeftOut', message });
  }
  if (gone.includes('tools')) {
    const message = refused.includes('tools')
      ? l10n.t('The model "{0}" does not support tools, so none were sent.', model)
      : l10n.t('The model "{0}" does not support tool_choice. Because it is set to "none", no tools were sent.', model);
    notices.push({ code: 'toolsDropped', message });
  }
  return notices;
}

/**
 * The fields in `own` that the service refused because the model does not have them. Empty when it also refused
 * anything else, since leaving out ours would not help then, or when it rejects a value and not the field.
 *
 * @returns names out of `own`; `include_usage` counts as the `stream_options` that contain it.
 */
export function refusedFields(error: RolecallError, own: readonly string[]): string[] {
  if (error.kind !== 'unsupported' && error.kind !== 'invalidRequest') return [];
  const message = error.details.serverMessage ?? '';
  const tools = own.includes('tools') && refusesTools(message) ? ['tools'] : [];
  const named = namedFields(error.details.param)
    .map((field) => aliases[field] ?? field)
    .filter((field) => tools.length === 0 || field !== 'model');
  if (!named.every((field) => own.includes(field))) return [];
  // A field may also be named because its value is wrong, which leaving it out would only hide.
  if (named.length > 0) {
    return error.kind === 'unsupported' || message === '' || refusal.test(message)
      ? [...new Set([...named, ...tools])]
      : [];
  }
  const inProse = own.filter((field) => new RegExp(`\\b${field.replace('_', '[_ ]')}\\b`).test(message));
  return [...new Set([...(refusal.test(message) ? inProse : []), ...tools])];
}

/** True when a service reports in prose that the model, or its server, does not support tools. */
export function refusesTools(message: string): boolean {
  return toolRefusals.some((pattern) => pattern.test(message));
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
