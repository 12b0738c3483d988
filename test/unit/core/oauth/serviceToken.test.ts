import assert from 'node:assert/strict';
import { readServiceToken, signInWithServiceToken } from '../../../../src/core/oauth/serviceToken.ts';
import { MockService, type Reply } from '../base/mockService.ts';
import { failure } from '../failure.ts';
import { CONNECTION } from './connection.ts';

const TOKEN = 's3rvice-t0ken';
const { signal } = new AbortController();

describe('a service token as it is pasted', () => {
  for (const typed of [TOKEN, ` ${TOKEN}\n`, `Bearer ${TOKEN}`, `bearer  ${TOKEN}`]) {
    it(`is taken: ${JSON.stringify(typed)}`, () => assert.equal(readServiceToken(typed), TOKEN));
  }
  for (const [typed, sentence] of [
    ['', /Paste/],
    ['  ', /Paste/],
    ['a b', /no spaces/],
    ['a\nb', /line breaks/],
    ['tök', /special/],
  ] as const) {
    it(`is refused: ${JSON.stringify(typed)}`, () => assert.throws(() => readServiceToken(typed), sentence));
  }
});

describe('signing in with a service token', () => {
  const run = async (isTaken: boolean | undefined, reply: Reply) => {
    const service = new MockService().on('GET', '/oauth2/v2/userinfo', reply);
    const deps = { connection: CONNECTION, fetch: service.fetch, isTaken: async () => isTaken, now: () => 5 };
    try {
      return await signInWithServiceToken(deps, TOKEN, signal);
    } finally {
      await service.close();
    }
  };
  const claims = { status: 200, body: { sub: 'u1', email: 'ada@example.com' } };

  it('that the API takes: the name comes from userinfo, and only a 401 tells that it is over', async () => {
    const { session, isChecked } = await run(true, claims);
    assert.equal(isChecked, true);
    assert.deepEqual(session.account, { id: 'u1', label: 'ada@example.com' });
    assert.deepEqual([session.accessToken, session.refreshToken, session.expiresAt], [TOKEN, undefined, undefined]);
  });

  for (const reply of [
    { status: 401 },
    { status: 404 },
    { status: 502, body: '<html>' },
    { status: 200, body: 'a.b.c' },
  ]) {
    it(`that the API takes is kept whatever userinfo says (${reply.status}), under a name of ours`, async () => {
      const { session, isChecked } = await run(true, reply);
      assert.equal(isChecked, true);
      assert.match(session.account.label, /^service token of /);
    });
  }

  it('that the API refuses is refused without asking on', async () => {
    const error = await failure(run(false, claims));
    assert.deepEqual([error.kind, error.details.status], ['invalidRequest', 401]);
    assert.match(error.message, /does not accept this token\. It was not saved\./);
  });

  it('is checked by userinfo where the API has nothing to ask', async () => {
    assert.equal((await run(undefined, claims)).isChecked, true);
    assert.equal((await run(undefined, { status: 404 })).isChecked, false);
    assert.equal((await run(undefined, { status: 403, body: {} })).isChecked, false);
  });

  it('is refused there with the service’s words, without markup', async () => {
    const body = { error: 'access_denied', error_description: 'token <b>expired</b>' };
    const error = await failure(run(undefined, { status: 401, body }));
    assert.match(
      error.message,
      /does not accept this token\. It was not saved\. If .*rolecall\.organizations first.* Server response: token expired$/,
    );
    assert.ok(!error.message.includes(TOKEN));
    assert.equal((await failure(run(undefined, { status: 401, body: '<html>no</html>' }))).kind, 'invalidRequest');
  });

  for (const status of [429, 500, 502, 503]) {
    it(`is not kept when nobody knows (${status})`, async () => {
      const error = await failure(run(undefined, { status, body: '<html>busy</html>' }));
      assert.deepEqual([error.kind, error.details.status], ['server', status]);
      assert.match(error.message, /It was not saved/);
    });
  }

  it('is not kept when there is no answer', async () => {
    const error = await failure(run(undefined, { status: 0, failure: new Error('ECONNREFUSED') }));
    assert.equal(error.kind, 'offline');
  });
});
