import assert from 'node:assert/strict';
import { request } from 'node:http';
import { CounterTable } from '../../../src/sandbox/testing/control.ts';
import { GROUPS, readAll, useSandbox } from './fixture.ts';
import { getList, refresh, signIn, streamCompletion } from './walk.ts';

describe('sandbox control: the counters', () => {
  const sandbox = useSandbox({ paceMs: 5 });
  let accessToken: string;

  before(async () => {
    accessToken = (await signIn(sandbox.descriptor)).access_token;
  });

  const stream = (signal?: AbortSignal): Promise<Response> => streamCompletion(sandbox.descriptor, accessToken, signal);

  it('tell services, routes, hosts, statuses, sign-ins, refreshes and refusals', async () => {
    assert.equal((await sandbox.control('DELETE', '/counters')).status, 204);
    const { refresh_token } = await signIn(sandbox.descriptor, { client: 'link' });
    const client = sandbox.descriptor.clients.link;
    await refresh(sandbox.descriptor, client, refresh_token);
    await refresh(sandbox.descriptor, client, refresh_token);
    await getList(sandbox.descriptor, GROUPS, accessToken);
    await getList(sandbox.descriptor, GROUPS, 'not-a-token');
    const { host } = new URL(sandbox.descriptor.identity);
    assert.deepEqual(await sandbox.counters(), {
      [`host ${host}`]: 8,
      'identity GET /api/v1/organizations/meridian/groups': 2,
      'identity GET /oauth2/v2/authorization': 1,
      'identity GET /sign-in/:uid': 1,
      'identity POST /oauth2/v2/token': 3,
      'identity POST /sign-in/:uid': 1,
      refreshes: 1,
      'refreshes.refused': 1,
      'refreshes.reused': 1,
      'requests.identity': 8,
      signIns: 1,
      'status.identity.200': 4,
      'status.identity.303': 2,
      'status.identity.400': 1,
      'status.identity.401': 1,
      'unauthorized.identity': 1,
    });
  });

  it('tell a host the client was sent to by another name', async () => {
    const { port } = new URL(sandbox.descriptor.identity);
    await new Promise<void>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path: GROUPS, headers: { host: 'evil.example' } }, (answer) => {
        answer.resume().once('end', () => resolve());
      });
      sent.once('error', reject).end();
    });
    assert.equal((await sandbox.counters())['host evil.example'], 1);
  });

  it('tell a stream that ended, one the client left, and one that a fault cut', async () => {
    await sandbox.control('DELETE', '/counters');
    await readAll(await stream());
    const controller = new AbortController();
    const left = await stream(controller.signal);
    await left.body?.getReader().read();
    await sandbox.until('streams.inference.open', 1);
    controller.abort();
    await sandbox.fault({ service: 'inference', kind: 'cut' });
    await readAll(await stream());
    await sandbox.until('streams.inference.open', 0);
    await sandbox.until('streams.inference.aborted', 1);
    const { 'streams.inference.opened': opened, 'streams.inference.ended': ended, ...rest } = await sandbox.counters();
    assert.deepEqual([opened, ended, rest['streams.inference.cut']], [3, 1, 1]);
  });

  it('start over when told, except for what is still open', () => {
    const table = new CounterTable();
    table.count('b');
    table.count('b');
    table.count('a.open', 3);
    assert.equal(JSON.stringify(table), '{"a.open":3,"b":2}');
    table.clear();
    assert.deepEqual([table.get('b'), table.get('a.open')], [0, 3]);
  });
});
