import { withTimeout } from '../base/abort.ts';
import { asRolecallError, type RolecallError } from '../base/errors.ts';
import { type CompletionOptions, streamCompletion } from '../completions/client.ts';
import type { Completion, CompletionEvent } from '../completions/completion.ts';
import type { InferenceConnection, InferenceDeps } from '../completions/endpoint.ts';
import type { CompletionRequest } from '../completions/request.ts';
import { type Recording, recordingFetch } from './recordingFetch.ts';
import type { RequestQueue } from './requestQueue.ts';
import type { RawEvent, Timings } from './runResults.ts';

/** How the inference service is asked. */
export interface PromptClientDeps {
  readonly inference: InferenceDeps;
  readonly connection: InferenceConnection;
  readonly options?: CompletionOptions;
  /** Milliseconds that never run backwards. */
  readonly now?: () => number;
}

/** What was sent, and what came of it. */
export interface Exchange {
  /** As it was sent; absent where nothing was. */
  readonly body?: string;
  /** Whole, or as much as came; absent where nothing did. */
  readonly completion?: Completion;
  readonly error?: RolecallError;
  readonly timings?: Timings;
  readonly events?: readonly RawEvent[];
}

export interface SendOptions {
  /** Keeps the events of the service with their times. */
  readonly withEvents?: boolean;
  /** Told of the body as it is sent, each time. */
  readonly onSend?: (body: string) => void;
  readonly onEvent?: (event: CompletionEvent) => void;
}

/** Seconds of streaming below which tokens per second mean nothing. */
const SHORTEST_RATED = 0.25;
/** Services that ask to wait are asked again so often. */
const MAX_WAITS = 3;
/** A service that asks to wait longer is not waited for. */
const LONGEST_WAIT_MS = 5 * 60_000;

/**
 * Asks the inference service on behalf of many. When it asks one of them to wait (`Retry-After`), all wait: the others would
 * only be refused too.
 */
export class PromptClient {
  readonly #deps: PromptClientDeps;
  readonly #now: () => number;
  readonly #queue: RequestQueue;
  readonly #waiting: ((ms: number) => void) | undefined;

  /** @param waiting told how long all requests of the queue wait, in milliseconds. */
  constructor(deps: PromptClientDeps, queue: RequestQueue, waiting?: (ms: number) => void) {
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
    this.#queue = queue;
    this.#waiting = waiting;
  }

  /**
   * Sends a request, and again after each wait. A failure is part of the result.
   *
   * @throws RolecallError `cancelled`, and nothing else.
   */
  async send(request: CompletionRequest, options: SendOptions, signal: AbortSignal): Promise<Exchange> {
    for (let waits = 0; ; waits++) {
      await this.#queue.paused(signal);
      const exchange = await this.#sendOnce(request, options, signal);
      const waitMs = exchange.error?.kind === 'rateLimited' ? exchange.error.details.retryAfterMs : undefined;
      if (waitMs === undefined || waitMs > LONGEST_WAIT_MS || waits >= MAX_WAITS) return exchange;
      this.#queue.pause(waitMs);
      this.#waiting?.(waitMs);
    }
  }

  async #sendOnce(
    request: CompletionRequest,
    { withEvents = false, onSend, onEvent }: SendOptions,
    signal: AbortSignal,
  ): Promise<Exchange> {
    const { inference, connection, options } = this.#deps;
    const { fetch, recording } = recordingFetch(inference.fetch, { now: this.#now, withEvents, onSend });
    const stopwatch = new Stopwatch(this.#now, recording);
    // Waiting is for all of us, above.
    const arriving = streamCompletion(
      { ...inference, fetch },
      connection,
      request,
      { ...options, longestWaitMs: 0 },
      signal,
    );
    let completion: Completion | undefined;
    let error: RolecallError | undefined;
    try {
      for (;;) {
        const { done, value } = await arriving.next();
        if (done) {
          completion = value;
          break;
        }
        stopwatch.see(value);
        if (value.kind === 'interrupted') completion = value.completion;
        onEvent?.(value);
      }
    } catch (thrown) {
      error = asRolecallError(thrown);
      if (error.kind === 'cancelled') throw error;
    }
    // A service can hold a connection open whose answer has ended.
    if (withEvents) await withTimeout(recording.whole, 1000);
    return {
      ...(recording.body !== undefined && { body: recording.body }),
      ...(completion && { completion }),
      ...(error && { error }),
      ...(recording.sentAt !== undefined && { timings: stopwatch.timings(completion) }),
      ...(withEvents && { events: [...recording.events] }),
    };
  }
}

class Stopwatch {
  readonly #now: () => number;
  readonly #recording: Recording;
  #first: number | undefined;

  constructor(now: () => number, recording: Recording) {
    this.#now = now;
    this.#recording = recording;
  }

  see({ kind }: CompletionEvent): void {
    // Not a tool call, which is one event when all of it has arrived.
    if (kind === 'text' || kind === 'reasoning' || kind === 'logprobs') this.#first ??= this.#now();
  }

  timings(completion: Completion | undefined): Timings {
    const now = this.#now();
    const { sentAt = now } = this.#recording;
    const first = this.#first;
    const tokens = completion?.usage?.completionTokens;
    const isStreamed = completion?.notices.every(({ code }) => code !== 'notStreamed') === true;
    const seconds = first === undefined ? 0 : (now - first) / 1000;
    const hasRate = isStreamed && tokens !== undefined && tokens > 1 && seconds >= SHORTEST_RATED;
    return {
      totalMs: Math.round(now - sentAt),
      ...(first !== undefined && { firstTokenMs: Math.round(first - sentAt) }),
      // The first token marks the beginning of the time.
      ...(hasRate && { tokensPerSecond: (tokens - 1) / seconds }),
    };
  }
}
