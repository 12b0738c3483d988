import * as l10n from '@vscode/l10n';
import { isCancelled, RolecallError, sanitizeServerMessage } from '../base/errors.ts';
import { originOf } from '../base/http.ts';
import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts';
import { formatSeconds } from '../base/text.ts';
import type { CompletionAssembler } from './assemble.ts';
import { ChunkParser, readChunk } from './chunk.ts';
import type { Completion, CompletionEvent } from './completion.ts';
import { type Deadline, type DeadlineSignal, type Deadlines, timeoutError } from './deadlineSignal.ts';
import { BODY_COMPLETE, readPrefix, readText } from './endpoint.ts';
import { type ErrorBody, readErrorObject, readErrorText } from './errorBody.ts';
import { errorOfResponse } from './errors.ts';
import { isTruncatedJson } from './jsonBoundary.ts';
import { type ServerSentEvent, ServerSentEventReader } from './serverSentEvents.ts';

/** What reading an answer needs to know about the request. */
export interface ResponseContext extends DeadlineContext {
  readonly model: string;
  readonly streamed: boolean;
}

/** Events in batches, one for what arrived together: an asynchronous step for every token would cost more than parsing. */
export type EventBatches = AsyncGenerator<readonly CompletionEvent[], Completion, undefined>;

/**
 * The body of a successful answer -> events and the completion. The body decides its format: the content type first,
 * then the first character, since servers answer a stream with one JSON object and the reverse.
 *
 * @throws RolecallError the error in the body, wherever it is; `protocol` for what cannot be read.
 */
export async function readResponse(
  response: Response,
  assembler: CompletionAssembler,
  context: ResponseContext,
): Promise<EventBatches> {
  const { watch: deadline, url } = context;
  const host = originOf(url);
  deadline.arm(firstEventDeadline(context));
  const texts = readText(response, deadline, url);
  const type = response.headers.get('content-type') ?? '';
  const head = await peek(texts, type);
  if (/^[{[]/.test(head)) return readWhole(texts, head, assembler, context);
  if (head.startsWith('<')) throw notTheService(host);
  if (head === '' || /event-stream/i.test(type) || /^(?:data|event|id|retry)?:/.test(head)) {
    return readEvents(texts, head, assembler, context);
  }
  const body = sanitizeServerMessage(head + (await readPrefix(texts, 1000, deadline)));
  throw new RolecallError('protocol', l10n.t("{0} returned something other than a model's answer: {1}", host, body));
}

/** Reads until the format is known: the text from its first non-blank character. */
async function peek(texts: AsyncGenerator<string>, contentType: string): Promise<string> {
  const needed = /event-stream/i.test(contentType) ? 1 : 6;
  let head = '';
  while (head.length < needed && !/^[{[<:]/.test(head)) {
    const next = await texts.next();
    if (next.done) break;
    head = (head + next.value).trimStart();
  }
  return head;
}

async function* readWhole(
  texts: AsyncIterable<string>,
  head: string,
  assembler: CompletionAssembler,
  context: ResponseContext,
): EventBatches {
  const pieces = [head];
  context.watch.arm(idleDeadline(context));
  for await (const text of texts) pieces.push(text);
  const body = pieces.join('');
  const { objects, rest } = readObjects(body);
  const events: CompletionEvent[] = [];
  if (context.streamed && rest === undefined && Array.isArray(objects[0]?.choices)) {
    events.push(
      assembler.addNotice({ code: 'notStreamed', message: l10n.t('The service sent the whole answer at once.') }),
    );
  }
  let error: RolecallError | undefined;
  for (const object of objects) error ??= acceptObject(object, assembler, events, context);
  yield events;
  if (error) throw error;
  if (rest === undefined && objects.length > 0) return yield* end(assembler);
  if (rest !== '' && rest !== '[DONE]' && !isTruncatedJson(rest ?? body)) throw notJson(rest ?? body, context);
  return yield* end(assembler, l10n.t('The connection was closed before the answer was complete.'));
}

/**
 * The JSON objects of a body: one, a list of them (which is how some gateways send an error, and some services a stream), or
 * one on each line.
 *
 * @returns `rest` is what follows the last line that can be read; absent where the body is one JSON value.
 */
function readObjects(body: string): { readonly objects: readonly JsonObject[]; readonly rest?: string } {
  const value = parseJson(body);
  if (value !== undefined) return { objects: [value].flat().filter(isJsonObject) };
  const objects: JsonObject[] = [];
  const lines = body.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  for (const [at, line] of lines.entries()) {
    const object = parseJson(line);
    if (!isJsonObject(object)) return { objects, rest: lines.slice(at).join('\n').trim() };
    objects.push(object);
  }
  return { objects, rest: '' };
}

function notJson(body: string, { url }: ResponseContext): RolecallError {
  const message = l10n.t(
    '{0} returned something that is not a JSON object: {1}',
    originOf(url),
    sanitizeServerMessage(body),
  );
  return new RolecallError('protocol', message);
}

async function* readEvents(
  texts: AsyncGenerator<string>,
  head: string,
  assembler: CompletionAssembler,
  context: ResponseContext,
): EventBatches {
  const reader = new ServerSentEventReader();
  const parser = new ChunkParser();
  const advance = deadlineScheduler(assembler, context);
  let isDone = false;
  try {
    let step: IteratorResult<string> = { value: head };
    for (; !step.done; step = await texts.next()) {
      // One more read after the end lets the body end by itself, which keeps the connection for the next request.
      if (isDone) break;
      const news: CompletionEvent[] = [];
      const outcome = acceptBatch(reader.read(step.value), parser, assembler, news, context);
      if (news.length > 0) yield news;
      if (outcome instanceof RolecallError) throw outcome;
      isDone = outcome === 'done';
      advance(isDone);
    }
    if (!isDone) {
      const news: CompletionEvent[] = [];
      const outcome = acceptBatch(reader.end(), parser, assembler, news, context);
      yield news;
      if (outcome instanceof RolecallError) throw outcome;
      isDone = outcome === 'done';
    }
  } catch (error) {
    // A broken connection means an incomplete answer, provided that any of it has arrived. Stop takes nothing from an
    // answer that is complete.
    const isCut = error instanceof RolecallError && error.kind === 'offline' && assembler.hasBegun;
    if (!isCut && !(isCancelled(error) && assembler.isFinished)) throw error;
  } finally {
    await texts.return(undefined);
  }
  if (isDone) return yield* end(assembler);
  const reason = assembler.hasBegun
    ? l10n.t('The connection was closed before the answer was complete.')
    : l10n.t('{0} closed the connection without sending an answer.', originOf(context.url));
  return yield* end(assembler, reason);
}

/** @returns the end of the stream, or the error in it: what came before it is in `events`. */
function acceptBatch(
  batch: readonly ServerSentEvent[],
  parser: ChunkParser,
  assembler: CompletionAssembler,
  events: CompletionEvent[],
  context: ResponseContext,
): 'done' | RolecallError | undefined {
  for (const event of batch) {
    const value = parser.parse(event.data);
    const object = Array.isArray(value) ? value[0] : value; // Some gateways wrap their error object in a list.
    const outcome =
      event.type !== 'error' && isJsonObject(object)
        ? acceptObject(object, assembler, events, context)
        : readOtherEvent(event, value, context);
    if (outcome !== undefined) return outcome;
  }
  return undefined;
}

/**
 * Handles an event that is no piece of an answer: the end of the stream, an error, or nothing (keep-alives, and the
 * last event of a body that was cut).
 */
function readOtherEvent(
  { data, type, atEnd }: ServerSentEvent,
  value: unknown,
  context: ResponseContext,
): 'done' | RolecallError | undefined {
  if (type === 'error' && (value !== undefined || !atEnd)) return failure(readErrorText(data), context);
  if (data.trim() === '[DONE]') return 'done';
  if (data.trimStart().startsWith('<')) return pageWithin();
  if (atEnd || isKeepAlive(data)) return undefined;
  return new RolecallError(
    'protocol',
    l10n.t('The answer was interrupted by invalid JSON: {0}', sanitizeServerMessage(data)),
  );
}

/** True for what servers and proxies write into `data` only to keep the connection open. */
function isKeepAlive(data: string): boolean {
  return keepAlive.test(data.replace(/[:".\s]+/g, ' ').trim());
}

const keepAlive = /^(?:ping|pong|keep[- _]?alive|heart[- _]?beat|(?:[a-z]+ )?processing)?$/i;

/** @returns the error in it. It may come together with choices, which still count. */
function acceptObject(
  object: JsonObject,
  assembler: CompletionAssembler,
  events: CompletionEvent[],
  context: ResponseContext,
): RolecallError | undefined {
  assembler.accept(readChunk(object), events);
  const error = object.error === undefined && Array.isArray(object.choices) ? undefined : readErrorObject(object);
  return error && failure(error, context);
}

function failure(body: ErrorBody, { model }: ResponseContext): RolecallError {
  return errorOfResponse({ body, model });
}

function* end(assembler: CompletionAssembler, cut?: string): Generator<readonly CompletionEvent[], Completion> {
  const { events, completion } = assembler.end(cut === undefined ? { kind: 'done' } : { kind: 'cut', reason: cut });
  yield events;
  return completion;
}

function pageWithin(): RolecallError {
  return new RolecallError(
    'protocol',
    l10n.t('The answer was interrupted by a web page: the service or a proxy in front of it failed. Try again.'),
  );
}

function notTheService(host: string): RolecallError {
  return new RolecallError(
    'protocol',
    l10n.t(
      '{0} returned a web page instead of data. Check the address of the inference service, and whether your network requires you to sign in.',
      host,
    ),
  );
}

/** The deadlines of a request, and the signal that enforces them. */
export interface DeadlineContext {
  readonly watch: DeadlineSignal;
  readonly url: string;
  readonly deadlines: Deadlines;
}

/**
 * How long to wait for usage and `[DONE]` once every choice has finished, in milliseconds, whatever keep-alives come. A
 * late piece of the answer resets it.
 */
const AFTER_FINISH_MS = 5_000;
/** How long to wait for the end of the body after `[DONE]`, in milliseconds. */
const AFTER_DONE_MS = 100;

/** Arms the deadlines for each phase of the answer; each phase begins once. */
function deadlineScheduler(assembler: CompletionAssembler, waiting: DeadlineContext) {
  const { watch: deadline, deadlines } = waiting;
  let state: 'waiting' | 'begun' | 'finished' = 'waiting';
  let pieces = 0;
  return (isDone: boolean) => {
    if (isDone) {
      deadline.arm({ ms: AFTER_DONE_MS, reason: () => BODY_COMPLETE });
    } else if (assembler.isFinished && state !== 'finished') {
      state = 'finished';
      deadline.arm({ ms: Math.min(AFTER_FINISH_MS, deadlines.idleMs), reason: () => BODY_COMPLETE, resetBy: 'piece' });
    } else if (assembler.hasBegun && state === 'waiting') {
      state = 'begun';
      deadline.arm(idleDeadline(waiting), keepAliveDeadline(waiting));
    } else if (assembler.pieces > pieces) {
      deadline.reset('piece');
    }
    pieces = assembler.pieces;
  };
}

function firstEventDeadline({ url, deadlines: { firstEventMs: ms } }: DeadlineContext): Deadline {
  const message = () =>
    l10n.t(
      '{0} accepted the request but did not begin to answer within {1}. Try again, or increase the time limit for models that reason for long.',
      originOf(url),
      formatSeconds(ms),
    );
  return { ms, reason: () => timeoutError(message(), 'firstEvent') };
}

function idleDeadline({ url, deadlines: { idleMs: ms } }: DeadlineContext): Deadline {
  const message = () =>
    l10n.t(
      'The answer stopped: {0} sent nothing for {1}, so the connection was closed. The answer so far is kept.',
      originOf(url),
      formatSeconds(ms),
    );
  return { ms, reason: () => timeoutError(message(), 'idle'), resetBy: 'byte' };
}

function keepAliveDeadline({ url, deadlines }: DeadlineContext): Deadline {
  const ms = Math.max(deadlines.firstEventMs, deadlines.idleMs);
  const message = () =>
    l10n.t(
      'The answer stopped: {0} kept the connection open but sent no more of the answer for {1}, so it was closed. The answer so far is kept. Try again, or increase the time limit for models that reason for long.',
      originOf(url),
      formatSeconds(ms),
    );
  return { ms, reason: () => timeoutError(message(), 'firstEvent'), resetBy: 'piece' };
}
