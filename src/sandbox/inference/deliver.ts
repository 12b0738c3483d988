import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Hooks } from '../types.ts';
import type { ChoiceEvent } from './choice.ts';
import type { Completion } from './completion.ts';
import { errorBody, internalError, sendJson } from './errors.ts';
import type { ChatRequest } from './request.ts';
import { ChoiceCollector, completionBody, type Usage, usageOf } from './respond.ts';
import { eventChunk, openingChunk, sseDone, sseEvent, usageChunk } from './stream.ts';

export interface Delivery {
  readonly hooks: Hooks;
  /** Milliseconds between two tokens of a streamed choice. */
  readonly paceMs: number;
}

/** Rounds of tokens after which other requests get their turn when nothing is paced. */
const roundsPerTurn = 8;

/** Writes the answer, whole (200) or as a stream (201). Ends early, and quietly, when the client goes away. */
export async function deliver(
  res: ServerResponse,
  request: ChatRequest,
  completion: Completion,
  { hooks, paceMs }: Delivery,
): Promise<void> {
  const gone = new AbortController();
  const onClose = (): void => {
    if (!res.writableEnded) gone.abort();
  };
  res.once('close', onClose);
  // No event comes for a client that left before this line.
  if (res.destroyed) gone.abort();
  hooks.count?.('completions');
  hooks.count?.('completions.open', 1);
  try {
    if (request.stream) await sendStream(res, request, completion, paceMs, gone.signal);
    else await sendWhole(res, request, completion, gone.signal);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  } finally {
    res.off('close', onClose);
    hooks.count?.('completions.open', -1);
    if (gone.signal.aborted) hooks.count?.('completions.aborted');
  }
}

async function sendWhole(
  res: ServerResponse,
  request: ChatRequest,
  completion: Completion,
  gone: AbortSignal,
): Promise<void> {
  const collectors = completion.choices.map((_, index) => new ChoiceCollector(index, request.logprobs));
  let tokens = 0;
  for await (const round of rounds(completion, 0, gone))
    for (const { index, event } of round) {
      collectors[index]?.take(event);
      tokens += tokensOf(event);
    }
  sendJson(res, 200, completionBody(completion.envelope, collectors, usage(completion, tokens)));
}

async function sendStream(
  res: ServerResponse,
  request: ChatRequest,
  completion: Completion,
  paceMs: number,
  gone: AbortSignal,
): Promise<void> {
  const { envelope } = completion;
  const send = async (text: string): Promise<void> => {
    if (!res.write(text)) await once(res, 'drain', { signal: gone });
  };
  // 201, as servers of this family answer a stream.
  res.writeHead(201, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-cache',
    'X-Accel-Buffering': 'no',
  });
  let tokens = 0;
  try {
    await send(completion.choices.map((_, index) => sseEvent(openingChunk(envelope, index))).join(''));
    for await (const round of rounds(completion, paceMs, gone)) {
      const chunks = round.map(({ index, event }) => eventChunk(envelope, index, event, request.logprobs));
      for (const { event } of round) tokens += tokensOf(event);
      const text = chunks
        .filter((chunk) => chunk !== undefined)
        .map(sseEvent)
        .join('');
      if (text !== '') await send(text);
    }
    if (request.includeUsage) await send(sseEvent(usageChunk(envelope, usage(completion, tokens))));
  } catch (error) {
    if (gone.aborted) throw error;
    // The status is sent, so the error goes into the stream, as servers of this family do it.
    res.end(sseEvent(errorBody(internalError())));
    return;
  }
  res.end(sseDone);
}

/** The choices' events, one of each unfinished choice a round, with a pause between rounds. */
async function* rounds(
  { choices }: Completion,
  paceMs: number,
  gone: AbortSignal,
): AsyncGenerator<readonly { readonly index: number; readonly event: ChoiceEvent }[]> {
  let writing = [...choices.entries()];
  for (let count = 1; writing.length > 0; count++) {
    gone.throwIfAborted();
    const round: { index: number; event: ChoiceEvent }[] = [];
    writing = writing.filter(([index, choice]) => {
      const { value } = choice.next();
      if (value) round.push({ index, event: value });
      return value !== undefined;
    });
    if (round.length > 0) yield round;
    if (paceMs > 0) await setTimeout(paceMs, undefined, { signal: gone });
    else if (count % roundsPerTurn === 0) await setImmediate(undefined, { signal: gone });
  }
}

const usage = ({ promptTokens }: Completion, tokens: number): Usage => usageOf(promptTokens, tokens);

const tokensOf = (event: ChoiceEvent): number => ('tokens' in event ? event.tokens : 0);
