import assert from 'node:assert/strict';
import { ModelObservations } from '../../../../src/core/completions/modelObservations.ts';
import { type CompletionRequest, requestFields } from '../../../../src/core/completions/request.ts';
import { type Answer, FakeService, least, noticesOf, ok, stream, streamed, textOf } from './clientHarness.ts';

const tool = { type: 'function', function: { name: 'look' } } as const;
const withTools: CompletionRequest = { ...least, tools: [tool], tool_choice: 'auto' };
const own = { stream: true, stream_options: { include_usage: true } };
const unsupported = (param: string): Answer => [
  422,
  JSON.stringify({ error: { code: '422', error_type: 'UNSUPPORTED_OPENAI_PARAMS', message: 'x', param } }),
];
const words = 'word '.repeat(400); // About 500 tokens.
const long: CompletionRequest = {
  ...least,
  messages: ['first', 'second', 'third']
    .flatMap((name) => [
      { role: 'user', content: `${name} ${words}` },
      { role: 'assistant', content: `answer to ${name}` },
    ])
    .slice(0, -1),
};
const tooLong = (message: string): Answer => [400, JSON.stringify({ error: { message, code: '400' } })];
const usage = (tokens: number) => `data: {"choices":[],"usage":{"prompt_tokens":${tokens}}}\n\n`;
const counted = (tokens: number): Answer => [
  201,
  streamed('Hi').replace('data: [DONE]', `${usage(tokens)}data: [DONE]`),
];
const firsts = (service: FakeService, at: number) =>
  (service.bodies[at] as unknown as CompletionRequest).messages
    .filter(({ role }) => role === 'user')
    .map(({ content }) => String(content).split(' ')[0]);

describe('completions: the body on the wire', () => {
  const base = '{"model":"org/m","messages":[{"role":"user","content":"Hello"}]';
  const before = (field: string) => requestFields.indexOf(field as never) < requestFields.indexOf('stream');
  const ours = ',"stream":true,"stream_options":{"include_usage":true}';
  for (const [field, value] of Object.entries({
    frequency_penalty: -0.5,
    presence_penalty: 0,
    logit_bias: { '15': 2.5 },
    logprobs: true,
    top_logprobs: 0,
    max_tokens: 1,
    max_completion_tokens: 2,
    n: 2,
    seed: 0,
    stop: 'x',
    temperature: 0,
    top_p: 1,
    reasoning_effort: 'low',
  })) {
    it(`holds ${field} alone besides Rolecall's own, byte for byte`, async () => {
      const service = new FakeService(ok);
      await stream(service.deps, { request: { ...least, [field]: value } });
      const member = `,${JSON.stringify({ [field]: value }).slice(1, -1)}`;
      assert.equal(service.sent[0]?.body, `${base}${before(field) ? member + ours : ours + member}}`);
    });
  }

  it('holds nothing but Rolecall’s own when nothing was set', async () => {
    const service = new FakeService(ok);
    await stream(service.deps);
    assert.equal(service.sent[0]?.body, `${base}${ours}}`);
  });

  it('holds what the person says about streaming instead', async () => {
    const quiet = new FakeService(ok);
    await stream(quiet.deps, { request: { ...least, stream_options: null } });
    assert.equal(quiet.sent[0]?.body, `${base},"stream":true,"stream_options":null}`);
    const whole = new FakeService(ok);
    await stream(whole.deps, { request: { ...least, stream: false } });
    assert.equal(whole.sent[0]?.body, `${base},"stream":false}`);
  });
});

describe('completions: a model that refuses a field of ours', () => {
  it('is not asked with it again, and tools are missed aloud each time', async () => {
    const observations = new ModelObservations();
    const options = { observations, toolsAreOptional: true };
    const first = new FakeService(unsupported('tools, stream_options'), ok);
    assert.equal(textOf(await stream(first.deps, { request: withTools, options })), 'Hi');
    const second = new FakeService(ok);
    const outcome = await stream(second.deps, { request: withTools, options });
    assert.deepEqual(second.bodies, [{ ...least, stream: true }]);
    assert.deepEqual(noticesOf(outcome), ['toolsDropped']);
    assert.deepEqual(
      outcome.completion?.notices.map(({ code }) => code),
      ['toolsDropped'],
    );
    const other = new FakeService(ok);
    await stream(other.deps, { request: { ...withTools, model: 'org/other' }, options });
    assert.deepEqual(other.bodies, [{ ...withTools, ...own, model: 'org/other' }]);
  });

  it('is asked with it when the person wrote it', async () => {
    const observations = new ModelObservations();
    await stream(new FakeService(unsupported('tools'), ok).deps, {
      request: withTools,
      options: { observations, toolsAreOptional: true },
    });
    const service = new FakeService(ok);
    await stream(service.deps, { request: withTools, options: { observations } });
    assert.deepEqual(service.bodies[0]?.tools, [tool]);
  });

  it('is not remembered for it when a field of the person was refused too', async () => {
    const observations = new ModelObservations();
    const service = new FakeService(unsupported('tools, seed'));
    const { error } = await stream(service.deps, {
      request: { ...withTools, seed: 1 },
      options: { observations, toolsAreOptional: true },
    });
    assert.match(error?.message ?? '', /does not support tools and seed/);
    assert.equal(service.sent.length, 1);
    const again = new FakeService(ok);
    await stream(again.deps, { request: withTools, options: { observations, toolsAreOptional: true } });
    assert.deepEqual(again.bodies[0]?.tools, [tool]);
  });

  it('and does not stream answers in one piece, now and from then on', async () => {
    const observations = new ModelObservations();
    const service = new FakeService(unsupported('stream'), ok, ok);
    assert.equal(textOf(await stream(service.deps, { options: { observations } })), 'Hi');
    await stream(service.deps, { options: { observations } });
    assert.deepEqual(service.bodies.slice(1), [
      { ...least, stream: false },
      { ...least, stream: false },
    ]);
  });
});

describe('completions: a conversation that is too long', () => {
  it('is sent whole without limits, and an overflow is an error with both numbers', async () => {
    const service = new FakeService(
      tooLong("This model's maximum context length is 1000 tokens. However, you requested 1600 tokens."),
    );
    const { error } = await stream(service.deps, { request: long });
    assert.equal(error?.kind, 'contextOverflow');
    assert.match(error?.message ?? '', /1,600 tokens requested, the limit is 1,000/);
    assert.equal(service.sent.length, 1);
  });

  it('loses its oldest turns before it is sent, and says how many', async () => {
    const service = new FakeService(ok);
    const outcome = await stream(service.deps, {
      request: long,
      options: { limits: { contextLength: 1_600, maxOutput: 200 } },
    });
    assert.deepEqual(firsts(service, 0), ['second', 'third']);
    assert.deepEqual(noticesOf(outcome), ['historyFitted']);
    const [notice] = outcome.completion?.notices ?? [];
    assert.equal(notice?.message, 'The earliest turn was left out to fit the model.');
  });

  it('leaves room for the answer the person asked for, and for the tools', async () => {
    const limits = { contextLength: 2_400, maxOutput: 200 };
    const sent = async (request: CompletionRequest) => {
      const service = new FakeService(ok);
      await stream(service.deps, { request, options: { limits } });
      return firsts(service, 0).length;
    };
    assert.equal(await sent(long), 3);
    assert.equal(await sent({ ...long, max_tokens: 1_000 }), 2);
    assert.equal(await sent({ ...long, max_completion_tokens: 1_000 }), 2);
    const large = { ...tool, function: { name: 'look', description: words } };
    assert.equal(await sent({ ...long, tools: [large] }), 2);
  });

  it('is measured by what the service counted before', async () => {
    const limits = { contextLength: 2_600, maxOutput: 200 };
    const observations = new ModelObservations();
    const service = new FakeService(counted(3_200), ok);
    await stream(service.deps, { request: long, options: { limits, observations } });
    await stream(service.deps, { request: long, options: { limits, observations } });
    // Twice as many tokens as thought.
    assert.deepEqual(firsts(service, 0), ['first', 'second', 'third']);
    assert.deepEqual(firsts(service, 1), ['second', 'third']);
  });

  it('is sent once more, shorter, when the service still finds it too long, and the limit is remembered', async () => {
    const overflow = tooLong("This model's maximum context length is 1300 tokens. However, you requested 1700 tokens.");
    const options = { limits: { contextLength: 32_000, maxOutput: 200 }, observations: new ModelObservations() };
    const service = new FakeService(overflow, ok, ok);
    const outcome = await stream(service.deps, { request: long, options });
    assert.equal(textOf(outcome), 'Hi');
    assert.deepEqual(noticesOf(outcome), ['historyFitted']);
    assert.deepEqual(firsts(service, 1), ['second', 'third']);
    await stream(service.deps, { request: long, options });
    assert.ok(firsts(service, 2).length < 3);
  });

  it('of unknown limit is sent whole, until the service says what the limit is', async () => {
    const overflow = tooLong("This model's maximum context length is 1300 tokens. However, you requested 1700 tokens.");
    const options = {
      limits: { contextLength: Number.POSITIVE_INFINITY, maxOutput: 200 },
      observations: new ModelObservations(),
    };
    const service = new FakeService(overflow, ok, ok);
    assert.equal(textOf(await stream(service.deps, { request: long, options })), 'Hi');
    assert.deepEqual(firsts(service, 0), ['first', 'second', 'third']);
    assert.deepEqual(firsts(service, 1), ['second', 'third']);
    await stream(service.deps, { request: long, options });
    assert.ok(firsts(service, 2).length < 3);
  });

  it('is an error when nothing can be left out, and when it is still too long', async () => {
    const options = { limits: { contextLength: 32_000, maxOutput: 200 } };
    const overflow = tooLong('maximum context length is 10 tokens, however you requested 20 tokens');
    const one = new FakeService(overflow);
    assert.equal((await stream(one.deps, { options })).error?.kind, 'contextOverflow');
    const two = new FakeService(overflow, overflow);
    assert.equal((await stream(two.deps, { request: long, options })).error?.kind, 'contextOverflow');
    assert.equal(two.sent.length, 2);
  });

  it('never holds a call that the service would refuse', async () => {
    const service = new FakeService(ok);
    const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{"at": ' } } as const;
    const messages = [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'r' },
      { role: 'user', content: 'again' },
    ];
    await stream(service.deps, { request: { ...least, messages } });
    assert.deepEqual(service.bodies[0]?.messages, [{ role: 'user', content: 'q\n\nagain' }]);
  });
});
