import assert from 'node:assert/strict';
import fc from 'fast-check';
import { truncateHistory } from '../../../../src/core/completions/history.ts';
import type { ChatMessage } from '../../../../src/core/completions/request.ts';
import { runs } from '../../runs.ts';

const user = (content: string): ChatMessage => ({ role: 'user', content });
const said = (content: string): ChatMessage => ({ role: 'assistant', content });
const calls = (...ids: string[]): ChatMessage => ({
  role: 'assistant',
  content: '',
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
});
const result = (id: string): ChatMessage => ({ role: 'tool', tool_call_id: id, content: 'r' });
const system: ChatMessage = { role: 'system', content: 's' };
/** Every message is one token. */
const shorten = (messages: readonly ChatMessage[], budget: number) => truncateHistory(messages, budget, () => 1);

describe('completions: a history that has to fit', () => {
  const turns = [system, user('1'), said('one'), user('2'), calls('a'), result('a'), said('two'), user('3')];

  it('stays whole when it fits, to the token', () => {
    assert.deepEqual(shorten(turns, 8), { messages: turns, turns: 0, rounds: 0 });
  });

  it('loses the oldest turns first, and keeps the instructions', () => {
    assert.deepEqual(shorten(turns, 7), { messages: [system, ...turns.slice(3)], turns: 1, rounds: 0 });
    // The second turn goes as one: its call, the result and the answer.
    assert.deepEqual(shorten(turns, 5), { messages: [system, user('3')], turns: 2, rounds: 0 });
  });

  it('keeps the question, whatever the budget', () => {
    assert.deepEqual(shorten(turns, 0).messages, [system, user('3')]);
    assert.deepEqual(shorten([system], 0).messages, [system]);
    assert.deepEqual(shorten([], 0), { messages: [], turns: 0, rounds: 0 });
  });

  it('loses the oldest rounds of the turn that is being answered, never the newest', () => {
    const rounds = [
      user('q'),
      calls('a', 'b'),
      result('a'),
      result('b'),
      calls('c'),
      result('c'),
      calls('d'),
      result('d'),
    ];
    assert.deepEqual(shorten(rounds, 5), {
      messages: [user('q'), ...rounds.slice(4)],
      turns: 0,
      rounds: 1,
    });
    assert.deepEqual(shorten(rounds, 0), { messages: [user('q'), calls('d'), result('d')], turns: 0, rounds: 2 });
  });

  it('never separates a call and its results, keeps the order and the question, and fits when it can', () => {
    const turn = fc.record({
      rounds: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 4 }),
      answered: fc.boolean(),
    });
    const property = fc.property(
      fc.array(turn, { minLength: 1, maxLength: 6 }),
      fc.nat(40),
      fc.boolean(),
      (made, budget, told) => {
        let id = 0;
        const messages = made.flatMap(({ rounds, answered }, at) => [
          user(`q${at}`),
          ...rounds.flatMap((size) => {
            const ids = Array.from({ length: size }, () => `c${id++}`);
            return [calls(...ids), ...ids.map(result)];
          }),
          ...(answered ? [said(`a${at}`)] : []),
        ]);
        const all = told ? [system, ...messages] : messages;
        const { messages: kept, turns: gone, rounds: goneRounds } = shorten(all, budget);
        assert.deepEqual(
          kept,
          all.filter((message) => kept.includes(message)),
          'in order',
        );
        assert.ok(kept.includes(messages.findLast(({ role }) => role === 'user') as ChatMessage));
        assert.equal(kept.includes(system), told);
        const called = kept.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => call.id));
        assert.deepEqual(
          kept.flatMap(({ tool_call_id }) => tool_call_id ?? []),
          called,
          'every call has its result',
        );
        assert.equal(gone + goneRounds === 0, kept.length === all.length);
        if (all.length <= budget) assert.equal(kept.length, all.length);
        // Too long only when nothing more can go: one turn with at most one round.
        if (kept.length > budget) assert.ok(kept.filter(({ tool_calls }) => tool_calls).length <= 1);
      },
    );
    fc.assert(property, { ...runs(200), seed: 7 });
  });
});
