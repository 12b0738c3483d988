import assert from 'node:assert/strict';
import {
  checkMessages,
  checkParameters,
  checkRequest,
  completionRequestSchema,
} from '../../../../src/core/completions/parameters.ts';
import { requestFields } from '../../../../src/core/completions/request.ts';

const user = { role: 'user', content: 'Hello' };
const request = (more: object): object => ({ model: 'm', messages: [user], ...more });
const withMessage = (message: unknown): object => ({ model: 'm', messages: [message] });
const withTool = (tool: unknown): object => request({ tools: [tool] });

/** Each field: values that pass, values that do not, and what is said about those. */
const fields: Record<string, { good: unknown[]; bad: unknown[]; says: string }> = {
  model: { good: ['org/Model-1'], bad: [7, null], says: 'model must be text.' },
  messages: { good: [[user]], bad: ['Hello', null, {}], says: 'messages must be a list.' },
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

function problems(value: unknown): string[] {
  const checked = checkRequest(value);
  return checked.ok ? [] : checked.problems.map(({ message }) => message);
}

describe('completions: checking a request that a person wrote', () => {
  it('has one rule for each field of the specification', () => {
    assert.deepEqual(Object.keys(completionRequestSchema.def.shape).sort(), [...requestFields].sort());
    assert.deepEqual(Object.keys(fields).sort(), [...requestFields].sort());
  });

  for (const [field, { good, bad, says }] of Object.entries(fields)) {
    it(`${field}: ${good.length} pass, ${bad.length} do not`, () => {
      for (const value of good) assert.deepEqual(problems(request({ [field]: value })), [], JSON.stringify(value));
      for (const value of bad) assert.deepEqual(problems(request({ [field]: value })), [says], JSON.stringify(value));
    });
  }

  it('gives back the very value, unknown fields and order included', () => {
    const value = { zeta: 1, messages: [{ content: 'x', role: 'user', extra: null }], model: 'm' };
    const checked = checkRequest(value);
    assert.ok(checked.ok);
    assert.equal(checked.value, value);
    assert.deepEqual(Object.keys(checked.value), ['zeta', 'messages', 'model']);
  });

  /** Row by row: what is written, and the place and words of the one problem. */
  const places: readonly [name: string, value: unknown, path: (string | number)[], message: string][] = [
    ['no object', [], [], 'The request must be an object.'],
    ['no model', { messages: [user] }, ['model'], 'model must be text.'],
    ['an empty model', { model: '', messages: [user] }, ['model'], 'model must not be empty.'],
    ['no message', { model: 'm', messages: [] }, ['messages'], 'messages must not be empty.'],
    ['no role', withMessage({ content: 'x' }), ['messages', 0, 'role'], 'messages[0].role must be text.'],
    [
      'an empty role',
      withMessage({ role: '', content: 'x' }),
      ['messages', 0, 'role'],
      'messages[0].role must not be empty.',
    ],
    [
      'a message that is text',
      withMessage('x'),
      ['messages', 0],
      'messages[0] must be a message with role and content.',
    ],
    [
      'a tool name with a dot',
      withTool({ type: 'function', function: { name: 'a.b' } }),
      ['tools', 0, 'function', 'name'],
      'tools[0].function.name must be 1 to 64 letters, digits, underscores or hyphens.',
    ],
    [
      'a tool of another type',
      withTool({ type: 'retrieval', function: { name: 'f' } }),
      ['tools', 0, 'type'],
      'tools[0].type must be "function".',
    ],
    [
      'parameters that are no object schema',
      withTool({ type: 'function', function: { name: 'f', parameters: { type: 'array' } } }),
      ['tools', 0, 'function', 'parameters', 'type'],
      'tools[0].function.parameters.type must be "object".',
    ],
  ];
  for (const [name, value, path, message] of places) {
    it(`says where: ${name}`, () => {
      assert.deepEqual(checkRequest(value), { ok: false, problems: [{ path, message }] });
    });
  }

  it('tells everything that is wrong, not only the first', () => {
    assert.deepEqual(problems({ model: 1, messages: [user], seed: 'x' }).sort(), [
      'model must be text.',
      'seed must be a whole number.',
    ]);
  });

  it('takes images by http(s) and data addresses only', () => {
    const image = (url: string) =>
      withMessage({ role: 'user', content: [{ type: 'image_url', image_url: { url, detail: 'auto' } }] });
    for (const url of ['https://h/x.png', 'http://h/x', 'data:image/png;base64,AA==']) {
      assert.deepEqual(problems(image(url)), []);
    }
    for (const url of ['file:///etc/passwd', 'x.png', '']) assert.equal(problems(image(url)).length, 1, url);
    assert.equal(problems(withMessage({ role: 'user', content: [{ type: 'audio' }] })).length, 1);
  });

  it('takes an assistant turn of tool calls, and a tool turn', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    assert.deepEqual(problems(withMessage({ role: 'assistant', content: null, tool_calls: [call] })), []);
    assert.deepEqual(problems(withMessage({ role: 'assistant', tool_calls: [call] })), []);
    assert.deepEqual(problems(withMessage({ role: 'tool', content: 'x', tool_call_id: 'c' })), []);
    const broken = { ...call, function: { name: 'f', arguments: {} } };
    assert.deepEqual(problems(withMessage({ role: 'assistant', content: null, tool_calls: [broken] })), [
      'messages[0].tool_calls[0].function.arguments must be text.',
    ]);
  });

  it('takes 128 tools and not 129', () => {
    const tools = Array.from({ length: 129 }, (_, at) => ({ type: 'function', function: { name: `f${at}` } }));
    assert.deepEqual(problems(request({ tools: tools.slice(1) })), []);
    assert.deepEqual(problems(request({ tools })), ['tools must have at most 128 entries.']);
  });

  it('checks parameters without a conversation', () => {
    const good = { temperature: 0.2, own: true };
    assert.deepEqual(checkParameters(good), { ok: true, value: good });
    assert.deepEqual(checkParameters({}), { ok: true, value: {} });
    assert.deepEqual(checkParameters({ temperature: 'warm' }), {
      ok: false,
      problems: [{ path: ['temperature'], message: 'temperature must be a number.' }],
    });
  });

  it('checks a conversation that was kept', () => {
    const kept = [user, { role: 'assistant', content: 'Hi' }];
    assert.deepEqual(checkMessages(kept), { ok: true, value: kept });
    for (const broken of [undefined, 'gone', [], [{ role: 'user', content: 7 }], [{ content: 'x' }]]) {
      assert.equal(checkMessages(broken).ok, false, JSON.stringify(broken));
    }
  });
});
