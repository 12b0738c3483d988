import assert from 'node:assert/strict';
import { newSignIn } from '../../../../src/core/oauth/authorizationServer.ts';
import { ORIGIN, type Reply } from '../base/mockService.ts';
import { failure } from '../failure.ts';
import { fixture, fixtureText } from '../identity/fixtures.ts';
import { ABSENT, authorizationHarness, DISCOVERY, granted, TOKEN } from './authorizationHarness.ts';
import { CONNECTION } from './connection.ts';

const { signal } = new AbortController();

describe('the authorization server', () => {
  const h = authorizationHarness();

  describe('discovery', () => {
    const silentlyAbsent: readonly [string, Reply][] = [
      ['404', ABSENT],
      ['403', { status: 403, body: { error: 'forbidden' } }],
      ['401 with a challenge', { status: 401, headers: { 'www-authenticate': 'Bearer' } }],
      ['500', { status: 500, body: { error: 'server_error' } }],
      ['502 in HTML', { status: 502, body: fixtureText('bad-gateway.txt') }],
      ['a page with status 200', { status: 200, body: '<html>hello</html>' }],
      ['a redirect', { status: 302, headers: { location: 'https://evil.example.com/' } }],
    ];
    for (const [what, reply] of silentlyAbsent) {
      it(`${what}: the specification’s endpoints are used`, async () => {
        h.service.on('GET', DISCOVERY, reply).on('POST', TOKEN, granted());
        const server = h.make({ scope: '' });
        const url = await server.authorizationUrl(newSignIn({ ...CONNECTION, scope: '' }), signal);
        assert.equal(url.origin + url.pathname, `${ORIGIN}/oauth2/v2/authorization`);
        await server.refresh('refresh-1', signal);
        assert.equal(h.lines.length, 1);
        assert.match(h.lines[0] ?? '', /No discovery .* using the specified endpoints/);
      });
    }

    it('is asked once however many operations follow', async () => {
      h.discovered().on('POST', TOKEN, granted(), granted());
      const server = h.make();
      await server.refresh('a', signal);
      await server.refresh('b', signal);
      assert.deepEqual(h.service.asked, [`GET ${DISCOVERY}`, `POST ${TOKEN}`, `POST ${TOKEN}`]);
    });

    it('what it names on the same origin is used', async () => {
      h.discovered({ token_endpoint: `${ORIGIN}/elsewhere/token` }).on('POST', '/elsewhere/token', granted());
      assert.equal((await h.make().refresh('a', signal)).accessToken, fixture('token.json').access_token);
    });

    const foreign: readonly [string, unknown][] = [
      ['authorization_endpoint', 'https://evil.example.com/authorization'],
      ['token_endpoint', 'https://evil.example.com/token'],
      ['userinfo_endpoint', 'https://identity.example.com:8443/userinfo'],
      ['jwks_uri', 'http://identity.example.com/jwks'],
      ['token_endpoint', 'not an address'],
      ['token_endpoint', 7],
    ];
    for (const [name, endpoint] of foreign) {
      it(`an endpoint elsewhere is refused: ${name} ${endpoint}`, async () => {
        h.discovered({ [name]: endpoint });
        const error = await failure(h.make().refresh('refresh-1', signal));
        assert.equal(error.kind, 'protocol');
        assert.match(error.message, new RegExp(`The ${name} that .* it was rejected`));
        assert.deepEqual(h.service.asked, [`GET ${DISCOVERY}`]);
      });
    }

    it('another issuer than the configured address is refused, not worked around', async () => {
      h.discovered({ issuer: 'https://evil.example.com' });
      const error = await failure(h.make().authorizationUrl(newSignIn(CONNECTION), signal));
      assert.equal(error.kind, 'protocol');
      assert.match(error.message, /another issuer than the configured address/);
    });

    it('no answer is `offline`, and a later try works', async () => {
      const server = h.make();
      h.service.on('GET', DISCOVERY, { status: 0, failure: Object.assign(new Error(), { code: 'ENOTFOUND' }) });
      const error = await failure(server.refresh('refresh-1', signal));
      assert.deepEqual([error.kind, error.details.code], ['offline', 'ENOTFOUND']);
      h.discovered().on('POST', TOKEN, granted());
      await server.refresh('refresh-1', signal);
    });
  });
});
