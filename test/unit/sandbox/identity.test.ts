import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { type RunningSandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import type { SandboxDescriptor } from '../../../src/sandbox/types.ts';
import {
  authorizationUrl,
  authorize,
  Browser,
  codeFor,
  getList,
  location,
  refresh,
  signIn,
  tokenRequest,
} from './walk.ts';

const VERIFIER = 'a-verifier-of-more-than-forty-three-characters-0123456789';
const GROUPS = '/api/v1/organizations/meridian/groups';

let sandbox: RunningSandbox;
let descriptor: SandboxDescriptor;

before(async () => {
  sandbox = await startSandbox();
  descriptor = sandbox.descriptor;
});

after(() => sandbox.close());

const counters = async (): Promise<Record<string, number>> =>
  (await (await fetch(`${descriptor.control}/counters`)).json()) as Record<string, number>;

/** How much a counter grew while `action` ran. */
async function growth(name: string, action: () => Promise<unknown>): Promise<number> {
  const before = (await counters())[name] ?? 0;
  await action();
  return ((await counters())[name] ?? 0) - before;
}

const claimsOf = async (idToken: string, audience = descriptor.clients.loopback.id) =>
  (
    await jwtVerify(idToken, createRemoteJWKSet(new URL(`${descriptor.identity}/oauth2/v2/jwks`)), {
      issuer: descriptor.identity,
      audience,
      algorithms: ['ES512'],
    })
  ).payload;

async function exchange(form: Record<string, string>, client = descriptor.clients.loopback): Promise<Response> {
  return tokenRequest(descriptor, client, {
    grant_type: 'authorization_code',
    redirect_uri: client.redirectUri,
    ...form,
  });
}

const errorOf = async (response: Response): Promise<[number, string, string]> => {
  const body = (await response.json()) as { error: string; error_description: string };
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  return [response.status, body.error, body.error_description];
};

function requestParams(overrides: Record<string, string | undefined> = {}): Record<string, string> {
  const { id, redirectUri } = descriptor.clients.loopback;
  const params = { client_id: id, redirect_uri: redirectUri, response_type: 'code', scope: 'openid', ...overrides };
  return Object.fromEntries(Object.entries(params).filter((pair): pair is [string, string] => pair[1] !== undefined));
}

describe('sandbox identity: the authorization endpoint', () => {
  it('leads to a page that offers the three people, without passwords, scripts or foreign resources', async () => {
    const browser = new Browser();
    const page = location(await browser.visit(authorizationUrl(descriptor, requestParams())));
    const response = await browser.visit(`${descriptor.identity}${page}`);
    const html = await response.text();
    assert.equal(response.status, 200);
    for (const { name, about } of descriptor.people) {
      assert.ok(html.includes(name), name);
      assert.ok(html.includes(about.slice(0, 20)), about);
    }
    assert.match(html, /Rolecall sandbox/);
    assert.match(html, /<html lang="en">/);
    assert.match(html, /prefers-color-scheme: dark/);
    assert.doesNotMatch(html, /<script|type="password"|https?:\/\/(?!127\.0\.0\.1)/);
    assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  });

  it('answers with the redirect URI as registered, `?`, the code and the state, form-encoded', async () => {
    const answer = await authorize(descriptor, requestParams({ state: 'a b+c/ü' }));
    assert.ok(answer.startsWith(`${descriptor.clients.loopback.redirectUri}?`), answer.slice(0, 80));
    assert.match(answer, /&state=a\+b%2Bc%2F%C3%BC$/);
    assert.deepEqual([...new URL(answer).searchParams.keys()], ['code', 'state']);
  });

  it('answers a cancelled sign-in with error, error_description and state, without `iss`', async () => {
    const answer = await authorize(descriptor, requestParams({ state: 's1' }), 'cancel');
    const params = Object.fromEntries(new URL(answer).searchParams);
    assert.deepEqual(params, {
      error: 'access_denied',
      error_description: 'The sign-in was cancelled.',
      state: 's1',
    });
  });

  it('signs the editor link client in over its own scheme', async () => {
    const { id, redirectUri } = descriptor.clients.link;
    const answer = await authorize(descriptor, requestParams({ client_id: id, redirect_uri: redirectUri }));
    assert.match(answer, /^vscode:\/\/rolecall\.rolecall\/callback\?code=[\w-]{1500,2500}$/);
  });

  const refused: [string, () => Record<string, string | undefined>][] = [
    ['an unknown client', () => ({ client_id: 'b7f5b9d6-0000-4000-8000-000000000000' })],
    ['another path', () => ({ redirect_uri: `${descriptor.clients.loopback.redirectUri}/x` })],
    ['a trailing slash', () => ({ redirect_uri: `${descriptor.clients.loopback.redirectUri}/` })],
    [
      'an added query (asExternalUri)',
      () => ({ redirect_uri: `${descriptor.clients.loopback.redirectUri}?windowId=1` }),
    ],
    [
      'another loopback port (the library follows RFC 8252 here; the service does not)',
      () => ({ redirect_uri: descriptor.clients.loopback.redirectUri.replace(/:\d+/, ':1') }),
    ],
    [
      'localhost for 127.0.0.1',
      () => ({ redirect_uri: descriptor.clients.loopback.redirectUri.replace('127.0.0.1', 'localhost') }),
    ],
    ['the URI of the other client', () => ({ redirect_uri: descriptor.clients.link.redirectUri })],
    ['no redirect URI (the library would take the only one registered)', () => ({ redirect_uri: undefined })],
    [
      'an added query on the editor link',
      () => ({
        client_id: descriptor.clients.link.id,
        redirect_uri: `${descriptor.clients.link.redirectUri}?windowId=1`,
      }),
    ],
  ];
  for (const [what, overrides] of refused) {
    it(`shows an HTML 400 page and never redirects for ${what}`, async () => {
      const response = await new Browser().visit(authorizationUrl(descriptor, requestParams(overrides())));
      assert.equal(response.status, 400);
      assert.equal(response.headers.get('location'), null);
      assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
      assert.match(await response.text(), /This sign-in cannot go on/);
    });
  }

  const redirected: [string, Record<string, string>, string][] = [
    ['an unsupported response type', { response_type: 'none' }, 'unsupported_response_type'],
    ['the implicit flow', { response_type: 'token' }, 'invalid_request'],
    ['a plain code challenge', { code_challenge: VERIFIER, code_challenge_method: 'plain' }, 'invalid_request'],
    ['a silent sign-in (nobody is remembered)', { prompt: 'none' }, 'login_required'],
  ];
  for (const [what, overrides, error] of redirected) {
    it(`redirects with ${error} for ${what}`, async () => {
      const response = await new Browser().visit(
        authorizationUrl(descriptor, requestParams({ state: 's', ...overrides })),
      );
      const answer = new URL(location(response));
      assert.equal(`${answer.origin}${answer.pathname}`, descriptor.clients.loopback.redirectUri);
      assert.equal(answer.searchParams.get('error'), error);
      assert.equal(answer.searchParams.get('state'), 's');
      assert.equal(answer.searchParams.get('iss'), null);
      assert.ok(answer.searchParams.get('error_description'));
    });
  }

  it('remembers nobody: in the same browser a second sign-in offers the people again, and another may be chosen', async () => {
    const browser = new Browser();
    const first = await signIn(descriptor, { person: 0, browser });
    const second = await signIn(descriptor, { person: 1, browser });
    assert.equal((await claimsOf(first.id_token ?? '')).sub, descriptor.people[0]?.id);
    assert.equal((await claimsOf(second.id_token ?? '')).sub, descriptor.people[1]?.id);
  });

  it('offers the people for prompt=select_account, login and consent alike', async () => {
    for (const prompt of ['select_account', 'login', 'consent', 'login consent']) {
      assert.match(await authorize(descriptor, requestParams({ prompt })), /\?code=/, prompt);
    }
  });

  it('says so when the sign-in page is opened a second time', async () => {
    const browser = new Browser();
    const page = location(await browser.visit(authorizationUrl(descriptor, requestParams())));
    const foreign = await new Browser().visit(`${descriptor.identity}${page}`);
    assert.equal(foreign.status, 400);
    assert.match(await foreign.text(), /This sign-in is over/);
  });

  it('keeps two sandboxes on two ports of 127.0.0.1 apart in one browser', async () => {
    const other = await startSandbox();
    try {
      const browser = new Browser();
      const startUrl = (from: SandboxDescriptor): string =>
        authorizationUrl(from, {
          client_id: from.clients.loopback.id,
          redirect_uri: from.clients.loopback.redirectUri,
          response_type: 'code',
        });
      // Both begin before either ends, as two windows would.
      const pages = [descriptor, other.descriptor].map(async (from) => {
        const page = location(await browser.visit(startUrl(from)));
        return `${from.identity}${page}`;
      });
      for (const [index, page] of (await Promise.all(pages)).entries()) {
        const from = index === 0 ? descriptor : other.descriptor;
        const body = new URLSearchParams({ person: from.people[index]?.id ?? '' });
        const submitted = await browser.visit(page, { method: 'POST', body });
        const answer = location(await browser.visit(location(submitted)));
        assert.ok(answer.startsWith(`${from.clients.loopback.redirectUri}?code=`), answer.slice(0, 90));
      }
      assert.equal(new Set(browser.cookieNames.map((name) => name.split('_')[1])).size, 2);
    } finally {
      await other.close();
    }
  });
});

describe('sandbox identity: the token endpoint', () => {
  it('answers exactly token_type, access_token, refresh_token, id_token and a truthful expires_in', async () => {
    const tokens = await signIn(descriptor, { scope: 'openid email profile' });
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
    const { code } = await codeFor(descriptor);
    const tokens = await signIn(descriptor);
    assert.equal(code.length, 2000);
    assert.equal(tokens.access_token.length, 1500);
    assert.equal(tokens.refresh_token.length, 1200);
  });

  it('signs the id token ES512, with nonce, name and address as asked', async () => {
    const { id_token = '' } = await signIn(descriptor, { scope: 'openid email profile', params: { nonce: 'n-1' } });
    assert.equal(decodeProtectedHeader(id_token).alg, 'ES512');
    const { nonce, name, email } = await claimsOf(id_token);
    assert.deepEqual([nonce, name, email], ['n-1', 'Ada Moreau', 'ada.moreau@meridian.example']);
  });

  it('tells no name or address when the scope was openid alone', async () => {
    const claims = await claimsOf((await signIn(descriptor)).id_token ?? '');
    assert.deepEqual([claims.name, claims.email, claims.sub], [undefined, undefined, descriptor.people[0]?.id]);
  });

  for (const scope of [undefined, '', 'something-else', 'email']) {
    it(`issues both tokens but no id token for the scope ${JSON.stringify(scope)} (the library refuses an empty grant)`, async () => {
      const tokens = await signIn(descriptor, { scope });
      assert.equal(tokens.id_token, undefined);
      assert.ok(tokens.refresh_token);
      assert.equal((await getList(descriptor, GROUPS, tokens.access_token)).status, 200);
    });
  }

  it('issues a refresh token without offline_access (the library would not)', async () => {
    assert.ok((await signIn(descriptor, { scope: 'openid' })).refresh_token);
  });

  it('does not require PKCE', async () => {
    assert.ok((await signIn(descriptor, { pkce: false })).access_token);
  });

  const verifiers: [string, Record<string, string>][] = [
    ['a wrong verifier', { code_verifier: `${VERIFIER}x` }],
    ['a missing verifier', {}],
    ['a verifier that is too short', { code_verifier: 'short' }],
  ];
  for (const [what, form] of verifiers) {
    it(`answers 400 invalid_client to ${what} (the library: invalid_grant)`, async () => {
      const { code } = await codeFor(descriptor, { pkce: VERIFIER });
      const [status, error] = await errorOf(await exchange({ code, ...form }));
      assert.deepEqual([status, error], [400, 'invalid_client']);
    });
  }

  it('answers 400 invalid_client to a verifier nobody asked for', async () => {
    const { code } = await codeFor(descriptor, { pkce: false });
    const [status, error] = await errorOf(await exchange({ code, code_verifier: VERIFIER }));
    assert.deepEqual([status, error], [400, 'invalid_client']);
  });

  it('takes a code once; replaying it is refused and ends the session it began (RFC 6749 section 4.1.2)', async () => {
    const { code } = await codeFor(descriptor);
    const tokens = (await (await exchange({ code })).json()) as { access_token: string };
    assert.equal((await getList(descriptor, GROUPS, tokens.access_token)).status, 200);
    const [status, error] = await errorOf(await exchange({ code }));
    assert.deepEqual([status, error], [400, 'invalid_grant']);
    assert.equal((await getList(descriptor, GROUPS, tokens.access_token)).status, 401);
  });

  it('lets one of ten exchanges of a code at the same moment win', async () => {
    const { code } = await codeFor(descriptor);
    const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await exchange({ code })).status));
    assert.deepEqual(statuses.sort(), [200, ...Array.from({ length: 9 }, () => 400)]);
  });

  it('refuses a code of the other client and a redirect URI other than the one it was asked with', async () => {
    const { code } = await codeFor(descriptor);
    const [, other] = await errorOf(await exchange({ code }, descriptor.clients.link));
    const [, moved] = await errorOf(
      await exchange({ code, redirect_uri: `${descriptor.clients.loopback.redirectUri}/` }),
    );
    assert.deepEqual([other, moved], ['invalid_grant', 'invalid_grant']);
  });

  const credentials: [string, () => Record<string, string>, [number, string]][] = [
    ['no secret, even with PKCE', () => ({ client_id: descriptor.clients.loopback.id }), [400, 'invalid_request']],
    [
      'a wrong secret',
      () => ({ client_id: descriptor.clients.loopback.id, client_secret: 'wrong' }),
      [400, 'invalid_request'],
    ],
    ['an unknown client', () => ({ client_id: 'nobody', client_secret: 'wrong' }), [400, 'invalid_request']],
    ['no client at all', () => ({}), [400, 'invalid_request']],
  ];
  for (const [what, form, expected] of credentials) {
    it(`answers ${expected.join(' ')} to ${what} (the library: 401 invalid_client)`, async () => {
      const { code } = await codeFor(descriptor, { pkce: VERIFIER });
      const response = await fetch(`${descriptor.identity}/oauth2/v2/token`, {
        method: 'POST',
        headers: { accept: 'text/html' },
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          code,
          code_verifier: VERIFIER,
          redirect_uri: descriptor.clients.loopback.redirectUri,
          ...form(),
        }),
      });
      const [status, error] = await errorOf(response);
      assert.deepEqual([status, error], expected);
    });
  }

  it('compares Basic credentials raw', async () => {
    const { code, client } = await codeFor(descriptor);
    const response = await basic(`${client.id}:${client.secret}`, code);
    assert.equal(response.status, 200);
  });

  it('refuses a url-encoded id in Basic: 400 invalid_grant "client_id mismatch" (the library would decode it)', async () => {
    const { code, client } = await codeFor(descriptor);
    const encoded = client.id.replaceAll('-', '%2D');
    assert.deepEqual(await errorOf(await basic(`${encoded}:${encodeURIComponent(client.secret)}`, code)), [
      400,
      'invalid_grant',
      'client_id mismatch',
    ]);
  });

  it('refuses a url-encoded secret in Basic', async () => {
    const { code, client } = await codeFor(descriptor);
    assert.notEqual(encodeURIComponent(client.secret), client.secret);
    const [status, error] = await errorOf(await basic(`${client.id}:${encodeURIComponent(client.secret)}`, code));
    assert.deepEqual([status, error], [400, 'invalid_request']);
  });

  it('refuses another grant type and a body that is no form', async () => {
    const client = descriptor.clients.loopback;
    const [status, error] = await errorOf(await tokenRequest(descriptor, client, { grant_type: 'client_credentials' }));
    assert.deepEqual([status, error], [400, 'unsupported_grant_type']);
    const json = await fetch(`${descriptor.identity}/oauth2/v2/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    assert.equal((await errorOf(json))[1], 'invalid_request');
  });

  function basic(credentials: string, code: string): Promise<Response> {
    return fetch(`${descriptor.identity}/oauth2/v2/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: descriptor.clients.loopback.redirectUri,
      }),
    });
  }
});

describe('sandbox identity: one session per client and person', () => {
  it('rotates: a new pair, no id token, and the old access token is dead at once', async () => {
    const old = await signIn(descriptor);
    const response = await refresh(descriptor, descriptor.clients.loopback, old.refresh_token);
    const fresh = (await response.json()) as Record<string, string>;
    assert.deepEqual(Object.keys(fresh).sort(), ['access_token', 'expires_in', 'refresh_token', 'token_type']);
    assert.notEqual(fresh.refresh_token, old.refresh_token);
    assert.equal((await getList(descriptor, GROUPS, old.access_token)).status, 401);
    assert.equal((await getList(descriptor, GROUPS, fresh.access_token ?? '')).status, 200);
  });

  it('refuses a spent refresh token, counts it and leaves the live session alone (the library revokes the grant)', async () => {
    const old = await signIn(descriptor);
    const client = descriptor.clients.loopback;
    const fresh = (await (await refresh(descriptor, client, old.refresh_token)).json()) as Record<string, string>;
    const reused = await growth('refreshes.reused', async () => {
      assert.deepEqual(await errorOf(await refresh(descriptor, client, old.refresh_token)), [
        400,
        'invalid_grant',
        'refresh token reuse',
      ]);
    });
    assert.equal(reused, 1);
    assert.equal((await getList(descriptor, GROUPS, fresh.access_token ?? '')).status, 200);
    assert.equal((await refresh(descriptor, client, fresh.refresh_token ?? '')).status, 200);
  });

  it('lets one of twenty refreshes at the same moment win, and its tokens live', async () => {
    const { refresh_token } = await signIn(descriptor);
    const client = descriptor.clients.loopback;
    let answers: { status: number; body: Record<string, string> }[] = [];
    const reused = await growth('refreshes.reused', async () => {
      answers = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const response = await refresh(descriptor, client, refresh_token);
          return { status: response.status, body: (await response.json()) as Record<string, string> };
        }),
      );
    });
    const [winner, ...others] = answers.filter(({ status }) => status === 200);
    assert.deepEqual([others.length, reused], [0, 19]);
    assert.equal((await getList(descriptor, GROUPS, winner?.body.access_token ?? '')).status, 200);
  });

  it('ends the first session when the same person signs in to the same client again', async () => {
    const first = await signIn(descriptor);
    const second = await signIn(descriptor);
    assert.equal((await getList(descriptor, GROUPS, first.access_token)).status, 401);
    const superseded = await growth('refreshes.superseded', async () => {
      const [status, error] = await errorOf(
        await refresh(descriptor, descriptor.clients.loopback, first.refresh_token),
      );
      assert.deepEqual([status, error], [400, 'invalid_grant']);
    });
    assert.equal(superseded, 1);
    assert.equal((await getList(descriptor, GROUPS, second.access_token)).status, 200);
    assert.equal((await refresh(descriptor, descriptor.clients.loopback, second.refresh_token)).status, 200);
  });

  it('keeps the sessions of another client and of another person', async () => {
    const link = await signIn(descriptor, { client: 'link' });
    const other = await signIn(descriptor, { person: 1 });
    await signIn(descriptor);
    assert.equal((await getList(descriptor, GROUPS, link.access_token)).status, 200);
    assert.equal((await getList(descriptor, GROUPS, other.access_token)).status, 403);
  });

  it('checks the secret before the refresh token is touched', async () => {
    const { refresh_token } = await signIn(descriptor);
    const client = descriptor.clients.loopback;
    const [status, error] = await errorOf(
      await tokenRequest(
        descriptor,
        { id: client.id, secret: 'wrong' },
        { grant_type: 'refresh_token', refresh_token },
      ),
    );
    assert.deepEqual([status, error], [400, 'invalid_request']);
    assert.equal((await refresh(descriptor, client, refresh_token)).status, 200);
  });

  it('refuses a refresh token at the other client without touching it', async () => {
    const { refresh_token } = await signIn(descriptor);
    const [status, error] = await errorOf(await refresh(descriptor, descriptor.clients.link, refresh_token));
    assert.deepEqual([status, error], [400, 'invalid_grant']);
    assert.equal((await refresh(descriptor, descriptor.clients.loopback, refresh_token)).status, 200);
  });

  it('refuses a refresh token it never issued', async () => {
    const [status, error, description] = await errorOf(
      await refresh(descriptor, descriptor.clients.loopback, 'nothing'),
    );
    assert.deepEqual([status, error, description], [400, 'invalid_grant', 'refresh token not found']);
  });

  it('ends every session on demand', async () => {
    const tokens = await signIn(descriptor);
    const response = await fetch(`${descriptor.control}/sessions/end`, { method: 'POST' });
    assert.ok(((await response.json()) as { ended: number }).ended >= 1);
    assert.equal((await getList(descriptor, GROUPS, tokens.access_token)).status, 401);
    const [status, error] = await errorOf(await refresh(descriptor, descriptor.clients.loopback, tokens.refresh_token));
    assert.deepEqual([status, error], [400, 'invalid_grant']);
  });

  it('lets tokens live exactly as long as told (the library forgives 15 seconds)', async function () {
    this.timeout(10_000);
    const short = await startSandbox({ accessTokenSeconds: 1, refreshTokenSeconds: 2 });
    try {
      const tokens = await signIn(short.descriptor);
      assert.equal(tokens.expires_in, 1);
      assert.equal((await getList(short.descriptor, GROUPS, tokens.access_token)).status, 200);
      await wait(1050);
      assert.equal((await getList(short.descriptor, GROUPS, tokens.access_token)).status, 401);
      await wait(1000);
      const late = await refresh(short.descriptor, short.descriptor.clients.loopback, tokens.refresh_token);
      assert.deepEqual(await errorOf(late), [400, 'invalid_grant', 'refresh token is expired']);
    } finally {
      await short.close();
    }
  });
});

describe('sandbox identity: what is offered and what is not', () => {
  const discovery = async (): Promise<Record<string, unknown>> =>
    (await (await fetch(`${descriptor.identity}/.well-known/openid-configuration`)).json()) as Record<string, unknown>;

  it('publishes the paths of the specification', async () => {
    const document = await discovery();
    assert.equal(document.issuer, descriptor.identity);
    assert.deepEqual(
      ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'].map((name) => document[name]),
      ['authorization', 'token', 'userinfo', 'jwks'].map((name) => `${descriptor.identity}/oauth2/v2/${name}`),
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
      const [status, error] = await errorOf(await fetch(`${descriptor.identity}${path}`, { method }));
      assert.deepEqual([status, error], [404, 'not_found']);
    });
  }

  it('answers 405 method_not_allowed to GET at the token endpoint', async () => {
    const response = await fetch(`${descriptor.identity}/oauth2/v2/token`);
    assert.equal(response.headers.get('allow'), 'POST');
    const [status, error] = await errorOf(response);
    assert.deepEqual([status, error], [405, 'method_not_allowed']);
  });

  it('tells who is signed in at userinfo', async () => {
    const { access_token } = await signIn(descriptor, { scope: 'openid email' });
    const response = await getList(descriptor, '/oauth2/v2/userinfo', access_token);
    assert.deepEqual(await response.json(), {
      sub: descriptor.people[0]?.id,
      email: 'ada.moreau@meridian.example',
      email_verified: true,
    });
  });

  it('can do without discovery and without the list of organizations', async () => {
    const bare = await startSandbox({ discovery: false, organizationList: false });
    try {
      const { access_token } = await signIn(bare.descriptor);
      for (const path of ['/.well-known/openid-configuration', '/api/v1/organizations']) {
        assert.equal((await getList(bare.descriptor, path, access_token)).status, 404, path);
      }
    } finally {
      await bare.close();
    }
  });

  it('registers the redirect URIs it was told', async () => {
    const redirectUri = 'http://127.0.0.1:49155/somewhere/else';
    const linkRedirectUri = 'vscode-insiders://rolecall.rolecall/callback';
    const told = await startSandbox({ redirectUri, linkRedirectUri });
    try {
      assert.equal(told.descriptor.clients.loopback.redirectUri, redirectUri);
      assert.ok((await signIn(told.descriptor)).access_token);
      assert.ok((await signIn(told.descriptor, { client: 'link' })).access_token);
    } finally {
      await told.close();
    }
  });
});
