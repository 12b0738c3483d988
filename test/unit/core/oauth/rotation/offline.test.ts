import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { type ErrorKind, RolecallError } from '../../../../../src/core/base/errors.ts';
import { claimLock } from '../../../../../src/core/oauth/rotation/lockFiles.ts';
import { PROTOCOL } from '../../../../../src/core/oauth/rotation/protocol.ts';
import type { Timeouts } from '../../../../../src/core/oauth/rotation/timeouts.ts';
import { eventually } from '../../eventually.ts';
import { never, PATIENT, refusal, Setting, sharedStore } from './fixture.ts';

const lost = () => new RolecallError('offline', 'The connection was lost.', { details: { code: 'ECONNRESET' } });
const fails = (error: RolecallError) => async () => {
  throw error;
};

describe('a renewal that fails', () => {
  const setting = Setting.forEach();

  async function signedIn(limits: Partial<Timeouts> = {}) {
    const store = sharedStore();
    const deps = { timeouts: { ...PATIENT, ...limits } };
    const [first, second] = [await setting.open(store(), deps), await setting.open(store(), deps)];
    await first.tokenManager.signIn(setting.signedIn());
    return { first, second, store: store() };
  }

  const passing: [ErrorKind, code: string | undefined][] = [
    ['offline', 'ECONNREFUSED'],
    ['server', undefined],
    ['rateLimited', undefined],
    ['protocol', undefined],
  ];
  for (const [kind, code] of passing) {
    it(`signs nobody out: ${kind}, and the old token is used while it lives`, async () => {
      const { first, second } = await signedIn();
      setting.later = 3545_000; // Not fresh, and alive for another minute.
      setting.server.plan.push({ before: fails(new RolecallError(kind, 'No.', { details: code ? { code } : {} })) });
      assert.equal(await first.tokenManager.accessToken(never), 'access-1');
      await eventually(() => first.tokenManager.state.kind === 'offline');
      assert.equal(second.tokenManager.state.kind, 'signedIn');
      assert.equal(await first.tokenManager.accessToken(never), 'access-1', 'without a second try at once');
      assert.equal(setting.server.refreshes, 1);
      setting.later += 2000;
      assert.equal(await first.tokenManager.accessToken(never), 'access-1', 'while it is renewed');
      await eventually(() => first.tokenManager.session?.accessToken === 'access-2');
      assert.equal(first.tokenManager.state.kind, 'signedIn');
      assert.equal(setting.server.reuse, 0);
    });
  }

  it('tells why when the old token is dead, without asking the service again at once', async () => {
    const { first } = await signedIn();
    setting.expire();
    setting.server.plan.push({ before: fails(new RolecallError('server', 'It failed.')) });
    for (let n = 0; n < 3; n += 1) {
      await assert.rejects(first.tokenManager.accessToken(never), { kind: 'server', message: 'It failed.' });
    }
    assert.equal(setting.server.refreshes, 1);
    assert.equal(first.tokenManager.session?.accessToken, 'access-1', 'still signed in');
  });

  it('is taken back by another window’s success', async () => {
    const { first, second } = await signedIn();
    setting.expire();
    setting.server.plan.push({ before: fails(new RolecallError('server', 'It failed.')) });
    await assert.rejects(first.tokenManager.accessToken(never), { kind: 'server' });
    await assert.rejects(second.tokenManager.accessToken(never), { kind: 'server', message: 'It failed.' });
    assert.deepEqual(
      [second.tokenManager.state.kind, setting.server.refreshes],
      ['offline', 1],
      'one try for all windows',
    );
    setting.later += 2000;
    await second.tokenManager.accessToken(never);
    assert.equal(first.tokenManager.state.kind, 'signedIn');
    assert.equal(await first.tokenManager.accessToken(never), 'access-2');
  });

  it('is tried once more when its answer was lost, and may have been in time', async () => {
    const { first } = await signedIn();
    setting.expire();
    setting.server.plan.push({ before: fails(lost()) });
    assert.equal(await first.tokenManager.accessToken(never), 'access-2');
    assert.deepEqual([setting.server.refreshes, setting.server.reuse], [2, 0]);
  });

  it('ends the session for every window, with the reason, when the lost answer was the new pair', async () => {
    const { first, second } = await signedIn();
    setting.expire();
    setting.server.plan.push({ after: fails(lost()) });
    await assert.rejects(first.tokenManager.accessToken(never), { kind: 'sessionEnded', message: /response was lost/ });
    for (const { tokenManager } of [first, second]) {
      assert.equal(tokenManager.state.kind === 'ended' && tokenManager.state.reason, 'interrupted');
      assert.equal(tokenManager.session, undefined);
      await assert.rejects(tokenManager.accessToken(never), { kind: 'sessionEnded' });
    }
    assert.equal(setting.server.refreshes, 2, 'the second window does not try a token that is known to be dead');
  });

  it('stays open when both answers were lost; the third try knows why it is refused', async () => {
    const { first, second } = await signedIn();
    setting.expire();
    setting.server.plan.push({ after: fails(lost()) }, {}, { before: fails(lost()) });
    await assert.rejects(first.tokenManager.accessToken(never), { kind: 'offline' });
    assert.equal(first.tokenManager.state.kind, 'offline');
    setting.later += 2000;
    await assert.rejects(second.tokenManager.accessToken(never), {
      kind: 'sessionEnded',
      message: /response was lost/,
    });
    assert.equal(setting.server.refreshes, 3);
  });

  it('knows that a window died in the middle of it', async () => {
    const { first } = await signedIn();
    await fs.writeFile(path.join(setting.folder, 'renewal.json'), '{"generation":1}');
    setting.expire();
    setting.server.current = 'issued-to-the-dead-window';
    await assert.rejects(first.tokenManager.accessToken(never), { kind: 'sessionEnded', message: /was interrupted/ });
    assert.equal(first.tokenManager.state.kind === 'ended' && first.tokenManager.state.reason, 'interrupted');
  });

  it('ends with "elsewhere" when another machine has signed in', async () => {
    const { first } = await signedIn();
    setting.expire();
    setting.server.grant();
    await assert.rejects(first.tokenManager.accessToken(never), {
      kind: 'sessionEnded',
      message: /on another machine/,
    });
    assert.equal(first.tokenManager.state.kind === 'ended' && first.tokenManager.state.reason, 'elsewhere');
    assert.deepEqual(first.states.slice(-2), ['refreshing', 'ended']);
  });

  it('takes the session of another machine that shares the store and has won', async () => {
    const { first, second, store } = await signedIn();
    setting.expire();
    const won = { ...setting.signedIn(), generation: 2 };
    const record = JSON.parse(store.text ?? '') as { key: string };
    setting.server.plan.push({
      before: async () => {
        store.text = JSON.stringify({ ...record, version: 2, session: JSON.stringify(won) });
        throw refusal();
      },
    });
    assert.equal(await first.tokenManager.accessToken(never), won.accessToken);
    assert.equal(second.tokenManager.session?.accessToken, won.accessToken);
    assert.equal((await setting.header()).generation, 2);
  });

  it('is a matter of configuration, in this window only, when the client is refused', async () => {
    const { first, second } = await signedIn();
    setting.expire();
    setting.server.plan.push({ before: fails(new RolecallError('configuration', 'Wrong secret.')) });
    await assert.rejects(first.tokenManager.accessToken(never), { kind: 'configuration', message: 'Wrong secret.' });
    assert.equal(first.tokenManager.state.kind === 'ended' && first.tokenManager.state.reason, 'configuration');
    assert.equal(second.tokenManager.state.kind, 'signedIn');
    await first.tokenManager.load(); // The settings were changed.
    assert.equal(await first.tokenManager.accessToken(never), 'access-2');
  });

  it('is a matter of configuration also when the service calls it invalid_grant', async () => {
    const { first } = await signedIn();
    setting.expire();
    setting.server.plan.push({ before: fails(refusal('client_id mismatch')) });
    await assert.rejects(first.tokenManager.accessToken(never), {
      kind: 'configuration',
      message: /client_id mismatch/,
    });
    assert.equal((await setting.header()).generation, 1);
  });

  it('does not go behind the back of a stopped window: the old token is used, then it says so', async () => {
    const { first } = await signedIn({ peerSilence: 20 });
    const address = path.join(setting.state, 'stopped');
    const server = net.createServer(() => {}); // Accepts, and says nothing.
    await new Promise<void>((resolve) => server.listen(address, resolve));
    server.unref();
    await claimLock(path.join(setting.folder, 'locks'), 2, { address, pid: process.pid }, PROTOCOL);
    setting.later = 3545_000;
    assert.equal(await first.tokenManager.accessToken(never), 'access-1');
    await eventually(() => first.tokenManager.state.kind === 'offline');
    setting.later += 120_000;
    await assert.rejects(first.tokenManager.accessToken(never), {
      kind: 'timeout',
      message: /Only one window at a time/,
    });
    assert.equal(setting.server.refreshes, 0);
  });

  it('keeps the new pair in use when the disk is full', async () => {
    const { first, store } = await signedIn();
    setting.expire();
    setting.server.plan.push({
      after: async () => {
        await fs.rm(setting.sealed);
        await fs.mkdir(setting.sealed); // Nothing can be renamed over a folder.
      },
    });
    assert.equal(await first.tokenManager.accessToken(never), 'access-2');
    assert.match(store.text ?? '', /access-2/);
    assert.ok(first.logged.some((line) => line.includes('could not be shared with other windows')));
  });
});
