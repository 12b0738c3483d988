import { raceWithSignal } from '../base/abort.ts';
import { isCancelled } from '../base/errors.ts';
import { type PlannedCall, planCall, runCalls } from './agentLoopCalls.ts';
import type { AgentLoopEvent, AgentLoopOptions, AgentLoopResult, HistoryMessage, ModelTurn } from './agentLoopTypes.ts';

/**
 * Lets a model call tools until it answers. Each round is one request; calls of one round run side by side.
 *
 * Yields what happens and returns the messages to append to the history, which are consistent however it ends: every
 * assistant turn with calls is followed by one result for each call, in their order, and the words of a turn that was
 * interrupted are kept. Never throws; a failed request
 * ends it with `reason: 'failed'`. Leaving the generator early aborts what it started.
 *
 * @typeParam E the events of the model, passed through.
 * @typeParam M the caller's own messages.
 * @typeParam D the tool as it is sent to the service.
 */
export async function* runAgentLoop<E, M, D>(
  options: AgentLoopOptions<E, M, D>,
): AsyncGenerator<AgentLoopEvent<E>, AgentLoopResult, void> {
  const left = new AbortController();
  const signal = AbortSignal.any([options.signal, left.signal]);
  const history: HistoryMessage[] = [];
  const definitions = options.tools.map(({ definition }) => definition);
  let rounds = 0;
  let turn: ModelTurn | undefined;
  /** The model's words of a turn that has not come to its end. */
  let said = '';
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
        said += options.textOf(event);
      });
      said = ''; // It stands in the turn.
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
    history.push(...wordsOf(said));
    return signal.aborted || isCancelled(error) ? end('cancelled') : end('failed', error);
  } finally {
    left.abort();
  }
}

function wordsOf(text: string): HistoryMessage[] {
  return text === '' ? [] : [{ role: 'assistant', content: text }];
}

/** Passes the events of one request through and stops listening at an abort, also when the request does not. */
async function* modelTurn<E>(
  events: AsyncGenerator<E, ModelTurn, void>,
  signal: AbortSignal,
  heard: (event: E) => void,
): AsyncGenerator<AgentLoopEvent<E>, ModelTurn, void> {
  let isDone = false;
  try {
    for (;;) {
      const next = await raceWithSignal(events.next(), signal);
      if (next.done === true) {
        isDone = true;
        return next.value;
      }
      heard(next.value);
      yield { type: 'model', event: next.value };
    }
  } finally {
    // Not awaited: a generator that hangs in `next` answers `return` only afterwards, and the signal has told it already.
    if (!isDone) void events.return(undefined as never).catch(() => {});
  }
}

/** Why no calls follow this turn; undefined when calls do. */
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
