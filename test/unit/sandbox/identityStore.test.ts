import assert from 'node:assert/strict';
import { SupersededError, TokenStore } from '../../../src/sandbox/identity/tokenStore.ts';

const payload = (grantId: string, gty: string) => ({ clientId: 'client', accountId: 'person', grantId, gty });
const SIGN_IN = 'authorization_code';
const REFRESH = 'authorization_code refresh_token';

/** A store in which `person` has signed in to `client` once. */
function signedIn(): TokenStore {
  const store = new TokenStore();
  store.putAccessToken('access-1', payload('grant-1', SIGN_IN), 60);
  store.putRefreshToken('refresh-1', payload('grant-1', SIGN_IN), 600);
  return store;
}

// The order is the one of the specification of the identity service and what servers of this kind do: compare, end the old access token, clear the refresh token, issue.
describe('sandbox identity: the token store, step by step', () => {
  it('ends the access token with the spending of its refresh token, before anything new is issued', () => {
    const store = signedIn();
    assert.equal(store.bearer('access-1'), 'person');
    store.spendRefreshToken('refresh-1');
    assert.equal(store.bearer('access-1'), undefined);
    assert.equal(store.get('RefreshToken', 'refresh-1'), undefined);
    assert.equal(store.fate('refresh-1'), 'spent');
  });

  it('lets a refresh token be spent once, even by two who both looked it up before', () => {
    const store = signedIn();
    store.spendRefreshToken('refresh-1');
    assert.throws(() => store.spendRefreshToken('refresh-1'), SupersededError);
  });

  it('lets an authorization code be spent once, even by two who both looked it up before', () => {
    const store = new TokenStore();
    store.put('AuthorizationCode', 'code', payload('grant-1', SIGN_IN), 60);
    store.spendCode('code');
    assert.throws(() => store.spendCode('code'), SupersededError);
    assert.throws(() => store.spendCode('never issued'), SupersededError);
  });

  it('gives nothing to a refresh that a new sign-in overtook', () => {
    const store = signedIn();
    store.spendRefreshToken('refresh-1');
    store.putAccessToken('access-2', payload('grant-2', SIGN_IN), 60);
    assert.throws(() => store.putRefreshToken('refresh-3', payload('grant-1', REFRESH), 600), SupersededError);
    assert.throws(() => store.putAccessToken('access-3', payload('grant-1', REFRESH), 60), SupersededError);
    assert.equal(store.bearer('access-2'), 'person');
  });

  it('ends the session before a sign-in, whole and at once', () => {
    const store = signedIn();
    store.putAccessToken('access-2', payload('grant-2', SIGN_IN), 60);
    assert.equal(store.bearer('access-1'), undefined);
    assert.equal(store.fate('refresh-1'), 'superseded');
    assert.throws(() => store.spendRefreshToken('refresh-1'), SupersededError);
    assert.equal(store.bearer('access-2'), 'person');
  });

  it('ends everything on demand, service tokens included', () => {
    const store = signedIn();
    const token = store.issueServiceToken('other', 60);
    assert.equal(store.bearer(token), 'other');
    assert.equal(store.endAll(), 2);
    assert.deepEqual(
      [store.bearer(token), store.bearer('access-1'), store.fate('refresh-1')],
      [undefined, undefined, 'ended'],
    );
  });

  it('forgets what has expired instead of growing', () => {
    const store = new TokenStore();
    for (let index = 0; index < 1001; index++) store.put('Interaction', `old-${index}`, {}, -1);
    store.put('Interaction', 'new', {}, 60);
    assert.equal(store.get('Interaction', 'old-7'), undefined);
    assert.ok(store.get('Interaction', 'new'));
  });
});
