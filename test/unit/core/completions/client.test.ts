import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { CompletionRequest } from '../../../../src/core/completions/request.ts';
import {
  type Answer,
  canary,
  FakeService,
  least,
  noticesOf,
  ok,
  once,
  stream,
  streamed,
  textOf,
  whole,
} from './clientHarness.ts';

const leastText = '"model":"org/m","messages":[{"role":"user","content":"Hello"}]';
const tools = [{ type: 'function' as const, function: { name: 'look' } }];
const withTools: CompletionRequest = { ...least, tools, tool_choice: 'auto' };

const refused = (status: number, error: object | string, headers?: Record<string, string>): Answer => [
  status,
  JSON.stringify({ error }),
  ...(headers ? ([headers] as const) : ([] as const)),
];
const unsupported = (param: string) =>
  refused(422, { code: '422', error_type: 'UNSUPPORTED_OPENAI_PARAMS', message: `not supported: ${param}`, param });

describe('completions: what a completion sends', () => {
  it('streaming: the request, stream and stream_options, and nothing else', async () => {
    const service = new FakeService(ok);
    assert.equal(textOf(await stream(service.deps)), 'Hi');
    assert.deepEqual(service.sent, [
      {
        url: 'https://inference.example.com/v1/chat/completions',
        method: 'POST',
        headers: {
          Authorization: `Bearer ${canary}`,
          'Content-Type': 'application/json; charset=utf-8',
          Accept: 'text/event-stream, application/json',
        },
        body: `{${leastText},"stream":true,"stream_options":{"include_usage":true}}`,
      },
    ]);
  });

  it('in one piece: the request and stream, and nothing else', async () => {
    const service = new FakeService([200, whole('Hi')]);
    assert.equal(textOf(await once(service.deps)), 'Hi');
    assert.equal(service.sent[0]?.body, `{${leastText},"stream":false}`);
    assert.equal(service.sent[0]?.headers.Accept, 'application/json');
  });

  it('stream_options as the person set them, null included', async () => {
    for (const stream_options of [null, { include_usage: false, own: 1 }]) {
      const service = new FakeService(ok);
      await stream(service.deps, { request: { ...least, stream_options } });
      assert.deepEqual(service.bodies, [{ ...least, stream: true, stream_options }]);
    }
  });

  it('every field that is set, and tools with their choice', async () => {
    const service = new FakeService(ok);
    const request = { ...withTools, n: 1, seed: 0, temperature: 0, logit_bias: null, stop: '', own: { x: 1 } };
    await stream(service.deps, { request });
    const mine = { stream: true, stream_options: { include_usage: true } };
    assert.deepEqual(service.bodies, [{ ...request, ...mine }]);
  });

  it('nothing, nor asks for a token, when the request cannot work', async () => {
    const service = new FakeService();
    let asked = 0;
    const deps = { ...service.deps, accessToken: async () => String(++asked) };
    const request = { ...withTools, tool_choice: 'required' } as unknown as CompletionRequest;
    assert.equal((await stream(deps, { request })).error?.kind, 'invalidRequest');
    assert.equal((await once(deps, { request })).error?.kind, 'invalidRequest');
    assert.equal((await stream(deps, { request: { ...least, model: '' } })).error?.kind, 'invalidRequest');
    assert.equal(asked, 0);
    assert.equal(service.sent.length, 0);
  });

  it('nothing when the address is none, Stop was pressed, or the token is none', async () => {
    const service = new FakeService();
    assert.equal((await stream(service.deps, { inferenceUrl: 'nowhere' })).error?.kind, 'configuration');
    assert.equal((await stream(service.deps, { signal: AbortSignal.abort() })).error?.kind, 'cancelled');
    const deps = { ...service.deps, accessToken: async () => 'canary\ntoken' };
    const { error } = await stream(deps);
    assert.equal(error?.kind, 'configuration');
    assert.ok(!inspect(error).includes('canary\\ntoken') && !error?.message.includes('canary'));
    assert.equal(service.sent.length, 0);
  });
});

describe('completions: which answer counts', () => {
  it('any 2xx is success', async () => {
    for (const status of [200, 201, 202]) {
      assert.equal(textOf(await stream(new FakeService([status, streamed('Hi')]).deps)), 'Hi');
      assert.equal(textOf(await once(new FakeService([status, whole('Hi')]).deps)), 'Hi');
    }
  });

  it('one JSON object though a stream was asked for, with a notice', async () => {
    for (const type of ['application/json', 'text/event-stream', 'text/plain']) {
      const outcome = await stream(new FakeService([200, `\n ${whole('Hi')}`, { 'content-type': type }]).deps);
      assert.equal(textOf(outcome), 'Hi');
      assert.equal(outcome.completion?.complete, true);
      assert.deepEqual(noticesOf(outcome), ['notStreamed']);
      assert.deepEqual(
        outcome.events.filter(({ kind }) => kind === 'text'),
        [{ kind: 'text', choice: 0, text: 'Hi' }],
      );
    }
  });

  it('a stream though one object was asked for', async () => {
    for (const type of ['application/json', 'text/event-stream']) {
      const outcome = await once(new FakeService([200, streamed('Hi'), { 'content-type': type }]).deps);
      assert.equal(textOf(outcome), 'Hi');
      assert.deepEqual(outcome.completion?.notices, []);
    }
  });

  it('an error with 200, in whatever shape, is an error', async () => {
    const body = JSON.stringify({ error: { message: 'no credit', error_type: 'INSUFFICIENT_CREDIT' } });
    for (const text of [body, `[${body}]`, `data: ${body}\n\n`, `event: error\ndata: ${body}\n\n`]) {
      const streaming = await stream(new FakeService([200, text]).deps);
      assert.equal(streaming.error?.kind, 'credit', text);
      assert.deepEqual(streaming.events, []);
      assert.equal((await once(new FakeService([200, text]).deps)).error?.kind, 'credit', text);
    }
  });

  it('a page with 200 is no answer, and is not shown', async () => {
    const { error } = await stream(new FakeService([200, '<html><body>Log in</body></html>']).deps);
    assert.equal(error?.kind, 'protocol');
    assert.match(error?.message ?? '', /a web page instead of data/);
    assert.ok(!error?.message.includes('Log in'));
  });

  it('a body that does not heed the signal of fetch is let go by Stop and by the deadline', async () => {
    for (const how of ['cancelled', 'timeout'] as const) {
      let released = false;
      const body = new ReadableStream({
        cancel() {
          released = true;
        },
      });
      const user = new AbortController();
      if (how === 'cancelled') setTimeout(() => user.abort(), 20);
      const fetch = async () => new Response(body, { status: 201, headers: { 'content-type': 'text/event-stream' } });
      const options = { deadlines: { firstEventMs: how === 'timeout' ? 20 : 60_000 } };
      const { error } = await stream({ ...new FakeService().deps, fetch }, { options, signal: user.signal });
      assert.equal(error?.kind, how);
      assert.equal(released, true);
    }
  });

  it('a redirect is refused and not followed', async () => {
    const service = new FakeService([307, '', { location: 'https://elsewhere.example/' }]);
    assert.equal((await stream(service.deps)).error?.kind, 'protocol');
    assert.equal(service.sent.length, 1);
  });
});

describe('completions: sending again', () => {
  it('after 401 once, with a newer token, and tells which was rejected', async () => {
    const service = new FakeService(refused(401, 'Unauthorized'), ok);
    const outcome = await stream(service.deps);
    assert.equal(textOf(outcome), 'Hi');
    assert.deepEqual(noticesOf(outcome), []);
    assert.deepEqual(service.rejected, [canary]);
    assert.deepEqual(
      service.sent.map(({ headers }) => headers.Authorization),
      [`Bearer ${canary}`, 'Bearer canary-opaque-token-2'],
    );
    assert.equal(service.sent[0]?.body, service.sent[1]?.body);
  });

  for (const [status, body] of [
    [400, { error: { code: '401', error_type: 'UNAUTHORIZED', message: 'no' } }],
    [403, { error: 'access_denied', error_description: 'token is superseded' }],
    [200, { error: { code: 'access_denied', message: 'token is superseded' } }],
    [200, { error: 'Unauthorized' }],
  ] as const) {
    it(`with a newer token after ${status} with ${JSON.stringify(body)}`, async () => {
      const service = new FakeService([status, JSON.stringify(body)], ok);
      assert.equal(textOf(await stream(service.deps)), 'Hi');
      assert.deepEqual(service.rejected, [canary]);
    });
  }

  it('after 401 not twice, and not without another token', async () => {
    const twice = new FakeService(refused(401, 'x'), refused(401, 'x'));
    assert.equal((await stream(twice.deps)).error?.kind, 'signedOut');
    assert.deepEqual([twice.sent.length, twice.rejected], [2, [canary]]);
    for (const newer of [undefined, canary]) {
      const service = new FakeService(refused(401, 'x'));
      const { error } = await stream({ ...service.deps, refreshAfter401: async () => newer });
      assert.equal(error?.kind, 'signedOut');
    }
    const { refreshAfter401: _, ...bare } = new FakeService(refused(401, 'x')).deps;
    assert.equal((await once(bare)).error?.kind, 'signedOut');
  });

  it('without stream_options when they are refused, once, and says so', async () => {
    const service = new FakeService(unsupported('stream_options'), ok);
    const outcome = await stream(service.deps);
    assert.equal(textOf(outcome), 'Hi');
    assert.deepEqual(service.bodies[1], { ...least, stream: true });
    assert.deepEqual(noticesOf(outcome), ['streamOptionsDropped']);
    assert.deepEqual(
      outcome.completion?.notices.map(({ code }) => code),
      ['streamOptionsDropped'],
    );
    const twice = new FakeService(unsupported('stream_options'), unsupported('stream_options'));
    assert.equal((await stream(twice.deps)).error?.kind, 'unsupported');
  });

  it('never without stream_options of the person', async () => {
    const service = new FakeService(unsupported('stream_options'));
    const request = { ...least, stream_options: { include_usage: true } };
    assert.equal((await stream(service.deps, { request })).error?.kind, 'unsupported');
    assert.equal(
      (await once(new FakeService(unsupported('stream_options')).deps, { request })).error?.kind,
      'unsupported',
    );
  });

  it('without tools when they are refused and optional, once, and says so', async () => {
    const service = new FakeService(unsupported('tools, tool_choice'), ok);
    const outcome = await stream(service.deps, { request: withTools, options: { toolsAreOptional: true } });
    assert.equal(textOf(outcome), 'Hi');
    assert.deepEqual(service.bodies[1], { ...least, stream: true, stream_options: { include_usage: true } });
    assert.deepEqual(noticesOf(outcome), ['toolsDropped']);
  });

  it('never without tools that are not optional: an error that names them', async () => {
    const { error } = await stream(new FakeService(unsupported('tools, tool_choice')).deps, { request: withTools });
    assert.equal(error?.kind, 'unsupported');
    assert.match(error?.message ?? '', /does not support tools and tool_choice/);
  });

  it('after 429 when the service says how long, within the limit', async () => {
    const slow = refused(429, 'slow', { 'retry-after': '0' });
    const outcome = await stream(new FakeService(slow, ok).deps);
    assert.equal(textOf(outcome), 'Hi');
    assert.deepEqual(noticesOf(outcome), ['waiting']);
    const thrice = new FakeService(slow, slow, slow);
    assert.equal((await stream(thrice.deps)).error?.kind, 'rateLimited');
    assert.equal(thrice.sent.length, 3);
  });

  it('not after 429 without a time, beyond the limit, or for lack of credit', async () => {
    const never: readonly [Answer, number?][] = [
      [refused(429, 'slow')],
      [refused(429, 'slow', { 'retry-after': '31' })],
      [refused(429, 'slow', { 'retry-after': '1' }), 999],
      [refused(429, 'slow', { 'retry-after': '0' }), 0],
      [refused(429, { error_type: 'INSUFFICIENT_CREDIT' }, { 'retry-after': '0' })],
    ];
    for (const [answer, longestWaitMs] of never) {
      const service = new FakeService(answer);
      const options = longestWaitMs === undefined ? {} : { longestWaitMs };
      const { error, events } = await stream(service.deps, { options });
      assert.match(error?.kind ?? '', /^(?:rateLimited|credit)$/);
      assert.deepEqual(events, []);
    }
  });

  it('waits as long as it was told, and Stop ends the waiting', async () => {
    const service = new FakeService(refused(429, 'slow', { 'retry-after': '20' }));
    const user = new AbortController();
    const onEvent = () => void setTimeout(() => user.abort(), 20);
    const outcome = await stream(service.deps, { signal: user.signal, onEvent });
    assert.equal(outcome.error?.kind, 'cancelled');
    assert.deepEqual(noticesOf(outcome), ['waiting']);
    assert.equal(service.sent.length, 1);
  });

  it('never after 5xx or a broken connection', async () => {
    for (const status of [500, 502, 503, 504]) {
      const service = new FakeService([status, '', { 'retry-after': '0' }]);
      assert.equal((await stream(service.deps)).error?.kind, 'server');
    }
    let asked = 0;
    const fetch = async () => {
      asked += 1;
      throw new TypeError('fetch failed');
    };
    assert.equal((await stream({ ...new FakeService().deps, fetch })).error?.kind, 'offline');
    assert.equal(asked, 1);
  });

  it('never once an answer has begun, whatever the error', async () => {
    const [begun] = streamed('Half').split('data: [DONE]');
    const open = begun?.replace('"stop"', 'null') ?? '';
    for (const error of [
      { message: 'x', code: 401 },
      { message: 'slow', code: 429 },
      { message: 'not supported', error_type: 'UNSUPPORTED_OPENAI_PARAMS', param: 'stream_options' },
    ]) {
      const service = new FakeService([201, `${open}data: ${JSON.stringify({ error })}\n\n`]);
      const outcome = await stream(service.deps);
      assert.ok(outcome.error, 'it fails');
      const last = outcome.events.at(-1);
      assert.ok(last?.kind === 'interrupted');
      assert.equal(last.completion.choices[0]?.text, 'Half');
      assert.equal(last.completion.complete, false);
      assert.equal(service.sent.length, 1);
      assert.deepEqual(service.rejected, []);
    }
  });
});

describe('completions: the token in what the service says', () => {
  const says: readonly [name: string, answer: Answer][] = [
    ['a refusal', refused(400, { message: `bad key ${canary}.`, code: canary, param: canary })],
    ['plain text', [403, `Bearer ${canary} is not allowed`]],
    ['a long text that is cut within it', [400, `${'x'.repeat(285)} ${canary}`]],
    ['an error with 200', [200, JSON.stringify({ error: `key ${canary}` })]],
    ['an error in the stream', [201, `data: {"error":{"message":"key ${canary}"}}\n\n`]],
    ['something that is no answer', [200, `your key is ${canary}`]],
    ['something in the stream that is no JSON', [201, `data: {your key is ${canary}\n\ndata: x\n\n`]],
  ];
  for (const [name, answer] of says) {
    it(`is hidden: ${name}`, async () => {
      for (const { error } of [await stream(new FakeService(answer).deps), await once(new FakeService(answer).deps)]) {
        assert.ok(error, 'it fails');
        assert.ok(!inspect(error, { depth: 9, showHidden: true }).includes('canary'), inspect(error));
        assert.match(error.message, /‹hidden›/);
      }
    });
  }

  it('is hidden when fetch names it', async () => {
    const fetch = async () => {
      throw new TypeError(`cannot send ${canary}`);
    };
    const { error } = await stream({ ...new FakeService().deps, fetch });
    assert.equal(error?.kind, 'offline');
    assert.ok(!error?.message.includes('canary'));
  });
});
