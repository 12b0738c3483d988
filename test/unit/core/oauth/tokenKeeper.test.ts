import assert from 'node:assert/strict';
import { type ErrorKind, RolecallError } from '../../../../src/core/base/errors.ts';
import type { TokenGrant } from '../../../../src/core/oauth/session.ts';
import { ACCOUNT, deferred, expired, failure, HOUR, harness, NOW, session } from './keeperHarness.ts';

const { signal } = new AbortController();

describe('the token keeper: reading the store', () => {
  it('starts without knowing; then somebody is signed in, or nobody', async () => {
    const h = harness();
    assert.equal(h.keeper.state.kind, 'starting');
    await h.keeper.load();
    assert.deepEqual(h.keeper.state, { kind: 'signedIn', account: ACCOUNT });
    assert.equal(h.keeper.session?.accessToken, 'access-1');

    const empty = harness('');
    empty.text = undefined;
    await empty.keeper.load();
    assert.deepEqual(empty.keeper.state, { kind: 'signedOut' });
    assert.equal((await failure(empty.keeper.accessToken(signal))).kind, 'signedOut');
    assert.deepEqual(empty.journal, ['read'], 'who is signed out is not looked for again');
  });

  it('a fresh token costs no I/O, and neither does a second look at the clock', async () => {
    const h = harness();
    await h.keeper.load();
    h.journal.length = 0;
    h.now = NOW + 3539_000;
    for (let n = 0; n < 3; n += 1) assert.equal(await h.keeper.accessToken(signal), 'access-1');
    assert.deepEqual(h.journal, []);
  });

  it('who asks before the store was read waits for it, together', async () => {
    const h = harness();
    const tokens = await Promise.all([1, 2, 3].map(() => h.keeper.accessToken(signal)));
    assert.deepEqual(tokens, ['access-1', 'access-1', 'access-1']);
    assert.deepEqual(h.journal, ['read']);
  });

  it('a store that cannot be read is `storeUnavailable`, never signed out', async () => {
    const h = harness();
    h.onRead = () => Promise.reject(new Error('locked'));
    await h.keeper.load();
    assert.deepEqual(h.kinds, ['storeUnavailable']);
    assert.equal((await failure(h.keeper.accessToken(signal))).kind, 'storage');
    assert.deepEqual(h.kinds.includes('signedOut'), false);
  });

  it('when the user has unlocked it, trying again works', async () => {
    const h = harness();
    h.onRead = () => Promise.reject(new Error('locked'));
    await h.keeper.load();
    h.onRead = async () => {};
    assert.equal(await h.keeper.accessToken(signal), 'access-1');
    assert.equal(h.keeper.state.kind, 'signedIn');
  });

  it('a session stored by a newer version is left alone', async () => {
    const newer = JSON.stringify({ version: 2, anything: 'else' });
    const h = harness(newer);
    await h.keeper.load();
    assert.match((await failure(h.keeper.accessToken(signal))).message, /Reload this window/);
    assert.equal(h.keeper.state.kind, 'storeUnavailable');
    assert.equal(h.text, newer);
    assert.match((await failure(h.keeper.adopt(session()))).message, /Reload this window/);
    assert.equal(h.text, newer, 'a sign-in does not overwrite it either');
  });

  it('what another window has stored is taken over; what is older or the same is not', async () => {
    const h = harness({ ...session(), generation: 5 });
    await h.keeper.load();
    const known = h.keeper.session;
    await h.keeper.load();
    assert.equal(h.keeper.session, known, 'the same');
    h.text = JSON.stringify({ ...session({ accessToken: 'old' }), generation: 4 });
    await h.keeper.load();
    assert.equal(h.keeper.session, known, 'older');
    h.text = JSON.stringify({ ...session({ accessToken: 'access-6' }), generation: 6 });
    await h.keeper.load();
    assert.equal(h.keeper.session?.accessToken, 'access-6');
    h.text = JSON.stringify(session({ accessToken: 'theirs' }, { id: 'sub-2', label: 'grace@example.com' }));
    await h.keeper.load();
    assert.equal(h.keeper.session?.account.id, 'sub-2', 'another account is news whatever its generation');
    h.text = undefined;
    await h.keeper.load();
    assert.equal(h.keeper.state.kind, 'signedOut');
  });
});

describe('the token keeper: renewing', () => {
  it('an expired token is renewed, stored, and only then used', async () => {
    const h = await expired();
    const writing = deferred<void>();
    h.onWrite = () => writing.promise;
    let used = false;
    const token = h.keeper.accessToken(signal).then((value) => {
      used = true;
      return value;
    });
    while (h.journal.length < 2) await new Promise(setImmediate);
    assert.equal(used, false);
    assert.equal(h.keeper.session?.accessToken, 'access-1', 'nobody else sees it either');
    writing.resolve();
    assert.equal(await token, 'access-2');
    assert.deepEqual(h.journal, ['refresh refresh-1', 'write access-2']);
    assert.deepEqual(h.kinds, ['refreshing', 'signedIn']);
    assert.deepEqual(h.stored, {
      ...session({ accessToken: 'access-2', refreshToken: 'refresh-2' }),
      generation: 2,
      expiresAt: h.now + 3540_000,
    });
  });

  it('ten callers, one refresh', async () => {
    const h = await expired();
    const tokens = await Promise.all(Array.from({ length: 10 }, () => h.keeper.accessToken(signal)));
    assert.deepEqual(new Set(tokens), new Set(['access-2']));
    assert.deepEqual(h.journal, ['refresh refresh-1', 'write access-2']);
  });

  it('one refresh even when a listener asks for a token the moment it hears of the renewal', async () => {
    const h = await expired();
    const asked: Promise<string>[] = [];
    h.keeper.onDidChange(({ kind }) => {
      if (kind === 'refreshing') asked.push(h.keeper.accessToken(signal));
    });
    assert.equal(await h.keeper.accessToken(signal), 'access-2');
    assert.deepEqual(await Promise.all(asked), ['access-2']);
    assert.deepEqual(h.journal, ['refresh refresh-1', 'write access-2']);
  });

  it('a caller that gives up does not stop the renewal for the others', async () => {
    const h = await expired();
    const answer = deferred<TokenGrant>();
    h.refresh = () => answer.promise;
    const stop = new AbortController();
    const impatient = h.keeper.accessToken(stop.signal);
    const patient = h.keeper.accessToken(signal);
    stop.abort();
    assert.equal((await failure(impatient)).kind, 'cancelled');
    answer.resolve({ accessToken: 'access-2', refreshToken: 'refresh-2' });
    assert.equal(await patient, 'access-2');
    assert.equal(h.stored?.refreshToken, 'refresh-2');
  });

  it('nor does one that is alone: the new pair is stored all the same', async () => {
    const h = await expired();
    const answer = deferred<TokenGrant>();
    h.refresh = () => answer.promise;
    const stop = new AbortController();
    const impatient = h.keeper.accessToken(stop.signal);
    stop.abort();
    await failure(impatient);
    answer.resolve({ accessToken: 'access-2', refreshToken: 'refresh-2' });
    while (h.keeper.state.kind !== 'signedIn') await new Promise(setImmediate);
    assert.equal(h.stored?.refreshToken, 'refresh-2');
  });

  it('each renewal spends the refresh token of the one before', async () => {
    const h = await expired();
    for (let n = 2; n <= 4; n += 1) {
      assert.equal(await h.keeper.accessToken(signal), `access-${n}`);
      h.now += 3_600_000;
    }
    assert.deepEqual(
      h.journal.filter((entry) => entry.startsWith('refresh')),
      ['refresh refresh-1', 'refresh refresh-2', 'refresh refresh-3'],
    );
  });

  it('every token is learned before it can be logged or used', async () => {
    const h = await expired();
    await h.keeper.accessToken(signal);
    assert.deepEqual([...h.learned].sort(), ['access-1', 'access-2', 'refresh-1', 'refresh-2']);
  });
});

describe('the token keeper: a renewal that fails', () => {
  const survivors: readonly ErrorKind[] = [
    'offline',
    'timeout',
    'server',
    'rateLimited',
    'protocol',
    'configuration',
    'unexpected',
  ];
  for (const kind of survivors) {
    it(`${kind} signs nobody out, and the next call tries again`, async () => {
      const h = await expired();
      const { refresh } = h;
      const error = new RolecallError(kind, `the ${kind} sentence`);
      h.refresh = () => Promise.reject(error);
      assert.equal(await failure(h.keeper.accessToken(signal)), error);
      assert.deepEqual(h.keeper.state, { kind: 'offline', account: ACCOUNT, error });
      assert.equal(h.keeper.session?.accessToken, 'access-1');
      assert.equal(h.stored?.refreshToken, 'refresh-1');
      h.refresh = refresh;
      assert.equal(await h.keeper.accessToken(signal), 'access-2');
      assert.deepEqual(h.kinds, ['refreshing', 'offline', 'refreshing', 'signedIn']);
    });
  }

  it('a defect in the renewal signs nobody out either', async () => {
    const h = await expired();
    h.refresh = () => Promise.reject(new TypeError('x is not a function'));
    assert.equal((await failure(h.keeper.accessToken(signal))).kind, 'unexpected');
    assert.equal(h.keeper.state.kind, 'offline');
  });

  it('invalid_grant ends the session: said once, not asked again, and the store is left for the user to clear', async () => {
    const h = await expired();
    const error = new RolecallError('sessionEnded', 'No longer accepted.', { facts: { code: 'invalid_grant' } });
    h.refresh = () => Promise.reject(error);
    assert.equal(await failure(h.keeper.accessToken(signal)), error);
    assert.deepEqual(h.keeper.state, { kind: 'ended', account: ACCOUNT, error });
    assert.equal(h.keeper.session, undefined);
    assert.equal(await failure(h.keeper.accessToken(signal)), error);
    assert.equal(await failure(h.keeper.rejected('access-1', signal)), error);
    assert.deepEqual(h.journal, ['refresh refresh-1']);
  });

  it('an expired token without a refresh token is an ended session', async () => {
    const h = await expired(session({ accessToken: 'access-1', expiresInSeconds: 60 }));
    assert.match((await failure(h.keeper.accessToken(signal))).message, /sign-in has expired/);
    assert.equal(h.keeper.state.kind, 'ended');
    assert.deepEqual(h.journal, []);
  });

  it('a new sign-in after the end works at once, above every generation before', async () => {
    const h = await expired();
    h.refresh = () => Promise.reject(new RolecallError('sessionEnded', 'No longer accepted.'));
    await failure(h.keeper.accessToken(signal));
    await h.keeper.adopt(session({ ...HOUR, accessToken: 'anew', expiresInSeconds: 10_000 }));
    assert.equal(await h.keeper.accessToken(signal), 'anew');
    assert.equal(h.stored?.generation, 2);
  });
});

describe('the token keeper: a token the service refused', () => {
  it('if there is a newer one already, that one is given, without a renewal', async () => {
    const h = await expired();
    await h.keeper.accessToken(signal);
    h.journal.length = 0;
    assert.equal(await h.keeper.rejected('access-1', signal), 'access-2');
    assert.deepEqual(h.journal, []);
  });

  it('the current one is renewed, once for however many were refused with it', async () => {
    const h = harness();
    await h.keeper.load();
    const given = await Promise.all(Array.from({ length: 5 }, () => h.keeper.rejected('access-1', signal)));
    assert.deepEqual(new Set(given), new Set(['access-2']));
    assert.equal(await h.keeper.rejected('access-1', signal), 'access-2');
    assert.deepEqual(h.journal, ['read', 'refresh refresh-1', 'write access-2']);
  });

  it('without a refresh token the session has ended, and there is nothing to try', async () => {
    const h = harness(session({ accessToken: 'service-token' }));
    await h.keeper.load();
    assert.equal(await h.keeper.rejected('service-token', signal), undefined);
    assert.equal(h.keeper.state.kind, 'ended');
  });

  it('nobody signed in is told as that', async () => {
    const h = harness('');
    h.text = undefined;
    assert.equal((await failure(h.keeper.rejected('access-1', signal))).kind, 'signedOut');
  });
});
