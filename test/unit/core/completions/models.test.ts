import assert from 'node:assert/strict';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import type { InferenceDeps } from '../../../../src/core/completions/endpoint.ts';
import { type ListedModel, listModels } from '../../../../src/core/completions/models.ts';
import { silentLog } from '../../../support/silentLog.ts';

const connection = { inferenceUrl: 'https://inference.example.com/' };
const page = '<!doctype html><title>Welcome</title>';

interface Sent {
  readonly url: string;
  readonly method: string | undefined;
  readonly headers: Record<string, string>;
}

/** A service that gives its answers one after the other, and the dependencies to ask it. */
function service(...answers: readonly [status: number, body: unknown][]) {
  const sent: Sent[] = [];
  const refreshAfter401: string[] = [];
  const deps: InferenceDeps = {
    log: silentLog,
    accessToken: async () => 'canary-token-1',
    refreshAfter401: async (token) => {
      refreshAfter401.push(token);
      return 'canary-token-2';
    },
    fetch: async (url, init) => {
      const [status, body] = answers[sent.length] ?? assert.fail('asked once too often');
      sent.push({ url: String(url), method: init?.method, headers: { ...(init?.headers as Record<string, string>) } });
      return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });
    },
  };
  return { deps, sent, refreshAfter401 };
}

async function listed(status: number, body: unknown): Promise<ListedModel[] | undefined> {
  return await listModels(service([status, body]).deps, connection, new AbortController().signal);
}

describe('completions: the list of models', () => {
  it('is asked for with the token and nothing else', async () => {
    const { deps, sent } = service([200, { object: 'list', data: [] }]);
    assert.deepEqual(await listModels(deps, connection, new AbortController().signal), []);
    assert.deepEqual(sent, [
      {
        url: 'https://inference.example.com/v1/models',
        method: 'GET',
        headers: { Authorization: 'Bearer canary-token-1', Accept: 'application/json' },
      },
    ]);
  });

  it('keeps order, case and slashes, and each id once', async () => {
    const data = [{ id: 'b/Model' }, { id: 'a' }, { id: 'b/model' }, { id: 'b/Model', max_model_len: 5 }];
    assert.deepEqual(await listed(200, { object: 'list', data }), [{ id: 'b/Model' }, { id: 'a' }, { id: 'b/model' }]);
  });

  it('reads the context length where it is a number of tokens', async () => {
    const data = [
      { id: 'a', max_model_len: 4096, context_length: 8192 },
      { id: 'b', context_length: 8192 },
      { id: 'c', max_model_len: null, context_length: 0 },
      { id: 'd', max_model_len: '4096', context_length: 1.5 },
    ];
    assert.deepEqual(await listed(200, { data }), [
      { id: 'a', contextLength: 4096 },
      { id: 'b', contextLength: 8192 },
      { id: 'c' },
      { id: 'd' },
    ]);
  });

  it('skips what is no model, and takes a bare list', async () => {
    const entries = [null, 'a', {}, { id: '' }, { id: 7 }, { id: 'ok' }, ['x']];
    assert.deepEqual(await listed(200, { data: entries }), [{ id: 'ok' }]);
    assert.deepEqual(await listed(201, entries), [{ id: 'ok' }]);
  });

  for (const status of [403, 404, 405, 501]) {
    it(`is quietly absent after ${status}`, async () => {
      assert.equal(await listed(status, page), undefined);
      assert.equal(await listed(status, { error: { message: 'no', code: 'x' } }), undefined);
    });
  }

  it('is quietly absent where something else is served', async () => {
    for (const body of [page, '', 'ok', {}, { data: {} }, { error: { message: 'no' } }, 'null', '"x"']) {
      assert.equal(await listed(200, body), undefined, JSON.stringify(body));
    }
  });

  it('is asked for once more with a newer token after 401, and no further', async () => {
    const once = service([401, { error: 'Unauthorized' }], [200, { data: [{ id: 'm' }] }]);
    assert.deepEqual(await listModels(once.deps, connection, new AbortController().signal), [{ id: 'm' }]);
    assert.deepEqual(
      once.sent.map(({ headers }) => headers.Authorization),
      ['Bearer canary-token-1', 'Bearer canary-token-2'],
    );
    assert.deepEqual(once.refreshAfter401, ['canary-token-1']);
    const twice = service([401, ''], [401, '']);
    await assert.rejects(listModels(twice.deps, connection, new AbortController().signal), { kind: 'signedOut' });
    assert.equal(twice.sent.length, 2);
    assert.equal(twice.refreshAfter401.length, 1);
  });

  it('is asked for with a newer token after another status that means the same', async () => {
    for (const status of [200, 400, 403]) {
      const { deps } = service([status, { error: { code: 'access_denied' } }], [200, { data: [{ id: 'm' }] }]);
      assert.deepEqual(await listModels(deps, connection, new AbortController().signal), [{ id: 'm' }], `${status}`);
    }
    const { deps } = service([403, { error: 'access_denied' }], [403, { error: 'access_denied' }]);
    assert.equal(await listModels(deps, connection, new AbortController().signal), undefined);
  });

  it('fails for what is wrong with the service, without the token', async () => {
    await assert.rejects(listed(500, { message: 'no place for canary-token-1 here' }), (error) => {
      assert.ok(error instanceof RolecallError);
      assert.equal(error.kind, 'server');
      assert.equal(error.details.serverMessage, 'no place for ‹hidden› here');
      assert.ok(!error.message.includes('canary'));
      return true;
    });
    await assert.rejects(listed(302, ''), { kind: 'protocol' });
    await assert.rejects(listed(429, ''), { kind: 'rateLimited' });
  });

  it('is not asked for once Stop was pressed', async () => {
    const { deps, sent } = service();
    await assert.rejects(listModels(deps, connection, AbortSignal.abort()), { kind: 'cancelled' });
    assert.equal(sent.length, 0);
  });
});
