import assert from 'node:assert/strict';
import { StopScanner } from '../../../src/sandbox/inference/choice.ts';
import { trainEngine } from '../../../src/sandbox/inference/languageModel.ts';
import { ask, type Body, choiceOf, contentOf, InferenceHarness, user, wordCount } from './inferenceHarness.ts';

const { tokenizer } = trainEngine();
const service = new InferenceHarness();
const raw = (more: object): object => ({ model: 'sandbox/ngram', messages: [user('A group is')], seed: 7, ...more });
const contents = (body: Body): (string | null)[] => body.choices.map(({ message }) => message.content);
const endless = { logit_bias: { [tokenizer.endOfText]: -100 } };
const idOf = (text: string): string => {
  const ids = tokenizer.encode(text);
  assert.equal(ids.length, 1, `"${text}" is one token`);
  return String(ids[0]);
};

before(() => service.start());
after(() => service.stop());

describe('sandbox inference: request fields are checked', () => {
  const good = ask('hello');
  const withMessages = (...messages: unknown[]): object => ({ ...good, messages });
  const call = (args: unknown, more: object = {}): object => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: args }, ...more }],
  });
  const result = { role: 'tool', tool_call_id: 'c1', content: 'x' };
  // The members that the types of the `openai` package declare as nullable.
  const nullable = Object.fromEntries(
    [
      ...['frequency_penalty', 'presence_penalty', 'logit_bias', 'logprobs', 'top_logprobs', 'max_tokens'],
      ...['max_completion_tokens', 'n', 'seed', 'stop', 'stream', 'stream_options', 'temperature', 'top_p'],
      'reasoning_effort',
    ].map((name) => [name, null]),
  );
  const withTool = (fn: unknown, more: object = {}): object => ({
    ...good,
    tools: [{ type: 'function', function: fn, ...more }],
  });

  /** Row by row: the request, the field that `param` must name, what the message must say. */
  const refused: [name: string, body: unknown, param: string, message: RegExp][] = [
    ['a body that is no object', [1], '', /JSON object, got array/],
    ['messages missing', { model: 'sandbox/guide' }, 'messages', /required/],
    ['messages null', { ...good, messages: null }, 'messages', /array, got null/],
    ['messages empty', { ...good, messages: [] }, 'messages', /at least one/],
    ['a message that is no object', withMessages('hi'), 'messages[0]', /object, got string/],
    ['role missing', withMessages({ content: 'x' }), 'messages[0].role', /required/],
    ['role of another type', withMessages({ role: 1, content: 'x' }), 'messages[0].role', /string/],
    [
      'role unknown',
      withMessages({ role: 'bot', content: 'x' }),
      'messages[0].role',
      /system, developer, user, assistant, tool/,
    ],
    ['content missing', withMessages({ role: 'user' }), 'messages[0].content', /required/],
    ['content null of a user', withMessages(user(null)), 'messages[0].content', /got null/],
    [
      'content null of an assistant without calls',
      withMessages({ role: 'assistant', content: null }),
      'messages[0].content',
      /got null/,
    ],
    ['content without parts', withMessages(user([])), 'messages[0].content', /at least one part/],
    ['a part that is no object', withMessages(user(['x'])), 'messages[0].content[0]', /object/],
    ['a part of unknown type', withMessages(user([{ type: 'audio' }])), 'messages[0].content[0].type', /image_url/],
    ['a text part without text', withMessages(user([{ type: 'text' }])), 'messages[0].content[0].text', /required/],
    [
      'an image of a system message',
      withMessages({ role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://a.test/' } }] }),
      'messages[0].content[0]',
      /Only a user/,
    ],
    [
      'an image without object',
      withMessages(user([{ type: 'image_url', image_url: 'https://a.test/' }])),
      'messages[0].content[0].image_url',
      /object/,
    ],
    [
      'an image without url',
      withMessages(user([{ type: 'image_url', image_url: {} }])),
      'messages[0].content[0].image_url.url',
      /required/,
    ],
    [
      'an image from a file',
      withMessages(user([{ type: 'image_url', image_url: { url: 'file:///a.png' } }])),
      'messages[0].content[0].image_url.url',
      /http, https or data/,
    ],
    [
      'an image from a data URL of another type',
      withMessages(user([{ type: 'image_url', image_url: { url: 'data:text/plain;base64,QQ==' } }])),
      'messages[0].content[0].image_url.url',
      /data:image/,
    ],
    [
      'an image of unknown detail',
      withMessages(user([{ type: 'image_url', image_url: { url: 'https://a.test/', detail: 'huge' } }])),
      'messages[0].content[0].image_url.detail',
      /auto, low, high/,
    ],
    [
      'tool_calls that are no array',
      withMessages({ role: 'assistant', tool_calls: {} }),
      'messages[0].tool_calls',
      /array/,
    ],
    [
      'tool_calls empty',
      withMessages({ role: 'assistant', content: 'x', tool_calls: [] }),
      'messages[0].tool_calls',
      /not be empty/,
    ],
    ['a call without id', withMessages(call('{}', { id: '' }), result), 'messages[0].tool_calls[0].id', /not empty/],
    [
      'a call of another type',
      withMessages(call('{}', { type: 'x' }), result),
      'messages[0].tool_calls[0].type',
      /function/,
    ],
    [
      'a call without function',
      withMessages(call('{}', { function: null }), result),
      'messages[0].tool_calls[0].function',
      /object/,
    ],
    [
      'a call without name',
      withMessages(call('{}', { function: { arguments: '{}' } }), result),
      'messages[0].tool_calls[0].function.name',
      /required/,
    ],
    [
      'arguments as an object',
      withMessages(call({}), result),
      'messages[0].tool_calls[0].function.arguments',
      /string/,
    ],
    [
      'arguments that are broken JSON',
      withMessages(call('{"a":'), result),
      'messages[0].tool_calls[0].function.arguments',
      /holds an object/,
    ],
    [
      'arguments that are an array',
      withMessages(call('[]'), result),
      'messages[0].tool_calls[0].function.arguments',
      /holds an object/,
    ],
    [
      'a tool result without tool_call_id',
      withMessages(user('x'), { role: 'tool', content: 'x' }),
      'messages[1].tool_call_id',
      /required/,
    ],
    [
      'a tool result that answers no call',
      withMessages(user('x'), result),
      'messages[1].tool_call_id',
      /no earlier tool call/,
    ],
    ['a call that nobody answers', withMessages(call('{}')), 'messages', /c1/],
    [
      'a call that is not answered before the user speaks',
      withMessages(call('{}'), user('x'), result),
      'messages[1]',
      /c1/,
    ],
    ['model missing', { messages: [user('x')] }, 'model', /required/],
    ['model null', { ...good, model: null }, 'model', /required/],
    ['model of another type', { ...good, model: 3 }, 'model', /string, got 3/],
    [
      'frequency_penalty of another type',
      { ...good, frequency_penalty: '1' },
      'frequency_penalty',
      /number, got string/,
    ],
    ['frequency_penalty too high', { ...good, frequency_penalty: 2.1 }, 'frequency_penalty', /at most 2/],
    ['presence_penalty too low', { ...good, presence_penalty: -2.1 }, 'presence_penalty', /at least -2/],
    ['logit_bias as an array', { ...good, logit_bias: [] }, 'logit_bias', /object or null/],
    ['logit_bias with a word as key', { ...good, logit_bias: { the: 1 } }, 'logit_bias', /token ids/],
    [
      'logit_bias with an id that does not exist',
      { ...good, logit_bias: { [tokenizer.size]: 1 } },
      'logit_bias',
      /token ids/,
    ],
    ['logit_bias out of bounds', { ...good, logit_bias: { 1: 100.5 } }, 'logit_bias', /-100 to 100/],
    ['logit_bias that is no number', { ...good, logit_bias: { 1: '5' } }, 'logit_bias', /-100 to 100/],
    ['logprobs of another type', { ...good, logprobs: 1 }, 'logprobs', /boolean/],
    ['top_logprobs without logprobs', { ...good, top_logprobs: 2 }, 'top_logprobs', /`logprobs` is true/],
    ['top_logprobs too many', { ...good, logprobs: true, top_logprobs: 21 }, 'top_logprobs', /at most 20/],
    ['top_logprobs negative', { ...good, logprobs: true, top_logprobs: -1 }, 'top_logprobs', /at least 0/],
    [
      'top_logprobs with a fraction',
      { ...good, logprobs: true, top_logprobs: 1.5 },
      'top_logprobs',
      /integer, got 1.5/,
    ],
    ['max_tokens 0', { ...good, max_tokens: 0 }, 'max_tokens', /at least 1/],
    ['max_tokens of another type', { ...good, max_tokens: '5' }, 'max_tokens', /integer/],
    ['max_tokens above what the model writes', { ...good, max_tokens: 4097 }, 'max_tokens', /at most 4096/],
    ['max_completion_tokens negative', { ...good, max_completion_tokens: -1 }, 'max_completion_tokens', /at least 1/],
    [
      'max_completion_tokens above what the model writes',
      { ...good, max_completion_tokens: 4097 },
      'max_completion_tokens',
      /at most 4096/,
    ],
    ['n 0', { ...good, n: 0 }, 'n', /at least 1/],
    ['n 9', { ...good, n: 9 }, 'n', /at most 8/],
    ['seed with a fraction', { ...good, seed: 0.5 }, 'seed', /integer/],
    ['stop of another type', { ...good, stop: 5 }, 'stop', /string/],
    ['stop empty', { ...good, stop: '' }, 'stop', /empty/],
    ['stop with five strings', { ...good, stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop', /at most 4/],
    ['stream of another type', { ...good, stream: 'true' }, 'stream', /boolean/],
    ['stream_options without stream', { ...good, stream_options: {} }, 'stream_options', /`stream` is true/],
    [
      'stream_options with stream false',
      { ...good, stream: false, stream_options: { include_usage: true } },
      'stream_options',
      /`stream` is true/,
    ],
    [
      'stream_options of another type',
      { ...good, stream: true, stream_options: true },
      'stream_options',
      /object or null/,
    ],
    [
      'include_usage of another type',
      { ...good, stream: true, stream_options: { include_usage: 1 } },
      'stream_options.include_usage',
      /boolean/,
    ],
    ['temperature negative', { ...good, temperature: -0.1 }, 'temperature', /at least 0/],
    ['temperature too high', { ...good, temperature: 2.01 }, 'temperature', /at most 2/],
    ['top_p 0', { ...good, top_p: 0 }, 'top_p', /greater than 0/],
    ['top_p too high', { ...good, top_p: 1.1 }, 'top_p', /at most 1/],
    ['reasoning_effort of another type', { ...good, reasoning_effort: 3 }, 'reasoning_effort', /string/],
    [
      'reasoning_effort unknown',
      { ...good, reasoning_effort: 'huge' },
      'reasoning_effort',
      /none, minimal, low, medium, high, xhigh, max/,
    ],
    [
      'tool_choice required',
      { ...good, tools: [wordCount], tool_choice: 'required' },
      'tool_choice',
      /`auto` and `none`.*`required` is not currently supported/,
    ],
    [
      'tool_choice as an object',
      { ...good, tools: [wordCount], tool_choice: { type: 'function' } },
      'tool_choice',
      /`auto` and `none`/,
    ],
    ['tool_choice null', { ...good, tools: [wordCount], tool_choice: null }, 'tool_choice', /`auto` and `none`/],
    ['tool_choice without tools', { ...good, tool_choice: 'auto' }, 'tool_choice', /beside `tools`/],
    ['tools empty', { ...good, tools: [] }, 'tools', /not be empty/],
    ['tools null', { ...good, tools: null }, 'tools', /array/],
    [
      'tools too many',
      {
        ...good,
        tools: Array.from({ length: 129 }, (_, index) => ({ type: 'function', function: { name: `t${index}` } })),
      },
      'tools',
      /at most 128 tools, got 129/,
    ],
    ['a tool that is no object', { ...good, tools: ['x'] }, 'tools[0]', /object/],
    ['a tool of another type', withTool({ name: 'f' }, { type: 'web' }), 'tools[0].type', /function/],
    ['a tool without function', withTool(undefined), 'tools[0].function', /required/],
    ['a function without name', withTool({}), 'tools[0].function.name', /required/],
    ['a function name with a space', withTool({ name: 'a b' }), 'tools[0].function.name', /64 letters/],
    [
      'a description of another type',
      withTool({ name: 'f', description: 1 }),
      'tools[0].function.description',
      /string/,
    ],
    ['parameters of another type', withTool({ name: 'f', parameters: 'x' }), 'tools[0].function.parameters', /object/],
    [
      'parameters that are no object schema',
      withTool({ name: 'f', parameters: { type: 'array' } }),
      'tools[0].function.parameters.type',
      /`object`/,
    ],
    [
      'properties that map to no objects',
      withTool({ name: 'f', parameters: { type: 'object', properties: { a: 'string' } } }),
      'tools[0].function.parameters.properties',
      /map names/,
    ],
    [
      'required that is no list of names',
      withTool({ name: 'f', parameters: { type: 'object', required: [1] } }),
      'tools[0].function.parameters.required',
      /array of parameter names/,
    ],
    ['two tools of one name', { ...good, tools: [wordCount, wordCount] }, 'tools[1].function.name', /Two tools/],
  ];
  for (const [name, body, param, message] of refused)
    it(`refuses ${name}`, async () => {
      const error = await service.refuse(body);
      assert.deepEqual(
        [error.status, error.code, error.error_type, error.param],
        [400, '400', 'INVALID_REQUEST', param],
      );
      assert.match(error.message, message);
    });

  const accepted: [name: string, body: object][] = [
    ['null in every optional field', { ...good, ...nullable }],
    ['a seed beyond what is exact', { ...good, seed: 2 ** 60 }],
    ['an unknown field', { ...good, some_new_field: { a: 1 } }],
    ['an unknown field of a message', withMessages({ ...user('x'), name: 'Ada' })],
    [
      'an assistant message without content beside calls',
      withMessages({ ...call('{"a":1}'), content: undefined }, result),
    ],
    ['text in parts', withMessages(user([{ type: 'text', text: 'hello' }]))],
    ['several messages of one role in a row', withMessages(user('a'), user('b'))],
    [
      'all roles',
      withMessages(
        { role: 'system', content: 's' },
        { role: 'developer', content: 'd' },
        user('u'),
        { role: 'assistant', content: 'a' },
        call('{}'),
        result,
      ),
    ],
    [
      'bounds themselves',
      {
        ...good,
        temperature: 2,
        top_p: 1,
        frequency_penalty: -2,
        presence_penalty: 2,
        n: 8,
        max_tokens: 1,
        max_completion_tokens: 4096,
        logprobs: true,
        top_logprobs: 20,
        stop: ['a', 'b', 'c', 'd'],
        seed: -1,
      },
    ],
    ['a tool of a name only', withTool({ name: 'f' })],
    [
      '128 tools',
      {
        ...good,
        tools: Array.from({ length: 128 }, (_, index) => ({ type: 'function', function: { name: `t${index}` } })),
      },
    ],
  ];
  for (const [name, body] of accepted)
    it(`accepts ${name}`, async () => {
      assert.ok((await service.complete(body)).choices.length > 0);
    });
});

describe('sandbox inference: request fields do what they say', () => {
  it('messages: the answer depends on the last user message', async () => {
    assert.match(contentOf(await service.complete(ask('say: one'))), /^one$/);
    assert.match(contentOf(await service.complete(ask('say: two'))), /^two$/);
  });

  it('messages: the n-gram model goes on from the text it is given', async () => {
    const body = await service.complete(raw({ temperature: 0, max_tokens: 1, messages: [user('A seed makes')] }));
    assert.equal(contentOf(body), ' chance');
  });

  it('model: another model gives another answer', async () => {
    const [guide, ngram] = await Promise.all([service.complete(ask('hi', { seed: 1 })), service.complete(raw({}))]);
    assert.match(contentOf(guide), /demo model/);
    assert.doesNotMatch(contentOf(ngram), /demo model/);
  });

  it('temperature: at 0 the seed has no say, at 1 it has', async () => {
    const at = async (temperature: number): Promise<Set<string>> => {
      const bodies = await Promise.all(
        [1, 2, 3, 4].map((seed) => service.complete(raw({ temperature, top_p: 1, seed, max_tokens: 20 }))),
      );
      return new Set(bodies.map(contentOf));
    };
    assert.equal((await at(0)).size, 1);
    assert.equal((await at(1)).size, 4);
  });

  it('top_p: a tiny nucleus is the same as temperature 0', async () => {
    const [nucleus, greedy] = await Promise.all([
      service.complete(raw({ temperature: 1.5, top_p: 0.0001, max_tokens: 30 })),
      service.complete(raw({ temperature: 0, max_tokens: 30 })),
    ]);
    assert.equal(contentOf(nucleus), contentOf(greedy));
  });

  it('seed: the same seed and request give the same answer, another seed another', async () => {
    const write = async (seed: number): Promise<string> =>
      contentOf(await service.complete(raw({ seed, max_tokens: 30 })));
    assert.equal(await write(5), await write(5));
    assert.notEqual(await write(5), await write(6));
  });

  it('seed: without one two answers differ', async () => {
    const write = async (): Promise<string> =>
      contentOf(await service.complete({ ...raw({ max_tokens: 30, temperature: 1 }), seed: undefined }));
    assert.notEqual(await write(), await write());
  });

  it('seed: it picks the wording of the guide and the ids of its calls', async () => {
    const write = async (seed: number): Promise<unknown> =>
      choiceOf(await service.complete(ask('hello', { seed }))).message;
    const wordings = new Set(
      await Promise.all([1, 2, 3, 4, 5, 6].map(async (seed) => JSON.stringify(await write(seed)))),
    );
    assert.ok(wordings.size > 1);
    const ids = await Promise.all(
      [1, 1, 2].map(
        async (seed) =>
          choiceOf(await service.complete(ask('run word_count', { seed, tools: [wordCount] }))).message.tool_calls[0]
            ?.id,
      ),
    );
    assert.equal(ids[0], ids[1]);
    assert.notEqual(ids[0], ids[2]);
  });

  it('n: that many choices, numbered, each from its own chance', async () => {
    const body = await service.complete(raw({ n: 3, max_tokens: 20, temperature: 1, ...endless }));
    assert.deepEqual(
      body.choices.map(({ index }) => index),
      [0, 1, 2],
    );
    assert.equal(new Set(contents(body)).size, 3);
    assert.equal(body.usage.completion_tokens, 60);
  });

  it('n: the first of many choices is the choice that is asked for alone', async () => {
    const [alone, many] = await Promise.all([service.complete(raw({ n: 1 })), service.complete(raw({ n: 4 }))]);
    assert.equal(contents(many)[0], contents(alone)[0]);
  });

  for (const field of ['max_tokens', 'max_completion_tokens'])
    it(`${field}: ends the answer at that many tokens, with finish_reason length`, async () => {
      const body = await service.complete(ask('count to 100', { [field]: 7 }));
      assert.equal(choiceOf(body).finish_reason, 'length');
      assert.equal(body.usage.completion_tokens, 7);
      assert.match(contentOf(body), /^1, 2, 3/);
    });

  it('max_tokens beside max_completion_tokens: the smaller holds', async () => {
    for (const [max_tokens, max_completion_tokens] of [
      [3, 9],
      [9, 3],
    ]) {
      const body = await service.complete(ask('count to 100', { max_tokens, max_completion_tokens }));
      assert.equal(body.usage.completion_tokens, 3);
    }
  });

  it('max_tokens counts reasoning: what is left of the limit is for the content', async () => {
    const body = await service.complete(ask('say: x', { reasoning_effort: 'max', max_tokens: 5 }));
    assert.equal(choiceOf(body).finish_reason, 'length');
    assert.equal(contentOf(body), '');
    assert.ok(choiceOf(body).message.reasoning_content);
    assert.equal(body.usage.completion_tokens, 5);
  });

  it('stop: a string ends the content before it and is the stop_reason', async () => {
    const body = await service.complete(ask('say: one two three', { stop: ' three' }));
    assert.equal(contentOf(body), 'one two');
    assert.deepEqual([choiceOf(body).finish_reason, choiceOf(body).stop_reason], ['stop', ' three']);
  });

  it('stop: found across and inside tokens, the earliest of several', async () => {
    const body = await service.complete(ask('say: alpha beta gamma', { stop: ['amma', 'a bet', 'nowhere'] }));
    assert.equal(contentOf(body), 'alph');
    assert.equal(choiceOf(body).stop_reason, 'a bet');
  });

  it('stop: of two that one token completes the earlier counts', () => {
    const entry = { token: '', logprob: 0, bytes: [], top_logprobs: [] };
    const { text, stop, entries } = new StopScanner(['cd', 'b']).push('abcd', entry);
    assert.deepEqual([text, stop, entries.length], ['a', 'b', 1]);
  });

  it('stop: what only begins like a stop string is kept', async () => {
    const body = await service.complete(ask('say: abcabx ab', { stop: 'abcabc' }));
    assert.equal(contentOf(body), 'abcabx ab');
    assert.deepEqual([choiceOf(body).finish_reason, choiceOf(body).stop_reason], ['stop', null]);
  });

  it('frequency_penalty and presence_penalty: less repetition', async () => {
    const repeats = async (more: object): Promise<number> => {
      const { content } = choiceOf(
        await service.complete(raw({ temperature: 0, max_tokens: 120, ...endless, ...more })),
      ).message;
      const ids = tokenizer.encode(content ?? '');
      return ids.length - new Set(ids).size;
    };
    const plain = await repeats({});

    assert.ok((await repeats({ frequency_penalty: 2 })) < plain / 2);
    assert.ok((await repeats({ presence_penalty: 2 })) < plain);
  });

  it('logit_bias: -100 bans a token', async () => {
    const write = async (more: object): Promise<string[]> => {
      const body = await service.complete(raw({ temperature: 0, logprobs: true, ...more }));
      return (choiceOf(body).logprobs?.content ?? []).map(({ token }) => token);
    };
    for (const token of new Set((await write({})).slice(0, 5)))
      assert.ok(!(await write({ logit_bias: { [idOf(token)]: -100 } })).includes(token));
  });

  it('logit_bias: 100 forces a token', async () => {
    const body = await service.complete(raw({ max_tokens: 5, logit_bias: { [idOf(' cloud')]: 100 } }));
    assert.equal(contentOf(body), ' cloud'.repeat(5));
  });

  it('logit_bias: a ban makes the guide write another word in that place', async () => {
    const body = await service.complete(ask('say: the role', { logit_bias: { [idOf(' role')]: -100 } }));
    assert.match(contentOf(body), /^the/);
    assert.doesNotMatch(contentOf(body), / role/);
  });

  it('logit_bias: even banning every token leaves an answer', async () => {
    const all = Object.fromEntries(Array.from({ length: tokenizer.size }, (_, id) => [id, -100]));
    assert.equal(contentOf(await service.complete(ask('say: x', { logit_bias: all }))), 'x');
  });

  it('reasoning_effort: more effort gives longer reasoning, none gives none', async () => {
    const lengths: number[] = [];
    for (const reasoning_effort of ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']) {
      const { message } = choiceOf(await service.complete(ask('hello', { reasoning_effort, seed: 1 })));
      lengths.push(message.reasoning_content?.length ?? 0);
      assert.ok(message.content);
    }
    assert.equal(lengths[0], 0);
    for (let index = 1; index < lengths.length; index++) assert.ok((lengths[index] ?? 0) > (lengths[index - 1] ?? 0));
  });

  it('tool_choice none: no call though the message names the tool', async () => {
    const body = ask('run word_count on "a b"', { tools: [wordCount], tool_choice: 'none' });
    assert.equal(choiceOf(await service.complete(body)).finish_reason, 'stop');
    const auto = choiceOf(await service.complete({ ...body, tool_choice: 'auto' }));
    assert.equal(auto.finish_reason, 'tool_calls');
  });

  it('stream false is the same as no stream', async () => {
    assert.equal(contentOf(await service.complete(ask('say: x', { stream: false }))), 'x');
  });
});
