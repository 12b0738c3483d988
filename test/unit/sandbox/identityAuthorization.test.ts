import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { SandboxDescriptor } from '../../../src/sandbox/types.ts';
import { useSandbox, withSandbox } from './fixture.ts';
import { authorizationUrl, authorize, Browser, location, signIn } from './walk.ts';

describe('sandbox identity: the authorization endpoint', () => {
  const sandbox = useSandbox();

  function requestParams(overrides: Record<string, string | undefined> = {}): Record<string, string> {
    const { id, redirectUri } = sandbox.descriptor.clients.loopback;
    const params = { client_id: id, redirect_uri: redirectUri, response_type: 'code', scope: 'openid', ...overrides };
    return Object.fromEntries(Object.entries(params).filter((pair): pair is [string, string] => pair[1] !== undefined));
  }

  it('leads to a page that offers the three people, without passwords or foreign resources, and with no script but its own', async () => {
    const browser = new Browser();
    const page = location(await browser.visit(authorizationUrl(sandbox.descriptor, requestParams())));
    const response = await browser.visit(`${sandbox.descriptor.identity}${page}`);
    const html = await response.text();
    assert.equal(response.status, 200);
    for (const { name, about } of sandbox.descriptor.people) {
      assert.ok(html.includes(name), name);
      assert.ok(html.includes(about.slice(0, 20)), about);
    }
    assert.match(html, /Rolecall sandbox/);
    assert.match(html, /<html lang="en">/);
    assert.match(html, /prefers-color-scheme: dark/);
    assert.doesNotMatch(html, /<script[^>]|type="password"|https?:\/\/(?!127\.0\.0\.1)/);
    const [script] = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text = '']) => text);
    const hash = createHash('sha256')
      .update(script ?? '')
      .digest('base64');
    const policy = response.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.ok(policy.includes(`script-src 'sha256-${hash}';`), policy);
  });

  it('answers with the redirect URI as registered, `?`, the code and the state, form-encoded', async () => {
    const answer = await authorize(sandbox.descriptor, requestParams({ state: 'a b+c/ü' }));
    assert.ok(answer.startsWith(`${sandbox.descriptor.clients.loopback.redirectUri}?`), answer.slice(0, 80));
    assert.match(answer, /&state=a\+b%2Bc%2F%C3%BC$/);
    assert.deepEqual([...new URL(answer).searchParams.keys()], ['code', 'state']);
  });

  it('tells the page’s script the same address', async () => {
    const browser = new Browser();
    const params = requestParams({ state: 's' });
    const page = `${sandbox.descriptor.identity}${location(await browser.visit(authorizationUrl(sandbox.descriptor, params)))}`;
    const body = new URLSearchParams({ person: sandbox.descriptor.people[0]?.id ?? '' });
    const headers = { accept: 'application/json' };
    const answer = (await (await browser.visit(page, { method: 'POST', body, headers })).json()) as {
      location: string;
    };
    assert.ok(answer.location.startsWith(`${sandbox.descriptor.clients.loopback.redirectUri}?code=`));
    assert.match(answer.location, /&state=s$/);
  });

  it('answers a cancelled sign-in with error, error_description and state, without `iss`', async () => {
    const answer = await authorize(sandbox.descriptor, requestParams({ state: 's1' }), 'cancel');
    const params = Object.fromEntries(new URL(answer).searchParams);
    assert.deepEqual(params, {
      error: 'access_denied',
      error_description: 'The sign-in was cancelled.',
      state: 's1',
    });
  });

  it('signs the editor link client in over its own scheme', async () => {
    const { id, redirectUri } = sandbox.descriptor.clients.link;
    const answer = await authorize(sandbox.descriptor, requestParams({ client_id: id, redirect_uri: redirectUri }));
    assert.match(answer, /^vscode:\/\/rolecall\.rolecall\/callback\?code=[\w-]{1500,2500}$/);
  });

  const refused: [string, () => Record<string, string | undefined>][] = [
    ['an unknown client', () => ({ client_id: 'b7f5b9d6-0000-4000-8000-000000000000' })],
    ['another path', () => ({ redirect_uri: `${sandbox.descriptor.clients.loopback.redirectUri}/x` })],
    ['a trailing slash', () => ({ redirect_uri: `${sandbox.descriptor.clients.loopback.redirectUri}/` })],
    [
      'an added query (asExternalUri)',
      () => ({ redirect_uri: `${sandbox.descriptor.clients.loopback.redirectUri}?windowId=1` }),
    ],
    [
      'another loopback port (RFC 8252 lets it vary; the service does not)',
      () => ({ redirect_uri: sandbox.descriptor.clients.loopback.redirectUri.replace(/:\d+/, ':1') }),
    ],
    [
      'localhost for 127.0.0.1',
      () => ({ redirect_uri: sandbox.descriptor.clients.loopback.redirectUri.replace('127.0.0.1', 'localhost') }),
    ],
    ['the URI of the other client', () => ({ redirect_uri: sandbox.descriptor.clients.link.redirectUri })],
    ['no redirect URI', () => ({ redirect_uri: undefined })],
    [
      'an added query on the editor link',
      () => ({
        client_id: sandbox.descriptor.clients.link.id,
        redirect_uri: `${sandbox.descriptor.clients.link.redirectUri}?windowId=1`,
      }),
    ],
  ];
  for (const [what, overrides] of refused) {
    it(`shows an HTML 400 page and never redirects for ${what}`, async () => {
      const response = await new Browser().visit(authorizationUrl(sandbox.descriptor, requestParams(overrides())));
      assert.equal(response.status, 400);
      assert.equal(response.headers.get('location'), null);
      assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
      assert.match(await response.text(), /This sign-in can’t continue/);
    });
  }

  const redirected: [string, Record<string, string>, string][] = [
    ['an unsupported response type', { response_type: 'none' }, 'unsupported_response_type'],
    ['the implicit flow', { response_type: 'token' }, 'unsupported_response_type'],
    ['a plain code challenge', { code_challenge: 'c'.repeat(43), code_challenge_method: 'plain' }, 'invalid_request'],
    ['a silent sign-in (nobody is remembered)', { prompt: 'none' }, 'login_required'],
  ];
  for (const [what, overrides, error] of redirected) {
    it(`redirects with ${error} for ${what}`, async () => {
      const response = await new Browser().visit(
        authorizationUrl(sandbox.descriptor, requestParams({ state: 's', ...overrides })),
      );
      const answer = new URL(location(response));
      assert.equal(`${answer.origin}${answer.pathname}`, sandbox.descriptor.clients.loopback.redirectUri);
      assert.equal(answer.searchParams.get('error'), error);
      assert.equal(answer.searchParams.get('state'), 's');
      assert.equal(answer.searchParams.get('iss'), null);
      assert.ok(answer.searchParams.get('error_description'));
    });
  }

  it('remembers nobody: in the same browser a second sign-in offers the people again, and another may be chosen', async () => {
    const browser = new Browser();
    const first = await signIn(sandbox.descriptor, { person: 0, browser });
    const second = await signIn(sandbox.descriptor, { person: 1, browser });
    assert.equal(decodeJwt(first.id_token ?? '').sub, sandbox.descriptor.people[0]?.id);
    assert.equal(decodeJwt(second.id_token ?? '').sub, sandbox.descriptor.people[1]?.id);
  });

  it('offers the people for prompt=select_account, login and consent alike', async () => {
    for (const prompt of ['select_account', 'login', 'consent', 'login consent']) {
      assert.match(await authorize(sandbox.descriptor, requestParams({ prompt })), /\?code=/, prompt);
    }
  });

  it('says so when the sign-in page is opened a second time', async () => {
    const browser = new Browser();
    const page = location(await browser.visit(authorizationUrl(sandbox.descriptor, requestParams())));
    const foreign = await new Browser().visit(`${sandbox.descriptor.identity}${page}`);
    assert.equal(foreign.status, 400);
    assert.match(await foreign.text(), /This sign-in has ended/);
  });

  it('keeps two sandboxes on two ports of 127.0.0.1 apart in one browser', async () => {
    await withSandbox({}, async (other) => {
      const browser = new Browser();
      const startUrl = (from: SandboxDescriptor): string =>
        authorizationUrl(from, {
          client_id: from.clients.loopback.id,
          redirect_uri: from.clients.loopback.redirectUri,
          response_type: 'code',
        });
      // Both begin before either ends, as two windows would.
      const pages = [sandbox.descriptor, other.descriptor].map(async (from) => {
        const page = location(await browser.visit(startUrl(from)));
        return `${from.identity}${page}`;
      });
      for (const [index, page] of (await Promise.all(pages)).entries()) {
        const from = index === 0 ? sandbox.descriptor : other.descriptor;
        const body = new URLSearchParams({ person: from.people[index]?.id ?? '' });
        const answer = location(await browser.visit(page, { method: 'POST', body }));
        assert.ok(answer.startsWith(`${from.clients.loopback.redirectUri}?code=`), answer.slice(0, 90));
      }
      assert.equal(new Set(browser.cookieNames.map((name) => name.split('_')[1])).size, 2);
    });
  });
});
