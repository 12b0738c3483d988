import { formatSeconds, isCancelled, RolecallError, sanitizeServerMessage } from '../base/errors.ts';
import { originOf } from '../base/http.ts';
import { isJsonObject, isTruncatedJson, type JsonObject, parseJson } from '../base/json.ts';
import type { CompletionAssembler } from './assemble.ts';
import { readChunk } from './chunk.ts';
import type { Completion, CompletionEvent } from './completion.ts';
import { type Deadline, type DeadlineSignal, type Deadlines, timeoutError } from './deadlineSignal.ts';
import { BODY_COMPLETE, readPrefix, readText } from './endpoint.ts';
import { type ErrorBody, readErrorObject, readErrorText } from './errorBody.ts';
import { errorOfResponse } from './errors.ts';
import { type ServerSentEvent, ServerSentEventReader } from './serverSentEvents.ts';

/** What the reader of an answer has to know about the request. */
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
 * @throws RolecallError what an error body says, wherever it stands; `protocol` for what cannot be read.
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
  throw new RolecallError('protocol', `${host} answered with something that is not an answer of a model: ${body}`);
}

/** Reads on until the format is known: the text from its first character that is no white space. */
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
    events.push(assembler.addNotice({ code: 'notStreamed', message: 'The service sent the whole answer at once.' }));
  }
  let error: RolecallError | undefined;
  for (const object of objects) error ??= acceptObject(object, assembler, events, context);
  yield events;
  if (error) throw error;
  if (rest === undefined && objects.length > 0) return yield* end(assembler);
  if (rest !== '' && rest !== '[DONE]' && !isTruncatedJson(rest ?? body)) throw notJson(rest ?? body, context);
  return yield* end(assembler, 'The connection was cut before the answer was whole.');
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
  const sent = `${originOf(url)} sent an answer that cannot be read as JSON:`;
  return new RolecallError('protocol', `${sent} ${sanitizeServerMessage(body)}`);
}

async function* readEvents(
  texts: AsyncGenerator<string>,
  head: string,
  assembler: CompletionAssembler,
  context: ResponseContext,
): EventBatches {
  const reader = new ServerSentEventReader();
  const advance = deadlineScheduler(assembler, context);
  let done = false;
  try {
    let step: IteratorResult<string> = { value: head };
    for (; !step.done; step = await texts.next()) {
      // One read more after the end lets the body end by itself, which keeps the connection for the next request.
      if (done) break;
      const news: CompletionEvent[] = [];
      const outcome = acceptBatch(reader.read(step.value), assembler, news, context);
      if (news.length > 0) yield news;
      if (outcome instanceof RolecallError) throw outcome;
      done = outcome === 'done';
      advance(done);
    }
    if (!done) {
      const news: CompletionEvent[] = [];
      const outcome = acceptBatch(reader.end(), assembler, news, context);
      yield news;
      if (outcome instanceof RolecallError) throw outcome;
      done = outcome === 'done';
    }
  } catch (error) {
    // A connection that breaks is an answer that was cut, as long as there is any of it. Stop takes nothing from an
    // answer that is there.
    const isCut = error instanceof RolecallError && error.kind === 'offline' && assembler.hasBegun;
    if (!isCut && !(isCancelled(error) && assembler.isFinished)) throw error;
  } finally {
    await texts.return(undefined);
  }
  if (done) return yield* end(assembler);
  const nothing = `${originOf(context.url)} closed the connection without sending an answer.`;
  return yield* end(assembler, assembler.hasBegun ? 'The connection was cut before the answer was finished.' : nothing);
}

/** @returns the end of the stream, or the error that stands in it: what came before it is in `events`. */
function acceptBatch(
  batch: readonly ServerSentEvent[],
  assembler: CompletionAssembler,
  events: CompletionEvent[],
  context: ResponseContext,
): 'done' | RolecallError | undefined {
  for (const event of batch) {
    const said = readEvent(event, context);
    if (said === 'done' || said instanceof RolecallError) return said;
    const error = said && acceptObject(said, assembler, events, context);
    if (error) return error;
  }
  return undefined;
}

/**
 * One event: the JSON object in it, the end of the stream, an error, or nothing (keep-alives, and the last event of a
 * body when it was cut).
 */
function readEvent(event: ServerSentEvent, context: ResponseContext): JsonObject | 'done' | RolecallError | undefined {
  const { data, type } = event;
  const value = parseJson(data);
  if (type === 'error' && (value !== undefined || !event.atEnd)) return failure(readErrorText(data), context);
  const object = Array.isArray(value) ? value[0] : value; // Some gateways put their error object into a list.
  if (isJsonObject(object)) return object;
  if (data.trim() === '[DONE]') return 'done';
  if (data.trimStart().startsWith('<')) return pageWithin();
  if (event.atEnd || keepAlive.test(data)) return undefined;
  return new RolecallError(
    'protocol',
    `In the middle of the answer came something that is not JSON: ${sanitizeServerMessage(data)}`,
  );
}

/** What servers and proxies write into `data` only to keep the connection open. */
const keepAlive = /^[:"\s]*(?:ping|pong|keep[- _]?alive|heart[- _]?beat|processing|[a-z]+ processing)?[".\s]*$/i;

/** @returns the error in it. One may stand beside choices: what came with it still counts. */
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
    'In the middle of the answer came a web page instead of data: the service or a proxy before it failed. Try again.',
  );
}

function notTheService(host: string): RolecallError {
  return new RolecallError(
    'protocol',
    `${host} answered with a web page instead of data. Check the address of the inference service, and whether the network asks for a sign-in of its own.`,
  );
}

/** What is waited for, and for how long. */
export interface DeadlineContext {
  readonly watch: DeadlineSignal;
  readonly url: string;
  readonly deadlines: Deadlines;
}

/**
 * How long to wait for usage and `[DONE]` once every choice has finished, in milliseconds, whatever keep-alives come. A
 * late piece of the answer begins it anew.
 */
const AFTER_FINISH_MS = 5_000;
/** How long to wait for the end of the body after `[DONE]`, in milliseconds. */
const AFTER_DONE_MS = 100;

/** Which deadlines run, by how far the answer has come; each step is taken once. */
export function deadlineScheduler(assembler: CompletionAssembler, waiting: DeadlineContext) {
  const { watch: deadline, deadlines } = waiting;
  let state: 'waiting' | 'begun' | 'finished' = 'waiting';
  let pieces = 0;
  return (done: boolean) => {
    if (done) {
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

export function firstEventDeadline({ url, deadlines: { firstEventMs: ms } }: DeadlineContext): Deadline {
  const message = `${originOf(url)} took the request, but no answer began within ${formatSeconds(ms)}. Try again, or allow more time for models that think long.`;
  return { ms, reason: () => timeoutError(message, 'firstEvent') };
}

export function idleDeadline({ url, deadlines: { idleMs: ms } }: DeadlineContext): Deadline {
  const message = `The answer stopped: ${originOf(url)} sent nothing for ${formatSeconds(ms)}, so the connection was closed. What had come stays.`;
  return { ms, reason: () => timeoutError(message, 'idle'), resetBy: 'byte' };
}

function keepAliveDeadline({ url, deadlines }: DeadlineContext): Deadline {
  const ms = Math.max(deadlines.firstEventMs, deadlines.idleMs);
  const message = `The answer stopped: ${originOf(url)} kept the connection open but sent no more of it for ${formatSeconds(ms)}, so it was closed. What had come stays. Try again, or allow more time for models that think long.`;
  return { ms, reason: () => timeoutError(message, 'firstEvent'), resetBy: 'piece' };
}
