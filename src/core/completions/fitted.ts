import type { RolecallError } from '../base/errors.ts';
import type { Notice } from './completion.ts';
import { fitHistory, mergeNeighbours, repairHistory } from './history.ts';
import type { ModelMemory } from './modelMemory.ts';
import type { CompletionRequest } from './request.ts';
import { estimateMessage, estimateRequest, estimateTools } from './tokenEstimate.ts';

/** How long a model's conversations may be, in tokens. */
export interface ModelLimits {
  /** Prompt and answer together. */
  readonly contextLength: number;
  /** The longest answer. */
  readonly maxOutput: number;
}

/** A request as it can be sent, and what a person should know about the difference. */
export interface FittedRequest {
  readonly request: CompletionRequest;
  readonly notices: readonly Notice[];
}

export interface Fitting {
  readonly memory: ModelMemory;
  /** Address of the service, the key of the memory. */
  readonly service: string;
  /** Absent: the history is repaired and sent whole. */
  readonly limits: ModelLimits | undefined;
}

/** Estimates are estimates: a history fills no more than these shares of the room, before and after calibration. */
const SHARE = { uncalibrated: 0.85, calibrated: 0.95 };
/** Never more than this share of the context is kept free for the answer, however long it may become. */
const ANSWER_SHARE = 0.5;

/**
 * The history made acceptable (see {@link repairHistory}), its oldest turns left out where it is too long, neighbours of
 * one role joined.
 */
export function fitRequest(request: CompletionRequest, fitting: Fitting): FittedRequest {
  const { memory, service, limits } = fitting;
  if (!limits) return { request: { ...request, messages: tidy(request) }, notices: [] };
  const context = Math.min(limits.contextLength, memory.limit(service, request.model) ?? Number.POSITIVE_INFINITY);
  const asked = request.max_completion_tokens ?? request.max_tokens ?? limits.maxOutput;
  const room = context - Math.min(asked, context * ANSWER_SHARE);
  const share = memory.isCalibrated(service, request.model) ? SHARE.calibrated : SHARE.uncalibrated;
  return fitTo(request, Math.floor(room * share), fitting);
}

/**
 * A shorter request after the service found it too long. Its own numbers say by how much, where it told them; otherwise
 * the history is halved. `undefined` when nothing can be left out: the error then stands.
 */
export function shortenRequest(
  error: RolecallError,
  request: CompletionRequest,
  fitting: Fitting,
): FittedRequest | undefined {
  const { memory, service } = fitting;
  const { contextLimit, contextRequested } = error.facts;
  if (contextLimit !== undefined) memory.learnLimit(service, request.model, contextLimit);
  const knows = contextLimit !== undefined && contextRequested !== undefined && contextRequested > contextLimit;
  const scale = knows ? (contextLimit / contextRequested) * 0.9 : 0.5;
  const now = memory.tokens(service, request.model, estimateRequest(request));
  const shorter = fitTo(request, Math.floor(now * scale), fitting);
  return shorter.notices.length === 0 ? undefined : shorter;
}

function fitTo(request: CompletionRequest, budget: number, { memory, service }: Fitting): FittedRequest {
  const tokens = (estimated: number) => memory.tokens(service, request.model, estimated);
  const forMessages = budget - tokens(estimateTools(request.tools ?? []));
  const messages = repairHistory(request.messages);
  const fitted = fitHistory(messages, forMessages, (message) => tokens(estimateMessage(message)));
  return { request: { ...request, messages: mergeNeighbours(fitted.messages) }, notices: noticesOf(fitted) };
}

function tidy({ messages }: CompletionRequest) {
  return mergeNeighbours(repairHistory(messages));
}

function noticesOf({ turns, rounds }: { turns: number; rounds: number }): Notice[] {
  const notice = (message: string): Notice => ({ code: 'historyFitted', message });
  return [
    ...(turns > 0
      ? [
          notice(
            `The conversation is long: ${times(turns, 'earliest turn', 'earliest turns')} left out to fit the model.`,
          ),
        ]
      : []),
    ...(rounds > 0
      ? [
          notice(
            `The answer took many tools: ${times(rounds, 'earliest round', 'earliest rounds')} of calls left out to fit the model.`,
          ),
        ]
      : []),
  ];
}

function times(count: number, one: string, many: string): string {
  return count === 1 ? `its ${one} is` : `its ${count} ${many} are`;
}
