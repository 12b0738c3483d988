import assert from 'node:assert/strict';
import { cancelled } from '../../../../src/core/base/errors.ts';
import type { ToolCall } from '../../../../src/core/base/toolCall.ts';
import type {
  AgentLoopResult,
  CheckedCall,
  HistoryMessage,
  ModelTurn,
  ToolResult,
} from '../../../../src/core/tools/agentLoop.ts';

import { assertConsistent, call, calls, model, options, play, toolMessages, turn, types } from './agentLoopPlay.ts';

describe('runToolLoop', () => {
  it('passes an answer without calls through', async () => {
    const { events, end } = await play(options());
    assert.deepEqual(events, [
      { type: 'round', round: 1 },
      { type: 'model', event: 'h' },
      { type: 'model', event: 'i' },
    ]);
    assert.equal(end.reason, 'answered');
    assert.equal(end.turn?.text, 'hi');
    assert.deepEqual(end.history, [{ role: 'assistant', content: 'hi' }]);
  });

  it('runs calls, tells the model what came of them, and goes on until it answers', async () => {
    const { requests, complete } = model(
      turn({ text: 'x', toolCalls: [call('a', '{"p":1}'), call('b')] }),
      calls(call('c', '{}', 'third')),
      turn({ text: 'done' }),
    );
    const asked: CheckedCall[] = [];
    const given = options({
      complete,
      invoke: async (each) => {
        asked.push(each);
        return { content: `result of ${each.name}`, isError: false };
      },
    });
    const { end } = await play(given);
    assert.deepEqual(
      asked.map((each) => each.arguments),
      [{ p: 1 }, {}, {}],
    );
    assert.deepEqual(end.history, [
      {
        role: 'assistant',
        content: 'x',
        tool_calls: [
          { id: 'id-a', type: 'function', function: { name: 'a', arguments: '{"p":1}' } },
          { id: 'id-b', type: 'function', function: { name: 'b', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'id-a', content: 'result of a' },
      { role: 'tool', tool_call_id: 'id-b', content: 'result of b' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'third', type: 'function', function: { name: 'c', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'third', content: 'result of c' },
      { role: 'assistant', content: 'done' },
    ]);
    assert.deepEqual([end.reason, end.rounds], ['answered', 3]);
    assert.deepEqual(
      requests,
      [0, 3, 5].map((length) => ['hello', ...end.history.slice(0, length)]),
    );
    assert.deepEqual(given.messages, ['hello']);
  });

  it('offers the definitions of the tools as they are', async () => {
    let offered: readonly string[] = [];
    await play(
      options({
        complete: async function* (_, tools) {
          yield* [];
          offered = tools;
          return turn();
        },
      }),
    );
    assert.deepEqual(offered, ['definition of a', 'definition of b', 'definition of c']);
  });

  /** A call that must not run: what is said to the model, and what the history repeats of its arguments. */
  const refusals: [title: string, call: ToolCall, reason: string, content: RegExp, replayed: string][] = [
    ['an unknown tool', call('nope', '{"p":1}'), 'unknownTool', /no tool "nope".*a, b, c/, '{"p":1}'],
    [
      'a call that must not run',
      call('a', '{"p":'),
      'invalidJson',
      /^The arguments are not a JSON object.*\{"p":$/,
      '{}',
    ],
    ['arguments that do not fit', call('b', '{"p":1}'), 'invalidArguments', /p is wrong\. q is missing\./, '{"p":1}'],
  ];
  for (const [title, wrong, reason, content, replayed] of refusals) {
    it(`tells the model about ${title}, runs nothing of it and everything beside it`, async () => {
      const asked: string[] = [];
      const { events, end } = await play(
        options({
          complete: model(calls(wrong, call('c')), turn({ text: 'ok' })).complete,
          invoke: async ({ name }) => {
            asked.push(name);
            return { content: 'fine', isError: false };
          },
          tools: options().tools.map((tool) => ({
            ...tool,
            check: () => (tool.name === 'b' ? ['p is wrong.', 'q is missing.'] : []),
          })),
        }),
      );
      assert.deepEqual(asked, ['c']);
      const refused = events.find((event) => event.type === 'toolRefused');
      assert.ok(refused?.type === 'toolRefused' && refused.reason === reason);
      const [message, other] = toolMessages(end.history);
      assert.match(message?.content ?? '', content);
      assert.equal(message?.content, refused.content);
      assert.equal(other?.content, 'fine');
      const [first] = end.history;
      assert.equal(first?.role === 'assistant' ? first.tool_calls?.[0]?.function.arguments : undefined, replayed);
    });
  }

  const failures: [title: string, invoke: () => Promise<ToolResult>, type: string, content: RegExp][] = [
    ['a failed call', () => Promise.reject(new Error('disk full')), 'toolFinished', /The tool failed: disk full/],
    [
      'a call that throws at once',
      () => {
        throw new Error('at once');
      },
      'toolFinished',
      /The tool failed: at once/,
    ],
    [
      'a result that is an error',
      async () => ({ content: 'exit code 1', isError: true }),
      'toolFinished',
      /^exit code 1$/,
    ],
    [
      'a refusal',
      async () => ({ content: 'The user said no.', isError: true, refused: true }),
      'toolRefused',
      /^The user said no\.$/,
    ],
    ['a consent that was dismissed', () => Promise.reject(cancelled()), 'toolRefused', /did not allow this call/],
  ];
  for (const [title, invoke, type, content] of failures) {
    it(`tells the model about ${title} and goes on`, async () => {
      const { events, end } = await play(
        options({ complete: model(calls(call('a')), turn({ text: 'ok' })).complete, invoke }),
      );
      assert.deepEqual(types(events), ['round', 'toolStarted', type, 'round', 'model', 'model']);
      assert.match(toolMessages(end.history)[0]?.content ?? '', content);
      assert.equal(end.reason, 'answered');
    });
  }

  it('runs calls side by side, at most so many, and gives the results in the order of the calls', async () => {
    let running = 0;
    let most = 0;
    const waits = [5, 1, 4, 1, 3, 1];
    const { end, events } = await play(
      options({
        complete: model(
          calls(...waits.map((ms, index) => call('a', JSON.stringify({ ms }), `${index}`))),
          turn({ text: '.' }),
        ).complete,
        maxParallel: 3,
        invoke: async ({ id, arguments: { ms } }) => {
          running += 1;
          most = Math.max(most, running);
          await new Promise((resolve) => setTimeout(resolve, Number(ms) * 4));
          running -= 1;
          return { content: `result ${id}`, isError: false };
        },
      }),
    );
    assert.equal(most, 3);
    assert.deepEqual(
      toolMessages(end.history).map(({ content }) => content),
      waits.map((_, index) => `result ${index}`),
    );
    const finished = events.flatMap((event) => (event.type === 'toolFinished' ? [event.call.id] : []));
    assert.notDeepEqual(finished, finished.toSorted());
  });

  it('ends at the limit of rounds, says so, and runs nothing of the last one', async () => {
    let ran = 0;
    const { events, end } = await play(
      options({
        complete: model(calls(call('a', '{}', 'one')), calls(call('a', '{}', 'two'))).complete,
        maxRounds: 2,
        invoke: async () => {
          ran += 1;
          return { content: `run ${ran}`, isError: false };
        },
      }),
    );
    assert.deepEqual(types(events), ['round', 'toolStarted', 'toolFinished', 'round', 'limitReached']);
    assert.deepEqual([end.reason, end.rounds, ran], ['roundLimit', 2, 1]);
    assert.deepEqual(
      toolMessages(end.history).map(({ content }) => content),
      ['run 1', 'Not run: the limit of 2 rounds was reached.'],
    );
    assertConsistent(end.history);
  });

  const endings: [
    title: string,
    turn: ModelTurn,
    reason: AgentLoopResult['reason'],
    history: readonly HistoryMessage[],
  ][] = [
    [
      'a connection that was cut',
      turn({ text: 'part', complete: false, toolCalls: [call('a')] }),
      'incomplete',
      [{ role: 'assistant', content: 'part' }],
    ],
    [
      'a call cut by the length limit',
      turn({ text: 'part', ending: 'length', toolCalls: [call('a')] }),
      'cut',
      [{ role: 'assistant', content: 'part' }],
    ],
    ['a call that the service broke off', turn({ ending: 'endedEarly', toolCalls: [call('a')] }), 'cut', []],
    ['a long answer', turn({ text: 'long', ending: 'length' }), 'answered', [{ role: 'assistant', content: 'long' }]],
    ['an answer with nothing but reasoning', turn({ reasoning: 'hm' }), 'answered', []],
    [
      'a finish reason tool_calls without a call',
      turn({ text: 'x', finishReason: 'tool_calls' }),
      'answered',
      [{ role: 'assistant', content: 'x' }],
    ],
  ];
  for (const [title, said, reason, history] of endings) {
    it(`ends at ${title} and runs nothing`, async () => {
      const { events, end } = await play(
        options({ complete: model(said).complete, invoke: () => assert.fail('was run') }),
      );
      assert.equal(end.reason, reason);
      assert.deepEqual(end.history, history);
      assert.equal(end.turn, said);
      assert.ok(types(events).every((type) => type === 'round' || type === 'model'));
    });
  }

  it('runs calls that come with the finish reason stop', async () => {
    const { end } = await play(
      options({ complete: model(turn({ toolCalls: [call('a')] }), turn({ text: '.' })).complete }),
    );
    assert.equal(toolMessages(end.history).length, 1);
  });

  it('ends with the error of a request and keeps what was done before', async () => {
    const failure = new Error('503');
    let requests = 0;
    const { end } = await play(
      options({
        complete: async function* () {
          yield 'x';
          requests += 1;
          if (requests === 2) throw failure;
          return calls(call('a'));
        },
      }),
    );
    assert.deepEqual([end.reason, end.error], ['failed', failure]);
    assert.equal(end.history.length, 3);
    assert.deepEqual(end.history.at(-1), { role: 'assistant', content: 'x' });
    assertConsistent(end.history);
  });
});
