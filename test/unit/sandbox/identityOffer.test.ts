import assert from 'node:assert/strict';
import { problem, useSandbox, withSandbox } from './fixture.ts';
import { getList, signIn } from './walk.ts';

describe('sandbox identity: what is offered and what is not', () => {
  const sandbox = useSandbox();

  const discovery = async (): Promise<Record<string, unknown>> =>
    (await (await fetch(`${sandbox.descriptor.identity}/.well-known/openid-configuration`)).json()) as Record<
      string,
      unknown
    >;

  it('publishes the paths of the specification', async () => {
    const document = await discovery();
    assert.equal(document.issuer, sandbox.descriptor.identity);
    assert.deepEqual(
      ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'].map((name) => document[name]),
      ['authorization', 'token', 'userinfo', 'jwks'].map((name) => `${sandbox.descriptor.identity}/oauth2/v2/${name}`),
    );
    assert.deepEqual(document.token_endpoint_auth_methods_supported, ['client_secret_basic', 'client_secret_post']);
    assert.deepEqual(document.id_token_signing_alg_values_supported, ['ES512']);
    assert.deepEqual(document.code_challenge_methods_supported, ['S256']);
    assert.deepEqual(document.response_types_supported, ['code']);
    assert.deepEqual(document.grant_types_supported, ['authorization_code', 'refresh_token']);
  });

  it('announces no registration, revocation, introspection, end_session, device or PAR endpoint, and no `iss`', async () => {
    const document = await discovery();
    for (const name of [
      'registration_endpoint',
      'revocation_endpoint',
      'introspection_endpoint',
      'end_session_endpoint',
      'device_authorization_endpoint',
      'pushed_authorization_request_endpoint',
      'authorization_response_iss_parameter_supported',
    ]) {
      assert.ok(!(name in document), name);
    }
  });

  const missing = [
    'POST /session/end/confirm',
    'POST /token/revocation',
    'POST /token/introspection',
    'POST /reg',
    'POST /device/auth',
    'POST /request',
    'GET /.well-known/oauth-authorization-server',
    'GET /',
  ];
  for (const route of missing) {
    it(`answers 404 not_found to ${route}`, async () => {
      const [method = '', path] = route.split(' ');
      const [status, error] = await problem(await fetch(`${sandbox.descriptor.identity}${path}`, { method }));
      assert.deepEqual([status, error], [404, 'not_found']);
    });
  }

  it('answers 405 method_not_allowed to GET at the token endpoint', async () => {
    const response = await fetch(`${sandbox.descriptor.identity}/oauth2/v2/token`);
    assert.equal(response.headers.get('allow'), 'POST');
    const [status, error] = await problem(response);
    assert.deepEqual([status, error], [405, 'method_not_allowed']);
  });

  it('tells who is signed in at userinfo', async () => {
    const { access_token } = await signIn(sandbox.descriptor, { scope: 'openid email' });
    const response = await getList(sandbox.descriptor, '/oauth2/v2/userinfo', access_token);
    assert.deepEqual(await response.json(), {
      sub: sandbox.descriptor.people[0]?.id,
      email: 'ada.moreau@meridian.example',
      email_verified: true,
    });
  });

  it('can do without discovery and without the list of organizations', async () => {
    await withSandbox({ discovery: false, organizationList: false }, async (bare) => {
      const { access_token } = await signIn(bare.descriptor);
      for (const path of ['/.well-known/openid-configuration', '/api/v1/organizations']) {
        assert.equal((await getList(bare.descriptor, path, access_token)).status, 404, path);
      }
    });
  });

  it('registers the redirect URIs it was told', async () => {
    const redirectUri = 'http://127.0.0.1:49155/somewhere/else';
    const linkRedirectUri = 'vscode-insiders://rolecall.rolecall/callback';
    await withSandbox({ redirectUri, linkRedirectUri }, async (told) => {
      assert.equal(told.descriptor.clients.loopback.redirectUri, redirectUri);
      assert.ok((await signIn(told.descriptor)).access_token);
      assert.ok((await signIn(told.descriptor, { client: 'link' })).access_token);
    });
  });
});
