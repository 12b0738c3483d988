import assert from 'node:assert/strict';
import { parseJsonObject } from '../../../../src/core/base/json.ts';
import type { ToolCall } from '../../../../src/core/base/toolCall.ts';
import type {
  AgentLoopEvent,
  AgentLoopOptions,
  AgentLoopResult,
  HistoryMessage,
  ModelTurn,
} from '../../../../src/core/tools/agentLoop.ts';
import { runAgentLoop } from '../../../../src/core/tools/agentLoop.ts';

export type Options = AgentLoopOptions<string, string, string>;

/** A call as it was read: one whose arguments are no object must not run. */
export const call = (name: string, args = '{}', id = `id-${name}`): ToolCall => {
  const parsed = parseJsonObject(args);
  return { id, name, arguments: args, ...(parsed ? { parsed } : { problem: 'This cannot be read.' }) };
};
export const turn = (changes: Partial<ModelTurn> = {}): ModelTurn => ({
  text: '',
  reasoning: '',
  toolCalls: [],
  finishReason: 'stop',
  ending: 'finished',
  complete: true,
  ...changes,
});
export const calls = (...toolCalls: ToolCall[]): ModelTurn => turn({ toolCalls, finishReason: 'tool_calls' });

/** A model that says its turns one after the other, the last one again and again. */
export function model(...turns: ModelTurn[]) {
  const requests: (readonly (string | HistoryMessage)[])[] = [];
  const complete: Options['complete'] = async function* (messages) {
    requests.push(messages);
    const said = turns[Math.min(requests.length, turns.length) - 1] ?? turn();
    for (const piece of said.text) yield piece;
    return said;
  };
  return { requests, complete };
}

export function options(changes: Partial<Options> = {}): Options {
  return {
    messages: ['hello'],
    complete: model(turn({ text: 'hi' })).complete,
    invoke: async ({ name }) => ({ content: `result of ${name}`, isError: false }),
    tools: ['a', 'b', 'c'].map((name) => ({ name, definition: `definition of ${name}`, check: () => [] })),
    textOf: (piece) => piece,
    maxRounds: 5,
    signal: new AbortController().signal,
    ...changes,
  };
}

export async function play(
  given: Options,
  seen: (event: AgentLoopEvent<string>, count: number) => void = () => {},
): Promise<{ events: AgentLoopEvent<string>[]; end: AgentLoopResult }> {
  const events: AgentLoopEvent<string>[] = [];
  const loop = runAgentLoop(given);
  for (;;) {
    const next = await loop.next();
    if (next.done === true) return { events, end: next.value };
    events.push(next.value);
    seen(next.value, events.length);
  }
}

export const types = (events: AgentLoopEvent<string>[]): string[] => events.map(({ type }) => type);
export const toolMessages = (history: readonly HistoryMessage[]) =>
  history.filter((message) => message.role === 'tool');

/** Every turn with calls is followed by one result for each, in order, under ids that occur once, and nothing else is. */
export function assertConsistent(history: readonly HistoryMessage[]): void {
  const rest = [...history];
  const ids = new Set<string>();
  for (let message = rest.shift(); message !== undefined; message = rest.shift()) {
    assert.equal(message.role, 'assistant');
    if (message.role !== 'assistant') return;
    if (message.tool_calls === undefined) {
      assert.notEqual(message.content, '');
      continue;
    }
    assert.ok(message.tool_calls.length > 0);
    for (const each of message.tool_calls) {
      assert.ok(each.id !== '' && !ids.has(each.id));
      ids.add(each.id);
      const args: unknown = JSON.parse(each.function.arguments);
      assert.ok(typeof args === 'object' && args !== null && !Array.isArray(args));
      const result = rest.shift();
      assert.ok(result?.role === 'tool' && result.tool_call_id === each.id && result.content !== '');
    }
  }
}
