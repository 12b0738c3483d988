import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { GROUPS, problem, useSandbox, withSandbox } from './fixture.ts';
import { getList, refresh, signIn, tokenRequest } from './walk.ts';

describe('sandbox identity: one session per client and person', () => {
  const sandbox = useSandbox();

  it('rotates: a new pair, no id token, and the old access token is dead at once', async () => {
    const old = await signIn(sandbox.descriptor);
    const response = await refresh(sandbox.descriptor, sandbox.descriptor.clients.loopback, old.refresh_token);
    const fresh = (await response.json()) as Record<string, string>;
    assert.deepEqual(Object.keys(fresh).sort(), ['access_token', 'expires_in', 'refresh_token', 'token_type']);
    assert.notEqual(fresh.refresh_token, old.refresh_token);
    assert.equal((await getList(sandbox.descriptor, GROUPS, old.access_token)).status, 401);
    assert.equal((await getList(sandbox.descriptor, GROUPS, fresh.access_token ?? '')).status, 200);
  });

  it('refuses a spent refresh token, counts it and leaves the live session alone', async () => {
    const old = await signIn(sandbox.descriptor);
    const client = sandbox.descriptor.clients.loopback;
    const fresh = (await (await refresh(sandbox.descriptor, client, old.refresh_token)).json()) as Record<
      string,
      string
    >;
    const reused = await sandbox.growth('refreshes.reused', async () => {
      assert.deepEqual(await problem(await refresh(sandbox.descriptor, client, old.refresh_token)), [
        400,
        'invalid_grant',
        'refresh token reuse',
      ]);
    });
    assert.equal(reused, 1);
    assert.equal((await getList(sandbox.descriptor, GROUPS, fresh.access_token ?? '')).status, 200);
    assert.equal((await refresh(sandbox.descriptor, client, fresh.refresh_token ?? '')).status, 200);
  });

  it('lets one of twenty refreshes at the same moment win, and its tokens live', async () => {
    const { refresh_token } = await signIn(sandbox.descriptor);
    const client = sandbox.descriptor.clients.loopback;
    let answers: { status: number; body: Record<string, string> }[] = [];
    const reused = await sandbox.growth('refreshes.reused', async () => {
      answers = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const response = await refresh(sandbox.descriptor, client, refresh_token);
          return { status: response.status, body: (await response.json()) as Record<string, string> };
        }),
      );
    });
    const [winner, ...others] = answers.filter(({ status }) => status === 200);
    assert.deepEqual([others.length, reused], [0, 19]);
    assert.equal((await getList(sandbox.descriptor, GROUPS, winner?.body.access_token ?? '')).status, 200);
  });

  it('ends the first session when the same person signs in to the same client again', async () => {
    const first = await signIn(sandbox.descriptor);
    const second = await signIn(sandbox.descriptor);
    assert.equal((await getList(sandbox.descriptor, GROUPS, first.access_token)).status, 401);
    const superseded = await sandbox.growth('refreshes.superseded', async () => {
      const [status, error] = await problem(
        await refresh(sandbox.descriptor, sandbox.descriptor.clients.loopback, first.refresh_token),
      );
      assert.deepEqual([status, error], [400, 'invalid_grant']);
    });
    assert.equal(superseded, 1);
    assert.equal((await getList(sandbox.descriptor, GROUPS, second.access_token)).status, 200);
    assert.equal(
      (await refresh(sandbox.descriptor, sandbox.descriptor.clients.loopback, second.refresh_token)).status,
      200,
    );
  });

  it('keeps the sessions of another client and of another person', async () => {
    const link = await signIn(sandbox.descriptor, { client: 'link' });
    const other = await signIn(sandbox.descriptor, { person: 1 });
    await signIn(sandbox.descriptor);
    assert.equal((await getList(sandbox.descriptor, GROUPS, link.access_token)).status, 200);
    assert.equal((await getList(sandbox.descriptor, GROUPS, other.access_token)).status, 403);
  });

  it('checks the secret before the refresh token is touched', async () => {
    const { refresh_token } = await signIn(sandbox.descriptor);
    const client = sandbox.descriptor.clients.loopback;
    const [status, error] = await problem(
      await tokenRequest(
        sandbox.descriptor,
        { id: client.id, secret: 'wrong' },
        { grant_type: 'refresh_token', refresh_token },
      ),
    );
    assert.deepEqual([status, error], [400, 'invalid_request']);
    assert.equal((await refresh(sandbox.descriptor, client, refresh_token)).status, 200);
  });

  it('refuses a refresh token at the other client without touching it', async () => {
    const { refresh_token } = await signIn(sandbox.descriptor);
    const [status, error] = await problem(
      await refresh(sandbox.descriptor, sandbox.descriptor.clients.link, refresh_token),
    );
    assert.deepEqual([status, error], [400, 'invalid_grant']);
    assert.equal((await refresh(sandbox.descriptor, sandbox.descriptor.clients.loopback, refresh_token)).status, 200);
  });

  it('refuses a refresh token it never issued', async () => {
    const [status, error, description] = await problem(
      await refresh(sandbox.descriptor, sandbox.descriptor.clients.loopback, 'nothing'),
    );
    assert.deepEqual([status, error, description], [400, 'invalid_grant', 'refresh token not found']);
  });

  it('ends every session on demand', async () => {
    const tokens = await signIn(sandbox.descriptor);
    const response = await fetch(`${sandbox.descriptor.control}/sessions/end`, { method: 'POST' });
    assert.ok(((await response.json()) as { ended: number }).ended >= 1);
    assert.equal((await getList(sandbox.descriptor, GROUPS, tokens.access_token)).status, 401);
    const [status, error] = await problem(
      await refresh(sandbox.descriptor, sandbox.descriptor.clients.loopback, tokens.refresh_token),
    );
    assert.deepEqual([status, error], [400, 'invalid_grant']);
  });

  it('lets tokens live exactly as long as told', async function () {
    this.timeout(10_000);
    await withSandbox({ accessTokenSeconds: 1, refreshTokenSeconds: 2 }, async (short) => {
      const tokens = await signIn(short.descriptor);
      assert.equal(tokens.expires_in, 1);
      assert.equal((await getList(short.descriptor, GROUPS, tokens.access_token)).status, 200);
      await wait(1050);
      assert.equal((await getList(short.descriptor, GROUPS, tokens.access_token)).status, 401);
      assert.equal((await getList(short.descriptor, '/oauth2/v2/userinfo', tokens.access_token)).status, 401);
      await wait(1000);
      const late = await refresh(short.descriptor, short.descriptor.clients.loopback, tokens.refresh_token);
      assert.deepEqual(await problem(late), [400, 'invalid_grant', 'refresh token is expired']);
    });
  });
});
