import { pause } from '../base/abort.ts';
import { asRolecallError, type RolecallError } from '../base/errors.ts';
import { originOf } from '../base/http.ts';
import type { Log } from '../base/log.ts';
import { type EventBatches, openAnswer } from './answer.ts';
import { CompletionAssembler } from './assemble.ts';
import type { Completion, CompletionEvent, Notice } from './completion.ts';
import { authorization, endpoint, type InferenceConnection, type InferenceDeps, send } from './endpoint.ts';
import { type CompletionRequest, serializeRequest } from './request.ts';
import { type Attempt, RetryPolicy } from './retry.ts';
import { accessToken, newerToken, withoutToken } from './token.ts';
import { type Deadlines, defaultDeadlines, timedOut, Watch } from './watch.ts';
import { seconds } from './words.ts';

/** How a completion is asked for, besides the request itself. */
export interface CompletionOptions {
  readonly deadlines?: Partial<Deadlines>;
  /** The tools are Rolecall's offer: a model that does not support them is asked once more without, after a notice. */
  readonly toolsAreOptional?: boolean;
  /** The longest `Retry-After` that is waited for, in milliseconds; 30 s unless set, 0 for never. */
  readonly longestWaitMs?: number;
}

/**
 * Sends `POST {inference_url}/v1/chat/completions` with `stream: true` and yields what arrives; the whole completion is
 * what the generator returns. Leaving the loop early, as well as `signal`, closes the connection.
 *
 * Asks for the token counts with `stream_options` unless the request sets it. An error in the middle of an answer is
 * thrown after an `interrupted` event; a connection that ends too early is no error but `complete: false`.
 *
 * @throws RolecallError with every kind but `storage`, `tool` and those of the identity service.
 */
export function streamCompletion(
  deps: InferenceDeps,
  connection: InferenceConnection,
  request: CompletionRequest,
  options: CompletionOptions,
  signal: AbortSignal,
): AsyncGenerator<CompletionEvent, Completion, undefined> {
  const ownStreamOptions = request.stream_options === undefined;
  const streamed = { ...request, stream: true };
  const sent = ownStreamOptions ? { ...streamed, stream_options: { include_usage: true } } : streamed;
  return exchange(deps, connection, sent, { ...options, ownStreamOptions }, signal);
}

/**
 * The same with `stream: false`: the answer in one piece. Its notices stand in the completion.
 *
 * @throws RolecallError as {@link streamCompletion}.
 */
export async function completeOnce(
  deps: InferenceDeps,
  connection: InferenceConnection,
  request: CompletionRequest,
  options: CompletionOptions,
  signal: AbortSignal,
): Promise<Completion> {
  const once = { ...request, stream: false };
  const events = exchange(deps, connection, once, { ...options, ownStreamOptions: false }, signal);
  for (;;) {
    const { done, value } = await events.next();
    if (done) return value;
  }
}

interface Exchange extends CompletionOptions {
  /** `stream_options` is ours and not the user's, so it may be left out again. */
  readonly ownStreamOptions: boolean;
}

async function* exchange(
  deps: InferenceDeps,
  connection: InferenceConnection,
  request: CompletionRequest,
  options: Exchange,
  signal: AbortSignal,
): AsyncGenerator<CompletionEvent, Completion, undefined> {
  const url = endpoint(connection, '/v1/chat/completions');
  const deadlines = { ...defaultDeadlines, ...options.deadlines };
  const notices: Notice[] = [];
  const policy = retryPolicy(deps, options, signal);
  // What cannot be sent is refused before anything is asked of the identity service.
  serializeRequest(request);
  let attempt: Attempt = { request, token: await accessToken(deps, signal) };
  for (;;) {
    const assembler = new CompletionAssembler(request.n ?? 1, notices);
    const watch = new Watch(signal);
    let batches: EventBatches | undefined;
    try {
      batches = await ask(deps, url, attempt, { watch, assembler, deadlines });
      for (;;) {
        const { done, value } = await batches.next();
        if (done) return value;
        for (const event of value) yield event;
      }
    } catch (thrown) {
      const error = withoutToken(asRolecallError(thrown), attempt.token);
      attempt = yield* again(error, attempt, { assembler, policy, log: deps.log, signal });
    } finally {
      watch.dispose();
      await batches?.return(undefined as never);
    }
  }
}

/** What follows a failed attempt: another one, or the error. */
async function* again(
  error: RolecallError,
  last: Attempt,
  {
    assembler,
    policy,
    log,
    signal,
  }: { assembler: CompletionAssembler; policy: RetryPolicy; log: Log; signal: AbortSignal },
): AsyncGenerator<CompletionEvent, Attempt, undefined> {
  if (assembler.begun) yield { kind: 'interrupted', completion: assembler.interrupted(error.message) };
  const next = assembler.begun ? undefined : await policy.next(error, last);
  if (!next) throw error;
  log.info(`Sending again after: ${error.message}`);
  if (next.notice) yield assembler.note(next.notice);
  if (next.waitMs !== undefined) await pause(next.waitMs, signal);
  return next;
}

function retryPolicy(deps: InferenceDeps, options: Exchange, signal: AbortSignal): RetryPolicy {
  return new RetryPolicy({
    ownStreamOptions: options.ownStreamOptions,
    toolsAreOptional: options.toolsAreOptional ?? false,
    longestWaitMs: options.longestWaitMs ?? 30_000,
    newerToken: (token) => newerToken(deps, token, signal),
  });
}

/** Sends the request and opens its answer. */
async function ask(
  deps: InferenceDeps,
  url: string,
  { request, token }: Attempt,
  reading: { readonly watch: Watch; readonly assembler: CompletionAssembler; readonly deadlines: Deadlines },
): Promise<EventBatches> {
  const { watch, assembler, deadlines } = reading;
  const { model } = request;
  const streamed = request.stream === true;
  // Without streaming the headers come when the whole answer is ready.
  const headersMs = streamed ? deadlines.connectMs : deadlines.firstEventMs;
  watch.arm(
    headersMs,
    timedOut(`${originOf(url)} did not answer within ${seconds(headersMs)}. Check the network, or allow more time.`),
  );
  const headers = {
    Authorization: authorization(token),
    'Content-Type': 'application/json; charset=utf-8',
    Accept: streamed ? 'text/event-stream, application/json' : 'application/json',
  };
  const response = await send(deps, url, { method: 'POST', headers, body: serializeRequest(request) }, watch, model);
  return await openAnswer(response, assembler, { watch, url, model, streamed, deadlines });
}
