import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Hooks } from '../types.ts';
import { type ChoiceEvent, writeChoice } from './choice.ts';
import { errorBody, internalError, invalidRequest, type RequestError, sendJson, unsupportedParams } from './errors.ts';
import { planAnswer, tokensPerImage } from './guide.ts';
import type { Engine } from './languageModel.ts';
import type { ServedModel } from './models.ts';
import type { ChatMessage, ChatRequest } from './request.ts';
import {
  ChoiceCollector,
  completionBody,
  type Envelope,
  eventChunk,
  openingChunk,
  sseDone,
  sseEvent,
  type Usage,
  usageChunk,
  usageOf,
} from './respond.ts';
import { seededRandom } from './sampler.ts';
import type { Plan } from './script.ts';

/** An answer in progress: what is known before the first token, and the choices, which are written token by token. */
export interface Completion {
  readonly envelope: Envelope;
  readonly promptTokens: number;
  readonly choices: readonly Generator<ChoiceEvent, void>[];
}

const tokensPerMessage = 4;
const maxHistoryTokens = 64;

/**
 * Prepares the answer of `model` to a validated request.
 *
 * The same seed and request give the same answer, including the ids of tool calls, as long as `system_fingerprint` is
 * the same. Each of `n` choices has its own random numbers. Without a seed, every answer is different.
 *
 * @throws RequestError when the model does not support a field of the request, or the prompt is too long.
 */
export function prepareCompletion(engine: Engine, model: ServedModel, request: ChatRequest): Completion {
  const missing = unsupportedBy(model, request);
  if (missing) throw missing;
  const promptTokens = countPrompt(engine, request);
  const maxTokens = answerLimit(model, request, promptTokens);
  const plan = model.voice === 'guide' ? planAnswer(request, model) : planRaw(engine, request.messages);
  const randomKey = `${request.seed ?? `${randomInt(2 ** 47)} unseeded`} ${JSON.stringify(request.messages.map(({ role, text }) => [role, text]))}`;
  return {
    envelope: {
      id: `chatcmpl-${randomUUID()}`,
      created: Math.floor(Date.now() / 1000),
      model: model.id,
      system_fingerprint: engine.fingerprint,
    },
    promptTokens,
    choices: Array.from({ length: request.n }, (_, index) =>
      writeChoice({
        engine,
        plan,
        sampling: {
          temperature: request.temperature ?? model.defaults.temperature,
          topP: request.topP ?? model.defaults.topP,
          frequencyPenalty: request.frequencyPenalty,
          presencePenalty: request.presencePenalty,
          logitBias: request.logitBias,
        },
        stops: request.stops,
        topLogprobs: request.topLogprobs,
        maxTokens,
        random: seededRandom(`${index} ${randomKey}`),
      }),
    ),
  };
}

function unsupportedBy(model: ServedModel, request: ChatRequest): RequestError | undefined {
  const missing = request.traits.filter((trait) => !(trait === 'reasoning_effort' ? model.reasoning : model.tools));
  if (missing.length > 0) return unsupportedParams(missing);
  const withImage = request.messages.findIndex(({ images }) => images.length > 0);
  if (withImage < 0 || model.vision) return undefined;
  return invalidRequest(
    `messages[${withImage}].content`,
    `The model \`${model.id}\` doesn't support images. Send text only, or use a model with vision.`,
  );
}

function countPrompt(engine: Engine, { messages, tools }: ChatRequest): number {
  const count = (text: string): number => engine.tokenizer.encode(text).length;
  let tokens = tools.length > 0 ? count(JSON.stringify(tools)) : 0;
  for (const { text, images, toolCalls } of messages)
    tokens +=
      tokensPerMessage +
      count(text) +
      images.length * tokensPerImage +
      (toolCalls.length > 0 ? count(JSON.stringify(toolCalls)) : 0);
  return tokens;
}

/** The maximum number of tokens of the answer. Prompt and answer share the context of the model. */
function answerLimit(model: ServedModel, request: ChatRequest, promptTokens: number): number {
  const requested = request.maxTokens;
  if (requested !== undefined && requested > model.maxOutput)
    throw invalidRequest(
      request.maxTokensField,
      `\`${request.maxTokensField}\` must be at most ${model.maxOutput} for this model, got ${requested}.`,
    );
  const available = model.contextLength - promptTokens;
  if (requested === undefined ? available > 0 : requested <= available)
    return requested ?? Math.min(model.maxOutput, available);
  const problem =
    requested === undefined
      ? `your messages have ${promptTokens} tokens`
      : `you requested ${promptTokens + requested} tokens (${promptTokens} in the messages, ${requested} in the completion)`;
  throw invalidRequest(
    'messages',
    `This model's maximum context length is ${model.contextLength} tokens. However, ${problem}. Please reduce the length of the messages or completion.`,
  );
}

/** The n-gram model continues the last user message. After a complete sentence, it starts a new text. */
function planRaw(engine: Engine, messages: readonly ChatMessage[]): Plan {
  const text = messages.findLast(({ role }) => role === 'user')?.text.trimEnd() ?? '';
  const history = /[.!?]$/.test(text) ? [] : engine.tokenizer.encode(text).slice(-maxHistoryTokens);
  return { reasoning: undefined, content: 'free', calls: [], history };
}

export interface Delivery {
  readonly hooks: Hooks;
  /** Milliseconds between two tokens of a streamed choice. */
  readonly paceMs: number;
}

/** After how many rounds without a pause to let the event loop handle other requests. */
const roundsPerTurn = 8;

/**
 * Sends the answer as a whole (200) or as a stream (201). Returns early, without an error, if the client disconnects.
 */
export async function deliver(
  res: ServerResponse,
  request: ChatRequest,
  completion: Completion,
  { hooks, paceMs }: Delivery,
): Promise<void> {
  const disconnected = new AbortController();
  const onClose = (): void => {
    if (!res.writableEnded) disconnected.abort();
  };
  res.once('close', onClose);
  // There is no `close` event if the client disconnected before this line.
  if (res.destroyed) disconnected.abort();
  hooks.count?.('completions');
  hooks.count?.('completions.open', 1);
  try {
    if (request.stream) await sendStream(res, request, completion, paceMs, disconnected.signal);
    else await sendWhole(res, request, completion, disconnected.signal);
  } catch (error) {
    if (!disconnected.signal.aborted) throw error;
  } finally {
    res.off('close', onClose);
    hooks.count?.('completions.open', -1);
    if (disconnected.signal.aborted) hooks.count?.('completions.aborted');
  }
}

async function sendWhole(
  res: ServerResponse,
  request: ChatRequest,
  completion: Completion,
  disconnected: AbortSignal,
): Promise<void> {
  const collectors = completion.choices.map((_, index) => new ChoiceCollector(index, request.logprobs));
  let tokens = 0;
  for await (const round of rounds(completion, 0, disconnected))
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
  disconnected: AbortSignal,
): Promise<void> {
  const { envelope } = completion;
  const send = async (text: string): Promise<void> => {
    if (!res.write(text)) await once(res, 'drain', { signal: disconnected });
  };
  // Comparable services answer 201 to a request for a stream.
  res.writeHead(201, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-cache',
    'X-Accel-Buffering': 'no',
  });
  let tokens = 0;
  try {
    await send(completion.choices.map((_, index) => sseEvent(openingChunk(envelope, index))).join(''));
    for await (const round of rounds(completion, paceMs, disconnected)) {
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
    if (disconnected.aborted) throw error;
    // The status has been sent, so the error is sent in the stream, as comparable services do.
    res.end(sseEvent(errorBody(internalError())));
    return;
  }
  res.end(sseDone);
}

/** Yields rounds of events, one event of each unfinished choice, with a pause between the rounds. */
async function* rounds(
  { choices }: Completion,
  paceMs: number,
  disconnected: AbortSignal,
): AsyncGenerator<readonly { readonly index: number; readonly event: ChoiceEvent }[]> {
  let unfinished = [...choices.entries()];
  for (let count = 1; unfinished.length > 0; count++) {
    disconnected.throwIfAborted();
    const round: { index: number; event: ChoiceEvent }[] = [];
    unfinished = unfinished.filter(([index, choice]) => {
      const { value } = choice.next();
      if (value) round.push({ index, event: value });
      return value !== undefined;
    });
    if (round.length > 0) yield round;
    if (paceMs > 0) await setTimeout(paceMs, undefined, { signal: disconnected });
    else if (count % roundsPerTurn === 0) await setImmediate(undefined, { signal: disconnected });
  }
}

const usage = ({ promptTokens }: Completion, tokens: number): Usage => usageOf(promptTokens, tokens);

const tokensOf = (event: ChoiceEvent): number => ('tokens' in event ? event.tokens : 0);
