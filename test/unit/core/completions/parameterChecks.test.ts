import assert from 'node:assert/strict';
import { parameterProblem, readMessages } from '../../../../src/core/completions/parameters.ts';
import { requestFields } from '../../../../src/core/completions/request.ts';

/** Each field but the model and the messages: values that pass, values that do not, and what is said about those. */
const fields: Record<string, { good: unknown[]; bad: unknown[]; says: string }> = {
  frequency_penalty: { good: [-2, 0.1], bad: ['1', null], says: 'frequency_penalty must be a number.' },
  presence_penalty: { good: [2], bad: [true, Number.NaN], says: 'presence_penalty must be a number.' },
  logit_bias: {
    good: [null, {}, { '7': -100 }],
    bad: [[1], 'x'],
    says: 'logit_bias must be an object of token IDs and numbers.',
  },
  logprobs: { good: [true, false], bad: [1, 'true', null], says: 'logprobs must be true or false.' },
  top_logprobs: { good: [0, 20], bad: [1.5, '2', null], says: 'top_logprobs must be a whole number.' },
  max_tokens: { good: [1], bad: [0.5, null], says: 'max_tokens must be a whole number.' },
  max_completion_tokens: { good: [1], bad: ['1'], says: 'max_completion_tokens must be a whole number.' },
  n: { good: [2], bad: [1.5], says: 'n must be a whole number.' },
  seed: { good: [-1, 0, 2 ** 60], bad: [0.1, '7', Number.POSITIVE_INFINITY], says: 'seed must be a whole number.' },
  stop: { good: ['x', ['x', 'y']], bad: [1, null, [1]], says: 'stop must be text or a list of texts.' },
  stream: { good: [true, false], bad: ['yes'], says: 'stream must be true or false.' },
  stream_options: { good: [null, {}, { include_usage: true }], bad: [true], says: 'stream_options must be an object.' },
  temperature: { good: [0, 2.5], bad: ['hot'], says: 'temperature must be a number.' },
  top_p: { good: [0.5], bad: [[]], says: 'top_p must be a number.' },
  reasoning_effort: { good: ['low', 'minimal'], bad: [1, null], says: 'reasoning_effort must be text.' },
  tool_choice: {
    good: ['auto', 'none'],
    bad: ['required', {}, null],
    says: 'tool_choice must be "auto" or "none"; the service supports nothing else.',
  },
  tools: { good: [[], [{ type: 'function', function: { name: 'f' } }]], bad: [{}, 'f'], says: 'tools must be a list.' },
};

describe('parameterProblem', () => {
  it('has a rule for each parameter of the specification', () => {
    assert.deepEqual(['model', 'messages', ...Object.keys(fields)].sort(), [...requestFields].sort());
  });

  for (const [field, { good, bad, says }] of Object.entries(fields)) {
    it(`${field}: ${good.length} pass, ${bad.length} do not`, () => {
      for (const value of good) assert.equal(parameterProblem(field, value), undefined, JSON.stringify(value));
      for (const value of bad) assert.equal(parameterProblem(field, value), says, JSON.stringify(value));
    });
  }

  it('lets fields pass that the specification does not define', () => {
    assert.equal(parameterProblem('own', { any: true }), undefined);
  });

  /** Row by row: a tool, and what is said about it. */
  const tools: readonly [name: string, tool: unknown, says: string][] = [
    [
      'a name with a dot',
      { type: 'function', function: { name: 'a.b' } },
      'tools[0].function.name must be 1 to 64 letters, digits, underscores or hyphens.',
    ],
    ['another type', { type: 'retrieval', function: { name: 'f' } }, 'tools[0].type must be "function".'],
    [
      'parameters that are no object schema',
      { type: 'function', function: { name: 'f', parameters: { type: 'array' } } },
      'tools[0].function.parameters.type must be "object".',
    ],
    [
      'two problems',
      { type: 'retrieval', function: { name: 7 } },
      'tools[0].type must be "function". tools[0].function.name must be text.',
    ],
  ];
  for (const [name, tool, says] of tools) {
    it(`says what is wrong with a tool, and where: ${name}`, () => {
      assert.equal(parameterProblem('tools', [tool]), says);
    });
  }

  it('takes 128 tools and not 129', () => {
    const many = Array.from({ length: 129 }, (_, at) => ({ type: 'function', function: { name: `f${at}` } }));
    assert.equal(parameterProblem('tools', many.slice(1)), undefined);
    assert.equal(parameterProblem('tools', many), 'tools must have at most 128 entries.');
  });
});

describe('readMessages', () => {
  const user = { role: 'user', content: 'Hello' };
  const isRead = (message: unknown) => readMessages([message]) !== undefined;

  it('gives the very conversation that was kept', () => {
    const kept = [
      { content: 'x', role: 'user', extra: null },
      { role: 'assistant', content: 'Hi' },
    ];
    assert.equal(readMessages(kept), kept);
    assert.deepEqual(Object.keys(kept[0] ?? {}), ['content', 'role', 'extra']);
  });

  it('gives nothing for what a request cannot have', () => {
    const broken = [undefined, null, {}, 'gone', [], ['x'], [{ content: 'x' }], [{ role: '', content: 'x' }]];
    for (const value of [...broken, [user, { role: 'user', content: 7 }]]) {
      assert.equal(readMessages(value), undefined, JSON.stringify(value));
    }
  });

  it('takes images by http(s) and data addresses only', () => {
    const image = (url: string) => ({
      role: 'user',
      content: [{ type: 'image_url', image_url: { url, detail: 'auto' } }],
    });
    for (const url of ['https://h/x.png', 'http://h/x', 'data:image/png;base64,AA=='])
      assert.ok(isRead(image(url)), url);
    for (const url of ['file:///etc/passwd', 'x.png', '']) assert.ok(!isRead(image(url)), url);
    assert.ok(!isRead({ role: 'user', content: [{ type: 'audio' }] }));
  });

  it('takes an assistant turn of tool calls, and a tool turn', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    assert.ok(isRead({ role: 'assistant', content: null, tool_calls: [call] }));
    assert.ok(isRead({ role: 'assistant', tool_calls: [call] }));
    assert.ok(isRead({ role: 'tool', content: 'x', tool_call_id: 'c' }));
    const broken = { ...call, function: { name: 'f', arguments: {} } };
    assert.ok(!isRead({ role: 'assistant', content: null, tool_calls: [broken] }));
  });
});
