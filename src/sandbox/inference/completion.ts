import { randomInt, randomUUID } from 'node:crypto';
import { type ChoiceEvent, writeChoice } from './choice.ts';
import type { Engine } from './engine.ts';
import { invalidRequest, type Refusal, unsupportedParams } from './errors.ts';
import { planGuide, tokensPerImage } from './guide.ts';
import type { ServedModel } from './models.ts';
import type { ChatMessage, ChatRequest } from './request.ts';
import type { Envelope } from './respond.ts';
import { seededRandom } from './sampler.ts';
import type { Plan } from './script.ts';

/** One request on its way: what is known before the first token, and its choices, each written token by token. */
export interface Completion {
  readonly envelope: Envelope;
  readonly promptTokens: number;
  readonly choices: readonly Generator<ChoiceEvent, void>[];
}

const tokensPerMessage = 4;
const rawHistory = 64;

/**
 * Prepares the answer of `model` to a validated request. Throws a Refusal when the model lacks what the request asks
 * for or the prompt does not fit.
 *
 * The same seed and request give the same answer, ids of tool calls included, as long as `system_fingerprint` is the
 * same; each of `n` choices has its own source of chance. Without a seed every answer is different.
 */
export function prepareCompletion(engine: Engine, model: ServedModel, request: ChatRequest): Completion {
  const missing = unsupportedBy(model, request);
  if (missing) throw missing;
  const promptTokens = countPrompt(engine, request);
  const maxTokens = answerLimit(model, request, promptTokens);
  const plan = model.voice === 'guide' ? planGuide(request, model) : planRaw(engine, request.messages);
  const chance = `${request.seed ?? `${randomInt(2 ** 47)} unseeded`} ${JSON.stringify(request.messages.map(({ role, text }) => [role, text]))}`;
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
        random: seededRandom(`${index} ${chance}`),
      }),
    ),
  };
}

function unsupportedBy(model: ServedModel, request: ChatRequest): Refusal | undefined {
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

/** Tokens the answer may have. Prompt and answer share the model's context. */
function answerLimit(model: ServedModel, request: ChatRequest, promptTokens: number): number {
  const wanted = request.maxTokens;
  if (wanted !== undefined && wanted > model.maxOutput)
    throw invalidRequest(
      request.maxTokensField,
      `\`${request.maxTokensField}\` must be at most ${model.maxOutput} for this model, got ${wanted}.`,
    );
  const room = model.contextLength - promptTokens;
  if (wanted === undefined ? room > 0 : wanted <= room) return wanted ?? Math.min(model.maxOutput, room);
  const asked =
    wanted === undefined
      ? `your messages have ${promptTokens} tokens`
      : `you requested ${promptTokens + wanted} tokens (${promptTokens} in the messages, ${wanted} in the completion)`;
  throw invalidRequest(
    'messages',
    `This model's maximum context length is ${model.contextLength} tokens. However, ${asked}. Please reduce the length of the messages or completion.`,
  );
}

/** The n-gram model goes on where the last user message breaks off; after a whole sentence it starts afresh. */
function planRaw(engine: Engine, messages: readonly ChatMessage[]): Plan {
  const text = messages.findLast(({ role }) => role === 'user')?.text.trimEnd() ?? '';
  const history = /[.!?]$/.test(text) ? [] : engine.tokenizer.encode(text).slice(-rawHistory);
  return { reasoning: undefined, content: 'free', calls: [], history };
}
