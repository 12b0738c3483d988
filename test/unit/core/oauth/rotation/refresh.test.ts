import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import type { RolecallError } from '../../../../../src/core/base/errors.ts';
import { deferred } from '../../deferred.ts';
import { eventually } from '../../eventually.ts';
import { connection, never, PATIENT, Setting, sharedStore, snapshotStores } from './fixture.ts';

describe('windows that share a session', () => {
  const setting = Setting.forEach();

  /** `count` windows, signed in by the first. */
  async function windows(count: number, store = sharedStore()) {
    const all = [];
    for (let n = 0; n < count; n += 1) all.push(await setting.open(store()));
    const [first, second] = all;
    assert.ok(first && second);
    await first.tokenManager.signIn(setting.signedIn());
    return { all, first, second, store: store() };
  }

  it('all know of a sign-in when it is done', async () => {
    const { all } = await windows(4);
    assert.deepEqual(
      all.map(({ tokenManager }) => tokenManager.state.kind),
      Array(4).fill('signedIn'),
    );
  });

  it('use a fresh token without any input or output', async () => {
    const { first, store } = await windows(2);
    await fs.rm(setting.state, { recursive: true });
    const { reads, writes } = store;
    assert.equal(await first.tokenManager.accessToken(never), 'access-1');
    assert.deepEqual([store.reads, store.writes, setting.server.refreshes], [reads, writes, 0]);
  });

  it('renew it once, all together', async () => {
    const { all } = await windows(5);
    setting.expire();
    const tokens = await Promise.all(
      all.flatMap(({ tokenManager }) => [tokenManager.accessToken(never), tokenManager.accessToken(never)]),
    );
    assert.deepEqual(new Set(tokens), new Set(['access-2']));
    assert.deepEqual([setting.server.refreshes, setting.server.reuse], [1, 0]);
  });

  it('renew it again and again without ever spending a token twice', async () => {
    const { all } = await windows(4);
    for (let round = 1; round <= 10; round += 1) {
      setting.expire();
      await Promise.all(all.map(({ tokenManager }) => tokenManager.accessToken(never)));
    }
    assert.deepEqual([setting.server.refreshes, setting.server.reuse], [10, 0]);
    assert.equal((await setting.header()).generation, 11);
  });

  it('have the new token the moment the first of them uses it', async () => {
    const { first, second } = await windows(2);
    setting.expire();
    const token = await first.tokenManager.accessToken(never);
    assert.equal(second.tokenManager.session?.accessToken, token);
    assert.equal(await second.tokenManager.accessToken(never), token);
    assert.equal(setting.server.refreshes, 1);
  });

  it('never see it before it is stored', async () => {
    const { first, second } = await windows(2);
    const generations: number[] = [];
    const check = () => {
      const { generation } = second.tokenManager.session ?? { generation: 0 };
      void setting.header().then((header) => generations.push(header.generation - generation));
    };
    first.tokenManager.onDidChange(check);
    second.tokenManager.onDidChange(check);
    setting.expire();
    await first.tokenManager.accessToken(never);
    await eventually(() => generations.length >= 2);
    assert.ok(
      generations.every((ahead) => ahead >= 0),
      String(generations),
    );
  });

  it('start from the newest pair after all were closed, also when the store kept an older one', async () => {
    const browser = snapshotStores();
    const first = await setting.open(browser.open());
    await first.tokenManager.signIn(setting.signedIn());
    const old = browser.blob;
    setting.expire();
    await first.tokenManager.accessToken(never);
    await first.tokenManager.dispose();
    browser.blob = old; // Another tab has written its own old copy.
    const next = await setting.open(browser.open());
    assert.equal(next.tokenManager.session?.accessToken, 'access-2');
    setting.expire();
    assert.equal(await next.tokenManager.accessToken(never), 'access-3');
    assert.equal(setting.server.reuse, 0);
  });

  it('leave nothing behind where one is closed before it is ready', async () => {
    const tokenManager = setting.tokenManager(sharedStore()());
    const loading = tokenManager.load();
    await tokenManager.dispose();
    await loading;
    await assert.rejects(fs.readdir(setting.folder), { code: 'ENOENT' });
  });

  it('leave nobody listening, at whatever moment of its beginning one is closed', async () => {
    await setting.open(sharedStore()()); // The code is read.
    for (let turns = 0; turns < 60; turns += 1) {
      const state = path.join(setting.state, String(turns));
      const tokenManager = setting.tokenManager(sharedStore()(), { state });
      const loading = tokenManager.load();
      for (let turn = 0; turn < turns; turn += 1) await undefined;
      await tokenManager.dispose();
      await loading;
      const peers = path.join(state, path.basename(setting.folder), 'peers');
      assert.deepEqual(await fs.readdir(peers).catch(() => []), [], `closed after ${turns} turns`);
    }
  });

  it('are silent once closed: what cannot be read any more is told to nobody', async () => {
    const { tokenManager, states, logged } = await setting.open(sharedStore()());
    await tokenManager.dispose();
    states.length = logged.length = 0;
    await tokenManager.load();
    assert.deepEqual([states, logged], [[], []]);
    await assert.rejects(tokenManager.claims(), { kind: 'cancelled' });
  });

  it('start from the store where the file is lost', async () => {
    const { all, store } = await windows(2);
    await Promise.all(all.map(({ tokenManager }) => tokenManager.dispose()));
    await fs.rm(setting.folder, { recursive: true });
    const next = await setting.open(store);
    assert.equal(await next.tokenManager.accessToken(never), 'access-1');
    setting.expire();
    assert.equal(await next.tokenManager.accessToken(never), 'access-2');
  });

  it('do not go back to an older store when the file is lost while they are open', async () => {
    const browser = snapshotStores();
    const first = await setting.open(browser.open());
    await first.tokenManager.signIn(setting.signedIn());
    const second = await setting.open(browser.open()); // Its copy stays at generation 1.
    setting.expire();
    await first.tokenManager.accessToken(never);
    assert.equal(second.tokenManager.session?.generation, 2);
    await fs.rm(setting.folder, { recursive: true });
    setting.expire();
    assert.equal(await second.tokenManager.accessToken(never), 'access-3');
    assert.equal(setting.server.reuse, 0);
  });

  it('are not stopped by a caller who gives up', async () => {
    const { first, second } = await windows(2);
    setting.expire();
    const answer = deferred<void>();
    setting.server.plan.push({ before: () => answer.promise });
    const stop = new AbortController();
    const impatient = first.tokenManager.accessToken(stop.signal);
    await eventually(() => setting.server.refreshes === 1);
    stop.abort();
    await assert.rejects(impatient, { kind: 'cancelled' });
    answer.resolve();
    assert.equal(await second.tokenManager.accessToken(never), 'access-2');
    assert.equal(setting.server.refreshes, 1);
  });

  it('hear of a renewal although the message was lost, from the file', async () => {
    const { first, second } = await windows(2);
    await fs.rm(path.join(setting.folder, 'peers'), { recursive: true });
    await fs.mkdir(path.join(setting.folder, 'peers'));
    setting.expire();
    await first.tokenManager.accessToken(never);
    await eventually(() => second.tokenManager.session?.accessToken === 'access-2');
  });

  it('do not wait for one that does not answer', async () => {
    const timeouts = { ...PATIENT, acknowledgements: 20 };
    const { tokenManager } = await setting.open(sharedStore()(), { timeouts });
    await tokenManager.signIn(setting.signedIn());
    const server = net.createServer(() => {}); // Accepts, and says nothing.
    const address = path.join(setting.state, 'mute');
    await new Promise<void>((resolve) => server.listen({ path: address }, resolve));
    server.unref();
    const text = JSON.stringify({ version: 1, oldest: 1, address, pid: process.pid });
    await fs.writeFile(path.join(setting.folder, 'peers', 'mute.json'), text);
    setting.expire();
    assert.equal(await tokenManager.accessToken(never), 'access-2');
  });

  it('mix two versions that understand each other', async () => {
    const store = sharedStore();
    const ours = await setting.open(store());
    const later = await setting.open(store(), { protocol: { version: 2, oldest: 1, extras: { colour: 'blue' } } });
    await later.tokenManager.signIn(setting.signedIn());
    for (const { tokenManager } of [ours, later, ours, later]) {
      setting.expire();
      await tokenManager.accessToken(never);
    }
    assert.equal(ours.tokenManager.session?.accessToken, later.tokenManager.session?.accessToken);
    assert.deepEqual([setting.server.refreshes, setting.server.reuse], [4, 0]);
  });

  it('keep two editors apart that do not see each other’s secrets', async () => {
    const [stable, insiders] = [
      await setting.open(sharedStore()(), { storeName: 'vscode' }),
      await setting.open(sharedStore()(), { storeName: 'vscode-insiders' }),
    ];
    await stable.tokenManager.signIn(setting.signedIn('ada'));
    assert.equal(insiders.tokenManager.state.kind, 'signedOut');
    await insiders.tokenManager.signIn(setting.signedIn('grace'));
    assert.equal(stable.tokenManager.session?.account.id, 'ada');
    assert.equal(insiders.tokenManager.session?.account.id, 'grace');
  });

  it('tell the log and the file system nothing secret', async () => {
    const { all, store } = await windows(3);
    setting.expire();
    await Promise.all(all.map(({ tokenManager }) => tokenManager.accessToken(never)));
    const secrets = [
      'access-1',
      'access-2',
      setting.server.current,
      (JSON.parse(store.text ?? '') as { key: string }).key,
    ];
    const logged = all.flatMap((window) => window.logged).join('\n');
    const names = await fs.readdir(setting.state, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
    const written = (await Promise.all(files.map((file) => fs.readFile(file, 'latin1')))).join('\n') + files.join('\n');
    for (const secret of secrets) {
      assert.ok(secret.length > 5);
      assert.ok(!logged.includes(secret), `log: ${secret}`);
      assert.ok(!written.includes(secret), `files: ${secret}`);
    }
    assert.match(logged, /Access token refreshed \(generation 2\)/);
    assert.ok(!written.includes(connection.identityUrl) && !written.includes(connection.clientId));
  });
});

describe('a token that the service refuses', () => {
  const setting = Setting.forEach();

  it('is replaced by the newer one another window has', async () => {
    const store = sharedStore();
    const [first, second] = [await setting.open(store()), await setting.open(store())];
    await first.tokenManager.signIn(setting.signedIn());
    const old = await second.tokenManager.accessToken(never);
    setting.expire();
    await first.tokenManager.accessToken(never);
    assert.equal(await second.tokenManager.refreshAfter401(old, never), 'access-2');
    assert.equal(setting.server.refreshes, 1);
  });

  it('is renewed once, and given up when that does not help', async () => {
    const { tokenManager } = await setting.open(sharedStore()());
    await tokenManager.signIn(setting.signedIn());
    const token = await tokenManager.accessToken(never);
    const next = await tokenManager.refreshAfter401(token, never);
    assert.equal(next, 'access-2');
    assert.equal(await tokenManager.refreshAfter401('access-2', never), undefined);
    assert.equal(await tokenManager.refreshAfter401('access-2', never), undefined);
    assert.equal(setting.server.refreshes, 1);
    setting.later += 31_000;
    assert.equal(await tokenManager.refreshAfter401('access-2', never), 'access-3');
  });

  it('is renewed once for all windows that were refused', async () => {
    const store = sharedStore();
    const all = await Promise.all([setting.open(store()), setting.open(store()), setting.open(store())]);
    await all[0]?.tokenManager.signIn(setting.signedIn());
    const tokens = await Promise.all(all.map(({ tokenManager }) => tokenManager.refreshAfter401('access-1', never)));
    assert.deepEqual(tokens, Array(3).fill('access-2'));
    assert.equal(setting.server.refreshes, 1);
  });

  it('ends a service token, which has no successor', async () => {
    const { tokenManager } = await setting.open(sharedStore()());
    const { refreshToken: _none, ...serviceToken } = setting.signedIn();
    await tokenManager.signIn(serviceToken);
    assert.equal(await tokenManager.refreshAfter401('access-1', never), undefined);
    assert.equal(tokenManager.state.kind === 'ended' && tokenManager.state.reason, 'expired');
    await assert.rejects(tokenManager.accessToken(never), { kind: 'sessionEnded' });
    assert.equal(tokenManager.session, undefined);
  });

  it('does not end a service token that another window has just replaced', async () => {
    const store = sharedStore();
    const [first, second] = [await setting.open(store()), await setting.open(store())];
    const { refreshToken: _none, ...serviceToken } = setting.signedIn();
    await first.tokenManager.signIn(serviceToken);
    await second.tokenManager.signIn({ ...serviceToken, accessToken: 'pasted-later' });
    assert.equal(await first.tokenManager.refreshAfter401('access-1', never), 'pasted-later');
  });

  it('cannot be answered while signed out', async () => {
    const { tokenManager } = await setting.open(sharedStore()());
    await assert.rejects(tokenManager.refreshAfter401('x', never), { kind: 'signedOut' });
    await assert.rejects(tokenManager.accessToken(never), (error: RolecallError) => error.kind === 'signedOut');
  });
});
