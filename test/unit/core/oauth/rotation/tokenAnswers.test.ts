// The refresh with the real client of the token endpoint below it: what a service, or whatever stands before it, answers,
// and what becomes of the session.
import assert from 'node:assert/strict';
import { AuthorizationServer } from '../../../../../src/core/oauth/authorizationServer.ts';
import type { EndReason } from '../../../../../src/core/oauth/rotation/reconcile.ts';
import { silentLog } from '../../../../support/silentLog.ts';
import { MockService, type Reply } from '../../base/mockService.ts';
import { fixtureText } from '../../identity/fixtures.ts';
import { ABSENT, DISCOVERY, TOKEN } from '../authorizationHarness.ts';
import { connection, never, Setting, sharedStore } from './fixture.ts';

const granted: Reply = {
  status: 200,
  body: { token_type: 'Bearer', access_token: 'new-access', refresh_token: 'new-refresh', expires_in: 3599 },
};
const refused = (error: string, description?: string, status = 400): Reply => ({
  status,
  body: { error, ...(description !== undefined && { error_description: description }) },
});
/** To a token that it has never issued. */
const unknownToken = refused('invalid_grant', 'refresh token is invalid');
const cut = (code: string) => Object.assign(new Error('cut'), { code });

describe('a renewal at the token endpoint', () => {
  const setting = Setting.forEach();
  let service: MockService;
  beforeEach(() => {
    service = new MockService();
  });
  afterEach(async () => {
    assert.equal(service.rest, 0, 'something prepared was never asked for');
    await service.close();
  });

  const sent = () => service.asked.filter((each) => each === `POST ${TOKEN}`).length;
  /** The refresh tokens that were sent. */
  const spent = () =>
    service.requests.flatMap(({ path, body }) =>
      path === TOKEN ? [new URLSearchParams(body).get('refresh_token')] : [],
    );

  /** Two windows whose token has ended, or is about to. */
  async function windows(...replies: readonly Reply[]) {
    service.on('GET', DISCOVERY, ABSENT).on('POST', TOKEN, ...replies);
    const server = new AuthorizationServer({
      fetch: service.fetch,
      log: silentLog,
      connection,
      clientSecret: 'secret',
    });
    const store = sharedStore();
    const deps = { prepareRefresh: async () => (token: string) => server.refresh(token, never), random: () => 1 };
    const [first, second] = [await setting.open(store(), deps), await setting.open(store(), deps)];
    const session = setting.signedIn();
    await first.tokenManager.signIn(session);
    const { refreshToken } = session;
    setting.expire();
    return { first: first.tokenManager, second: second.tokenManager, refreshToken };
  }

  /** Answers after which the session stands, and when it is tried again, in milliseconds. */
  const passing: readonly (readonly [what: string, reply: Reply, kind: string, againMs: number])[] = [
    ['429', { status: 429 }, 'rateLimited', 1000],
    ['429 that says when', { status: 429, headers: { 'retry-after': '40' } }, 'rateLimited', 40_000],
    [
      '429 with a body that says when',
      { ...refused('temporarily_unavailable', 'slow down', 429), headers: { 'retry-after': '40' } },
      'rateLimited',
      40_000,
    ],
    ['429 that asks for a day', { status: 429, headers: { 'retry-after': '86400' } }, 'rateLimited', 300_000],
    ['500 with server_error', refused('server_error', 'oops', 500), 'server', 1000],
    ['500 that says invalid_grant', refused('invalid_grant', 'refresh token reuse', 500), 'server', 1000],
    ['502 in HTML', { status: 502, body: fixtureText('bad-gateway.txt') }, 'server', 1000],
    [
      '503 that says when',
      { status: 503, body: fixtureText('bad-gateway.txt'), headers: { 'retry-after': '20' } },
      'server',
      20_000,
    ],
    ['504 that is empty', { status: 504 }, 'server', 1000],
    ['the page of a public network', { status: 200, body: '<html>sign in to the wifi</html>' }, 'protocol', 1000],
    ['a redirect', { status: 302, headers: { location: 'https://wifi.example.com/' } }, 'protocol', 1000],
    ['nobody at the address', { status: 0, failure: cut('ECONNREFUSED') }, 'offline', 1000],
    ['a name nobody knows', { status: 0, failure: cut('ENOTFOUND') }, 'offline', 1000],
    ['a certificate that is not trusted', { status: 0, failure: cut('SELF_SIGNED_CERT_IN_CHAIN') }, 'offline', 1000],
  ];
  for (const [what, reply, kind, againMs] of passing) {
    it(`${what}: nobody is signed out, and it is tried again after ${againMs / 1000} s`, async () => {
      const { first, second, refreshToken } = await windows(reply, granted);
      await assert.rejects(first.accessToken(never), { kind });
      assert.deepEqual([first.state.kind, second.state.kind, sent()], ['offline', 'signedIn', 1]);
      setting.later += againMs - 200;
      await assert.rejects(first.accessToken(never), { kind });
      assert.equal(sent(), 1, 'not before');
      setting.later += 400;
      assert.equal(await first.accessToken(never), 'new-access');
      assert.deepEqual([first.state.kind, second.session?.accessToken], ['signedIn', 'new-access']);
      assert.deepEqual(spent(), [refreshToken, refreshToken]);
    });
  }

  for (const code of ['ECONNRESET', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT']) {
    it(`an answer that was lost (${code}): once more with the same token, as soon as the service answers`, async () => {
      const { first, second, refreshToken } = await windows({ status: 0, failure: cut(code) }, unknownToken, granted);
      assert.equal(await first.accessToken(never), 'new-access');
      assert.equal(second.session?.accessToken, 'new-access');
      const [once, unknown, again, ...rest] = spent();
      assert.deepEqual([once, again, rest], [refreshToken, refreshToken, []]);
      assert.match(unknown ?? '', /^[\w-]{43}$/);
    });
  }

  it('an answer that was lost and held the pair: the end, and why, in every window', async () => {
    const lost = { status: 0, failure: cut('ECONNRESET') };
    const { first, second } = await windows(lost, unknownToken, refused('invalid_grant', 'refresh token reuse'));
    await assert.rejects(first.accessToken(never), { kind: 'sessionEnded', message: /response was lost/ });
    assert.deepEqual([first.state.kind, second.state.kind, sent()], ['ended', 'ended', 3]);
    await assert.rejects(second.accessToken(never), { kind: 'sessionEnded' });
    assert.equal(sent(), 3);
  });

  const ends: readonly (readonly [description: string | undefined, reason: EndReason, says: RegExp])[] = [
    ['refresh token reuse', 'elsewhere', /on another machine.*Server response: refresh token reuse$/],
    ['token has been revoked', 'elsewhere', /on another machine/],
    ['refresh token has expired', 'expired', /^The sign-in has expired\. Sign in again\.$/],
    ['something else', 'unknown', /no longer accepts this sign-in\. Sign in again\. Server response: something else$/],
    [undefined, 'unknown', /no longer accepts this sign-in\. Sign in again\.$/],
    ['<b>client</b> id mismatch', 'configuration', /another client.*Server response: client id mismatch$/],
  ];
  for (const [description, reason, says] of ends) {
    it(`invalid_grant ${description === undefined ? 'without a word' : `"${description}"`}: ${reason}, asked once`, async () => {
      const { first, second } = await windows(refused('invalid_grant', description));
      await assert.rejects(first.accessToken(never), { message: says });
      assert.ok(first.state.kind === 'ended');
      assert.equal(first.state.reason, reason);
      await assert.rejects(first.accessToken(never));
      assert.equal(sent(), 1);
      // A wrong client may be this window's alone, whose settings are older; every other end is everybody's.
      assert.equal(second.state.kind, reason === 'configuration' ? 'signedIn' : 'ended');
    });
  }
});
