import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { never, Setting, sharedStore } from './fixture.ts';

/** What a release has stored, as it stands in the secret store. */
const stored = (name: string) =>
  readFileSync(new URL(`../../../../fixtures/sessions/${name}.json`, import.meta.url), 'utf8');
const first = stored('version-1');
const { accessToken, refreshToken } = JSON.parse(first) as { accessToken: string; refreshToken: string };

describe('a session that another version of Rolecall has stored', () => {
  const setting = Setting.forEach();

  /** A store that holds it already. */
  function holding(text: string) {
    const open = sharedStore();
    open().text = text;
    return open;
  }

  it('of the first version goes on in every window, and is not written before it has to be', async () => {
    const store = holding(first);
    for (const window of [await setting.open(store()), await setting.open(store())]) {
      assert.equal(window.tokenManager.state.kind, 'signedIn');
      assert.equal(await window.tokenManager.accessToken(never), accessToken);
      assert.equal(window.tokenManager.session?.account.label, 'ada@example.com');
    }
    assert.equal(store().text, first);
  });

  it('of the first version is renewed once for all windows, and kept from then on as this version keeps it', async () => {
    const store = holding(first);
    setting.server.current = refreshToken;
    const windows = [await setting.open(store()), await setting.open(store()), await setting.open(store())];
    setting.later = 4102444800000 - Date.now();
    const tokens = await Promise.all(windows.map(({ tokenManager }) => tokenManager.accessToken(never)));
    assert.deepEqual([tokens, setting.server.refreshes], [['access-1', 'access-1', 'access-1'], 1]);
    const record = JSON.parse(store().text ?? '') as { version: number; session: string };
    assert.equal(record.version, 2);
    assert.deepEqual(JSON.parse(record.session), {
      ...JSON.parse(first),
      generation: 5,
      accessToken: 'access-1',
      refreshToken: setting.server.current,
      expiresAt: (JSON.parse(record.session) as { expiresAt: number }).expiresAt,
    });
    assert.equal((await setting.header()).generation, 5);
    const next = await setting.open(store());
    assert.equal(await next.tokenManager.accessToken(never), 'access-1');
  });

  it('of the first version without a successor lives until it is refused', async () => {
    const { tokenManager } = await setting.open(holding(stored('version-1-service-token'))());
    assert.equal(await tokenManager.accessToken(never), 'service-token-of-version-1');
    assert.equal(await tokenManager.refreshAfter401('service-token-of-version-1', never), undefined);
    assert.equal(tokenManager.state.kind === 'ended' && tokenManager.state.reason, 'expired');
  });

  it('of the first version is signed out as any other', async () => {
    const store = holding(first);
    const { tokenManager } = await setting.open(store());
    await tokenManager.signOut();
    assert.equal(tokenManager.state.kind, 'signedOut');
    assert.ok(!(store().text ?? '').includes(refreshToken));
    assert.equal((await setting.open(store())).tokenManager.state.kind, 'signedOut');
  });

  it('of the first version, for another client, serves nobody', async () => {
    const { tokenManager } = await setting.open(holding(first.replace('0f9c7c1e', 'another'))());
    assert.equal(tokenManager.state.kind, 'signedOut');
  });

  it('is taken from a window of the first version that still runs and has renewed it its own way', async () => {
    const store = holding(first);
    setting.server.current = refreshToken;
    const { tokenManager } = await setting.open(store());
    setting.later = 4102444800000 - Date.now();
    await tokenManager.accessToken(never);
    // It knows neither the mutex nor the record, and writes the bare session over it.
    const { refreshToken: theirs } = setting.server.grant();
    const itsOwn = { ...JSON.parse(first), generation: 6, accessToken: 'access-2', refreshToken: theirs };
    store().text = JSON.stringify({ ...itsOwn, expiresAt: setting.now() + 3_000_000 });
    assert.equal(await tokenManager.refreshAfter401('access-1', never), 'access-2');
    assert.deepEqual([setting.server.refreshes, setting.server.reuse], [1, 0]);
    setting.expire();
    assert.equal(await tokenManager.accessToken(never), 'access-3');
    assert.equal((JSON.parse(store().text ?? '') as { version: number }).version, 2);
    assert.deepEqual([setting.server.refreshes, setting.server.reuse], [2, 0]);
  });

  for (const name of ['version-3', 'version-2-later-session']) {
    it(`of a later version (${name}) is left alone: nobody is signed out, and the window asks for a reload`, async () => {
      const text = stored(name);
      const store = holding(text);
      const { tokenManager } = await setting.open(store());
      assert.match(
        tokenManager.state.kind === 'storeUnavailable' ? tokenManager.state.error.message : '',
        /Reload this window/,
      );
      await assert.rejects(tokenManager.accessToken(never), { kind: 'storage' });
      await assert.rejects(tokenManager.signIn(setting.signedIn()), { kind: 'storage' });
      await assert.rejects(tokenManager.signOut(), { kind: 'storage' });
      assert.equal(store().text, text);
      await assert.rejects(fs.stat(setting.sealed), { code: 'ENOENT' });
    });
  }
});
