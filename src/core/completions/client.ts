import * as l10n from '@vscode/l10n';
import { delay } from '../base/abort.ts';
import { asRolecallError, type RolecallError } from '../base/errors.ts';
import { originOf } from '../base/http.ts';
import type { Log } from '../base/log.ts';
import { formatSeconds } from '../base/text.ts';
import { CompletionAssembler } from './assemble.ts';
import type { Completion, CompletionEvent, Notice } from './completion.ts';
import { DeadlineSignal, type Deadlines, defaultDeadlines, timeoutError } from './deadlineSignal.ts';
import {
  accessToken,
  authorizationHeader,
  endpointUrl,
  type InferenceConnection,
  type InferenceDeps,
  sendInferenceRequest,
  tokenAfter401,
  withoutSecrets,
} from './endpoint.ts';
import {
  estimateRequest,
  hasImages,
  type ModelTokenLimits,
  type PreparedRequest,
  prepareRequest,
  type TruncationContext,
  truncateRequest,
} from './history.ts';
import { ModelObservations } from './modelObservations.ts';
import { type CompletionRequest, type OptionalField, serializeRequest } from './request.ts';
import { type EventBatches, readResponse } from './response.ts';
import { CompletionRetryPolicy, dropRefusedFields, optionalFieldsOf, type RequestAttempt } from './retry.ts';

/** Options of a completion, besides the request itself. */
export interface CompletionOptions {
  readonly deadlines?: Partial<Deadlines>;
  /**
   * Rolecall offers the tools: `tool_choice: "auto"` is sent with them unless the request sets it, and a model that does
   * not support them is asked once more without them, after a notice.
   */
  readonly toolsAreOptional?: boolean;
  /** The longest `Retry-After` that is respected, in milliseconds; 30 s unless set, 0 for never. */
  readonly longestWaitMs?: number;
  /**
   * A history beyond these limits loses its oldest turns, after a notice, and again when the service finds it too long.
   * Absent: it is sent whole.
   */
  readonly limits?: ModelTokenLimits;
  /** What is known about the service's models; read and added to. Absent: nothing is remembered. */
  readonly observations?: ModelObservations;
}

/**
 * Sends `POST {inference_url}/v1/chat/completions` and yields what arrives; the whole completion is what the generator
 * returns. Leaving the loop early, as well as `signal`, closes the connection.
 *
 * Sends `stream: true` unless the request says otherwise, and then asks for the token counts with `stream_options` unless
 * the request sets that. An error in the middle of an answer is thrown after an `interrupted` event; a connection that ends
 * too early is no error but `complete: false`.
 *
 * @throws RolecallError with every kind but `storage`, `tool` and those of the identity service.
 */
export async function* streamCompletion(
  deps: InferenceDeps,
  connection: InferenceConnection,
  request: CompletionRequest,
  options: CompletionOptions,
  signal: AbortSignal,
): AsyncGenerator<CompletionEvent, Completion, undefined> {
  const url = endpointUrl(connection, '/v1/chat/completions');
  const deadlines = { ...defaultDeadlines, ...options.deadlines };
  const { observations = new ModelObservations() } = options;
  const fitting = { observations, service: url, limits: options.limits };
  const own = optionalFieldsOf(request, options.toolsAreOptional === true);
  const prepared = prepare(request, own, fitting);
  // A request that cannot be sent fails before the identity service is asked for a token.
  serializeRequest(prepared.request);
  const notices: Notice[] = [];
  const policy = retryPolicy(deps, options, { own, fitting, model: request.model, signal });
  const calls = new Set(request.messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)));
  for (const notice of prepared.notices) yield tell(notice, notices);
  let attempt: RequestAttempt = { request: prepared.request, token: await accessToken(deps, signal) };
  for (;;) {
    const assembler = new CompletionAssembler(request.n ?? 1, notices, calls);
    const deadline = new DeadlineSignal(signal);
    let batches: EventBatches | undefined;
    try {
      batches = await ask(deps, url, attempt, { watch: deadline, assembler, deadlines });
      for (;;) {
        const { done, value } = await batches.next();
        if (done) {
          recordUsage(value, attempt.request, fitting);
          return value;
        }
        for (const event of value) yield event;
      }
    } catch (thrown) {
      const error = withoutSecrets(asRolecallError(thrown), attempt.token, deps);
      attempt = yield* again(error, attempt, { assembler, policy, notices, log: deps.log, signal });
    } finally {
      deadline.dispose();
      await batches?.return(undefined as never);
    }
  }
}

/** The request with Rolecall's own fields, except those the model is known to refuse, and its history truncated. */
function prepare(
  request: CompletionRequest,
  own: readonly OptionalField[],
  fitting: TruncationContext,
): PreparedRequest {
  const { observations, service } = fitting;
  const streams = request.stream !== false;
  const complete: CompletionRequest = {
    ...request,
    ...(own.includes('stream') && { stream: true }),
    ...(streams && own.includes('stream_options') && { stream_options: { include_usage: true } }),
    ...(request.tools?.length && own.includes('tool_choice') && { tool_choice: 'auto' as const }),
  };
  const reduced = dropRefusedFields(complete, observations.refusedFields(service, request.model), own);
  const fitted = prepareRequest(reduced.request, fitting);
  // What the user offered or set is reported every time it is left out; the rest only once.
  const repeatedNotices = reduced.notices.filter(({ code }) => code === 'toolsDropped' || code === 'parameterLeftOut');
  return { request: fitted.request, notices: [...repeatedNotices, ...fitted.notices] };
}

/** Calibrates later estimates with the prompt tokens that the service counted. */
function recordUsage(
  { usage }: Completion,
  request: CompletionRequest,
  { observations, service }: TruncationContext,
): void {
  if (usage?.promptTokens === undefined || hasImages(request.messages)) return;
  observations.calibrate(service, request.model, estimateRequest(request), usage.promptTokens);
}

function tell(notice: Notice, notices: Notice[]): CompletionEvent {
  notices.push(notice);
  return { kind: 'notice', ...notice };
}

/** Decides what follows a failed attempt: another one, or the error. */
async function* again(
  error: RolecallError,
  last: RequestAttempt,
  {
    assembler,
    policy,
    notices,
    log,
    signal,
  }: {
    assembler: CompletionAssembler;
    policy: CompletionRetryPolicy;
    notices: Notice[];
    log: Log;
    signal: AbortSignal;
  },
): AsyncGenerator<CompletionEvent, RequestAttempt, undefined> {
  if (assembler.hasBegun) yield { kind: 'interrupted', completion: assembler.interrupted(error.message) };
  const next = assembler.hasBegun ? undefined : await policy.next(error, last);
  if (!next) throw error;
  log.info(`Sending again after: ${error.message}`);
  for (const notice of next.notices ?? []) yield tell(notice, notices);
  if (next.waitMs !== undefined) await delay(next.waitMs, signal);
  return next;
}

function retryPolicy(
  deps: InferenceDeps,
  { longestWaitMs = 30_000 }: CompletionOptions,
  context: {
    readonly own: readonly OptionalField[];
    readonly fitting: TruncationContext;
    readonly model: string;
    readonly signal: AbortSignal;
  },
): CompletionRetryPolicy {
  const { own, fitting, model, signal } = context;
  return new CompletionRetryPolicy({
    own,
    longestWaitMs,
    newerToken: (token) => tokenAfter401(deps, token, signal),
    shorter: (error, request) => (fitting.limits ? truncateRequest(error, request, fitting) : undefined),
    refused: (fields) => fitting.observations.addRefusedFields(fitting.service, model, fields),
  });
}

/** Sends the request and opens its answer. */
async function ask(
  deps: InferenceDeps,
  url: string,
  { request, token }: RequestAttempt,
  reading: { readonly watch: DeadlineSignal; readonly assembler: CompletionAssembler; readonly deadlines: Deadlines },
): Promise<EventBatches> {
  const { watch: deadline, assembler, deadlines } = reading;
  const { model } = request;
  const streamed = request.stream === true;
  // Without streaming the headers come when the whole answer is ready.
  const headersMs = streamed ? deadlines.connectMs : deadlines.firstEventMs;
  const late = () =>
    l10n.t(
      '{0} did not respond within {1}. Check the network, or increase the time limit.',
      originOf(url),
      formatSeconds(headersMs),
    );
  deadline.arm({ ms: headersMs, reason: () => timeoutError(late(), streamed ? 'connect' : 'firstEvent') });
  const headers = {
    Authorization: authorizationHeader(token),
    'Content-Type': 'application/json; charset=utf-8',
    Accept: streamed ? 'text/event-stream, application/json' : 'application/json',
  };
  const response = await sendInferenceRequest(
    deps,
    url,
    { method: 'POST', headers, body: serializeRequest(request) },
    deadline,
    model,
  );
  return await readResponse(response, assembler, { watch: deadline, url, model, streamed, deadlines });
}
