import assert from 'node:assert/strict';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { GROUPS, problem, useSandbox } from './fixture.ts';
import { codeFor, getList, signIn, tokenRequest } from './walk.ts';

const VERIFIER = 'a-verifier-of-more-than-forty-three-characters-0123456789';

describe('sandbox identity: the token endpoint', () => {
  const sandbox = useSandbox();

  const claimsOf = async (idToken: string, audience = sandbox.descriptor.clients.loopback.id) =>
    (
      await jwtVerify(idToken, createRemoteJWKSet(new URL(`${sandbox.descriptor.identity}/oauth2/v2/jwks`)), {
        issuer: sandbox.descriptor.identity,
        audience,
        algorithms: ['ES512'],
      })
    ).payload;

  async function exchange(
    form: Record<string, string>,
    client = sandbox.descriptor.clients.loopback,
  ): Promise<Response> {
    return tokenRequest(sandbox.descriptor, client, {
      grant_type: 'authorization_code',
      redirect_uri: client.redirectUri,
      ...form,
    });
  }

  it('answers exactly token_type, access_token, refresh_token, id_token and a truthful expires_in', async () => {
    const tokens = await signIn(sandbox.descriptor, { scope: 'openid email profile' });
    assert.deepEqual(Object.keys(tokens).sort(), [
      'access_token',
      'expires_in',
      'id_token',
      'refresh_token',
      'token_type',
    ]);
    assert.equal(tokens.token_type, 'Bearer');
    assert.equal(tokens.expires_in, 3600);
  });

  it('issues opaque tokens of realistic length', async () => {
    const { code } = await codeFor(sandbox.descriptor);
    const tokens = await signIn(sandbox.descriptor);
    assert.equal(code.length, 2000);
    assert.equal(tokens.access_token.length, 1500);
    assert.equal(tokens.refresh_token.length, 1200);
  });

  it('signs the id token ES512, with nonce, name and address as asked', async () => {
    const { id_token = '' } = await signIn(sandbox.descriptor, {
      scope: 'openid email profile',
      params: { nonce: 'n-1' },
    });
    assert.equal(decodeProtectedHeader(id_token).alg, 'ES512');
    const { nonce, name, email } = await claimsOf(id_token);
    assert.deepEqual([nonce, name, email], ['n-1', 'Ada Moreau', 'ada.moreau@meridian.example']);
  });

  it('tells no name or address when the scope was openid alone', async () => {
    const claims = await claimsOf((await signIn(sandbox.descriptor)).id_token ?? '');
    assert.deepEqual([claims.name, claims.email, claims.sub], [undefined, undefined, sandbox.descriptor.people[0]?.id]);
  });

  for (const scope of [undefined, '', 'something-else', 'email']) {
    it(`issues both tokens but no id token for the scope ${JSON.stringify(scope)}`, async () => {
      const tokens = await signIn(sandbox.descriptor, { scope });
      assert.equal(tokens.id_token, undefined);
      assert.ok(tokens.refresh_token);
      assert.equal((await getList(sandbox.descriptor, GROUPS, tokens.access_token)).status, 200);
    });
  }

  it('issues a refresh token without offline_access', async () => {
    assert.ok((await signIn(sandbox.descriptor, { scope: 'openid' })).refresh_token);
  });

  it('does not require PKCE', async () => {
    assert.ok((await signIn(sandbox.descriptor, { pkce: false })).access_token);
  });

  const verifiers: [string, Record<string, string>][] = [
    ['a wrong verifier', { code_verifier: `${VERIFIER}x` }],
    ['a missing verifier', {}],
    ['a verifier that is too short', { code_verifier: 'short' }],
  ];
  for (const [what, form] of verifiers) {
    it(`answers 400 invalid_client to ${what}`, async () => {
      const { code } = await codeFor(sandbox.descriptor, { pkce: VERIFIER });
      const [status, error] = await problem(await exchange({ code, ...form }));
      assert.deepEqual([status, error], [400, 'invalid_client']);
    });
  }

  it('answers 400 invalid_client to a verifier nobody asked for', async () => {
    const { code } = await codeFor(sandbox.descriptor, { pkce: false });
    const [status, error] = await problem(await exchange({ code, code_verifier: VERIFIER }));
    assert.deepEqual([status, error], [400, 'invalid_client']);
  });

  it('takes a code once; replaying it is refused and ends the session it began (RFC 6749 section 4.1.2)', async () => {
    const { code } = await codeFor(sandbox.descriptor);
    const tokens = (await (await exchange({ code })).json()) as { access_token: string };
    assert.equal((await getList(sandbox.descriptor, GROUPS, tokens.access_token)).status, 200);
    const [status, error] = await problem(await exchange({ code }));
    assert.deepEqual([status, error], [400, 'invalid_grant']);
    assert.equal((await getList(sandbox.descriptor, GROUPS, tokens.access_token)).status, 401);
  });

  it('lets one of ten exchanges of a code at the same moment win', async () => {
    const { code } = await codeFor(sandbox.descriptor);
    const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await exchange({ code })).status));
    assert.deepEqual(statuses.sort(), [200, ...Array.from({ length: 9 }, () => 400)]);
  });

  it('refuses a code of the other client and a redirect URI other than the one it was asked with', async () => {
    const { code } = await codeFor(sandbox.descriptor);
    const [, other] = await problem(await exchange({ code }, sandbox.descriptor.clients.link));
    const [, moved] = await problem(
      await exchange({ code, redirect_uri: `${sandbox.descriptor.clients.loopback.redirectUri}/` }),
    );
    assert.deepEqual([other, moved], ['invalid_grant', 'invalid_grant']);
  });

  const credentials: [string, () => Record<string, string>, [number, string]][] = [
    [
      'no secret, even with PKCE',
      () => ({ client_id: sandbox.descriptor.clients.loopback.id }),
      [400, 'invalid_request'],
    ],
    [
      'a wrong secret',
      () => ({ client_id: sandbox.descriptor.clients.loopback.id, client_secret: 'wrong' }),
      [400, 'invalid_request'],
    ],
    ['an unknown client', () => ({ client_id: 'nobody', client_secret: 'wrong' }), [400, 'invalid_request']],
    ['no client at all', () => ({}), [400, 'invalid_request']],
  ];
  for (const [what, form, expected] of credentials) {
    it(`answers ${expected.join(' ')} to ${what}`, async () => {
      const { code } = await codeFor(sandbox.descriptor, { pkce: VERIFIER });
      const response = await fetch(`${sandbox.descriptor.identity}/oauth2/v2/token`, {
        method: 'POST',
        headers: { accept: 'text/html' },
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          code,
          code_verifier: VERIFIER,
          redirect_uri: sandbox.descriptor.clients.loopback.redirectUri,
          ...form(),
        }),
      });
      const [status, error] = await problem(response);
      assert.deepEqual([status, error], expected);
    });
  }

  it('compares Basic credentials raw', async () => {
    const { code, client } = await codeFor(sandbox.descriptor);
    const response = await basic(`${client.id}:${client.secret}`, code);
    assert.equal(response.status, 200);
  });

  it('refuses a url-encoded id in Basic: 400 invalid_grant "client_id mismatch"', async () => {
    const { code, client } = await codeFor(sandbox.descriptor);
    const encoded = client.id.replaceAll('-', '%2D');
    assert.deepEqual(await problem(await basic(`${encoded}:${encodeURIComponent(client.secret)}`, code)), [
      400,
      'invalid_grant',
      'client_id mismatch',
    ]);
  });

  it('refuses a url-encoded secret in Basic', async () => {
    const { code, client } = await codeFor(sandbox.descriptor);
    assert.notEqual(encodeURIComponent(client.secret), client.secret);
    const [status, error] = await problem(await basic(`${client.id}:${encodeURIComponent(client.secret)}`, code));
    assert.deepEqual([status, error], [400, 'invalid_request']);
  });

  it('refuses another grant type and a body that is no form', async () => {
    const client = sandbox.descriptor.clients.loopback;
    const [status, error] = await problem(
      await tokenRequest(sandbox.descriptor, client, { grant_type: 'client_credentials' }),
    );
    assert.deepEqual([status, error], [400, 'unsupported_grant_type']);
    const json = await fetch(`${sandbox.descriptor.identity}/oauth2/v2/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    assert.equal((await problem(json))[1], 'invalid_request');
  });

  function basic(credentials: string, code: string): Promise<Response> {
    return fetch(`${sandbox.descriptor.identity}/oauth2/v2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: sandbox.descriptor.clients.loopback.redirectUri,
      }),
    });
  }
});
