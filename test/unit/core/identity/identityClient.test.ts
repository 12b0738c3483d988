import assert from 'node:assert/strict';
import type { TokenSource } from '../../../../src/core/base/connection.ts';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import type { Fetch } from '../../../../src/core/base/http.ts';
import type { Log } from '../../../../src/core/base/log.ts';
import { IdentityClient, pathSegment } from '../../../../src/core/identity/identityClient.ts';
import { silentLog } from '../../../support/silentLog.ts';
import { MockService, ORIGIN, type Reply } from '../base/mockService.ts';
import { withShortDeadlines } from '../base/shortDeadlines.ts';
import { eventually } from '../eventually.ts';
import { fixture, fixtureText } from './fixtures.ts';

const GROUPS = '/api/v1/organizations/acme/groups';
const ROLES = '/api/v1/organizations/acme/roles';
const REFUSED: Reply = { status: 401, body: { error: 'access_denied', error_description: 'expired' } };
const BROKEN: Reply = { status: 500, body: { error: 'server_error', error_description: 'unhandled error' } };
const { signal } = new AbortController();

/** A token source that gives `first`, then whatever `next` says, and writes down what it was asked. */
function tokenSource(next?: string): TokenSource & { asked: string[] } {
  let current = 'first';
  const asked: string[] = [];
  return {
    asked,
    accessToken: async () => current,
    refreshAfter401: async (token) => {
      asked.push(token);
      if (next !== undefined) current = next;
      return next;
    },
  };
}

describe('the identity client', () => {
  const random = Math.random;
  let service: MockService;
  let tokens: ReturnType<typeof tokenSource>;
  let lines: string[];
  const make = (fetch: Fetch = service.fetch) => {
    const keep = (line: string) => lines.push(line);
    const log: Log = { ...silentLog, debug: keep, info: keep };
    return new IdentityClient({ fetch, identityUrl: ORIGIN, tokens, log, now: Date.now });
  };
  const failure = async (promise: Promise<unknown>): Promise<RolecallError> => {
    const error = await promise.then(
      () => assert.fail('nothing was thrown'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof RolecallError, String(error));
    return error;
  };

  beforeEach(() => {
    service = new MockService();
    tokens = tokenSource();
    lines = [];
    Math.random = () => 0; // No pause between tries.
  });

  afterEach(async () => {
    Math.random = random;
    assert.equal(service.rest, 0, 'something prepared was never asked for');
    await service.close();
  });

  it('lists groups with the bearer token and nothing else', async () => {
    service.on('GET', GROUPS, { status: 200, body: fixture('groups.json') });
    const listing = await make().groups('acme', signal);
    assert.deepEqual(
      listing.items.map(({ metadata }) => metadata.name),
      ['platform-admins', 'x'],
    );
    const [request] = service.requests;
    assert.equal(request?.origin, ORIGIN);
    assert.equal(request?.headers.authorization, 'Bearer first');
    assert.equal(request?.headers.accept, 'application/json');
    assert.equal(request?.body, '');
  });

  it('lists roles; `null` is an empty list', async () => {
    service.on('GET', ROLES, { status: 200, body: fixture('roles.json') }, { status: 200, body: null });
    assert.equal((await make().roles('acme', signal)).items[0]?.metadata.name, 'administrator');
    assert.deepEqual(await make().roles('acme', signal), { items: [], malformed: [] });
  });

  const ids: readonly [id: string, segment: string][] = [
    ['acme', 'acme'],
    ['a/b', 'a%2Fb'],
    ['a?b#c', 'a%3Fb%23c'],
    ['../../admin', '..%2F..%2Fadmin'],
    ['%2e%2e', '%252e%252e'],
    ['größe x', 'gr%C3%B6%C3%9Fe%20x'],
    ['...', '...'],
  ];
  for (const [id, segment] of ids) {
    it(`the organization "${id}" is one path segment`, async () => {
      service.on('GET', `/api/v1/organizations/${segment}/groups`, { status: 200, body: [] });
      service.on('GET', `/api/v1/organizations/${segment}/roles`, { status: 200, body: [] });
      await Promise.all([make().groups(id, signal), make().roles(id, signal)]);
    });
  }

  for (const id of ['', '.', '..']) {
    it(`the organization "${id}" is refused before anything is sent`, async () => {
      assert.throws(() => pathSegment(id), { kind: 'configuration' });
      for (const read of [make().groups(id, signal), make().roles(id, signal)]) {
        assert.match((await failure(read)).message, /Change rolecall\.organizations/);
      }
      assert.deepEqual(service.asked, []);
    });
  }

  it('a refused token is renewed once and the request sent once more', async () => {
    tokens = tokenSource('second');
    service.on('GET', GROUPS, REFUSED, { status: 200, body: [] });
    assert.deepEqual(await make().groups('acme', signal), { items: [], malformed: [] });
    assert.deepEqual(tokens.asked, ['first']);
    assert.deepEqual(
      service.requests.map(({ headers }) => headers.authorization),
      ['Bearer first', 'Bearer second'],
    );
  });

  it('a service that always says 401 gets exactly two requests, and the user an error', async () => {
    tokens = tokenSource('second');
    service.on('GET', GROUPS, REFUSED, REFUSED);
    assert.equal((await failure(make().groups('acme', signal))).kind, 'sessionEnded');
    assert.deepEqual(tokens.asked, ['first']);
    assert.equal(service.asked.length, 2);
  });

  it('where there is no other token, the refusal stands after one request', async () => {
    service.on('GET', GROUPS, REFUSED);
    assert.equal((await failure(make().groups('acme', signal))).kind, 'sessionEnded');
    assert.deepEqual(tokens.asked, ['first']);
  });

  it('a token that the service repeats in its words is not shown', async () => {
    const token = 'opaque-token-1+/';
    tokens = { ...tokenSource(), accessToken: async () => token };
    const error_description = `cannot read ${encodeURIComponent(token)}`;
    const reply: Reply = { status: 500, body: { error: 'server_error', error_description } };
    service.on('GET', GROUPS, reply, reply, reply, reply);
    const error = await failure(make().groups('acme', signal));
    assert.match(error.message, /Server response: cannot read ‹hidden›$/);
    assert.equal(error.details.serverMessage, 'cannot read ‹hidden›');
  });

  it('a 400 about the authorization header is a refused token too', async () => {
    tokens = tokenSource('second');
    service.on('GET', ROLES, fixture('errors.json').noAuthorizationHeader, { status: 200, body: [] });
    await make().roles('acme', signal);
    assert.deepEqual(tokens.asked, ['first']);
  });

  it('403, and a 400 about something else, do not cost a token', async () => {
    tokens = tokenSource('second');
    service.on('GET', GROUPS, fixture('errors.json').forbidden, fixture('errors.json').invalid_request);
    const error = await failure(make().groups('acme', signal));
    assert.equal(error.kind, 'forbidden');
    assert.match(error.message, /"acme"/);
    assert.equal((await failure(make().groups('acme', signal))).kind, 'invalidRequest');
    assert.deepEqual(tokens.asked, []);
  });

  it('why the token could not be renewed is what the user hears', async () => {
    const renewing = new RolecallError('offline', 'Could not reach it.');
    tokens = Object.assign(tokenSource(), { refreshAfter401: () => Promise.reject(renewing) });
    service.on('GET', GROUPS, REFUSED);
    assert.equal(await failure(make().groups('acme', signal)), renewing);
  });

  it('500 twice, then served: told each time, with the reason', async () => {
    service.on('GET', GROUPS, BROKEN, { status: 503, body: '<html>busy</html>' }, { status: 200, body: [] });
    const told: string[] = [];
    await make().groups('acme', signal, (error, attempt) => told.push(`${attempt} ${error.details.status}`));
    assert.deepEqual(told, ['1 500', '2 503']);
    assert.match(lines.join('\n'), /Trying again in 0 ms/);
  });

  it('500 again and again ends with the service’s own words', async () => {
    service.on('GET', GROUPS, BROKEN, BROKEN, BROKEN, BROKEN);
    const error = await failure(make().groups('acme', signal));
    assert.equal(error.kind, 'server');
    assert.match(error.message, /Server response: unhandled error$/);
  });

  it('429 is waited out as asked, but not for longer than anyone would', async () => {
    service.on('GET', GROUPS, { status: 429, headers: { 'retry-after': '0' } }, { status: 200, body: [] });
    await make().groups('acme', signal);
    service.on('GET', GROUPS, { status: 429, headers: { 'retry-after': '16' } });
    const error = await failure(make().groups('acme', signal));
    assert.deepEqual([error.kind, error.details.retryAfterMs], ['rateLimited', 16_000]);
  });

  it('Stop while waiting to try again ends it at once', async () => {
    Math.random = () => 1;
    const stop = new AbortController();
    service.on('GET', GROUPS, { status: 503, headers: { 'retry-after': '15' } });
    const error = await failure(make().groups('acme', stop.signal, () => stop.abort()));
    assert.equal(error.kind, 'cancelled');
    assert.equal(service.asked.length, 1);
  });

  it('Stop while the service thinks ends it at once', async () => {
    const stop = new AbortController();
    service.on('GET', GROUPS, { status: 200, body: [], delay: 3_600_000 });
    const asked = failure(make().groups('acme', stop.signal));
    await eventually(() => service.asked.length === 1);
    stop.abort();
    assert.equal((await asked).kind, 'cancelled');
  });

  it('an answer that does not come in a minute is a time-out, and is not asked for again', async () => {
    service.on('GET', GROUPS, { status: 200, body: [], delay: 3_600_000 });
    const deadlines = await withShortDeadlines(async () => {
      const error = await failure(make().groups('acme', signal));
      assert.equal(error.kind, 'timeout');
      assert.match(error.message, /within 60 seconds/);
    });
    assert.deepEqual(deadlines, [60_000]);
  });

  it('no connection is `offline` and final', async () => {
    const cut = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
    service.on('GET', GROUPS, { status: 0, failure: cut });
    const error = await failure(make().groups('acme', signal));
    assert.equal(error.message, `Could not reach ${ORIGIN}: the connection was lost.`);
  });

  it('a redirect is refused and not followed', async () => {
    service.on('GET', GROUPS, { status: 302, headers: { location: 'https://evil.example.com/' } });
    assert.equal((await failure(make().groups('acme', signal))).kind, 'protocol');
    assert.equal(service.asked.length, 1);
  });

  const useless: readonly [string, unknown][] = [
    ['an object', {}],
    ['an empty body', ''],
    ['a page with status 200 (a captive portal)', fixtureText('bad-gateway.txt')],
    ['half a list', '[{"metadata":'],
  ];
  for (const [what, body] of useless) {
    it(`${what} is an error, never an empty list`, async () => {
      service.on('GET', GROUPS, { status: 200, body });
      service.on('GET', ROLES, { status: 200, body });
      assert.equal((await failure(make().groups('acme', signal))).kind, 'protocol');
      assert.equal((await failure(make().roles('acme', signal))).kind, 'protocol');
    });
  }

  it('a body beyond 64 MB is dropped, not read on', async () => {
    let sent = 0;
    let dropped = false;
    const body = new ReadableStream({
      pull(controller) {
        sent += 1;
        controller.enqueue(new Uint8Array(1_000_000).fill(32));
      },
      cancel() {
        dropped = true;
      },
    });
    const error = await failure(make(async () => new Response(body)).groups('acme', signal));
    assert.equal(error.kind, 'protocol');
    assert.match(error.message, /more than 64 MB/);
    assert.ok(sent <= 67 && dropped, `${sent} MB`);
  });

  it('the log tells path, status and time, never the token', async () => {
    service.on('GET', GROUPS, { status: 200, body: [] });
    await make().groups('acme', signal);
    assert.match(lines.join('\n'), /^GET \/api\/v1\/organizations\/acme\/groups → 200 in \d+ ms$/);
    assert.doesNotMatch(lines.join('\n'), /first/);
  });

  describe('an answer with 200 that is none', () => {
    const page = '<!doctype html><html><title>Sign in to the corporate network</title></html>';

    it('a web page tells what may have answered, and never the page', async () => {
      service.on('GET', GROUPS, { status: 200, body: page });
      const error = await failure(make().groups('acme', signal));
      assert.equal(error.kind, 'protocol');
      assert.match(
        error.message,
        /^A web page was returned instead of data\. Check rolecall\.identity\.url\. A sign-in portal/,
      );
      assert.doesNotMatch(error.message, /corporate/);
    });

    it('an error object is that error, in its own words', async () => {
      service.on('GET', GROUPS, { status: 200, body: { error: 'forbidden', error_description: 'not for you' } });
      const error = await failure(make().groups('acme', signal));
      assert.equal(error.kind, 'forbidden');
      assert.match(error.message, /Server response: not for you$/);
    });

    for (const body of [{ error: { message: 'not for you' } }, { message: 'not for you' }]) {
      it(`the words of an error object without a code are kept: ${JSON.stringify(body)}`, async () => {
        service.on('GET', GROUPS, { status: 200, body });
        assert.match((await failure(make().groups('acme', signal))).message, /Server response: not for you$/);
      });
    }

    it('an error object that refuses the token renews it', async () => {
      tokens = tokenSource('second');
      service.on('GET', GROUPS, { ...REFUSED, status: 200 }, { status: 200, body: [] });
      assert.deepEqual((await make().groups('acme', signal)).items, []);
      assert.deepEqual(tokens.asked, ['first']);
    });
  });

  describe('the list of organizations', () => {
    const ALL = '/api/v1/organizations';

    it('gives id and name; an organization without a name goes by its id', async () => {
      service.on('GET', ALL, { status: 200, body: fixture('organizations.json') });
      assert.deepEqual(await make().organizations(signal), [
        { id: 'acme', name: 'acme-corporation' },
        { id: 'nameless', name: 'nameless' },
      ]);
    });

    const notOffered: readonly Reply[] = [
      { status: 404, body: '' },
      { status: 403, body: { error: 'forbidden' } },
      { status: 405, body: '' },
      { status: 200, body: {} },
      { status: 200, body: 'a page' },
    ];
    for (const reply of notOffered) {
      it(`${reply.status} ${JSON.stringify(reply.body)} means that there is none`, async () => {
        service.on('GET', ALL, reply);
        assert.equal(await make().organizations(signal), undefined);
      });
    }

    it('is an error when it could not be read, and not "there is none"', async () => {
      service.on('GET', ALL, { status: 0, failure: new Error('cut') });
      assert.equal((await failure(make().organizations(signal))).kind, 'offline');
      service.on('GET', ALL, REFUSED);
      assert.equal((await failure(make().organizations(signal))).kind, 'sessionEnded');
      service.on('GET', ALL, BROKEN, BROKEN, BROKEN, BROKEN);
      const told: number[] = [];
      const reading = make().organizations(signal, (_error, attempt) => told.push(attempt));
      assert.equal((await failure(reading)).kind, 'server');
      assert.deepEqual(told, [1, 2, 3]);
    });

    it('Stop is Stop, not "no list"', async () => {
      assert.equal((await failure(make().organizations(AbortSignal.abort()))).kind, 'cancelled');
    });
  });
});
