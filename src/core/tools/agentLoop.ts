import { raceWithSignal } from '../base/abort.ts';
import { isCancelled } from '../base/errors.ts';
import type { ToolCall } from '../base/toolCall.ts';

/** A call whose arguments are read and checked. */
export interface CheckedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The result of one request. */
export interface ModelTurn {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: string | undefined;
  /** The meaning of the finish reason: only `finished` and `unknown` let calls run. */
  readonly ending: 'finished' | 'length' | 'endedEarly' | 'unknown';
  /** False when the connection was cut: no call is run then. */
  readonly complete: boolean;
}

export interface ToolResult {
  readonly content: string;
  readonly isError: boolean;
  /** True if the user refused. */
  readonly refused?: boolean;
}

/** @typeParam D the tool as it is sent to the service. */
export interface AgentTool<D> {
  readonly name: string;
  readonly definition: D;
  /** A description for users; absent if the one for the model is the only one. */
  readonly userDescription?: string;
  /** Plain sentences for the model about what is wrong with the arguments; see `compileParameters`. */
  readonly check: (args: unknown) => readonly string[];
}

export interface AgentLoopOptions<E, M, D> {
  /** The conversation so far; not changed. */
  readonly messages: readonly M[];
  readonly complete: (
    messages: readonly (M | HistoryMessage)[],
    tools: readonly D[],
    signal: AbortSignal,
  ) => AsyncGenerator<E, ModelTurn, void>;
  /** The text that an event adds to the model's answer; empty for events without text. */
  readonly textOf: (event: E) => string;
  /** May reject: a cancellation counts as the user's refusal of this call, anything else as a failed call. */
  readonly invoke: (call: CheckedCall, signal: AbortSignal) => Promise<ToolResult>;
  readonly tools: readonly AgentTool<D>[];
  /** The most requests. Calls of the last one are not run. */
  readonly maxRounds: number;
  /** The most calls that run at the same time; 4 unless set. */
  readonly maxParallel?: number;
  readonly signal: AbortSignal;
}

export type RefusalReason = 'unknownTool' | 'invalidJson' | 'invalidArguments' | 'user';

export type AgentLoopEvent<E> =
  | { readonly type: 'round'; readonly round: number }
  | { readonly type: 'model'; readonly event: E }
  | { readonly type: 'toolStarted'; readonly call: CheckedCall }
  | {
      readonly type: 'toolFinished';
      readonly call: CheckedCall;
      readonly result: ToolResult;
      readonly cancelled: boolean;
    }
  | { readonly type: 'toolRefused'; readonly call: ToolCall; readonly reason: RefusalReason; readonly content: string }
  | { readonly type: 'limitReached'; readonly rounds: number };

/** Messages of the chat completions API (specification of the inference service, Message). */
export type HistoryMessage =
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly tool_calls?: readonly {
        readonly id: string;
        readonly type: 'function';
        /** `arguments` always parses to an object: a broken one sent back is a 400. */
        readonly function: { readonly name: string; readonly arguments: string };
      }[];
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

export interface AgentLoopResult {
  /**
   * - `answered`: the last turn has no calls.
   * - `cut`: the service broke off a turn with calls; they were not run.
   * - `incomplete`: the connection was cut.
   * - `roundLimit`: the model still wanted to call tools.
   * - `cancelled`, `failed`: see `error`.
   */
  readonly reason: 'answered' | 'cut' | 'incomplete' | 'roundLimit' | 'cancelled' | 'failed';
  /** The messages to append to the conversation. */
  readonly history: readonly HistoryMessage[];
  readonly rounds: number;
  /** The last turn that was completed. */
  readonly turn: ModelTurn | undefined;
  /** The error of a request that failed. */
  readonly error: unknown;
}

/**
 * Lets a model call tools until it answers. Each round is one request; calls of one round run side by side.
 *
 * Yields what happens and returns the messages to append to the history. They are consistent however the loop ends:
 * every assistant turn with calls is followed by one result for each call, in their order, and the text of an
 * interrupted turn is kept. Never throws; a failed request ends it with `reason: 'failed'`. Leaving the generator early
 * aborts what it started.
 *
 * @typeParam E the events of the model, passed through.
 * @typeParam M the caller's own messages.
 * @typeParam D the tool as it is sent to the service.
 */
export async function* runAgentLoop<E, M, D>(
  options: AgentLoopOptions<E, M, D>,
): AsyncGenerator<AgentLoopEvent<E>, AgentLoopResult, void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const history: HistoryMessage[] = [];
  const definitions = options.tools.map(({ definition }) => definition);
  let rounds = 0;
  let turn: ModelTurn | undefined;
  /** The model's text in a turn that is not complete. */
  let text = '';
  const end = (reason: AgentLoopResult['reason'], error?: unknown): AgentLoopResult => ({
    reason,
    history,
    rounds,
    turn,
    error,
  });
  try {
    for (;;) {
      if (signal.aborted) return end('cancelled');
      rounds += 1;
      yield { type: 'round', round: rounds };
      const messages = [...options.messages, ...history];
      turn = yield* modelTurn(options.complete(messages, definitions, signal), signal, (event) => {
        text += options.textOf(event);
      });
      text = ''; // The text is part of the turn.
      const reason = endOfTurn(turn);
      if (reason !== undefined) {
        history.push(...wordsOf(turn.text));
        return end(reason);
      }
      const planned = turn.toolCalls.map((call) => planCall(call, options.tools));
      const isLast = rounds >= options.maxRounds;
      if (isLast) yield { type: 'limitReached', rounds };
      const results = isLast ? [] : yield* runCalls(planned, { ...options, signal });
      const missing = `Not run: the limit of ${options.maxRounds} rounds was reached.`;
      for (const message of turnMessages(turn.text, planned, (index) => results[index] ?? missing))
        history.push(message);
      if (isLast) return end('roundLimit');
    }
  } catch (error) {
    history.push(...wordsOf(text));
    return signal.aborted || isCancelled(error) ? end('cancelled') : end('failed', error);
  } finally {
    stop.abort();
  }
}

function wordsOf(text: string): HistoryMessage[] {
  return text === '' ? [] : [{ role: 'assistant', content: text }];
}

/** Passes the events of one request through and stops listening at an abort, also when the request does not. */
async function* modelTurn<E>(
  events: AsyncGenerator<E, ModelTurn, void>,
  signal: AbortSignal,
  onEvent: (event: E) => void,
): AsyncGenerator<AgentLoopEvent<E>, ModelTurn, void> {
  let isDone = false;
  try {
    for (;;) {
      const next = await raceWithSignal(events.next(), signal);
      if (next.done === true) {
        isDone = true;
        return next.value;
      }
      onEvent(next.value);
      yield { type: 'model', event: next.value };
    }
  } finally {
    // Not awaited: a generator that hangs in `next` answers `return` only afterwards, and the signal has stopped it
    // already.
    if (!isDone) void events.return(undefined as never).catch(() => {});
  }
}

/** Why no calls follow this turn; `undefined` when calls follow. */
function endOfTurn({ complete, ending, toolCalls }: ModelTurn): 'answered' | 'cut' | 'incomplete' | undefined {
  if (!complete) return 'incomplete';
  if (toolCalls.length === 0) return 'answered';
  // The last call of a turn that was cut may lack a part of its arguments and still parse.
  return ending === 'length' || ending === 'endedEarly' ? 'cut' : undefined;
}

/** The turn with its calls, then one result for each. */
function turnMessages(
  text: string,
  planned: readonly PlannedCall[],
  result: (index: number) => string,
): HistoryMessage[] {
  const calls = planned.map(({ call, replay }) => ({
    id: call.id,
    type: 'function' as const,
    function: { name: call.name, arguments: replay },
  }));
  return [
    { role: 'assistant', content: text, tool_calls: calls },
    ...calls.map(({ id }, index) => ({ role: 'tool' as const, tool_call_id: id, content: result(index) })),
  ];
}

/** A call with the arguments for the history, and the decision about it. */
export interface PlannedCall {
  readonly call: ToolCall;
  readonly replay: string;
  readonly plan:
    | { readonly kind: 'run'; readonly call: CheckedCall }
    | { readonly kind: 'refuse'; readonly reason: RefusalReason; readonly content: string };
}

/** Decides about a call; a mistake in it becomes a result for the model. */
function planCall<D>(call: ToolCall, tools: readonly AgentTool<D>[]): PlannedCall {
  const args = call.parsed;
  const replay = args === undefined ? '{}' : call.arguments;
  const refuse = (reason: RefusalReason, content: string): PlannedCall => {
    return { call, replay, plan: { kind: 'refuse', reason, content } };
  };
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) {
    const names = tools.map(({ name }) => name).join(', ');
    return refuse('unknownTool', `There is no tool "${call.name}". The tools are: ${names === '' ? 'none' : names}.`);
  }
  if (args === undefined) {
    return refuse(
      'invalidJson',
      `The arguments are not a JSON object, so nothing was run. They were: ${call.arguments}`,
    );
  }
  const misfit = argumentsMisfit(tool, args);
  if (misfit !== undefined) return refuse('invalidArguments', misfit);
  return { call, replay, plan: { kind: 'run', call: { id: call.id, name: call.name, arguments: args } } };
}

/** Why a call with these arguments is not run, for the model; `undefined` where they fit. */
export function argumentsMisfit({ check }: Pick<AgentTool<unknown>, 'check'>, args: unknown): string | undefined {
  const errors = check(args);
  return errors.length === 0
    ? undefined
    : `The arguments do not match the schema of the tool, so nothing was run. ${errors.join(' ')}`;
}

interface Ended {
  readonly index: number;
  readonly call: CheckedCall;
  readonly result: ToolResult;
  readonly cancelled: boolean;
}

const cancelledResult: ToolResult = { content: 'Cancelled by the user before it was done.', isError: true };

/** Runs the calls, at most `maxParallel` at one time, and returns a result for each, also after an abort. */
async function* runCalls<E, M, D>(
  planned: readonly PlannedCall[],
  { invoke, signal, maxParallel = 4 }: Pick<AgentLoopOptions<E, M, D>, 'invoke' | 'signal' | 'maxParallel'>,
): AsyncGenerator<AgentLoopEvent<E>, readonly string[], void> {
  const results = planned.map(() => 'Not run: cancelled by the user.');
  const running = new Map<number, Promise<Ended>>();
  let startedCount = 0;
  while (running.size > 0 || (startedCount < planned.length && !signal.aborted)) {
    const next = running.size < maxParallel && !signal.aborted ? planned[startedCount] : undefined;
    if (next !== undefined) {
      const index = startedCount++;
      const { call, plan } = next;
      if (plan.kind === 'refuse') {
        results[index] = plan.content;
        yield { type: 'toolRefused', call, reason: plan.reason, content: plan.content };
      } else {
        yield { type: 'toolStarted', call: plan.call };
        running.set(index, settle(index, plan.call, invoke, signal));
      }
      continue;
    }
    const { index, call, result, cancelled } = await Promise.race(running.values());
    running.delete(index);
    results[index] = result.content;
    if (result.refused === true) {
      const raw = planned[index]?.call ?? { ...call, arguments: '{}' };
      yield { type: 'toolRefused', call: raw, reason: 'user', content: result.content };
    } else yield { type: 'toolFinished', call, result, cancelled };
  }
  return results;
}

/** Never rejects, and does not wait for a call that does not heed the signal. */
function settle(
  index: number,
  call: CheckedCall,
  invoke: (call: CheckedCall, signal: AbortSignal) => Promise<ToolResult>,
  signal: AbortSignal,
): Promise<Ended> {
  return new Promise((resolve) => {
    const done = (result: ToolResult, cancelled: boolean): void => {
      signal.removeEventListener('abort', abort);
      resolve({ index, call, result, cancelled });
    };
    const abort = (): void => done(cancelledResult, true);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort);
    // The wrapper turns a synchronous throw into a rejection.
    (async () => invoke(call, signal))().then(
      (result) => done(result, false),
      (error: unknown) => done(...failure(error, signal)),
    );
  });
}

function failure(error: unknown, signal: AbortSignal): [ToolResult, boolean] {
  return signal.aborted ? [cancelledResult, true] : [rejectedCallResult(error), false];
}

/** What the model gets for a call that was rejected; a cancellation is the user's refusal. */
export function rejectedCallResult(error: unknown): ToolResult {
  if (isCancelled(error)) return { content: 'The user did not allow this call.', isError: true, refused: true };
  return { content: `The tool failed: ${error instanceof Error ? error.message : String(error)}`, isError: true };
}
