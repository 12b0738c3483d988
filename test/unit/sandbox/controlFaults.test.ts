import assert from 'node:assert/strict';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { GROUPS, readAll, useSandbox, withSandbox } from './fixture.ts';
import { getList, refresh, signIn, streamCompletion } from './walk.ts';

describe('sandbox control: what a fault does', () => {
  const sandbox = useSandbox();
  let accessToken: string;
  const groups = (headers: Record<string, string> = {}): Promise<Response> =>
    getList(sandbox.descriptor, GROUPS, accessToken, headers);

  before(async () => {
    accessToken = (await signIn(sandbox.descriptor)).access_token;
  });

  beforeEach(() => sandbox.control('DELETE', '/faults'));

  const statuses: [string, number, string][] = [
    ['identity', 401, 'access_denied'],
    ['identity', 403, 'forbidden'],
    ['identity', 409, 'conflict'],
    ['identity', 415, 'unsupported_media_type'],
    ['identity', 413, 'request_entity_too_large'],
    ['identity', 500, 'server_error'],
  ];
  for (const [service, status, error] of statuses) {
    it(`status: ${service} answers ${status} ${error} in the specified shape`, async () => {
      await sandbox.fault({ service, kind: 'status', status });
      const response = await groups();
      const body = (await response.json()) as Record<string, string>;
      assert.deepEqual([response.status, body.error, typeof body.error_description], [status, error, 'string']);
    });
  }

  it('status: inference answers with the four members of its error object', async () => {
    await sandbox.fault({ service: 'inference', kind: 'status', status: 503 });
    const { error } = (await (await streamCompletion(sandbox.descriptor, accessToken)).json()) as {
      error: Record<string, string>;
    };
    assert.deepEqual(Object.keys(error).sort(), ['code', 'error_type', 'message', 'param']);
    assert.deepEqual([error.code, error.error_type], ['503', 'SERVICE_UNAVAILABLE']);
  });

  it('status: any other body, as JSON or as it stands', async () => {
    await sandbox.fault([
      { service: 'identity', kind: 'status', body: { detail: 'no' } },
      { service: 'identity', kind: 'status', body: 'plain words' },
    ]);
    assert.deepEqual(await (await groups()).json(), { detail: 'no' });
    assert.equal(await (await groups()).text(), 'plain words');
  });

  it('html: a proxy page with 502', async () => {
    await sandbox.fault({ service: 'identity', kind: 'html' });
    const response = await groups();
    assert.equal(response.status, 502);
    assert.equal(response.headers.get('content-type'), 'text/html');
    assert.match(await response.text(), /<h1>502 Bad Gateway<\/h1>/);
  });

  it('resetBefore: the request is not processed', async () => {
    const tokens = await signIn(sandbox.descriptor, { client: 'link' });
    await sandbox.fault({ service: 'identity', kind: 'resetBefore', path: 'token' });
    await assert.rejects(refresh(sandbox.descriptor, sandbox.descriptor.clients.link, tokens.refresh_token));
    assert.equal((await getList(sandbox.descriptor, GROUPS, tokens.access_token)).status, 200);
    assert.equal(
      (await refresh(sandbox.descriptor, sandbox.descriptor.clients.link, tokens.refresh_token)).status,
      200,
    );
  });

  it('resetAfter: the request is processed and the answer lost, so the session is gone', async () => {
    const tokens = await signIn(sandbox.descriptor, { client: 'link' });
    const before = (await sandbox.counters()).refreshes ?? 0;
    await sandbox.fault({ service: 'identity', kind: 'resetAfter', path: 'token' });
    await assert.rejects(refresh(sandbox.descriptor, sandbox.descriptor.clients.link, tokens.refresh_token));
    assert.equal((await sandbox.counters()).refreshes, before + 1);
    assert.equal((await getList(sandbox.descriptor, GROUPS, tokens.access_token)).status, 401);
    const again = await refresh(sandbox.descriptor, sandbox.descriptor.clients.link, tokens.refresh_token);
    assert.equal(((await again.json()) as { error_description: string }).error_description, 'refresh token reuse');
  });

  it('late: the request is processed at once, and its answer waits', async () => {
    const tokens = await signIn(sandbox.descriptor, { client: 'link' });
    const link = sandbox.descriptor.clients.link;
    const before = (await sandbox.counters()).refreshes ?? 0;
    await sandbox.fault([
      { service: 'identity', kind: 'late', path: 'token', ms: 3_600_000 },
      { service: 'identity', kind: 'late', path: 'token', ms: 1 },
    ]);
    const waiting = refresh(sandbox.descriptor, link, tokens.refresh_token).then(() => 'answered');
    waiting.catch(() => {}); // Until the sandbox ends.
    while (((await sandbox.counters()).refreshes ?? 0) === before) await turn();
    const refused = getList(sandbox.descriptor, GROUPS, tokens.access_token).then(({ status }) => status);
    assert.equal(await Promise.race([waiting, refused]), 401);
    const answer = await refresh(sandbox.descriptor, link, tokens.refresh_token);
    assert.match(await answer.text(), /refresh token reuse/);
  });

  for (const afterBytes of [0, 1, 100, 9000]) {
    it(`cut: exactly ${afterBytes} bytes of the body arrive, then the connection breaks`, async () => {
      await sandbox.fault({ service: 'identity', kind: 'cut', afterBytes });
      const response = await groups();
      assert.equal(response.status, 200);
      const { text, error } = await readAll(response);
      assert.equal(Buffer.byteLength(text), afterBytes);
      assert.ok(error instanceof Error);
    });
  }

  it('cut: what was sent before arrives, however long it is and however late the client reads', async () => {
    const afterBytes = 10_000_000;
    await withSandbox({ groups: 10_000 }, async (big) => {
      const { access_token } = await signIn(big.descriptor);
      await big.fault({ service: 'identity', kind: 'cut', afterBytes });
      const response = await getList(big.descriptor, '/api/v1/organizations/big-sky/groups', access_token);
      await wait(100);
      const { text, error } = await readAll(response);
      assert.equal(Buffer.byteLength(text), afterBytes);
      assert.ok(error instanceof Error);
    });
  });

  it('cut: half of the body unless told', async () => {
    const whole = await (await groups()).text();
    await sandbox.fault({ service: 'identity', kind: 'cut' });
    const { text, error } = await readAll(await groups());
    assert.equal(text, whole.slice(0, Math.ceil(whole.length / 2)));
    assert.ok(error instanceof Error);
  });

  it('malformedItem: one item among the others is none', async () => {
    const whole = (await (await groups()).json()) as unknown[];
    await sandbox.fault({ service: 'identity', kind: 'malformedItem', body: { metadata: { id: 7 } } });
    const items = (await (await groups()).json()) as unknown[];
    assert.deepEqual(items, [...whole.slice(0, 6), { metadata: { id: 7 } }, ...whole.slice(6)]);
  });

  it('malformedItem: within `data` too', async () => {
    await sandbox.fault({ service: 'inference', kind: 'malformedItem' });
    const response = await fetch(`${sandbox.descriptor.inference}/v1/models`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    const { data } = (await response.json()) as { data: unknown[] };
    assert.equal(data.filter((item) => item === 42).length, 1);
    assert.equal(data.length, sandbox.descriptor.models.length + 1);
  });

  it('garbage: a body that is no JSON, whole as it is', async () => {
    await sandbox.fault({ service: 'identity', kind: 'garbage' });
    const response = await groups();
    assert.match(response.headers.get('content-type') ?? '', /json/);
    const text = await response.text();
    assert.throws(() => JSON.parse(text), SyntaxError);
  });

  it('silence: the connection stays open and nothing more comes', async () => {
    await sandbox.fault({ service: 'identity', kind: 'silence', afterBytes: 10 });
    const controller = new AbortController();
    const response = await getSlow(controller.signal);
    const reader = response.body?.getReader();
    const first = await reader?.read();
    assert.equal(first?.value?.length, 10);
    const next = reader?.read().then(
      () => 'came',
      () => 'came',
    );
    assert.equal(await Promise.race([next, wait(80, 'silent')]), 'silent');
    controller.abort();
  });

  function getSlow(signal: AbortSignal): Promise<Response> {
    return fetch(`${sandbox.descriptor.identity}${GROUPS}`, {
      signal,
      headers: { authorization: `Bearer ${accessToken}` },
    });
  }
});
