import assert from 'node:assert/strict';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import type { TokenGrant } from '../../../../src/core/oauth/session.ts';
import { deferred, expired, failure, HOUR, harness, session } from './keeperHarness.ts';

const { signal } = new AbortController();
const SECOND: TokenGrant = { accessToken: 'access-2', refreshToken: 'refresh-2', expiresInSeconds: 3600 };
const locked = () => Promise.reject(new Error('locked'));
const ANEW = session({ ...HOUR, accessToken: 'anew', expiresInSeconds: 100_000 });

describe('the token keeper: a store that does not take a renewed pair', () => {
  it('is `storeUnavailable`, never signed out; the pair is not used and not lost', async () => {
    const h = await expired();
    h.onWrite = locked;
    assert.equal((await failure(h.keeper.accessToken(signal))).kind, 'storage');
    assert.deepEqual(h.kinds, ['refreshing', 'storeUnavailable']);
    assert.equal(h.stored?.refreshToken, 'refresh-1');

    assert.equal((await failure(h.keeper.accessToken(signal))).kind, 'storage');
    h.onWrite = async () => {};
    assert.equal(await h.keeper.accessToken(signal), 'access-2');
    assert.equal(h.stored?.refreshToken, 'refresh-2');
    assert.equal(h.keeper.state.kind, 'signedIn');
    const refreshes = h.journal.filter((entry) => entry.startsWith('refresh '));
    assert.deepEqual(refreshes, ['refresh refresh-1'], 'a spent refresh token is not spent again');
  });

  it('the old access token, dead since, is not given out meanwhile though its hour is not over', async () => {
    const h = harness();
    await h.keeper.load();
    h.onWrite = locked;
    await failure(h.keeper.rejected('access-1', signal));
    assert.equal((await failure(h.keeper.accessToken(signal))).kind, 'storage');
    h.onWrite = async () => {};
    assert.equal(await h.keeper.rejected('access-1', signal), 'access-2');
  });

  it('signing in anew replaces what could not be stored', async () => {
    const h = await expired();
    h.onWrite = locked;
    await failure(h.keeper.accessToken(signal));
    h.onWrite = async () => {};
    await h.keeper.adopt(ANEW);
    assert.equal(await h.keeper.accessToken(signal), 'anew');
    assert.equal(h.stored?.accessToken, 'anew');
  });

  it('a sign-in that cannot be stored changes nothing', async () => {
    const h = harness();
    await h.keeper.load();
    h.onWrite = locked;
    assert.equal((await failure(h.keeper.adopt(ANEW))).kind, 'storage');
    assert.equal(await h.keeper.accessToken(signal), 'access-1');
  });

  it('a sign-out that cannot be stored says so and signs nobody out half-way', async () => {
    const h = harness();
    await h.keeper.load();
    h.onClear = locked;
    const error = await failure(h.keeper.forget());
    assert.match(error.message, /nothing was signed out/);
    assert.equal(h.keeper.state.kind, 'signedIn');
    h.onClear = async () => {};
    await h.keeper.forget();
    assert.equal(h.keeper.state.kind, 'signedOut');
    assert.equal(h.text, undefined);
  });
});

describe('the token keeper: signing out and in while a renewal is under way', () => {
  it('a sign-out while the service thinks is not undone by its answer', async () => {
    const h = await expired();
    const answer = deferred<TokenGrant>();
    h.refresh = () => answer.promise;
    const waiting = h.keeper.accessToken(signal);
    await h.keeper.forget();
    answer.resolve(SECOND);
    assert.equal((await failure(waiting)).kind, 'signedOut');
    assert.equal(h.text, undefined);
    assert.equal(h.keeper.state.kind, 'signedOut');
    assert.equal(h.keeper.session, undefined);
  });

  it('nor by its refusal', async () => {
    const h = await expired();
    const answer = deferred<TokenGrant>();
    h.refresh = () => answer.promise;
    const waiting = h.keeper.accessToken(signal);
    await h.keeper.forget();
    answer.reject(new RolecallError('sessionEnded', 'No longer accepted.'));
    assert.equal((await failure(waiting)).kind, 'signedOut');
    assert.equal(h.keeper.state.kind, 'signedOut');
  });

  it('a sign-out while the new pair is being stored is not undone by the store', async () => {
    const h = await expired();
    const writing = deferred<void>();
    h.onWrite = () => writing.promise;
    const waiting = h.keeper.accessToken(signal);
    while (!h.journal.includes('write access-2')) await new Promise(setImmediate);
    const leaving = h.keeper.forget();
    await new Promise(setImmediate);
    writing.resolve();
    await Promise.all([waiting, leaving]);
    assert.equal(h.text, undefined, 'nothing is left at rest');
    assert.equal(h.keeper.state.kind, 'signedOut');
    assert.equal((await failure(h.keeper.accessToken(signal))).kind, 'signedOut');
  });

  it('a sign-in meanwhile wins, and who waited gets its token', async () => {
    for (const end of ['served', 'refused'] as const) {
      const h = await expired();
      const answer = deferred<TokenGrant>();
      h.refresh = () => answer.promise;
      const waiting = h.keeper.accessToken(signal);
      await h.keeper.adopt(ANEW);
      if (end === 'served') answer.resolve(SECOND);
      else answer.reject(new RolecallError('sessionEnded', 'No longer accepted.'));
      assert.equal(await waiting, 'anew');
      assert.equal(h.stored?.accessToken, 'anew');
      assert.equal(h.keeper.state.kind, 'signedIn');
    }
  });

  it('a sign-in being stored wins over a renewal that comes back at that moment', async () => {
    const h = await expired();
    const answer = deferred<TokenGrant>();
    h.refresh = () => answer.promise;
    const waiting = h.keeper.accessToken(signal);
    const writing = deferred<void>();
    h.onWrite = () => writing.promise;
    const adopting = h.keeper.adopt(ANEW);
    answer.resolve(SECOND);
    await new Promise(setImmediate);
    writing.resolve();
    await adopting;
    assert.equal(await waiting, 'anew');
    assert.deepEqual([h.stored?.accessToken, h.keeper.session?.accessToken], ['anew', 'anew']);
  });

  it('the renewal of a session is not handed to the one that came after it', async () => {
    const h = await expired();
    const slow = deferred<TokenGrant>();
    h.refresh = () => slow.promise;
    const old = h.keeper.accessToken(signal);
    await h.keeper.adopt(ANEW);
    h.refresh = async () => ({ accessToken: 'anew-2', refreshToken: 'refresh-a2', expiresInSeconds: 100_000 });
    assert.equal(await h.keeper.rejected('anew', signal), 'anew-2');
    slow.resolve(SECOND);
    assert.equal(await old, 'anew-2');
    assert.equal(h.stored?.accessToken, 'anew-2');
  });

  it('reading the store again meanwhile does not lose the new pair', async () => {
    const h = await expired();
    const answer = deferred<TokenGrant>();
    h.refresh = () => answer.promise;
    const waiting = h.keeper.accessToken(signal);
    await h.keeper.load();
    answer.resolve(SECOND);
    assert.equal(await waiting, 'access-2');
    assert.equal(h.stored?.refreshToken, 'refresh-2');
  });

  it('a race lost to another window is recovered from what that window stored', async () => {
    const h = await expired();
    const answer = deferred<TokenGrant>();
    h.refresh = () => answer.promise;
    const waiting = h.keeper.accessToken(signal);
    h.text = JSON.stringify({ ...session({ ...SECOND, expiresInSeconds: 100_000 }), generation: 2 });
    await h.keeper.load();
    answer.reject(new RolecallError('sessionEnded', 'refresh token reuse'));
    assert.equal(await waiting, 'access-2');
    assert.equal(h.keeper.state.kind, 'signedIn');
  });
});
