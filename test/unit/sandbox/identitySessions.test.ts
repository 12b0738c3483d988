import assert from 'node:assert/strict';
import { type Session, Sessions } from '../../../src/sandbox/identity/sessions.ts';

const grant = { client: 'client', person: 'person', scopes: [] };
const lifetimes = { accessTokenSeconds: 60, refreshTokenSeconds: 600 };

function refreshed(sessions: Sessions, token: string): Session {
  const session = sessions.refresh('client', token);
  assert.ok(!('reason' in session), JSON.stringify(session));
  return session;
}

describe('sandbox identity: sessions, step by step', () => {
  it('ends the access token with the spending of its refresh token', () => {
    const sessions = new Sessions(lifetimes);
    const { access, refresh } = sessions.signIn(grant);
    assert.equal(sessions.bearer(access.token), 'person');
    const next = refreshed(sessions, refresh.token);
    assert.equal(sessions.bearer(access.token), undefined);
    assert.equal(sessions.bearer(next.access.token), 'person');
    assert.deepEqual(sessions.refresh('client', refresh.token), { reason: 'spent' });
  });

  it('ends the session before a sign-in, whole and at once', () => {
    const sessions = new Sessions(lifetimes);
    const first = sessions.signIn(grant);
    const second = sessions.signIn(grant);
    assert.equal(sessions.bearer(first.access.token), undefined);
    assert.deepEqual(sessions.refresh('client', first.refresh.token), { reason: 'superseded' });
    sessions.end(first);
    assert.equal(sessions.bearer(second.access.token), 'person', 'what is over cannot end what came after it');
  });

  it('ends everything on demand, service tokens included', () => {
    const sessions = new Sessions(lifetimes);
    const { access, refresh } = sessions.signIn(grant);
    const token = sessions.issueServiceToken('other', 60);
    assert.equal(sessions.bearer(token), 'other');
    assert.equal(sessions.endAll(), 2);
    assert.deepEqual([sessions.bearer(token), sessions.bearer(access.token)], [undefined, undefined]);
    assert.deepEqual(sessions.refresh('client', refresh.token), { reason: 'ended' });
  });
});
