import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { SessionStore } from '../../../../../src/core/oauth/rotation/sessionSecretStore.ts';
import { writeSession } from '../../../../../src/core/oauth/session.ts';
import { deferred } from '../../deferred.ts';
import { eventually } from '../../eventually.ts';
import { never, PATIENT, Setting, sharedStore, snapshotStores } from './fixture.ts';

describe('signing in and out', () => {
  const setting = Setting.forEach();

  it('goes through its states', async () => {
    const { tokenManager, states } = await setting.open(sharedStore()());
    const done = tokenManager.beginSignIn();
    assert.equal(tokenManager.state.kind, 'signingIn');
    await tokenManager.signIn(setting.signedIn());
    assert.equal(tokenManager.state.kind, 'signedIn');
    done();
    done();
    await tokenManager.signOut();
    assert.deepEqual(states, ['signedOut', 'signingIn', 'signedIn', 'signedOut']);
  });

  it('puts a sign-in above everything that was ever seen', async () => {
    const store = sharedStore();
    const [first, second] = [await setting.open(store()), await setting.open(store())];
    await first.tokenManager.signIn(setting.signedIn());
    setting.expire();
    await first.tokenManager.accessToken(never);
    await second.tokenManager.signIn(setting.signedIn('grace'));
    assert.equal((await setting.header()).generation, 3);
    assert.equal(first.tokenManager.session?.account.id, 'grace');
    await first.tokenManager.signOut();
    await first.tokenManager.signIn(setting.signedIn('ada'));
    assert.equal((await setting.header()).generation, 5);
  });

  it('signs out every window, and leaves no token anywhere', async () => {
    const store = sharedStore();
    const [first, second] = [await setting.open(store()), await setting.open(store())];
    await first.tokenManager.signIn(setting.signedIn());
    await second.tokenManager.signOut();
    for (const { tokenManager } of [first, second]) {
      assert.equal(tokenManager.state.kind, 'signedOut');
      await assert.rejects(tokenManager.accessToken(never), { kind: 'signedOut' });
    }
    assert.ok(!store().text?.includes('access-1'));
    assert.equal((await setting.header()).signedOut, true);
  });

  it('is not undone by a renewal that is under way', async () => {
    const store = sharedStore();
    const [first, second] = [await setting.open(store()), await setting.open(store())];
    await first.tokenManager.signIn(setting.signedIn());
    setting.expire();
    const answer = deferred<void>();
    setting.server.plan.push({ after: () => answer.promise });
    const renewal = first.tokenManager.accessToken(never).catch(() => undefined);
    await eventually(() => setting.server.refreshes === 1);
    const forgotten = second.tokenManager.signOut();
    answer.resolve();
    await Promise.all([forgotten, renewal]);
    for (const { tokenManager } of [first, second]) await tokenManager.load();
    assert.deepEqual([first.tokenManager.state.kind, second.tokenManager.state.kind], ['signedOut', 'signedOut']);
    assert.equal((await setting.open(store())).tokenManager.state.kind, 'signedOut');
  });

  it('is not undone by a renewal in the same window', async () => {
    const { tokenManager } = await setting.open(sharedStore()());
    await tokenManager.signIn(setting.signedIn());
    setting.expire();
    const answer = deferred<void>();
    setting.server.plan.push({ after: () => answer.promise });
    const renewal = tokenManager.accessToken(never).catch(() => undefined);
    await eventually(() => setting.server.refreshes === 1);
    const forgotten = tokenManager.signOut();
    answer.resolve();
    await Promise.all([forgotten, renewal]);
    assert.equal(tokenManager.state.kind, 'signedOut');
  });

  it('is not undone by an old session in somebody’s copy of the store', async () => {
    const browser = snapshotStores();
    const first = await setting.open(browser.open());
    await first.tokenManager.signIn(setting.signedIn());
    const old = browser.blob;
    await first.tokenManager.signOut();
    browser.blob = old;
    assert.equal((await setting.open(browser.open())).tokenManager.state.kind, 'signedOut');
  });

  it('signs out also while another window is stopped in a renewal, which cannot undo it', async () => {
    const store = sharedStore();
    const impatient = { timeouts: { ...PATIENT, signOutLockWait: 20 } };
    const [first, second] = [await setting.open(store()), await setting.open(store(), impatient)];
    await first.tokenManager.signIn(setting.signedIn());
    setting.expire();
    const answer = deferred<void>();
    setting.server.plan.push({ after: () => answer.promise });
    const renewal = first.tokenManager.accessToken(never).catch((error: unknown) => error);
    await eventually(() => setting.server.refreshes === 1);
    await second.tokenManager.signOut();
    assert.equal((await setting.header()).generation, 3);
    answer.resolve();
    assert.equal(((await renewal) as { kind: string }).kind, 'signedOut');
    assert.equal(first.tokenManager.state.kind, 'signedOut');
    assert.equal((await setting.header()).signedOut, true);
  });

  it('says so when the store does not let go of the session', async () => {
    const store = sharedStore()();
    const { tokenManager } = await setting.open(store);
    await tokenManager.signIn(setting.signedIn());
    store.write = async () => {
      throw new Error('locked');
    };
    await assert.rejects(tokenManager.signOut(), { kind: 'storage', message: /sign out again/ });
    assert.equal(tokenManager.state.kind, 'signedOut');
  });

  it('does not sign in with a key that was not kept', async () => {
    const locked: SessionStore = {
      read: async () => undefined,
      write: async () => {
        throw new Error('locked');
      },
    };
    const { tokenManager } = await setting.open(locked);
    await assert.rejects(tokenManager.signIn(setting.signedIn()), { kind: 'storage', message: /Unlock it/ });
    await assert.rejects(fs.readFile(setting.sealed), { code: 'ENOENT' });
  });

  it('does not wait for a slow store', async () => {
    const store = sharedStore()();
    const { tokenManager } = await setting.open(store, { timeouts: { ...PATIENT, storeWrite: 20 } });
    await tokenManager.signIn(setting.signedIn());
    store.write = () => new Promise<void>(() => {});
    setting.expire();
    assert.equal(await tokenManager.accessToken(never), 'access-2');
  });
});

describe('what is stored cannot be used', () => {
  const setting = Setting.forEach();
  const failing = (what: 'read' | 'write'): SessionStore => ({
    read: async () => undefined,
    write: async () => {},
    [what]: async () => {
      throw new Error('the keyring is locked');
    },
  });

  it('a locked keyring is a message, never "signed out"', async () => {
    const { tokenManager } = await setting.open(failing('read'));
    assert.equal(tokenManager.state.kind, 'storeUnavailable');
    await assert.rejects(tokenManager.accessToken(never), { kind: 'storage', message: /Unlock it/ });
  });

  it('a keyring that is locked later does not take the session away', async () => {
    const store = sharedStore()();
    const { tokenManager } = await setting.open(store);
    await tokenManager.signIn(setting.signedIn());
    store.read = failing('read').read;
    await tokenManager.load();
    assert.equal(tokenManager.state.kind, 'signedIn');
    setting.expire();
    assert.equal(await tokenManager.accessToken(never), 'access-2');
  });

  it('a keyring that answers late is used as soon as it answers, and asked once until then', async () => {
    const store = sharedStore()();
    const first = await setting.open(store);
    await first.tokenManager.signIn(setting.signedIn());
    const answer = deferred<string | undefined>();
    let asked = 0;
    const slow: SessionStore = {
      ...store,
      read: () => {
        asked += 1;
        return answer.promise;
      },
    };
    const { tokenManager, states } = await setting.open(slow, { timeouts: { ...PATIENT, storeRead: 5 } });
    assert.match(
      tokenManager.state.kind === 'storeUnavailable' ? tokenManager.state.error.message : '',
      /has not responded/,
    );
    await assert.rejects(tokenManager.accessToken(never), { kind: 'storage', message: /has not responded/ });
    assert.deepEqual([states, asked], [['storeUnavailable'], 1]);
    answer.resolve(store.text);
    await eventually(() => tokenManager.state.kind === 'signedIn');
    assert.equal(await tokenManager.accessToken(never), 'access-1');
    assert.equal(asked, 1);
  });

  it('a keyring that refuses late says so', async () => {
    const answer = deferred<string | undefined>();
    const store: SessionStore = { ...failing('write'), read: () => answer.promise };
    const { tokenManager } = await setting.open(store, { timeouts: { ...PATIENT, storeRead: 5 } });
    assert.match(
      tokenManager.state.kind === 'storeUnavailable' ? tokenManager.state.error.message : '',
      /has not responded/,
    );
    answer.reject(new Error('the keyring is locked'));
    await eventually(
      () => tokenManager.state.kind === 'storeUnavailable' && /Unlock it/.test(tokenManager.state.error.message),
    );
  });

  it('a store of a newer version is left alone', async () => {
    const store = sharedStore()();
    store.text = '{"version":3,"vault":"…"}';
    const { tokenManager } = await setting.open(store);
    assert.equal(
      tokenManager.state.kind === 'storeUnavailable' && tokenManager.state.error.message.includes('Reload'),
      true,
    );
    for (const attempt of [tokenManager.signIn(setting.signedIn()), tokenManager.signOut()]) {
      await assert.rejects(attempt, { kind: 'storage', message: /newer version/ });
    }
    assert.equal(store.text, '{"version":3,"vault":"…"}');
  });

  it('a shared session of a newer version is left alone', async () => {
    const store = sharedStore();
    const newer = await setting.open(store(), { protocol: { version: 3, oldest: 3 } });
    await newer.tokenManager.signIn(setting.signedIn());
    const before = await fs.readFile(setting.sealed);
    const ours = await setting.open(store());
    assert.equal(ours.tokenManager.state.kind, 'storeUnavailable');
    for (const attempt of [ours.tokenManager.signIn(setting.signedIn()), ours.tokenManager.signOut()]) {
      await assert.rejects(attempt, { kind: 'storage', message: /Reload this window/ });
    }
    assert.deepEqual(await fs.readFile(setting.sealed), before);
  });

  it('a damaged shared session is reported, and replaced by a new sign-in above it', async () => {
    const store = sharedStore();
    const first = await setting.open(store());
    await first.tokenManager.signIn(setting.signedIn());
    const bytes = await fs.readFile(setting.sealed);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    await fs.writeFile(setting.sealed, bytes);
    const next = await setting.open(store());
    assert.equal(next.tokenManager.state.kind, 'storeUnavailable');
    await assert.rejects(next.tokenManager.accessToken(never), { kind: 'storage', message: /damaged/ });
    await next.tokenManager.signIn(setting.signedIn());
    assert.equal((await setting.header()).generation, 2);
    assert.equal(first.tokenManager.session?.accessToken, 'access-2');
  });

  it('a window with an old copy of the store asks for a reload, stores nothing and signs nobody out', async () => {
    const browser = snapshotStores();
    const stale = await setting.open(browser.open());
    const first = await setting.open(browser.open());
    await first.tokenManager.signIn(setting.signedIn());
    const [blob, sealed] = [browser.blob, await fs.readFile(setting.sealed)];
    assert.equal(stale.tokenManager.state.kind, 'storeUnavailable');
    await assert.rejects(stale.tokenManager.accessToken(never), { kind: 'storage', message: /Reload this window/ });
    await assert.rejects(stale.tokenManager.signOut(), { kind: 'storage' });
    assert.equal(browser.blob, blob);
    assert.deepEqual(await fs.readFile(setting.sealed), sealed);
    assert.equal(first.tokenManager.state.kind, 'signedIn');
    const reloaded = await setting.open(browser.open());
    assert.equal(reloaded.tokenManager.session?.accessToken, 'access-1');
  });

  it('such a window may sign in anew, which asks the others for a reload', async () => {
    const browser = snapshotStores();
    const stale = await setting.open(browser.open());
    const first = await setting.open(browser.open());
    await first.tokenManager.signIn(setting.signedIn());
    await stale.tokenManager.signIn(setting.signedIn());
    assert.equal(stale.tokenManager.state.kind, 'signedIn');
    assert.equal(first.tokenManager.state.kind, 'storeUnavailable');
    const reloaded = await setting.open(browser.open());
    assert.equal(reloaded.tokenManager.session?.accessToken, 'access-2');
  });

  it('a store that shows the key late is waited for, without a reload', async () => {
    const shared = sharedStore()();
    let isBehind = true;
    const lagging: SessionStore = { ...shared, read: async () => (isBehind ? undefined : shared.text) };
    const [first, second] = [await setting.open(shared), await setting.open(lagging)];
    await first.tokenManager.signIn(setting.signedIn());
    assert.equal(second.tokenManager.state.kind, 'storeUnavailable');
    isBehind = false;
    await eventually(() => second.tokenManager.state.kind === 'signedIn');
  });

  it('a session of the first version is taken over, and written as this version writes it', async () => {
    const store = sharedStore()();
    store.text = writeSession(setting.signedIn());
    const { tokenManager } = await setting.open(store);
    assert.equal(await tokenManager.accessToken(never), 'access-1');
    setting.expire();
    assert.equal(await tokenManager.accessToken(never), 'access-2');
    assert.equal((JSON.parse(store.text ?? '') as { version: number }).version, 2);
    assert.equal((await setting.header()).generation, 2);
  });

  it('a folder that is not ours alone is refused, with its name', async () => {
    await fs.mkdir(path.join(setting.state, 'real'));
    const linked = path.join(setting.state, 'linked');
    await fs.symlink(path.join(setting.state, 'real'), linked);
    const { tokenManager } = await setting.open(sharedStore()(), { state: linked });
    assert.equal(
      tokenManager.state.kind === 'storeUnavailable' && tokenManager.state.error.message.includes(linked),
      true,
    );
  });
});
