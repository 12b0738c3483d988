import assert from 'node:assert/strict';
import type { Connection } from '../../../../src/core/base/connection.ts';
import type { Fetch } from '../../../../src/core/base/http.ts';
import type { Log } from '../../../../src/core/base/log.ts';
import { AuthorizationServer } from '../../../../src/core/oauth/authorizationServer.ts';
import { readPastedCallback } from '../../../../src/core/oauth/pastedCallback.ts';
import { isFresh } from '../../../../src/core/oauth/rotation/windowSession.ts';
import type { Session } from '../../../../src/core/oauth/session.ts';
import { type BrowserSignIn, SIGN_IN_DEADLINE_MS, signInWithBrowser } from '../../../../src/core/oauth/signIn.ts';
import { type RunningSandbox, startSandbox } from '../../../../src/sandbox/sandbox.ts';
import { silentLog } from '../../../support/silentLog.ts';
import { authorize, location } from '../../sandbox/walk.ts';
import { MockService, ORIGIN } from '../base/mockService.ts';
import { freePort, occupy, release } from '../base/ports.ts';
import { deferred } from '../deferred.ts';
import { eventually } from '../eventually.ts';
import { failure } from '../failure.ts';
import { fixture } from '../identity/fixtures.ts';
import { CONNECTION } from './connection.ts';

const PAGES = {
  done: { title: 'Signed in', text: '' },
  failed: (why: string) => ({ title: 'Not signed in', text: why }),
  refused: { title: 'Nothing here', text: '' },
};
const { signal } = new AbortController();

interface Variant {
  readonly change?: Partial<Connection>;
  readonly secret?: string;
  readonly person?: number | 'cancel';
  readonly stop?: AbortSignal;
  readonly openBrowser?: BrowserSignIn['openBrowser'];
  readonly method?: BrowserSignIn['method'];
  readonly delivered?: BrowserSignIn['delivered'];
  readonly storeSession?: BrowserSignIn['storeSession'];
  /** The code is being exchanged. */
  readonly exchanging?: () => void;
  readonly now?: () => number;
}

const never = () => new Promise<URL>(() => {});

for (const discovery of [true, false]) {
  describe(`signing in with the browser, ${discovery ? 'with' : 'without'} discovery`, () => {
    let sandbox: RunningSandbox;
    let pages: string[];
    let lines: string[];
    let learned: Set<string | undefined>;

    before(async () => {
      sandbox = await startSandbox({ discovery, groups: 1, roles: 1 });
    });
    after(() => sandbox.close());
    beforeEach(() => {
      pages = [];
      lines = [];
      learned = new Set();
    });

    /** Follows the address as a browser does: start page, the provider's pages, and back. */
    const walk = async (newStartUrl: () => string, person: number | 'cancel'): Promise<void> => {
      const address = new URL(location(await fetch(newStartUrl(), { redirect: 'manual' })));
      assert.equal(address.origin + address.pathname, `${sandbox.descriptor.identity}/oauth2/v2/authorization`);
      const params = Object.fromEntries(address.searchParams);
      const answer = person === 'cancel' ? person : { person };
      const back = await authorize(sandbox.descriptor, params, answer);
      pages.push(await (await fetch(back)).text());
    };

    const signIn = ({
      change,
      secret,
      person = 0,
      stop = signal,
      openBrowser,
      method = 'loopback',
      delivered = never,
      storeSession = async () => {},
      exchanging = () => {},
      now = Date.now,
    }: Variant = {}): Promise<Session> => {
      const { clients } = sandbox.descriptor;
      const connection = { ...connectionTo(sandbox), ...change };
      const note = (line: string) => lines.push(line);
      const log: Log = { ...silentLog, debug: note, info: note, warn: note };
      const watched: Fetch = (url, init) => {
        if (init?.method === 'POST') exchanging();
        return fetch(url, init);
      };
      const clientSecret = secret ?? clients.loopback.secret;
      return signInWithBrowser(
        {
          connection,
          server: new AuthorizationServer({ fetch: watched, log, connection, clientSecret }),
          method,
          delivered,
          arrived: () => {},
          storeSession,
          pages: PAGES,
          openBrowser:
            openBrowser ??
            (async (url) => {
              void walk(url, person);
              return true;
            }),
          addSecret: (value) => learned.add(value),
          log,
          now,
        },
        stop,
      );
    };

    for (const clientAuthentication of ['client_secret_post', 'client_secret_basic'] as const) {
      it(`gives a session that works and can be renewed (${clientAuthentication})`, async () => {
        const session = await signIn({ change: { clientAuthentication }, person: 1 });
        const person = sandbox.descriptor.people[1];
        assert.deepEqual(session.account, { id: person?.id, label: person?.email });
        assert.equal(isFresh(session, Date.now()), true);
        const connection = { ...connectionTo(sandbox), clientAuthentication };
        const clientSecret = sandbox.descriptor.clients.loopback.secret;
        const server = new AuthorizationServer({ fetch, log: silentLog, connection, clientSecret });
        const renewed = await server.refresh(session.refreshToken ?? assert.fail(), signal);
        assert.notEqual(renewed.accessToken, session.accessToken);
        assert.equal((await server.userInfo(renewed.accessToken, signal)).sub, person?.id);
        const spent = await failure(server.refresh(session.refreshToken ?? '', signal));
        assert.deepEqual([spent.kind, spent.details.code], ['sessionEnded', 'invalid_grant']);
      });
    }

    it('the browser ends on the page that says so', async () => {
      await signIn();
      await eventually(() => pages.length > 0);
      assert.match(pages[0] ?? '', /<h1>Signed in<\/h1>/);
    });

    it('once the code is sent nothing stops it: the service has replaced the session before', async () => {
      const stop = new AbortController();
      const kept: Session[] = [];
      const session = await signIn({
        stop: stop.signal,
        storeSession: async (own) => void kept.push(own),
        exchanging: () => stop.abort(),
      });
      assert.deepEqual(kept, [session]);
    });

    it('counts the lifetime from when the code was sent', async () => {
      let now = Date.now();
      const exchanging = () => {
        now += 86_400_000;
      };
      assert.equal(isFresh(await signIn({ exchanging, now: () => now }), now), false);
    });

    it('the browser hears that it failed, and why, also when only the end failed', async () => {
      const page = async () => {
        await eventually(() => pages.length > 0);
        return pages.shift() ?? '';
      };
      await failure(signIn({ person: 'cancel' }));
      assert.match(await page(), /<h1>Not signed in<\/h1><p>[^<]*denied or canceled/);
      await failure(signIn({ secret: 'wrong' }));
      assert.match(await page(), /<h1>Not signed in<\/h1><p>[^<]*client secret/);
      await assert.rejects(signIn({ storeSession: () => Promise.reject(new Error('the keyring is locked')) }));
      assert.match(await page(), /<h1>Not signed in<\/h1><p>[^<]*the keyring is locked/);
    });

    it('without any scope there is no id_token and no userinfo: the account goes by the connection’s label', async () => {
      const { account } = await signIn({ change: { scope: '' } });
      assert.deepEqual(account, { id: 'the sandbox', label: 'the sandbox' });
      assert.match(lines.join('\n'), /No userinfo: /);
    });

    it('everything secret is learned, and nothing secret is written to the log', async () => {
      const { accessToken, refreshToken } = await signIn();
      for (const token of [accessToken, refreshToken]) assert.ok(learned.has(token));
      assert.equal(learned.size, 6, 'state, nonce, verifier, code, access token, refresh token');
      assert.ok(lines.length > 0);
      for (const secret of learned) assert.ok(!lines.join('\n').includes(secret ?? ''), 'a secret in the log');
    });

    it('a sign-in refused on the page is told in the service’s words', async () => {
      const error = await failure(signIn({ person: 'cancel' }));
      assert.deepEqual([error.kind, error.details.code], ['invalidRequest', 'access_denied']);
      assert.deepEqual(error.remedy, { kind: 'signInAgain' });
      assert.match(error.message, /The sign-in was cancelled/);
    });

    it('a wrong client secret is told as a matter of configuration', async () => {
      for (const clientAuthentication of ['client_secret_post', 'client_secret_basic'] as const) {
        const error = await failure(signIn({ secret: 'wrong', change: { clientAuthentication } }));
        assert.equal(error.kind, 'configuration', error.message);
        assert.match(error.message, /client secret/);
        assert.deepEqual(error.remedy, { kind: 'setClientSecret' });
      }
    });

    it('whoever does not want the browser opened is left in peace, and the port is free again', async () => {
      assert.equal((await failure(signIn({ openBrowser: async () => false }))).kind, 'cancelled');
      const session = await signIn();
      assert.equal(session.generation, 1);
    });

    it('Cancel while the browser is open ends the wait and frees the port', async () => {
      const stop = new AbortController();
      const waiting = signIn({
        stop: stop.signal,
        openBrowser: async () => {
          setImmediate(() => stop.abort());
          return true;
        },
      });
      assert.equal((await failure(waiting)).kind, 'cancelled');
      assert.ok(await signIn());
    });

    it('a page left alone is given up after five minutes, with a sentence that says so', async () => {
      const timeout = AbortSignal.timeout;
      const asked: number[] = [];
      AbortSignal.timeout = (ms) => {
        if (ms === SIGN_IN_DEADLINE_MS) asked.push(ms);
        return timeout.call(AbortSignal, ms === SIGN_IN_DEADLINE_MS ? 15 : ms);
      };
      try {
        const error = await failure(signIn({ openBrowser: async () => true }));
        assert.deepEqual([error.kind, asked], ['timeout', [300_000]]);
        assert.match(error.message, /within 5 minutes/);
        assert.deepEqual(error.remedy, { kind: 'signInAgain' });
      } finally {
        AbortSignal.timeout = timeout;
      }
    });

    it('the address that the browser ended on can be pasted instead, and the port is not needed', async () => {
      const [port, pasted] = [new URL(connectionTo(sandbox).redirectUri).port, deferred<string>()];
      const taken = await occupy('127.0.0.1', Number(port));
      try {
        const busy = await failure(signIn());
        assert.deepEqual([busy.kind, busy.remedy], ['configuration', { kind: 'otherSignIn' }]);
        const session = await signIn({
          method: 'paste',
          openBrowser: async (newStartUrl, authorizationUrl) => {
            const address = location(await fetch(newStartUrl(), { redirect: 'manual' }));
            assert.equal(address, authorizationUrl);
            const params = Object.fromEntries(new URL(address).searchParams);
            pasted.resolve(await authorize(sandbox.descriptor, params, { person: 1 }));
            return true;
          },
          delivered: async (pending) => readPastedCallback(await pasted.promise, pending),
        });
        assert.equal(session.account.label, sandbox.descriptor.people[1]?.email);
      } finally {
        await release(taken.server);
      }
    });

    it('what is pasted while the listener waits counts, and the listener is closed', async () => {
      let stopped: AbortSignal | undefined;
      const given = deferred<URL>();
      const session = await signIn({
        openBrowser: async (_start, authorizationUrl) => {
          const params = Object.fromEntries(new URL(authorizationUrl).searchParams);
          given.resolve(new URL(await authorize(sandbox.descriptor, params, { person: 0 })));
          return true;
        },
        delivered: (_pending, over) => {
          stopped = over;
          return given.promise;
        },
      });
      assert.ok(session.accessToken);
      assert.equal(stopped?.aborted, true);
      const again = await occupy('127.0.0.1', Number(new URL(connectionTo(sandbox).redirectUri).port));
      await release(again.server);
    });

    it('a code of another sign-in is refused by the service: its verifier does not fit', async () => {
      let stolen = '';
      await failure(
        signIn({
          openBrowser: async (_start, authorizationUrl) => {
            const params = Object.fromEntries(new URL(authorizationUrl).searchParams);
            stolen = new URL(await authorize(sandbox.descriptor, params, { person: 0 })).searchParams.get('code') ?? '';
            return false;
          },
        }),
      );
      const error = await failure(
        signIn({ openBrowser: async () => true, delivered: async (pending) => readPastedCallback(stolen, pending) }),
      );
      assert.ok(['configuration', 'invalidRequest'].includes(error.kind), error.message);
    });

    it('a client the service does not know is told before a browser opens', async () => {
      const wrong = [{ clientId: 'nobody' }, { redirectUri: `${connectionTo(sandbox).redirectUri}/` }];
      for (const change of wrong) {
        const error = await failure(signIn({ change, openBrowser: () => assert.fail('a browser was opened') }));
        assert.deepEqual([error.kind, error.details.status], ['configuration', 400]);
        assert.match(error.message, /client ID is unknown, or the redirect URI registered for it is not exactly/);
        assert.doesNotMatch(error.message, /[<>]/);
      }
    });

    it('a browser that cannot be opened is an error, and the port is free again', async () => {
      await assert.rejects(signIn({ openBrowser: () => Promise.reject(new Error('no browser')) }), /no browser/);
      assert.ok(await signIn());
    });
  });
}

function connectionTo({ descriptor }: RunningSandbox): Connection {
  return {
    id: 'sandbox',
    label: 'the sandbox',
    identityUrl: descriptor.identity,
    inferenceUrl: descriptor.inference,
    clientId: descriptor.clients.loopback.id,
    clientAuthentication: 'client_secret_post',
    redirectUri: descriptor.clients.loopback.redirectUri,
    scope: 'openid email profile',
  };
}

describe('signing in without an id_token', () => {
  it('asks userinfo who it is', async () => {
    const service = new MockService()
      .on('GET', '/.well-known/openid-configuration', { status: 404 })
      .on('POST', '/oauth2/v2/token', { status: 200, body: fixture('token.json') })
      .on('GET', '/oauth2/v2/userinfo', { status: 200, body: fixture('userinfo.json') });
    const answering: Fetch = async (url, init) =>
      String(url).includes('/oauth2/v2/authorization')
        ? new Response(null, { status: 302, headers: { location: '/page' } })
        : service.fetch(url, init);
    const connection = { ...CONNECTION, scope: 'email', redirectUri: `http://127.0.0.1:${await freePort()}/callback` };
    const session = await signInWithBrowser(
      {
        connection,
        server: new AuthorizationServer({ fetch: answering, log: silentLog, connection, clientSecret: 'x' }),
        method: 'loopback',
        delivered: never,
        arrived: () => {},
        storeSession: async () => {},
        pages: PAGES,
        openBrowser: async (newStartUrl) => {
          const address = new URL(location(await fetch(newStartUrl(), { redirect: 'manual' })));
          const answer = new URLSearchParams({ code: 'c0de', state: address.searchParams.get('state') ?? '' });
          void fetch(`${address.searchParams.get('redirect_uri')}?${answer}`).then((page) => page.text());
          return true;
        },
        addSecret: () => {},
        log: silentLog,
        now: () => 1_000_000,
      },
      signal,
    );
    const { access_token, refresh_token } = fixture('token.json');
    assert.deepEqual(session, {
      version: 1,
      key: `service|${ORIGIN}|${CONNECTION.clientId}`,
      generation: 1,
      account: { id: fixture('userinfo.json').sub, label: 'ada@example.com' },
      accessToken: access_token,
      refreshToken: refresh_token,
      expiresAt: 1_000_000 + 3539_000,
    });
    await service.close();
  });
});
