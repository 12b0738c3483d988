import type { RolecallError } from '../base/errors.ts';
import { seconds } from '../base/text.ts';
import type { Notice } from './completion.ts';
import type { FittedRequest } from './fitted.ts';
import { belongsTo, type OwnField, ownFields, refusedFields, withoutRefused } from './ownFields.ts';
import type { CompletionRequest } from './request.ts';

/** What may be sent again, and why. */
export interface Attempt {
  readonly request: CompletionRequest;
  readonly token: string;
}

/** What the rules of sending again are given. */
export interface RetryRules {
  /** Those of `ownFields` that the person did not write into the request. */
  readonly own: readonly OwnField[];
  /** The longest time a service may ask to wait, in milliseconds; 0 for never. */
  readonly longestWaitMs: number;
  /** A newer token than the one that was rejected, if there is one. */
  newerToken(token: string): Promise<string | undefined>;
  /** A shorter request, after a refusal because of its length; `undefined` when nothing can be left out. */
  shorter(error: RolecallError, request: CompletionRequest): FittedRequest | undefined;
  /** Told which of our fields a model refused, so that it is not asked with them again. */
  refused(fields: readonly OwnField[]): void;
}

/** The next attempt, what to tell about it, and how long to wait first. */
export interface Again extends Attempt {
  readonly notices?: readonly Notice[];
  readonly waitMs?: number;
}

const MAX_WAITS = 2;

/**
 * Decides whether a refused request is sent once more. Only a refusal that changes something is a reason, each once: a
 * newer token, fields of ours left out, a shorter history; and waiting where the service says how long. A completion costs
 * money and is never repeated on a guess, so network errors and 5xx are the user's to retry.
 */
export class RetryPolicy {
  readonly #rules: RetryRules;
  readonly #spent = new Set<string>();
  #waits = 0;

  constructor(rules: RetryRules) {
    this.#rules = rules;
  }

  /** @param error what the last attempt threw before anything of an answer came. */
  async next(error: RolecallError, last: Attempt): Promise<Again | undefined> {
    if (error.kind === 'signedOut') return this.#withNewerToken(last);
    if (error.kind === 'rateLimited') return this.#afterWaiting(error, last);
    if (error.kind === 'contextOverflow') return this.#shorter(error, last);
    return this.#withoutOwnFields(error, last);
  }

  async #withNewerToken(last: Attempt): Promise<Again | undefined> {
    if (!this.#once('token')) return undefined;
    const token = await this.#rules.newerToken(last.token);
    return token === undefined ? undefined : { ...last, token };
  }

  #afterWaiting({ facts }: RolecallError, last: Attempt): Again | undefined {
    const waitMs = facts.retryAfterMs;
    const { longestWaitMs } = this.#rules;
    if (waitMs === undefined || longestWaitMs === 0 || waitMs > longestWaitMs) return undefined;
    if (this.#waits >= MAX_WAITS) return undefined;
    this.#waits++;
    const message = `Too many requests. Sending again in ${seconds(waitMs)}, as the service asked.`;
    return { ...last, waitMs, notices: [{ code: 'waiting', message }] };
  }

  #shorter(error: RolecallError, last: Attempt): Again | undefined {
    if (!this.#once('length')) return undefined;
    const shorter = this.#rules.shorter(error, last.request);
    return shorter && { ...last, ...shorter };
  }

  #withoutOwnFields(error: RolecallError, last: Attempt): Again | undefined {
    const { own } = this.#rules;
    const refused = withTools(error, refusedFields(error, this.#mayGo(last.request)) as OwnField[], own);
    const { request, notices } = withoutRefused(last.request, refused, own);
    const isLeft = refused.some((field) => request[field] !== undefined && field !== 'stream');
    if (refused.length === 0 || isLeft || !this.#once(refused.join())) return undefined;
    this.#rules.refused(refused);
    return { ...last, request, notices };
  }

  /** What belongs to a field of ours may be refused beside it, whoever set it. */
  #mayGo(request: CompletionRequest): OwnField[] {
    const { own } = this.#rules;
    return ownFields.filter((field) => {
      const whole = belongsTo[field];
      return request[field] !== undefined && (own.includes(field) || (whole !== undefined && own.includes(whole)));
    });
  }

  #once(reason: string): boolean {
    if (this.#spent.has(reason)) return false;
    this.#spent.add(reason);
    return true;
  }
}

/** Prose about "tool choice" is how servers say that tools are switched off; named alone it is only the field. */
function withTools({ facts }: RolecallError, refused: readonly OwnField[], own: readonly OwnField[]): OwnField[] {
  const isProse = refused.includes('tool_choice') && facts.param === undefined;
  return isProse && own.includes('tools') ? [...new Set([...refused, 'tools' as const])] : [...refused];
}
