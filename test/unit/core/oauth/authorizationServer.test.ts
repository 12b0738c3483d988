import assert from 'node:assert/strict';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { type AuthorizationServer, newSignIn } from '../../../../src/core/oauth/authorizationServer.ts';
import { finishSignIn } from '../../../../src/core/oauth/signIn.ts';
import { silentLog } from '../../../support/silentLog.ts';
import { ORIGIN } from '../base/mockService.ts';
import { failure } from '../failure.ts';
import { fixture } from '../identity/fixtures.ts';
import {
  authorizationHarness,
  callback,
  DISCOVERY,
  granted,
  idToken,
  SECRET,
  TOKEN,
  USERINFO,
} from './authorizationHarness.ts';
import { CONNECTION } from './connection.ts';

const { signal } = new AbortController();

describe('the authorization server', () => {
  const h = authorizationHarness();

  describe('the address to open', () => {
    it('carries PKCE, state, nonce, scope and the redirect URI as it was typed', async () => {
      h.discovered();
      const connection = { ...CONNECTION, redirectUri: 'http://LocalHost:18155' };
      const pending = newSignIn(connection);
      const url = await h.make(connection).authorizationUrl(pending, signal);
      assert.equal(url.origin + url.pathname, `${ORIGIN}/oauth2/v2/authorization`);
      const { code_challenge, ...params } = Object.fromEntries(url.searchParams);
      assert.deepEqual(params, {
        client_id: CONNECTION.clientId,
        response_type: 'code',
        redirect_uri: 'http://LocalHost:18155',
        scope: 'openid email',
        state: pending.state,
        nonce: pending.nonce,
        code_challenge_method: 'S256',
      });
      assert.match(code_challenge ?? '', /^[\w-]{43}$/);
      assert.ok(!url.href.includes(pending.codeVerifier));
    });

    it('without scopes sends no `scope`, and without `openid` no nonce', async () => {
      h.undiscovered();
      const server = h.make({ scope: '' });
      const pending = newSignIn({ ...CONNECTION, scope: '' });
      const { searchParams } = await server.authorizationUrl(pending, signal);
      assert.deepEqual([searchParams.has('scope'), searchParams.has('nonce')], [false, false]);
      assert.equal(newSignIn({ ...CONNECTION, scope: 'email openids' }).nonce, undefined);
    });

    it('is new for every sign-in', () => {
      const made = [1, 2].map(() => newSignIn(CONNECTION));
      for (const name of ['state', 'nonce', 'codeVerifier'] as const) {
        assert.equal(new Set(made.map((pending) => pending[name])).size, 2);
        assert.match(made[0]?.[name] ?? '', /^[\w-]{43}$/);
      }
    });
  });

  describe('the exchange of a code', () => {
    it('sends code, verifier, redirect URI as registered, and the secret in the body', async () => {
      h.undiscovered().on('POST', TOKEN, granted());
      const connection = { ...CONNECTION, scope: '', redirectUri: 'http://127.0.0.1:18155' };
      const pending = newSignIn(connection);
      const grant = await h.make(connection).exchange(callback(pending), pending, signal);
      assert.deepEqual(h.form(), {
        grant_type: 'authorization_code',
        code: 'c0de',
        redirect_uri: 'http://127.0.0.1:18155',
        code_verifier: pending.codeVerifier,
        client_id: CONNECTION.clientId,
        client_secret: SECRET,
      });
      assert.equal(h.service.requests.at(-1)?.headers.authorization, undefined);
      const { access_token, refresh_token, expires_in } = fixture('token.json');
      assert.deepEqual(grant, {
        accessToken: access_token,
        refreshToken: refresh_token,
        expiresInSeconds: expires_in,
      });
    });

    it('client_secret_basic sends id and secret raw, as these services compare them', async () => {
      h.undiscovered().on('POST', TOKEN, granted());
      await h.make({ clientAuthentication: 'client_secret_basic' }).refresh('refresh-1', signal);
      const header = h.service.requests.at(-1)?.headers.authorization ?? '';
      assert.equal(Buffer.from(header.replace('Basic ', ''), 'base64').toString(), `${CONNECTION.clientId}:${SECRET}`);
      assert.deepEqual(h.form(), { grant_type: 'refresh_token', refresh_token: 'refresh-1' });
    });

    it('`none`, or no secret, sends the client id alone', async () => {
      h.undiscovered().on('POST', TOKEN, granted());
      await h.make({ clientAuthentication: 'none' }).refresh('refresh-1', signal);
      assert.deepEqual(h.form(), {
        grant_type: 'refresh_token',
        refresh_token: 'refresh-1',
        client_id: CONNECTION.clientId,
      });
    });

    it('the claims of the id_token come along; ES512 is expected where nothing says otherwise', async () => {
      h.undiscovered();
      const pending = newSignIn(CONNECTION);
      h.service.on('POST', TOKEN, granted({ id_token: idToken({ nonce: pending.nonce, email: 'ada@example.com' }) }));
      const { claims } = await h.make().exchange(callback(pending), pending, signal);
      assert.deepEqual([claims?.sub, claims?.email], ['sub-1', 'ada@example.com']);
    });

    it('any algorithm the metadata offers is taken', async () => {
      h.discovered({ id_token_signing_alg_values_supported: ['ES512', 'RS256'] });
      const pending = newSignIn(CONNECTION);
      h.service.on('POST', TOKEN, granted({ id_token: idToken({ nonce: pending.nonce }, { alg: 'RS256' }) }));
      assert.equal((await h.make().exchange(callback(pending), pending, signal)).claims?.sub, 'sub-1');
    });

    const badTokens: readonly [string, object, object?][] = [
      ['another nonce', { nonce: 'somebody-else' }],
      ['no nonce', {}],
      ['another issuer', { iss: 'https://evil.example.com' }],
      ['another audience', { aud: 'another-client' }],
      ['an end an hour ago', { exp: Math.floor(Date.now() / 1000) - 3600 }],
      ['RS256 where ES512 is expected', {}, { alg: 'RS256' }],
      ['no signature', {}, { alg: 'none' }],
    ];
    for (const [what, claims, header] of badTokens) {
      it(`an id_token with ${what} is refused`, async () => {
        h.undiscovered();
        const pending = newSignIn(CONNECTION);
        const ours = what.includes('nonce') ? {} : { nonce: pending.nonce };
        h.service.on('POST', TOKEN, granted({ id_token: idToken({ ...ours, ...claims }, header) }));
        const error = await failure(h.make().exchange(callback(pending), pending, signal));
        assert.equal(error.kind, 'protocol');
        assert.match(error.message, / not used\./);
      });
    }

    it('the lifetime of what the code was exchanged for is counted from the asking', async () => {
      let now = 1_000_000;
      const pending = newSignIn({ ...CONNECTION, scope: '' });
      const server = {
        exchange: async () => {
          now += 25_000;
          return { accessToken: 'access-1', expiresInSeconds: 3600, claims: { sub: 'ada' } };
        },
      } as unknown as AuthorizationServer;
      const deps = { connection: CONNECTION, server, addSecret: () => {}, log: silentLog, now: () => now };
      const session = await finishSignIn(deps, callback(pending), pending, signal);
      assert.equal(session.expiresAt, 1_000_000 + 3_540_000);
    });

    it('no id_token though `openid` was asked for is refused: the nonce could not be compared', async () => {
      h.undiscovered().on('POST', TOKEN, granted());
      const pending = newSignIn(CONNECTION);
      assert.equal((await failure(h.make().exchange(callback(pending), pending, signal))).kind, 'protocol');
    });

    const badCallbacks: readonly [string, Record<string, string>][] = [
      ['another state', { state: 'another' }],
      ['an `iss` of somebody else (mix-up)', { iss: 'https://evil.example.com' }],
      ['an id_token (implicit flow)', { id_token: 'x' }],
    ];
    for (const [what, params] of badCallbacks) {
      it(`a callback with ${what} is refused before the code is sent anywhere`, async () => {
        h.undiscovered();
        const pending = newSignIn(CONNECTION);
        const error = await failure(h.make().exchange(callback(pending, params), pending, signal));
        assert.equal(error.kind, 'protocol');
        assert.deepEqual(h.service.asked, [`GET ${DISCOVERY}`]);
      });
    }

    it('the service’s own `iss` is fine', async () => {
      h.undiscovered().on('POST', TOKEN, granted());
      const pending = newSignIn({ ...CONNECTION, scope: '' });
      await h.make({ scope: '' }).exchange(callback(pending, { iss: ORIGIN }), pending, signal);
    });

    it('a refusal on the page is told in the service’s words', async () => {
      h.undiscovered();
      const pending = newSignIn(CONNECTION);
      const params = { error: 'access_denied', error_description: 'The user said <b>no</b>' };
      const error = await failure(h.make().exchange(callback(pending, params), pending, signal));
      assert.deepEqual([error.kind, error.details.code], ['invalidRequest', 'access_denied']);
      assert.match(error.message, /denied or canceled on the provider’s page\. Server response: The user said no$/);
    });

    it('so is any other error that comes back', async () => {
      h.undiscovered();
      const pending = newSignIn(CONNECTION);
      const error = await failure(h.make().exchange(callback(pending, { error: 'invalid_scope' }), pending, signal));
      assert.match(error.message, /returned the error "invalid_scope"\.$/);
    });
  });

  describe('who it is', () => {
    it('the userinfo endpoint is asked with the access token', async () => {
      h.undiscovered().on('GET', USERINFO, { status: 200, body: fixture('userinfo.json') });
      assert.deepEqual(await h.make().userInfo('access-1', signal), fixture('userinfo.json'));
      assert.equal(h.service.requests.at(-1)?.headers.authorization, 'Bearer access-1');
    });

    it('a refused token is told as such', async () => {
      const headers = { 'www-authenticate': 'Bearer error="invalid_token"' };
      h.undiscovered().on('GET', USERINFO, { status: 401, body: { error: 'access_denied' }, headers });
      const error = await failure(h.make().userInfo('access-1', signal));
      assert.ok(error instanceof RolecallError);
      assert.deepEqual([error.kind, error.details.status], ['sessionEnded', 401]);
    });
  });
});
