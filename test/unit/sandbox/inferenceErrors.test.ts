import assert from 'node:assert/strict';
import { models } from '../../../src/sandbox/inference/models.ts';
import {
  ask,
  contentOf,
  goodToken,
  InferenceHarness,
  listFiles,
  readError,
  user,
  wordCount,
} from './inferenceHarness.ts';

const service = new InferenceHarness();
before(() => service.start());
after(() => service.stop());

describe('sandbox inference: the seven error bodies', () => {
  const rows: [name: string, body: object, status: number, code: string, errorType: string, param: string][] = [
    ['a field out of bounds', ask('x', { temperature: 3 }), 400, '400', 'INVALID_REQUEST', 'temperature'],
    ['an unknown model', ask('x', { model: 'sandbox/none' }), 404, '404', 'MODEL_NOT_FOUND', 'model'],
    ['a model id in another case', ask('x', { model: 'Sandbox/Guide' }), 404, '404', 'MODEL_NOT_FOUND', 'model'],
    [
      'tools for a model without',
      ask('x', { model: 'sandbox/no-tools', tools: [wordCount], tool_choice: 'auto' }),
      400,
      '422',
      'UNSUPPORTED_OPENAI_PARAMS',
      'tools, tool_choice',
    ],
    [
      'reasoning for a model without',
      ask('x', { model: 'sandbox/no-tools', reasoning_effort: 'low' }),
      400,
      '422',
      'UNSUPPORTED_OPENAI_PARAMS',
      'reasoning_effort',
    ],
    ['no credit', ask('x', { model: 'sandbox/no-credit' }), 429, '429', 'INSUFFICIENT_CREDIT', ''],
    ['a broken model', ask('x', { model: 'sandbox/broken' }), 500, '500', 'INTERNAL_ERROR', ''],
    ['a busy model', ask('x', { model: 'sandbox/overloaded' }), 503, '503', 'OVERLOADED', ''],
    ['too many requests', ask('x', { model: 'sandbox/rate-limited' }), 429, '429', 'RATE_LIMITED', ''],
  ];
  for (const [name, body, status, code, errorType, param] of rows)
    for (const stream of [false, true])
      it(`${name}: ${status} ${errorType}${stream ? ', also when a stream is asked for' : ''}`, async () => {
        const error = await service.refuse({ ...body, stream });
        assert.deepEqual([error.status, error.code, error.error_type, error.param], [status, code, errorType, param]);
      });

  for (const [name, header] of [
    ['without Authorization', ''],
    ['with another token', 'Bearer wrong'],
    ['with another scheme', `Basic ${goodToken}`],
  ] as const)
    it(`${name}: 401 INVALID_TOKEN, before the body is looked at`, async () => {
      const error = await service.refuse('no json', { headers: { Authorization: header } });
      assert.deepEqual([error.status, error.code, error.error_type, error.param], [401, '401', 'INVALID_TOKEN', '']);
    });

  it('UNSUPPORTED_OPENAI_PARAMS says the words seen in the wild', async () => {
    const error = await service.refuse(
      ask('x', { model: 'sandbox/no-tools', tools: [wordCount], tool_choice: 'none' }),
    );
    assert.equal(error.message, 'The following parameters are not supported for this model: tools, tool_choice');
  });

  it('the messages of 404 and 503 help: the id in question, Retry-After', async () => {
    assert.match((await service.refuse(ask('x', { model: 'a/b' }))).message, /`a\/b`/);
    for (const model of ['sandbox/overloaded', 'sandbox/rate-limited']) {
      const { headers } = await service.post(ask('x', { model }));
      assert.equal(headers.get('retry-after'), '1');
    }
    const { headers } = await service.post(ask('x', { model: 'sandbox/no-credit' }));
    assert.equal(headers.get('retry-after'), null);
  });

  it('context overflow: 400 that speaks of maximum context length with both numbers', async () => {
    const long = { model: 'sandbox/ngram', messages: [user('word '.repeat(2200))] };
    const alone = await service.refuse(long);
    assert.deepEqual([alone.status, alone.error_type, alone.param], [400, 'INVALID_REQUEST', 'messages']);
    assert.match(alone.message, /maximum context length is 2048 tokens.*\b2\d{3} tokens/);
    const both = await service.refuse({
      model: 'sandbox/ngram',
      messages: [user(' role'.repeat(1500))],
      max_tokens: 1000,
    });
    assert.match(
      both.message,
      /2048 tokens\. However, you requested 2504 tokens \(1504 in the messages, 1000 in the completion\)/,
    );
    await service.complete({
      model: 'sandbox/ngram',
      messages: [user(' role'.repeat(1500))],
      max_tokens: 544,
      logit_bias: { 65: 100 },
    });
  });

  it('images for a model without vision: 400 that names the message', async () => {
    const image = user([{ type: 'image_url', image_url: { url: 'https://a.test/x.png' } }]);
    const error = await service.refuse({ model: 'sandbox/guide', messages: [user('x'), image] });
    assert.deepEqual([error.status, error.param], [400, 'messages[1].content']);
    assert.match(error.message, /doesn't support images/);
  });
});

describe('sandbox inference: paths, methods and headers', () => {
  it('an unknown path: 404, without looking at the token', async () => {
    for (const path of ['/', '/v1', '/v1/chat', '/v2/chat/completions', '/v1/chat/completions/']) {
      const error = await readError(await service.fetch(path, { headers: { Authorization: '' } }));
      assert.deepEqual([error.status, error.error_type], [404, 'NOT_FOUND'], path);
    }
  });

  it('another method: 405 with Allow', async () => {
    for (const [path, method, allow] of [
      ['/v1/chat/completions', 'GET', 'POST'],
      ['/v1/chat/completions', 'DELETE', 'POST'],
      ['/v1/models', 'POST', 'GET'],
    ] as const) {
      const response = await service.fetch(path, { method });
      assert.equal(response.headers.get('allow'), allow);
      assert.equal((await readError(response)).status, 405);
    }
  });

  it('Content-Type: application/json, with charset=utf-8 or without; anything else is 415', async () => {
    for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])
      await service.post(ask('say: x'), { headers: { 'Content-Type': type } }).then(async (response) => {
        assert.equal(response.status, 200, type);
        await response.text();
      });
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])
      assert.equal((await service.refuse(ask('x'), { headers: { 'Content-Type': type } })).status, 415, type);
  });

  it('a body that is no JSON, empty, or no UTF-8: 400', async () => {
    for (const body of ['', '{', 'nope']) {
      const error = await service.refuse(body);
      assert.deepEqual([error.status, error.error_type, error.param], [400, 'INVALID_REQUEST', '']);
      assert.match(error.message, /not valid JSON/);
    }
    const bytes = Buffer.concat([Buffer.from('{"model":"'), Buffer.of(0xff), Buffer.from('"}')]);
    const response = await service.post('', { body: bytes });
    assert.match((await readError(response)).message, /not valid/);
  });

  it('a body beyond 8 MiB: 413, with and without Content-Length', async () => {
    const limit = 8 * 1024 * 1024;
    assert.equal((await service.refuse('x'.repeat(limit + 1))).status, 413);
    assert.equal((await service.refuse('x'.repeat(limit))).status, 400);
    const chunked = new Blob(['x'.repeat(limit + 1)]).stream();
    const response = await service.post('', { body: chunked, duplex: 'half' } as RequestInit);
    assert.equal((await readError(response)).status, 413);
  }).timeout(20_000);

  it('the connection can be used again after a refusal', async () => {
    for (let round = 0; round < 3; round++) {
      assert.equal((await service.refuse(ask('x'.repeat(500_000)), { headers: { Authorization: '' } })).status, 401);
      assert.equal(contentOf(await service.complete(ask('say: x'))), 'x');
    }
  });

  it('a query does not change the path', async () => {
    const response = await service.fetch('/v1/models?limit=1');
    assert.equal(response.status, 200);
    await response.text();
  });
});

describe('sandbox inference: GET /v1/models', () => {
  it('lists the models in the usual shape with max_model_len, the magic ones left out', async () => {
    const response = await service.fetch('/v1/models');
    assert.equal(response.status, 200);
    const { object, data } = (await response.json()) as { object: string; data: Record<string, unknown>[] };
    assert.equal(object, 'list');
    assert.deepEqual(
      data.map(({ id }) => id),
      ['sandbox/guide', 'sandbox/vision', 'sandbox/ngram', 'sandbox/no-tools'],
    );
    for (const model of data) {
      assert.deepEqual(Object.keys(model).sort(), ['created', 'id', 'max_model_len', 'object', 'owned_by']);
      assert.equal(model.object, 'model');
      assert.equal(model.max_model_len, models.find(({ id }) => id === model.id)?.contextLength);
    }
  });

  it('shows one of them, whether the slash in its id is encoded or not', async () => {
    const { data } = (await (await service.fetch('/v1/models')).json()) as { data: object[] };
    for (const path of ['/v1/models/sandbox/guide', '/v1/models/sandbox%2Fguide']) {
      const response = await service.fetch(path);
      assert.equal(response.status, 200);
      assert.deepEqual(await response.json(), data[0]);
    }
    for (const id of ['sandbox/Guide', 'sandbox/broken', '%', 'x/y/z']) {
      const error = await readError(await service.fetch(`/v1/models/${id}`));
      assert.deepEqual([error.status, error.error_type, error.param], [404, 'MODEL_NOT_FOUND', 'model'], id);
    }
    assert.equal((await readError(await service.fetch('/v1/models/sandbox/guide', { method: 'POST' }))).status, 405);
  });

  it('wants a token', async () => {
    for (const path of ['/v1/models', '/v1/models/sandbox/guide'])
      assert.equal((await readError(await service.fetch(path, { headers: { Authorization: '' } }))).status, 401);
  });

  it('every listed model answers, and does what its traits say', async () => {
    for (const { id, tools, reasoning, vision } of models) {
      assert.ok(contentOf(await service.complete({ model: id, messages: [user('Hello')], seed: 1 })).length > 0);
      const image = user([{ type: 'image_url', image_url: { url: 'https://a.test/x.png' } }]);
      for (const [trait, more] of [
        [tools, { tools: [listFiles] }],
        [reasoning, { reasoning_effort: 'low' }],
        [vision, { messages: [image] }],
      ] as const) {
        const response = await service.post({ model: id, messages: [user('Hello')], ...more });
        assert.equal(response.status, trait ? 200 : 400, `${id} ${JSON.stringify(more)}`);
        await response.text();
      }
    }
  });

  it('only the models on offer are listed and answer', async () => {
    const fewer = new InferenceHarness();
    await fewer.start({ models: models.filter(({ id }) => id === 'sandbox/ngram') });
    try {
      const { data } = (await (await fewer.fetch('/v1/models')).json()) as { data: { id: string }[] };
      assert.deepEqual(
        data.map(({ id }) => id),
        ['sandbox/ngram'],
      );
      assert.equal((await fewer.refuse(ask('x'))).error_type, 'MODEL_NOT_FOUND');
    } finally {
      await fewer.stop();
    }
  });
});
