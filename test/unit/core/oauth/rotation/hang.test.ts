import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { cancelled, RolecallError } from '../../../../../src/core/base/errors.ts';
import { FolderKey } from '../../../../../src/core/oauth/rotation/handshake.ts';
import { Mutex } from '../../../../../src/core/oauth/rotation/mutex.ts';
import { PROTOCOL } from '../../../../../src/core/oauth/rotation/protocol.ts';
import type { Timeouts } from '../../../../../src/core/oauth/rotation/timeouts.ts';
import { silentLog } from '../../../../support/silentLog.ts';
import { deferred } from '../../deferred.ts';
import { eventually } from '../../eventually.ts';
import { never, PATIENT, Setting, sharedStore } from './fixture.ts';

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(cancelled(signal.reason))));
const silence = () => new RolecallError('timeout', 'The identity service did not answer.');

describe('a token endpoint that hangs', () => {
  const setting = Setting.forEach();
  /** Not fresh any more, and alive for another minute. */
  const almostDeadMs = 3_545_000;

  async function windows(count: number, limits: Partial<Timeouts> = {}) {
    const store = sharedStore();
    const all = [];
    for (let n = 0; n < count; n += 1) {
      all.push((await setting.open(store(), { timeouts: { ...PATIENT, ...limits }, random: () => 1 })).tokenManager);
    }
    const [first, second] = all;
    assert.ok(first && second);
    await first.signIn(setting.signedIn());
    return { all, first, second };
  }

  /** The next request hangs until it is told how it ends. */
  function hangs(when: 'before' | 'after') {
    const { promise, resolve, reject } = deferred<void>();
    setting.server.plan.push({ [when]: () => promise });
    return { goOn: resolve, giveUp: () => reject(silence()) };
  }

  it('keeps nobody waiting while the token lives, in no window', async () => {
    const { all } = await windows(3);
    setting.later = almostDeadMs;
    const hang = hangs('before');
    for (const tokenManager of all) assert.equal(await tokenManager.accessToken(never), 'access-1');
    await eventually(() => setting.server.refreshes === 1);
    for (const tokenManager of all) assert.equal(await tokenManager.accessToken(never), 'access-1');
    hang.goOn();
    await eventually(() => all.every((tokenManager) => tokenManager.session?.accessToken === 'access-2'));
    assert.equal(setting.server.refreshes, 1);
  });

  it('is tried once for all windows: those that waited for their turn do not try the same again', async () => {
    const { all } = await windows(3);
    setting.later = almostDeadMs;
    const hang = hangs('before');
    for (const tokenManager of all) await tokenManager.accessToken(never);
    await eventually(() => setting.server.refreshes === 1);
    hang.giveUp();
    await eventually(() => all.every((tokenManager) => tokenManager.state.kind === 'offline'));
    for (const tokenManager of all) {
      assert.equal(await tokenManager.accessToken(never), 'access-1');
      assert.equal(tokenManager.state.kind === 'offline' && tokenManager.state.error.message, silence().message);
    }
    assert.deepEqual([setting.server.refreshes, setting.server.probes], [1, 0]);
  });

  it('costs a caller whose token is dead a moment, once, and goes on', async () => {
    const { all, first, second } = await windows(2, { callerWait: 20 });
    setting.expire();
    const hang = hangs('before');
    const slow = { kind: 'timeout', message: /taking too long/ };
    await assert.rejects(first.accessToken(never), slow);
    await eventually(() => first.state.kind === 'offline' && setting.server.refreshes === 1);
    await assert.rejects(first.accessToken(never), slow);
    await assert.rejects(second.accessToken(never), slow);
    assert.equal(setting.server.refreshes, 1);
    hang.goOn();
    await eventually(() => all.every((tokenManager) => tokenManager.state.kind === 'signedIn'));
    assert.equal(await second.accessToken(never), 'access-2');
    assert.equal(setting.server.refreshes, 1);
  });

  it('does not get a token again that it may have spent, however many windows try, before it answers; then once', async () => {
    const { all, first, second } = await windows(2);
    setting.expire();
    const hang = hangs('after');
    const failing = assert.rejects(first.accessToken(never), { kind: 'timeout' });
    await eventually(() => setting.server.refreshes === 1);
    hang.giveUp();
    await failing;
    for (const [n, tokenManager] of [second, first, second].entries()) {
      setting.later += 100_000;
      setting.server.plan.push({
        before: async () => {
          throw silence();
        },
      });
      await assert.rejects(tokenManager.accessToken(never), { kind: 'timeout' });
      assert.deepEqual([setting.server.refreshes, setting.server.probes], [1, n + 1]);
    }
    setting.later += 100_000;
    await assert.rejects(second.accessToken(never), { kind: 'sessionEnded', message: /response was lost/ });
    assert.deepEqual([setting.server.refreshes, setting.server.reuse], [2, 1]);
    for (const tokenManager of all) await assert.rejects(tokenManager.accessToken(never), { kind: 'sessionEnded' });
    assert.equal(setting.server.refreshes, 2);
  });

  it('signs nobody out: when it answers again, the token it had not spent is good', async () => {
    const { first, second } = await windows(2);
    setting.expire();
    const hang = hangs('before');
    const failing = assert.rejects(first.accessToken(never), { kind: 'timeout' });
    await eventually(() => setting.server.refreshes === 1);
    hang.giveUp();
    await failing;
    setting.later += 100_000;
    assert.equal(await second.accessToken(never), 'access-2');
    assert.deepEqual([setting.server.refreshes, setting.server.probes], [2, 1]);
  });

  for (const [who, answer] of [
    ['a gateway', { status: 502 }],
    ['a limit', { status: 429 }],
    ['the page of a public network', { status: 200 }],
  ] as const) {
    it(`does not get the token again because ${who} answers`, async () => {
      const { first } = await windows(2);
      setting.expire();
      const failing = async () => {
        throw new RolecallError('server', 'Not the service.', { details: answer });
      };
      setting.server.plan.push({ before: async () => Promise.reject(silence()) }, { before: failing });
      await assert.rejects(first.accessToken(never), { kind: 'timeout' });
      setting.later += 100_000;
      await assert.rejects(first.accessToken(never), { kind: 'server' });
      assert.deepEqual([setting.server.refreshes, setting.server.probes], [1, 1]);
    });
  }

  it('does not keep a person from signing in or out', async () => {
    for (const end of ['adopt', 'forget'] as const) {
      const { first } = await windows(2);
      setting.expire();
      const before = setting.server.refreshes;
      setting.server.plan.push({ before: untilAborted });
      const waiting = first.accessToken(never);
      await eventually(() => setting.server.refreshes > before);
      if (end === 'adopt') {
        const session = setting.signedIn('grace');
        await first.signIn(session);
        assert.equal(await waiting, session.accessToken, 'whoever waited gets the new one');
      } else {
        const refused = assert.rejects(waiting, { kind: 'signedOut' });
        await first.signOut();
        await refused;
      }
    }
  });

  it('does not keep a person from signing in in another window, and whoever waited gets that session', async () => {
    const { first, second } = await windows(2);
    setting.expire();
    setting.server.plan.push({ after: untilAborted }); // The service has spent the token, and does not say so.
    const waiting = first.accessToken(never);
    await eventually(() => setting.server.refreshes === 1);
    const session = setting.signedIn('grace');
    await second.signIn(session);
    assert.equal(await waiting, session.accessToken);
    assert.deepEqual([first.state.kind, setting.server.refreshes, setting.server.probes], ['signedIn', 1, 0]);
  });
});

describe('a window whose editor does not answer', () => {
  const setting = Setting.forEach();

  // As one whose page is gone, while its extension host waits for the page to come back.
  it('keeps no other window from renewing the sign-in, and closes at once', async () => {
    const store = sharedStore();
    const { tokenManager: first } = await setting.open(store(), { prepareRefresh: () => new Promise(() => {}) });
    const { tokenManager: second } = await setting.open(store());
    await first.signIn(setting.signedIn());
    setting.expire();
    const waiting = first.accessToken(never);
    await eventually(() => first.state.kind === 'refreshing');
    assert.equal(await second.accessToken(never), 'access-2');
    assert.equal(await waiting, 'access-2', 'it uses what another window has renewed');
    setting.expire();
    const refused = assert.rejects(first.accessToken(never), { kind: 'cancelled' });
    await eventually(() => first.state.kind === 'refreshing');
    await first.dispose();
    await refused;
    assert.equal(await second.accessToken(never), 'access-3');
    assert.equal(setting.server.reuse, 0);
  });
});

describe('a window that closes while the sign-in is renewed', () => {
  const setting = Setting.forEach();

  async function windows() {
    const store = sharedStore();
    const [first, second] = [(await setting.open(store())).tokenManager, (await setting.open(store())).tokenManager];
    await first.signIn(setting.signedIn());
    setting.expire();
    return { first, second, store: store() };
  }
  const registered = () => fs.readdir(path.join(setting.folder, 'peers'));

  /** The next read of the store waits for its answer. */
  function holdRead(store: ReturnType<ReturnType<typeof sharedStore>>) {
    const [read, answer] = [deferred<void>(), deferred<void>()];
    const { text } = store;
    store.read = async () => {
      read.resolve();
      await answer.promise;
      return text;
    };
    return { read, answer };
  }

  it('stores the answer to what it has sent before it is gone', async () => {
    const { first, second } = await windows();
    const [sent, answer] = [deferred<void>(), deferred<void>()];
    setting.server.plan.push({
      after: () => {
        sent.resolve();
        return answer.promise;
      },
    });
    const waiting = first.accessToken(never);
    await sent.promise;
    const closing = first.dispose();
    await eventually(async () => (await registered()).length === 1);
    answer.resolve();
    await closing;
    assert.equal((await setting.header()).generation, 2);
    assert.equal(await waiting, 'access-2');
    await second.load();
    assert.equal(await second.accessToken(never), 'access-2');
    assert.deepEqual([setting.server.refreshes, setting.server.reuse], [1, 0]);
  });

  it('sends nothing any more, and does not wait for its turn', async () => {
    const { first } = await windows();
    const key = new FolderKey(setting.folder);
    const other = new Mutex({ folder: setting.folder, key, protocol: PROTOCOL, log: silentLog, timeouts: PATIENT });
    const lease = await other.acquire(never);
    const refused = assert.rejects(first.accessToken(never), { kind: 'cancelled' });
    await eventually(() => first.state.kind === 'refreshing');
    await first.dispose();
    await refused;
    await lease.release();
    assert.equal(setting.server.refreshes, 0);
  });

  it('sends nothing any more, though it was its turn already', async () => {
    const { first, store } = await windows();
    const { read, answer } = holdRead(store);
    const refused = assert.rejects(first.accessToken(never), { kind: 'cancelled' });
    await read.promise;
    const closing = first.dispose();
    answer.resolve();
    await closing;
    await refused;
    assert.equal(setting.server.refreshes, 0);
  });

  it('stores a sign-in that it has begun to store', async () => {
    const { first, second, store } = await windows();
    const { read, answer } = holdRead(store);
    const session = setting.signedIn('grace');
    const signingIn = first.signIn(session);
    await read.promise;
    const closing = first.dispose();
    await eventually(async () => (await registered()).length === 1);
    answer.resolve();
    await closing;
    assert.equal((await setting.header()).generation, 2);
    await signingIn;
    await second.load();
    assert.equal(second.session?.accessToken, session.accessToken);
  });
});

describe('a renewal that has failed', () => {
  const setting = Setting.forEach();
  const fails = async () => {
    throw new RolecallError('server', 'It failed.');
  };

  it('is tried at once when somebody asks, whichever window it has failed in', async () => {
    const store = sharedStore();
    const [first, second] = [await setting.open(store()), await setting.open(store())];
    await first.tokenManager.signIn(setting.signedIn());
    setting.expire();
    setting.server.plan.push({ before: fails }, { before: fails });
    await assert.rejects(first.tokenManager.accessToken(never), { kind: 'server' });
    await assert.rejects(first.tokenManager.accessToken(never), { kind: 'server' });
    assert.equal(setting.server.refreshes, 1);
    first.tokenManager.retryNow();
    await assert.rejects(first.tokenManager.accessToken(never), { kind: 'server' });
    assert.equal(setting.server.refreshes, 2);
    await assert.rejects(second.tokenManager.accessToken(never), { kind: 'server' });
    assert.equal(setting.server.refreshes, 2);
    setting.later += 1; // By the clock of this test, the failure was before.
    second.tokenManager.retryNow();
    assert.equal(await second.tokenManager.accessToken(never), 'access-2');
    assert.equal(first.tokenManager.state.kind, 'signedIn');
  });

  it('is not waited for when the clock was set back since', async () => {
    const store = sharedStore();
    const [first, second] = [await setting.open(store()), await setting.open(store())];
    await first.tokenManager.signIn(setting.signedIn());
    setting.expire();
    setting.later += 86_400_000;
    setting.server.plan.push({ before: fails });
    await assert.rejects(first.tokenManager.accessToken(never), { kind: 'server' });
    setting.later -= 86_400_000;
    assert.equal(await second.tokenManager.accessToken(never), 'access-2');
  });
});

describe('a renewal that succeeds', () => {
  const setting = Setting.forEach();

  it('counts the lifetime from when it was asked for', async () => {
    let now = Date.now();
    const { tokenManager } = await setting.open(sharedStore()(), { now: () => now });
    await tokenManager.signIn(setting.signedIn());
    now += 3_700_000;
    const sentAt = now;
    setting.server.plan.push({
      after: async () => {
        now += 25_000;
      },
    });
    await tokenManager.accessToken(never);
    assert.equal(tokenManager.session?.expiresAt, sentAt + 3_540_000);
    now = sentAt + 3_600_001; // Dead by the clock of the service.
    assert.equal(await tokenManager.accessToken(never), 'access-3');
  });

  it('lets the next window in before a silent one is told', async () => {
    const { tokenManager } = await setting.open(sharedStore()());
    await tokenManager.signIn(setting.signedIn());
    const asked = deferred<net.Socket>();
    const mute = net.createServer((socket) => asked.resolve(socket)); // Accepts, and says nothing.
    const address = path.join(setting.state, 'mute');
    await new Promise<void>((resolve) => mute.listen({ path: address }, resolve));
    mute.unref();
    const text = JSON.stringify({ version: 1, oldest: 1, address, pid: process.pid });
    await fs.writeFile(path.join(setting.folder, 'peers', 'mute.json'), text);
    setting.expire();
    const order: string[] = [];
    const renewing = tokenManager.accessToken(never).then(() => order.push('told'));
    const socket = await asked.promise;
    const key = new FolderKey(setting.folder);
    const next = new Mutex({ folder: setting.folder, key, protocol: PROTOCOL, log: silentLog, timeouts: PATIENT });
    const lease = await next.acquire(never);
    order.push('let in');
    await lease.release();
    next.close();
    socket.destroy();
    await renewing;
    assert.deepEqual(order, ['let in', 'told']);
  });
});
