import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JWK, Provider } from 'oidc-provider';
import { AuthorizationServer, newSignIn } from '../../../../src/core/oauth/authorizationServer.ts';
import { silentLog } from '../../../support/silentLog.ts';
import { Browser, location } from '../../sandbox/walk.ts';
import { CONNECTION } from './connection.ts';

const { signal } = new AbortController();
const CLIENT_SECRET = 'a-secret-of-this-test';

/**
 * A certified OpenID provider that nobody of this project has written: it checks PKCE, client authentication and redirect
 * URIs by itself, where the sandbox might share a misunderstanding.
 */
describe('signing in to an OpenID provider of others', () => {
  let server: Server;
  let issuer: string;

  before(async () => {
    let handle: ReturnType<Provider['callback']> | undefined;
    server = createServer((req, res) => void handle?.(req, res)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const key = generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey.export({ format: 'jwk' }) as JWK;
    const { warn } = console;
    console.warn = () => {}; // It says that what it keeps is lost at the end.
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: CONNECTION.clientId,
          client_secret: CLIENT_SECRET,
          redirect_uris: [CONNECTION.redirectUri],
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          token_endpoint_auth_method: 'client_secret_post',
        },
      ],
      jwks: { keys: [{ ...key, alg: 'ES512', use: 'sig' }] },
      clientDefaults: { id_token_signed_response_alg: 'ES512' },
      enabledJWA: { idTokenSigningAlgValues: ['ES512'] },
      pkce: { required: () => true },
      issueRefreshToken: async () => true,
      rotateRefreshToken: true,
      features: { devInteractions: { enabled: false } },
      claims: { openid: ['sub'], email: ['email'] },
      findAccount: (_ctx, id) => ({ accountId: id, claims: async () => ({ sub: id, email: 'ada@example.com' }) }),
      interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
      cookies: { keys: ['a key'] },
      ttl: { Interaction: 60, Grant: 60, Session: 60, AccessToken: 60, RefreshToken: 60, IdToken: 60 },
    });
    console.warn = warn;
    // Whoever comes is Ada and says yes.
    provider.use(async (ctx, next) => {
      if (!ctx.path.startsWith('/interaction/')) return next();
      const { params } = await provider.interactionDetails(ctx.req, ctx.res);
      const grant = new provider.Grant({ accountId: 'ada', clientId: String(params.client_id) });
      grant.addOIDCScope(String(params.scope));
      const result = { login: { accountId: 'ada' }, consent: { grantId: await grant.save() } };
      ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result));
    });
    handle = provider.callback();
  });

  after(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Follows redirects as a browser does until they lead to the client. */
  async function walk(start: URL): Promise<URL> {
    const browser = new Browser();
    let address = start.href;
    while (address.startsWith(issuer)) address = new URL(location(await browser.visit(address)), issuer).href;
    return new URL(address);
  }

  it('gives tokens and a checked identity, and renews them', async () => {
    const connection = { ...CONNECTION, identityUrl: issuer };
    const client = new AuthorizationServer({ fetch, log: silentLog, connection, clientSecret: CLIENT_SECRET });
    const pending = newSignIn(connection);
    const address = await client.authorizationUrl(pending, signal);
    await client.preflight(address.href, signal);
    const grant = await client.exchange(await walk(address), pending, signal);
    assert.equal((await client.userInfo(grant.accessToken, signal)).email, 'ada@example.com');
    const renewed = await client.refresh(grant.refreshToken ?? '', signal);
    assert.notEqual(renewed.refreshToken, grant.refreshToken);
    assert.equal((await client.userInfo(renewed.accessToken, signal)).sub, 'ada');
    await assert.rejects(client.refresh(grant.refreshToken ?? '', signal), { kind: 'sessionEnded' });
  });
});
