import assert from 'node:assert/strict';
import type { ErrorKind } from '../../../../src/core/base/errors.ts';
import { AuthorizationServer, newSignIn } from '../../../../src/core/oauth/authorizationServer.ts';
import { silentLog } from '../../../support/silentLog.ts';
import { ORIGIN, type Reply } from '../base/mockService.ts';
import { withShortDeadlines } from '../base/shortDeadlines.ts';
import { eventually } from '../eventually.ts';
import { failure } from '../failure.ts';
import { fixture, fixtureText } from '../identity/fixtures.ts';
import { authorizationHarness, callback, DISCOVERY, granted, SECRET, TOKEN, USERINFO } from './authorizationHarness.ts';
import { CONNECTION } from './connection.ts';

const { signal } = new AbortController();

describe('the authorization server', () => {
  const h = authorizationHarness();

  describe('what the token endpoint refuses', () => {
    const errors: Record<string, Reply> = fixture('token-error.json');
    const challenge = { 'www-authenticate': 'Basic realm="identity"' };
    const rows: readonly [what: string, reply: Reply | undefined, kind: ErrorKind, says: RegExp][] = [
      [
        'a spent refresh token',
        errors.refreshTokenReuse,
        'sessionEnded',
        /no longer accepts this sign-in\. Server response: refresh token reuse$/,
      ],
      ['a wrong verifier', errors.wrongVerifier, 'configuration', /the client or the code verifier/],
      [
        'a wrong secret (specified version)',
        errors.wrongSecret,
        'configuration',
        /Check the client ID and the client secret/,
      ],
      [
        'a wrong secret (newer version)',
        errors.wrongSecretNewer,
        'configuration',
        /Check the client ID and the client secret/,
      ],
      [
        'a wrong secret with a challenge (RFC 6749 section 5.2)',
        { status: 401, body: { error: 'invalid_client' }, headers: challenge },
        'configuration',
        /Check the client ID and the client secret/,
      ],
      ['401 without a body', { status: 401 }, 'configuration', /Check the client ID and the client secret/],
      ['500 with server_error', { status: 500, body: { error: 'server_error' } }, 'server', /returned 500/],
      ['500 that says invalid_grant', { status: 500, body: { error: 'invalid_grant' } }, 'server', /returned 500/],
      [
        '500 with words',
        { status: 500, body: { error: 'server_error', error_description: 'database is <b>down</b>' } },
        'server',
        /returned 500\. Try again in a moment\. Server response: database is down$/,
      ],
      [
        'a missing secret (version 1.11)',
        {
          status: 500,
          body: { error: 'server_error', error_description: 'client ID secret not set in request body' },
        },
        'configuration',
        /Check the client ID and the client secret\. Server response: client ID secret not set in request body$/,
      ],
      ['502 in HTML', { status: 502, body: fixtureText('bad-gateway.txt') }, 'server', /returned 502/],
      ['429 without a body', { status: 429 }, 'rateLimited', /too many requests/],
      ['429 with a body', { status: 429, body: { error: 'too_many' } }, 'rateLimited', /too many requests/],
      ['404', { status: 404, body: 'not here' }, 'protocol', /returned 404 without an explanation/],
      ['a redirect', { status: 307, headers: { location: 'https://evil.example.com' } }, 'protocol', /redirect/],
      [
        '200 with a page',
        { status: 200, body: '<html>sign in to the wifi</html>' },
        'protocol',
        /not a valid OAuth response/,
      ],
      [
        '200 without a token',
        { status: 200, body: { token_type: 'Bearer' } },
        'protocol',
        /not a valid OAuth response/,
      ],
      ['200 that is empty', { status: 200 }, 'protocol', /not a valid OAuth response/],
      ['an error nobody knows', { status: 400, body: { error: 'teapot' } }, 'protocol', /returned the error "teapot"/],
      ['an error JavaScript knows', { status: 400, body: { error: 'constructor' } }, 'protocol', /"constructor"/],
    ];
    for (const [what, reply, kind, says] of rows) {
      it(`${what} is ${kind}; nothing is sent twice`, async () => {
        h.undiscovered().on('POST', TOKEN, reply ?? assert.fail(`no fixture for ${what}`));
        const error = await failure(h.make().refresh('refresh-1', signal));
        assert.equal(error.kind, kind);
        assert.match(error.message, says);
        assert.doesNotMatch(error.message, /<html>|wifi|nginx/);
        assert.deepEqual(h.service.asked, [`GET ${DISCOVERY}`, `POST ${TOKEN}`]);
      });
    }

    it('a missing client secret is offered to be entered, also with 500', async () => {
      const body = { error: 'server_error', error_description: 'client ID secret not set in request body' };
      h.undiscovered().on('POST', TOKEN, { status: 500, body, headers: { 'retry-after': '7' } });
      const { remedy, details } = await failure(h.make().refresh('refresh-1', signal));
      assert.deepEqual(
        [remedy, details.retryAfterMs, details.code],
        [{ kind: 'setClientSecret' }, 7000, 'server_error'],
      );
    });

    it('a refused code is no session that has ended', async () => {
      const pending = newSignIn(CONNECTION);
      h.undiscovered().on('POST', TOKEN, errors.refreshTokenReuse ?? assert.fail());
      const callback = new URL(`${CONNECTION.redirectUri}?code=wrong&state=${pending.state}`);
      const error = await failure(h.make().exchange(callback, pending, signal));
      assert.equal(error.kind, 'invalidRequest');
      assert.match(error.message, /did not accept the code of this sign-in\. It might be mistyped/);
      assert.doesNotMatch(error.message, /no longer/);
    });

    it('a token that was never sent, because discovery was silent, is told from one that may be spent', async () => {
      h.service.on('GET', DISCOVERY, { status: 404, delay: 3_600_000 });
      const deadlines = await withShortDeadlines(async () => {
        const { kind, details } = await failure(h.make().refresh('refresh-1', signal));
        assert.deepEqual([kind, details.wasNotSent], ['timeout', true]);
      });
      assert.ok(deadlines.includes(10_000));
    });

    const pending = newSignIn(CONNECTION);
    const basic = Buffer.from(`${CONNECTION.clientId}:${SECRET}`).toString('base64');
    const [refreshToken, code, accessToken] = ['the-only refresh+token', 'one-time code/1', 'the-access-token'];
    type Ask = (server: AuthorizationServer) => Promise<unknown>;
    const asked: readonly [what: string, path: string, sent: readonly string[], ask: Ask][] = [
      ['a renewal', TOKEN, [refreshToken, SECRET, basic], (server) => server.refresh(refreshToken, signal)],
      [
        'an exchange',
        TOKEN,
        [code, pending.codeVerifier, SECRET, basic],
        (server) => server.exchange(callback(pending, { code }), pending, signal),
      ],
      ['userinfo', USERINFO, [accessToken], (server) => server.userInfo(accessToken, signal)],
    ];
    for (const [what, path, sent, ask] of asked) {
      it(`nothing that was sent with ${what} is shown, though the service repeats it in some encoding`, async () => {
        const encoded = (value: string) => [value, encodeURIComponent(value), Buffer.from(value).toString('base64url')];
        for (const value of sent.flatMap(encoded)) {
          const body = { error: `bad ${value}`, error_description: `cannot use ${value}` };
          h.undiscovered().on(path === TOKEN ? 'POST' : 'GET', path, { status: 400, body });
          const { message, details } = await failure(
            ask(h.make({ clientAuthentication: 'client_secret_basic' })) as Promise<never>,
          );
          if (path === TOKEN) assert.match(message, /‹hidden›/);
          assert.ok(!JSON.stringify([message, details]).includes(value), `${value} in ${message}`);
        }
      });
    }

    it('nor what the provider’s page repeats in its answer', async () => {
      const { state } = pending;
      const refusal = callback(pending, { error: 'server_error', error_description: `unknown state ${state}` });
      h.undiscovered();
      const error = await failure(h.make().exchange(refusal, pending, signal));
      assert.match(error.message, /Server response: unknown state ‹hidden›$/);
    });

    it('a page of the provider is read in time that grows with its length alone', async () => {
      // Quadratic would take a minute, for which no test has the time.
      h.service.on('GET', '/page', { status: 400, body: `<p>Unknown client.</p>${'<style '.repeat(140_000)}` });
      const error = await failure(h.make().preflight(`${ORIGIN}/page`, signal));
      assert.match(error.message, /Server response: Unknown client\.$/);
    });

    it('a description without end or with markup is cut', async () => {
      const error_description = `<h1>${'on and on, '.repeat(500)}</h1>`;
      h.undiscovered().on('POST', TOKEN, { status: 400, body: { error: 'invalid_grant', error_description } });
      const error = await failure(h.make().refresh('refresh-1', signal));
      assert.equal(error.details.serverMessage?.length, 300);
      assert.doesNotMatch(error.message, /<h1>/);
    });

    it('a cut connection is `offline`', async () => {
      const failed = Object.assign(new Error('closed'), { code: 'UND_ERR_SOCKET' });
      h.undiscovered().on('POST', TOKEN, { status: 0, failure: failed });
      const error = await failure(h.make().refresh('refresh-1', signal));
      assert.equal(error.message, `Could not reach ${ORIGIN}: the connection was lost.`);
    });

    it('Cancel is `cancelled`, before and while the service thinks', async () => {
      assert.equal((await failure(h.make().refresh('refresh-1', AbortSignal.abort()))).kind, 'cancelled');
      const stop = new AbortController();
      h.undiscovered().on('POST', TOKEN, { ...granted(), delay: 3_600_000 });
      const refreshing = failure(h.make().refresh('refresh-1', stop.signal));
      await eventually(() => h.service.asked.includes(`POST ${TOKEN}`));
      stop.abort();
      assert.equal((await refreshing).kind, 'cancelled');
    });

    it('silence ends after half a minute, and says which host was silent', async () => {
      h.undiscovered();
      const server = h.make({ scope: '' });
      await server.authorizationUrl(newSignIn(CONNECTION), signal);
      h.service.on('POST', TOKEN, { ...granted(), delay: 3_600_000 });
      const deadlines = await withShortDeadlines(async () => {
        const error = await failure(server.refresh('refresh-1', signal));
        assert.equal(error.kind, 'timeout');
        assert.equal(error.message, `${ORIGIN} did not respond within 30 seconds.`);
      });
      assert.deepEqual([...new Set(deadlines)], [30_000]);
    });
  });

  describe('an answer that breaks off', () => {
    const half = (end: (controller: ReadableStreamDefaultController) => void) => async (url: string) => {
      if (url.endsWith(DISCOVERY)) return new Response('', { status: 404 });
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"access_token":"half'));
          end(controller);
        },
      });
      return new Response(body, { headers: { 'content-type': 'application/json' } });
    };
    const refresh = (fetch: unknown, stop: AbortSignal = signal) =>
      new AuthorizationServer({
        fetch: fetch as typeof globalThis.fetch,
        log: silentLog,
        connection: CONNECTION,
        clientSecret: SECRET,
      }).refresh('refresh-1', stop);

    it('is `offline`, for the pair may be lost but nobody was refused', async () => {
      const cut = new TypeError('terminated', { cause: Object.assign(new Error(), { code: 'UND_ERR_SOCKET' }) });
      const error = await failure(refresh(half((controller) => controller.error(cut))));
      assert.match(error.message, /the connection was lost/);
      assert.equal(error.kind, 'offline');
    });

    it('is `cancelled` when the user stopped it', async () => {
      const stop = new AbortController();
      const fetch = half((controller) => {
        stop.abort();
        controller.error(stop.signal.reason);
      });
      assert.equal((await failure(refresh(fetch, stop.signal))).kind, 'cancelled');
    });

    it('and one without end is dropped', async () => {
      const fetch = half((controller) => controller.enqueue(new Uint8Array(1_000_001)));
      assert.match((await failure(refresh(fetch))).message, /more than 1 MB/);
    });
  });
});
