import assert from 'node:assert/strict';
import type { Connection } from '../../../../src/core/base/connection.ts';
import type { Log } from '../../../../src/core/base/log.ts';
import { AuthorizationServer, type PendingSignIn } from '../../../../src/core/oauth/authorizationServer.ts';
import { silentLog } from '../../../support/silentLog.ts';
import { MockService, ORIGIN, type Reply } from '../base/mockService.ts';
import { fixture } from '../identity/fixtures.ts';
import { CONNECTION } from './connection.ts';

export const DISCOVERY = '/.well-known/openid-configuration';
export const TOKEN = '/oauth2/v2/token';
export const USERINFO = '/oauth2/v2/userinfo';
export const ABSENT: Reply = { status: 404, body: '404 page not found' };
/** Holds what url-encoding changes. */
export const SECRET = 's3cret+/=%&~-_. with a space';

/** An id_token as the service signs it; nobody checks the signature of one that came over TLS from the endpoint itself. */
export function idToken(claims: object, header: object = { alg: 'ES512' }): string {
  const now = Math.floor(Date.now() / 1000);
  const body = { iss: ORIGIN, aud: CONNECTION.clientId, sub: 'sub-1', iat: now, exp: now + 60, ...claims };
  return [header, body, 'signature'].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
}

export const granted = (change: object = {}): Reply => ({ status: 200, body: { ...fixture('token.json'), ...change } });

export const callback = (pending: PendingSignIn, params: Record<string, string> = {}): URL =>
  new URL(`${pending.redirectUri}?${new URLSearchParams({ code: 'c0de', state: pending.state, ...params })}`);

/** A service for each test of one `describe`, and the authorization server that talks to it. */
export function authorizationHarness() {
  const h = {
    service: new MockService(),
    lines: [] as string[],
    make: (change: Partial<Connection> = {}, clientSecret: string | undefined = SECRET) => {
      const log: Log = { ...silentLog, info: (line) => h.lines.push(line) };
      const connection = { ...CONNECTION, ...change };
      return new AuthorizationServer({ fetch: h.service.fetch, log, connection, clientSecret });
    },
    discovered: (change: object = {}) =>
      h.service.on('GET', DISCOVERY, { status: 200, body: { ...fixture('discovery.json'), ...change } }),
    undiscovered: () => h.service.on('GET', DISCOVERY, ABSENT),
    /** The form of the last request. */
    form: () => Object.fromEntries(new URLSearchParams(h.service.requests.at(-1)?.body)),
  };
  beforeEach(() => {
    h.service = new MockService();
    h.lines = [];
  });
  afterEach(async () => {
    assert.equal(h.service.rest, 0, 'something prepared was never asked for');
    await h.service.close();
  });
  return h;
}
