import { delay, withTimeout } from '../base/abort.ts';
import { asRolecallError, type RolecallError } from '../base/errors.ts';
import type { Fetch } from '../base/http.ts';
import { redactValues } from '../base/redact.ts';
import { type CompletionOptions, streamCompletion } from '../completions/client.ts';
import type { Completion, CompletionEvent } from '../completions/completion.ts';
import type { InferenceConnection, InferenceDeps } from '../completions/endpoint.ts';
import type { CompletionRequest } from '../completions/request.ts';
import { ServerSentEventReader } from '../completions/serverSentEvents.ts';
import type { RawEvent, Timings } from './runResults.ts';

const CONCURRENCY = 4;

/**
 * The queue that runs of several files share: it limits the requests at the same time, keeps their order, and pauses
 * while the service asks to wait.
 */
export class RequestQueue {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  /** By `performance.now`, which never runs backwards. */
  #pausedUntil = 0;

  /** @param concurrency the most requests at the same time. */
  constructor(concurrency = CONCURRENCY) {
    this.#free = Math.max(1, concurrency);
  }

  /** Does the work when it is its turn. */
  async add<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  /** Sends nothing for this long, because the service would only refuse it too. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
  }

  /** Waits until requests can be sent again. @throws RolecallError `cancelled`. */
  async paused(signal: AbortSignal): Promise<void> {
    for (let remainingMs = this.#remainingMs(); remainingMs > 0; remainingMs = this.#remainingMs())
      await delay(remainingMs, signal);
  }

  #remainingMs(): number {
    return this.#pausedUntil - performance.now();
  }
}

/** A recorded request; the last one of several attempts. Without headers: one is the token. */
export interface Recording {
  /** The bytes that were sent, as text. */
  body?: string;
  /** By the clock `now`. */
  sentAt?: number;
  readonly events: RawEvent[];
  /** Resolves when all events of the answer are recorded. */
  whole: Promise<void>;
}

export interface RecordingOptions {
  readonly now: () => number;
  readonly withEvents: boolean;
  /** Called with the body of each request as it is sent. */
  readonly onSend?: ((body: string) => void) | undefined;
}

/** The most of an answer that is kept, in UTF-16 units. */
const MAX_RAW = 8 * 1024 * 1024;

/** A `fetch` that records what it sends and, if requested, the events that come back with their times. */
function recordingFetch(
  fetch: Fetch,
  { now, withEvents, onSend }: RecordingOptions,
): { readonly fetch: Fetch; readonly recording: Recording } {
  const recording: Recording = { events: [], whole: Promise.resolve() };
  const recorded: Fetch = async (url, init) => {
    const sentAt = now();
    if (typeof init?.body === 'string') {
      recording.body = init.body;
      onSend?.(init.body);
    }
    recording.sentAt = sentAt;
    recording.events.length = 0;
    const response = await fetch(url, init);
    if (withEvents && response.ok) {
      const token = new Headers(init?.headers).get('authorization')?.replace(/^Bearer /, '');
      const add = (data: string) => {
        recording.events.push({ atMs: Math.round(now() - sentAt), data: redactValues(data, [token]) });
      };
      // The reader of the answer reports its failures.
      recording.whole = readEvents(response.clone(), add).catch(() => {});
    }
    return response;
  };
  return { fetch: recorded, recording };
}

async function readEvents(response: Response, add: (data: string) => void): Promise<void> {
  const isStream = response.headers.get('content-type')?.includes('event-stream') === true;
  const reader = new ServerSentEventReader();
  const decoder = new TextDecoder();
  let whole = '';
  let length = 0;
  for await (const bytes of response.body ?? []) {
    const text = decoder.decode(bytes as Uint8Array, { stream: true });
    length += text.length;
    if (length > MAX_RAW) return;
    if (!isStream) whole += text;
    else for (const { data } of reader.read(text)) add(data);
  }
  if (!isStream) add(whole);
  else for (const { data } of reader.end()) add(data);
}

/** What is needed to send requests to the inference service. */
export interface PromptClientDeps {
  readonly inference: InferenceDeps;
  readonly connection: InferenceConnection;
  readonly options?: CompletionOptions;
  /** Milliseconds that never run backwards. */
  readonly now?: () => number;
}

/** A request and its result. */
export interface Exchange {
  /** The body that was sent; absent if nothing was. */
  readonly body?: string;
  /** The whole answer, or the part that arrived; absent if nothing did. */
  readonly completion?: Completion;
  readonly error?: RolecallError;
  readonly timings?: Timings;
  readonly events?: readonly RawEvent[];
}

export interface SendOptions {
  /** Keeps the events of the service with their times. */
  readonly withEvents?: boolean;
  /** Called with the body each time it is sent. */
  readonly onSend?: (body: string) => void;
  readonly onEvent?: (event: CompletionEvent) => void;
}

/** The shortest streaming, in seconds, for which tokens per second mean something. */
const SHORTEST_RATED = 0.25;
/** The most times that a request is repeated because the service asks to wait. */
const MAX_WAITS = 3;
/** The longest wait, in milliseconds, that the service may ask for. */
const LONGEST_WAIT_MS = 5 * 60_000;

/**
 * Sends requests for several runs. When the service asks one of them to wait (`Retry-After`), all wait: the others
 * would only be refused too.
 */
export class PromptClient {
  readonly #deps: PromptClientDeps;
  readonly #now: () => number;
  readonly #queue: RequestQueue;
  readonly #waiting: ((ms: number) => void) | undefined;

  /** @param waiting called with the time that all requests of the queue wait, in milliseconds. */
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
    // All requests wait together, above.
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
