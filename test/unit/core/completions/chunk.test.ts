import assert from 'node:assert/strict';
import { readChunk } from '../../../../src/core/completions/chunk.ts';

const choice = (value: unknown) => readChunk({ choices: [value] }).choices[0];
const delta = (value: unknown) => choice({ index: 0, delta: value });
const toolCalls = (value: unknown) => delta({ tool_calls: value })?.toolCalls;

const silent = {
  index: 0,
  role: '',
  text: '',
  reasoning: '',
  toolCalls: [],
  logprobs: undefined,
  finishReason: '',
  stopReason: undefined,
};

describe('chunk', () => {
  it('reads every field of the specification, of a chunk and of a whole answer', () => {
    const head = { id: 'x', object: 'o', created: 7, model: 'm', system_fingerprint: 'f', prompt_logprobs: 'p' };
    const said = { role: 'assistant', content: 'Hi', reasoning_content: 'Hm' };
    const rest = { index: 2, finish_reason: 'stop', stop_reason: 13, logprobs: null };
    for (const member of ['delta', 'message']) {
      const chunk = readChunk({ ...head, choices: [{ ...rest, [member]: said }] });
      assert.deepEqual(chunk, {
        id: 'x',
        object: 'o',
        created: 7,
        model: 'm',
        fingerprint: 'f',
        promptLogprobs: 'p',
        usage: undefined,
        choices: [
          { ...silent, index: 2, role: 'assistant', text: 'Hi', reasoning: 'Hm', finishReason: 'stop', stopReason: 13 },
        ],
      });
    }
  });

  it('reads a member of any other type as absent', () => {
    for (const odd of [null, true, 0, 1.5, 'text', [], [null], {}, { a: 1 }]) {
      const chunk = readChunk({ choices: [odd], usage: odd, id: odd, created: odd, model: odd });
      assert.ok(chunk.choices.length <= 1);
      const number = typeof odd === 'number' ? odd : undefined;
      const text = typeof odd === 'string' ? odd : '';
      assert.equal(chunk.created, number);
      assert.deepEqual(readChunk({ choices: odd as never }).choices, []);
      const read = choice({
        index: odd,
        delta: { role: odd, content: odd, tool_calls: odd, reasoning: odd },
        logprobs: odd,
        finish_reason: odd,
      });
      assert.equal(read?.index, number ?? 0);
      assert.equal(read?.role, text);
      assert.equal(read?.text, text);
      assert.equal(read?.reasoning, text);
      assert.equal(read?.finishReason, text);
      assert.equal(read?.logprobs, undefined);
      assert.ok((read?.toolCalls.length ?? 0) <= 1);
      assert.deepEqual(choice({ delta: odd }), silent);
    }
  });

  it('gives a choice without an index its place', () => {
    const { choices } = readChunk({ choices: [{ delta: { content: 'a' } }, null, { delta: { content: 'b' } }] });
    assert.deepEqual(
      choices.map(({ index, text }) => [index, text]),
      [
        [0, 'a'],
        [2, 'b'],
      ],
    );
  });

  for (const [content, text, reasoning] of [
    ['plain', 'plain', ''],
    [[{ type: 'text', text: 'a' }, 'b', null, 7, { type: 'image' }, { type: 'text', text: 'c' }], 'abc', ''],
    [
      [
        { type: 'thinking', thinking: 'a' },
        { type: 'text', text: 'b' },
      ],
      'b',
      'a',
    ],
    [
      [
        { type: 'reasoning', text: 'a' },
        { type: 'reasoning', reasoning: [{ type: 'text', text: 'b' }] },
      ],
      '',
      'ab',
    ],
    [
      [
        { type: 'text', text: 'a' },
        { type: 'refusal', refusal: 'b' },
      ],
      'ab',
      '',
    ],
    [[], '', ''],
  ] as const) {
    it(`joins the parts of content ${JSON.stringify(content)}`, () => {
      const read = delta({ content });
      assert.deepEqual([read?.text, read?.reasoning], [text, reasoning]);
    });
  }

  it('shows a refusal as the text, and reasoning under either name once', () => {
    assert.equal(delta({ content: null, refusal: 'No.' })?.text, 'No.');
    assert.equal(delta({ content: 'Yes.', refusal: 'No.' })?.text, 'Yes.');
    assert.equal(delta({ reasoning: 'a' })?.reasoning, 'a');
    assert.equal(delta({ reasoning_content: 'a', reasoning: 'a' })?.reasoning, 'a');
  });

  it('reads the readable parts of reasoning_details, where reasoning stands nowhere else', () => {
    const reasoning_details = [
      { type: 'reasoning.summary', summary: 'a' },
      { type: 'reasoning.encrypted', data: 'zzz' },
      { type: 'reasoning.text', text: 'b', signature: 'zzz' },
    ];
    assert.equal(delta({ content: '', reasoning_details })?.reasoning, 'ab');
    assert.equal(delta({ reasoning: 'c', reasoning_details })?.reasoning, 'c');
  });

  it('reads the call of the legacy function_call, unless there are tool_calls', () => {
    const function_call = { name: 'f', arguments: '{}' };
    assert.deepEqual(delta({ function_call })?.toolCalls, [{ index: 0, id: '', name: 'f', arguments: '{}' }]);
    assert.deepEqual(choice({ message: { function_call } })?.toolCalls.length, 1);
    const call = { id: 'c', function: function_call };
    assert.deepEqual(
      delta({ function_call, tool_calls: [call] })?.toolCalls.map(({ id }) => id),
      ['c'],
    );
  });

  it('reads parts and arguments however deep they are nested', () => {
    const depth = 50_000;
    const nested = (open: string, middle: string, close: string): unknown =>
      JSON.parse(open.repeat(depth) + middle + close.repeat(depth));
    const content = [nested('{"type":"thinking","thinking":[', '"deep"', ']}')];
    assert.equal(delta({ content })?.reasoning, 'deep');
    const [call] = toolCalls([{ function: { name: 'f', arguments: nested('{"a":', '1', '}') } }]) ?? [];
    assert.throws(() => JSON.parse(call?.arguments ?? ''), 'it must not run without its arguments');
  });

  it('reads calls of tools whatever is missing in them', () => {
    const none = { index: undefined, id: '', name: '', arguments: '' };
    assert.deepEqual(toolCalls([{}, null, 7, { index: 3, id: 'c', function: { name: 'f', arguments: '{' } }]), [
      none,
      { index: 3, id: 'c', name: 'f', arguments: '{' },
    ]);
    assert.deepEqual(toolCalls([{ index: null, id: null, function: null }]), [none]);
    assert.equal(toolCalls([{ function: { arguments: { a: [1] } } }])?.[0]?.arguments, '{"a":[1]}');
    assert.equal(toolCalls([{ function: { arguments: null } }])?.[0]?.arguments, '');
  });

  it('tells the calls of a whole answer apart, whatever their index says', () => {
    const call = { index: 0, function: { name: 'f' } };
    assert.deepEqual(
      choice({ message: { tool_calls: [call, call] } })?.toolCalls.map(({ index }) => index),
      [0, 1],
    );
  });

  it('reads usage member by member, and null as nothing', () => {
    assert.equal(readChunk({ usage: null }).usage, undefined);
    assert.deepEqual(readChunk({ usage: { prompt_tokens: 0, completion_tokens: '5', total_tokens: null } }).usage, {
      promptTokens: 0,
    });
    const details = { cached_tokens: 2 };
    const whole = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    assert.deepEqual(
      readChunk({ usage: { ...whole, prompt_tokens_details: details, completion_tokens_details: details } }).usage,
      {
        promptTokens: 3,
        completionTokens: 2,
        totalTokens: 5,
        promptTokensDetails: details,
        completionTokensDetails: details,
      },
    );
  });

  it('keeps a stop reason of any type but null', () => {
    for (const stop of ['.', 0, false, [1]]) assert.deepEqual(choice({ stop_reason: stop })?.stopReason, stop);
    assert.equal(choice({ stop_reason: null })?.stopReason, undefined);
  });
});
