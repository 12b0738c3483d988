import assert from 'node:assert/strict';
import { ask, choiceOf, contentOf, type Entry, InferenceHarness, user, wordCount } from './inferenceHarness.ts';

const service = new InferenceHarness();
before(() => service.start());
after(() => service.stop());

const joined = (entries: readonly Entry[]): string =>
  Buffer.concat(entries.map(({ bytes }) => Buffer.from(bytes))).toString('utf8');

describe('sandbox inference: the whole answer', () => {
  it('is 200 with content type application/json; charset=utf-8', async () => {
    const response = await service.post(ask('hello'));
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
    await response.json();
  });

  it('has id, object, created, model, choices, usage, prompt_logprobs and system_fingerprint', async () => {
    const before = Math.floor(Date.now() / 1000);
    const body = await service.complete(ask('hello'));
    assert.deepEqual(Object.keys(body).sort(), [
      'choices',
      'created',
      'id',
      'model',
      'object',
      'prompt_logprobs',
      'system_fingerprint',
      'usage',
    ]);
    assert.match(body.id, /^chatcmpl-[0-9a-f-]{36}$/);
    assert.equal(body.object, 'chat.completion');
    assert.ok(Number.isInteger(body.created) && body.created >= before && body.created <= Date.now() / 1000);
    assert.equal(body.model, 'sandbox/guide');
    assert.equal(body.prompt_logprobs, null);
    assert.match(body.system_fingerprint, /^fp_/);
    assert.notEqual((await service.complete(ask('hello'))).id, body.id);
  });

  it('choice: index, message, logprobs, finish_reason, stop_reason', async () => {
    const choice = choiceOf(await service.complete(ask('hello')));
    assert.deepEqual(Object.keys(choice).sort(), ['finish_reason', 'index', 'logprobs', 'message', 'stop_reason']);
    assert.deepEqual(
      [choice.index, choice.logprobs, choice.finish_reason, choice.stop_reason],
      [0, null, 'stop', null],
    );
  });

  it('message: role, content, reasoning_content, tool_calls', async () => {
    const { message } = choiceOf(await service.complete(ask('say: x', { reasoning_effort: 'low' })));
    assert.deepEqual(Object.keys(message).sort(), ['content', 'reasoning_content', 'role', 'tool_calls']);
    assert.deepEqual([message.role, message.content, message.tool_calls], ['assistant', 'x', []]);
    assert.match(message.reasoning_content ?? '', /role user/);
  });

  it('message of a call: content null, tool_calls with id, type and function', async () => {
    const choice = choiceOf(await service.complete(ask('run word_count on "a b"', { tools: [wordCount] })));
    assert.equal(choice.message.content, null);
    assert.equal(choice.message.reasoning_content, null);
    assert.equal(choice.finish_reason, 'tool_calls');
    const [call] = choice.message.tool_calls;
    assert.match(call?.id ?? '', /^call_[0-9a-f]{24}$/);
    assert.deepEqual(call, {
      id: call?.id,
      type: 'function',
      function: { name: 'word_count', arguments: '{"text":"a b"}' },
    });
  });

  it('usage: counts that add up, and cached_tokens', async () => {
    const { usage } = await service.complete(ask('say: one two three'));
    assert.deepEqual(Object.keys(usage).sort(), [
      'completion_tokens',
      'prompt_tokens',
      'prompt_tokens_details',
      'total_tokens',
    ]);
    assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
    assert.deepEqual(usage.prompt_tokens_details, { cached_tokens: 0 });
    const longer = await service.complete({
      model: 'sandbox/guide',
      messages: [user('a longer message'), user('say: one two three')],
    });
    assert.ok(longer.usage.prompt_tokens > usage.prompt_tokens);
    assert.equal(longer.usage.completion_tokens, usage.completion_tokens);
  });

  it('system_fingerprint: the same in every answer', async () => {
    const [a, b] = await Promise.all([
      service.complete(ask('x')),
      service.complete({ ...ask('y'), model: 'sandbox/ngram' }),
    ]);
    assert.equal(a.system_fingerprint, b.system_fingerprint);
  });
});

describe('sandbox inference: logprobs', () => {
  const raw = (more: object): object => ({
    model: 'sandbox/ngram',
    messages: [user('A role')],
    logprobs: true,
    seed: 3,
    ...more,
  });
  const entriesOf = async (body: object): Promise<Entry[]> =>
    choiceOf(await service.complete(body)).logprobs?.content ?? [];

  it('are null unless asked for', async () => {
    assert.equal(choiceOf(await service.complete(ask('x'))).logprobs, null);
    assert.equal(choiceOf(await service.complete(ask('x', { logprobs: false }))).logprobs, null);
  });

  it('have one entry a token, with token, logprob, bytes and top_logprobs', async () => {
    const body = await service.complete(raw({ max_tokens: 12 }));
    const entries = choiceOf(body).logprobs?.content ?? [];
    assert.equal(entries.length, 12);
    for (const entry of entries) {
      assert.deepEqual(Object.keys(entry).sort(), ['bytes', 'logprob', 'token', 'top_logprobs']);
      assert.equal(Buffer.from(entry.bytes).toString('utf8'), entry.token);
      assert.deepEqual(entry.top_logprobs, []);
      assert.ok(entry.logprob <= 0);
    }
    assert.equal(entries.map(({ token }) => token).join(''), contentOf(body));
  });

  it('top_logprobs has that many entries, most probable first, probabilities at most 1 together', async () => {
    for (const top_logprobs of [1, 5, 20])
      for (const entry of await entriesOf(raw({ max_tokens: 20, top_logprobs, temperature: 1.2 }))) {
        assert.equal(entry.top_logprobs.length, top_logprobs);
        const values = entry.top_logprobs.map(({ logprob }) => logprob);
        assert.deepEqual(
          values,
          [...values].sort((a, b) => b - a),
        );
        assert.ok(values.reduce((sum, value) => sum + Math.exp(value), 0) <= 1 + 1e-9);
      }
  });

  it('the chosen token has the same logprob where it is listed, and no more than the last where it is not', async () => {
    let listed = 0;
    for (const entry of await entriesOf(raw({ max_tokens: 60, top_logprobs: 3, temperature: 1, top_p: 1 }))) {
      const same = entry.top_logprobs.find(
        ({ bytes }) => Buffer.compare(Buffer.from(bytes), Buffer.from(entry.bytes)) === 0,
      );
      if (same) {
        listed++;
        assert.equal(same.logprob, entry.logprob);
      } else assert.ok(entry.logprob <= (entry.top_logprobs.at(-1)?.logprob ?? 0));
    }
    assert.ok(listed > 0);
  });

  it('do not depend on temperature: at 0 the first of the list is chosen, with its probability below 1', async () => {
    const cold = await entriesOf(raw({ temperature: 0, max_tokens: 20, top_logprobs: 2 }));
    assert.ok(cold.every((entry) => entry.logprob === entry.top_logprobs[0]?.logprob));
    assert.ok(cold.some((entry) => entry.logprob < -0.5));
    const warm = await entriesOf(raw({ temperature: 0.000001, max_tokens: 20, top_logprobs: 2 }));
    assert.deepEqual(warm, cold);
  });

  it('show what logit_bias does; -9999 is the lowest', async () => {
    const space = ' '.charCodeAt(0);
    const [entry] = await entriesOf(raw({ max_tokens: 1, top_logprobs: 2, logit_bias: { [space]: 100 } }));
    assert.deepEqual([entry?.token, entry?.logprob], [' ', 0]);
    assert.deepEqual(
      entry?.top_logprobs.map(({ logprob }) => logprob),
      [0, -9999],
    );
  });

  it('spread a character over tokens: the bytes joined are the content', async () => {
    const body = await service.complete(ask('say: 漢字 and 👩‍🚀', { logprobs: true }));
    const entries = choiceOf(body).logprobs?.content ?? [];
    assert.equal(contentOf(body), '漢字 and 👩‍🚀');
    assert.equal(joined(entries), contentOf(body));
    assert.ok(entries.filter(({ token }) => token === '\ufffd').length >= 10);
  });

  it('a character that max_tokens cuts ends as U+FFFD in the content', async () => {
    const body = await service.complete(ask('say: 漢', { logprobs: true, max_tokens: 2 }));
    assert.equal(contentOf(body), '\ufffd');
    assert.deepEqual(
      (choiceOf(body).logprobs?.content ?? []).map(({ bytes }) => bytes),
      [[0xe6], [0xbc]],
    );
  });

  it('of the guide are sure where it has one wording and split where it has several', async () => {
    const entries = await entriesOf(ask('hello', { logprobs: true, top_logprobs: 3, seed: 2 }));
    const probabilities = entries.map(({ logprob }) => Math.exp(logprob));
    assert.ok((probabilities[0] ?? 1) < 0.7, 'three wordings open the answer');
    assert.ok(probabilities.filter((value) => value > 0.9).length > probabilities.length * 0.8);
  });

  it('of an answer that is only calls are an empty list', async () => {
    assert.deepEqual(await entriesOf(ask('run word_count', { tools: [wordCount], logprobs: true })), []);
  });
});
