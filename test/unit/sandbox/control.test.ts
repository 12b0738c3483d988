import assert from 'node:assert/strict';
import { GROUPS, useSandbox } from './fixture.ts';
import { getList, signIn } from './walk.ts';

describe('sandbox control: who may steer', () => {
  const sandbox = useSandbox();
  for (const path of ['/', '/faults', '/counters', `/${'x'.repeat(32)}/counters`]) {
    it(`answers 404 to ${path}, without the random key`, async () => {
      const { origin } = new URL(sandbox.descriptor.control);
      assert.equal((await fetch(`${origin}${path}`)).status, 404);
    });
  }

  it('answers 404 to an unknown action with the key', async () => {
    assert.equal((await sandbox.control('GET', '/restart')).status, 404);
    assert.equal((await sandbox.control('PUT', '/faults', {})).status, 404);
  });

  it('says what is wrong with a fault it cannot understand', async () => {
    const wrong: [object, RegExp][] = [
      [{ kind: 'latency' }, /service/],
      [{ service: 'identity', kind: 'earthquake' }, /kind/],
      [{ service: 'identity', kind: 'status', status: 99 }, /status/],
      [{ service: 'identity', kind: 'status', path: '(' }, /path/],
      [{ service: 'identity', kind: 'status', times: 0 }, /times/],
      [{ service: 'identity', kind: 'status', colour: 'red' }, /colour/],
    ];
    for (const [rule, told] of wrong) {
      const response = await sandbox.control('POST', '/faults', rule);
      assert.equal(response.status, 400);
      assert.match(((await response.json()) as { error_description: string }).error_description, told);
    }
    assert.deepEqual(await (await sandbox.control('GET', '/faults')).json(), []);
  });

  it('says that a body is not JSON', async () => {
    const response = await fetch(`${sandbox.descriptor.control}/faults`, { method: 'POST', body: '{' });
    assert.equal(response.status, 400);
  });
});

describe('sandbox control: which requests a fault meets', () => {
  const sandbox = useSandbox();
  let accessToken: string;
  const groups = (headers: Record<string, string> = {}): Promise<Response> =>
    getList(sandbox.descriptor, GROUPS, accessToken, headers);

  before(async () => {
    accessToken = (await signIn(sandbox.descriptor)).access_token;
  });

  beforeEach(() => sandbox.control('DELETE', '/faults'));

  it('one request unless told, then the service is itself again', async () => {
    await sandbox.fault({ service: 'identity', kind: 'status', status: 503 });
    assert.deepEqual([(await groups()).status, (await groups()).status], [503, 200]);
  });

  it('n requests, and says how many are left', async () => {
    await sandbox.fault({ service: 'identity', kind: 'status', times: 3 });
    assert.equal((await groups()).status, 500);
    assert.deepEqual(await (await sandbox.control('GET', '/faults')).json(), [
      { service: 'identity', kind: 'status', times: 2 },
    ]);
  });

  it('every request until the faults are removed', async () => {
    await sandbox.fault({ service: 'identity', kind: 'status', status: 401, times: null });
    for (let index = 0; index < 5; index++) assert.equal((await groups()).status, 401);
    assert.equal((await sandbox.control('DELETE', '/faults')).status, 204);
    assert.equal((await groups()).status, 200);
  });

  it('only its service, method and path', async () => {
    await sandbox.fault({ service: 'identity', kind: 'status', path: '/roles$', method: 'get', times: null });
    await sandbox.fault({ service: 'identity', kind: 'status', method: 'POST', path: 'groups', times: null });
    await sandbox.fault({ service: 'inference', kind: 'status', path: 'groups', times: null });
    assert.equal((await groups()).status, 200);
    assert.equal((await getList(sandbox.descriptor, '/api/v1/organizations/meridian/roles', accessToken)).status, 500);
  });

  it('several at once, given as an array: one after the other, each latency besides', async () => {
    await sandbox.fault([
      { service: 'identity', kind: 'latency', ms: 60 },
      { service: 'identity', kind: 'status', status: 429, headers: { 'Retry-After': '7' } },
      { service: 'identity', kind: 'status', status: 403 },
    ]);
    const start = performance.now();
    const first = await groups();
    assert.ok(performance.now() - start >= 55);
    assert.deepEqual([first.status, first.headers.get('retry-after')], [429, '7']);
    assert.equal((await groups()).status, 403);
    assert.equal((await groups()).status, 200);
  });

  it('the request that asks for it in its header, by kind or as JSON', async () => {
    assert.equal((await groups({ 'x-rolecall-sandbox-fault': 'html' })).status, 502);
    assert.equal((await groups({ 'x-rolecall-sandbox-fault': '{"kind":"status","status":418}' })).status, 418);
    assert.equal((await groups()).status, 200);
    const wrong = await groups({ 'x-rolecall-sandbox-fault': '{"kind":' });
    assert.equal(wrong.status, 400);
  });
});
