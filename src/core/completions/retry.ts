import type { RolecallError } from '../base/errors.ts';
import type { Notice } from './completion.ts';
import { refusesFields } from './errors.ts';
import type { CompletionRequest } from './request.ts';
import { seconds } from './words.ts';

/** What may be sent again, and why. */
export interface Attempt {
  readonly request: CompletionRequest;
  readonly token: string;
}

/** What the rules of sending again are given. */
export interface RetryRules {
  /** `stream_options` is ours and not the user's. */
  readonly ownStreamOptions: boolean;
  /** The tools are an offer of ours, which the user did not write into the request. */
  readonly toolsAreOptional: boolean;
  /** The longest time a service may ask to wait, in milliseconds; 0 for never. */
  readonly longestWaitMs: number;
  /** A newer token than the one that was rejected, if there is one. */
  newerToken(token: string): Promise<string | undefined>;
}

/** The next attempt, what to tell about it, and how long to wait first. */
export interface Again extends Attempt {
  readonly notice?: Notice;
  readonly waitMs?: number;
}

const MAX_WAITS = 2;

/**
 * Decides whether a refused request is sent once more. Only a refusal that changes something is a reason, each once: a
 * newer token, `stream_options` left out, tools left out; and waiting where the service says how long. A completion costs
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
    return this.#withoutStreamOptions(error, last) ?? this.#withoutTools(error, last);
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
    return { ...last, waitMs, notice: { code: 'waiting', message } };
  }

  #withoutStreamOptions(error: RolecallError, last: Attempt): Again | undefined {
    const { stream_options, ...request } = last.request;
    if (!this.#rules.ownStreamOptions || stream_options === undefined) return undefined;
    if (!refusesFields(error, ['stream_options', 'stream_options.include_usage', 'include_usage'])) return undefined;
    if (!this.#once('stream_options')) return undefined;
    const message = 'The service does not report how many tokens a streamed answer used.';
    return { ...last, request, notice: { code: 'streamOptionsDropped', message } };
  }

  #withoutTools(error: RolecallError, last: Attempt): Again | undefined {
    const { tools, tool_choice: _, ...request } = last.request;
    if (!this.#rules.toolsAreOptional || !tools || tools.length === 0) return undefined;
    if (!refusesFields(error, ['tools', 'tool_choice'])) return undefined;
    if (!this.#once('tools')) return undefined;
    const message = `The model "${request.model}" does not support tools, so it was asked without them.`;
    return { ...last, request, notice: { code: 'toolsDropped', message } };
  }

  #once(reason: string): boolean {
    if (this.#spent.has(reason)) return false;
    this.#spent.add(reason);
    return true;
  }
}
