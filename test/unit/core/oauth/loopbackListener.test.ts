import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { type LoopbackListener, listenForRedirect } from '../../../../src/core/oauth/loopbackListener.ts';
import { freePort, hasIpv6, occupy, release } from '../base/ports.ts';
import { failure } from '../failure.ts';

const STATE = 'st4te';
const AUTHORIZATION = 'https://identity.example.com/oauth2/v2/authorization?state=st4te&redirect_uri=http%3A%2F%2Fx';
const PAGES = {
  done: { title: 'Signed in', text: 'Go <back> & "close" it’s' },
  failed: (why: string) => ({ title: 'Not signed in', text: `It was refused: ${why}` }),
  refused: { title: 'Nothing here', text: 'Start again.' },
};
const { signal } = new AbortController();

/** Whether something accepts connections there. */
function listens(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}

/** Sends what no browser and no `fetch` would: the raw request line, any Host. */
function raw(
  port: number,
  path: string,
  options: { host?: string; method?: string; more?: Record<string, string> } = {},
) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const { host = `127.0.0.1:${port}`, method = 'GET', more = {} } = options;
    const request = httpRequest(
      { host: '127.0.0.1', port, path, method, headers: { host, ...more }, agent: false },
      (answer) => {
        let body = '';
        answer.setEncoding('utf8').on('data', (chunk) => {
          body += chunk;
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }));
      },
    );
    request.on('error', reject).end();
  });
}

/** What is answered to these lines. */
function spoken(port: number, ...lines: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`));
    socket
      .setEncoding('utf8')
      .on('data', (text: string) => {
        answer += text;
      })
      .on('end', () => resolve(answer))
      .on('error', reject);
  });
}

describe('the listener for the redirect', () => {
  let port: number;
  let listener: LoopbackListener;
  let answered: URL | undefined;

  beforeEach(async () => {
    port = await freePort();
    answered = undefined;
    listener = await listenForRedirect({
      redirectUri: `http://127.0.0.1:${port}/callback`,
      state: STATE,
      authorizationUrl: AUTHORIZATION,
      pages: PAGES,
    });
    void listener.answer(signal).then((url) => {
      answered = url;
      listener.reply(url.searchParams.has('error') ? 'because <b>' : undefined);
    });
  });
  afterEach(() => listener.close());

  const callback = (params: Record<string, string>) => `/callback?${new URLSearchParams(params)}`;

  it('takes the answer with the expected state, and shows a page', async () => {
    const code = 'x'.repeat(2500);
    const answer = await raw(port, callback({ code, state: STATE, note: 'a b+c' }));
    assert.equal(answer.status, 200);
    const url = await listener.answer(signal);
    assert.equal(url.origin + url.pathname, `http://127.0.0.1:${port}/callback`);
    assert.deepEqual(Object.fromEntries(url.searchParams), { code, state: STATE, note: 'a b+c' });
  });

  it('two Host headers: 400, whichever comes first, and the wait goes on', async () => {
    const [ours, foreign] = [`127.0.0.1:${port}`, 'evil.example.com'];
    for (const hosts of [
      [ours, foreign],
      [foreign, ours],
      [ours, ours],
    ]) {
      for (const path of [callback({ code: 'c', state: STATE }), new URL(listener.newStartUrl()).pathname]) {
        assert.match(
          await spoken(port, `GET ${path} HTTP/1.1`, ...hosts.map((host) => `Host: ${host}`)),
          /^HTTP\/1.1 400 /,
        );
      }
    }
    await new Promise(setImmediate);
    assert.equal(answered, undefined);
  });

  it('the page is plain text made safe, loads nothing, frames nowhere and is not kept', async () => {
    const { body, headers } = await raw(port, callback({ code: 'c0de', state: STATE }));
    assert.ok(body.includes('Go &#60;back&#62; &#38; &#34;close&#34; it’s'), body);
    assert.doesNotMatch(body, /<back>|<script|https?:|c0de|st4te/);
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    );
    assert.deepEqual(
      ['cache-control', 'referrer-policy', 'x-content-type-options', 'content-type'].map((name) => headers[name]),
      ['no-store', 'no-referrer', 'nosniff', 'text/html; charset=utf-8'],
    );
  });

  it('a refusal of the service is an answer too, with another page', async () => {
    const { status, body } = await raw(port, callback({ error: 'access_denied', state: STATE }));
    assert.equal(status, 400);
    assert.match(body, /Not signed in/);
    assert.match(body, /It was refused: because &#60;b&#62;/);
    assert.equal((await listener.answer(signal)).searchParams.get('error'), 'access_denied');
  });

  describe('asked by a page', () => {
    const ours = new URL(AUTHORIZATION).origin;
    const awaited = () => callback({ code: 'c', state: STATE });
    /** What a page of that origin learns: the name of who answered, where it may read it. */
    const learned = async (path: string, origin: string) => {
      const { headers } = await raw(port, path, { more: { origin } });
      return headers['access-control-allow-origin'] === origin && headers['access-control-expose-headers'] === 'server'
        ? headers.server
        : undefined;
    };

    it('tells that of the identity service who took the answer', async () => {
      assert.equal(await learned(awaited(), ours), 'Rolecall');
    });

    it('tells no other page, and nobody about what was not awaited', async () => {
      assert.equal(await learned(callback({ code: 'c', state: 'other' }), ours), undefined);
      assert.equal(await learned('/', ours), undefined);
      assert.equal(await learned(awaited(), 'https://evil.example.com'), undefined);
    });

    it('allows that of the identity service alone to ask from a public address', async () => {
      const ask = async (path: string, origin: string) => {
        const more = {
          origin,
          'access-control-request-method': 'GET',
          'access-control-request-private-network': 'true',
        };
        const { status, headers } = await raw(port, path, { method: 'OPTIONS', more });
        const allowed = ['access-control-allow-origin', 'access-control-allow-private-network'];
        return [status, ...allowed.map((name) => headers[name])];
      };
      assert.deepEqual(await ask(awaited(), ours), [204, ours, 'true']);
      assert.deepEqual(await ask(awaited(), 'https://evil.example.com'), [405, undefined, undefined]);
      assert.deepEqual(await ask(callback({ state: 'other' }), ours), [405, undefined, undefined]);
      assert.equal(answered, undefined);
    });
  });

  const refusals: readonly [
    what: string,
    status: number,
    path: () => string,
    options?: () => { host?: string; method?: string },
  ][] = [
    ['another state', 400, () => callback({ code: 'c', state: 'other' })],
    ['no state', 400, () => callback({ code: 'c' })],
    ['an error without state', 400, () => callback({ error: 'access_denied' })],
    ['another path', 404, () => `/callback/?code=c&state=${STATE}`],
    ['another path that normalises to nothing', 404, () => `/x/callback?code=c&state=${STATE}`],
    ['the icon a browser asks for', 404, () => '/favicon.ico'],
    ['a path like a host', 404, () => `//evil.example.com/callback?code=c&state=${STATE}`],
    ['two slashes', 404, () => '//'],
    ['a guessed start path', 404, () => '/start/guess'],
    ['an absolute address', 421, () => `http://evil.example.com/callback?code=c&state=${STATE}`],
    ['POST', 405, () => callback({ code: 'c', state: STATE }), () => ({ method: 'POST' })],
    ['HEAD', 405, () => callback({ code: 'c', state: STATE }), () => ({ method: 'HEAD' })],
    [
      'the name of another site that points here',
      421,
      () => callback({ code: 'c', state: STATE }),
      () => ({ host: 'evil.example.com' }),
    ],
    [
      'the other name of this machine',
      421,
      () => callback({ code: 'c', state: STATE }),
      () => ({ host: `localhost:${port}` }),
    ],
  ];
  for (const [what, status, path, options] of refusals) {
    it(`${what}: ${status}, and the wait goes on`, async () => {
      const answer = await raw(port, path(), options?.());
      assert.equal(answer.status, status);
      assert.equal(answer.headers.location, undefined);
      if (options?.().method !== 'HEAD') assert.match(answer.body, /Nothing here/);
      await new Promise(setImmediate);
      assert.equal(answered, undefined);
      await raw(port, callback({ code: 'the real one', state: STATE }));
      assert.equal((await listener.answer(signal)).searchParams.get('code'), 'the real one');
    });
  }

  it('the first answer counts; a second one changes nothing', async () => {
    await raw(port, callback({ code: 'first', state: STATE }));
    const { status, body } = await raw(port, callback({ code: 'second', state: STATE }));
    assert.equal(status, 409);
    assert.match(body, /Nothing here/);
    assert.equal((await listener.answer(signal)).searchParams.get('code'), 'first');
  });

  it('the start address leads to the authorization address, letter by letter, from an unguessable path', async () => {
    const { pathname, origin } = new URL(listener.newStartUrl());
    assert.equal(origin, `http://127.0.0.1:${port}`);
    assert.match(pathname, /^\/start\/[\w-]{22}$/);
    const { status, headers } = await raw(port, pathname);
    assert.deepEqual([status, headers.location], [302, AUTHORIZATION]);
    // Also through the proxy of an editor that is served in a browser, whose name is another.
    const again = new URL(listener.newStartUrl()).pathname;
    assert.equal((await raw(port, again, { method: 'POST' })).status, 404);
    assert.equal((await raw(port, again, { host: 'editor.example.com' })).status, 302);
  });

  it('a start address is good for one request, and only the newest', async () => {
    const [older, newest] = [new URL(listener.newStartUrl()).pathname, new URL(listener.newStartUrl()).pathname];
    const asked = [];
    for (const path of [older, newest, newest, older]) asked.push((await raw(port, path)).status);
    assert.deepEqual(asked, [404, 302, 404, 404]);
  });

  it('a port where another window waits: the sentence says so, and offers other ways', async () => {
    const options = {
      redirectUri: `http://127.0.0.1:${port}/callback`,
      state: 'x',
      authorizationUrl: AUTHORIZATION,
      pages: PAGES,
    };
    const error = await failure(listenForRedirect(options));
    assert.match(error.message, /Another window is waiting for a sign-in/);
    assert.deepEqual([error.kind, error.remedy], ['configuration', { kind: 'otherSignIn' }]);
  });

  it('waiting can be given up', async () => {
    const stop = new AbortController();
    const waiting = listener.answer(stop.signal);
    stop.abort();
    assert.equal((await failure(waiting)).kind, 'cancelled');
  });

  it('closing frees the port though a browser holds a connection open', async () => {
    const idle = connect(port, '127.0.0.1');
    await new Promise((resolve) => idle.once('connect', resolve));
    idle.on('error', () => {});
    await listener.close();
    const { server } = await occupy('127.0.0.1', port);
    await release(server);
    idle.destroy();
  });

  it('the page still arrives when the listener is closed the moment it has the answer', async () => {
    void listener.answer(signal).then(() => listener.close());
    assert.match((await raw(port, callback({ code: 'c', state: STATE }))).body, /<\/html>$/);
  });
});

describe('where the listener can stand', () => {
  const listen = (redirectUri: string) =>
    listenForRedirect({ redirectUri, state: STATE, authorizationUrl: AUTHORIZATION, pages: PAGES });

  for (const uri of [
    'https://127.0.0.1:18155/callback',
    'http://identity.example.com:18155/callback',
    'http://0.0.0.0:18155/callback',
    'http://127.0.0.1/callback',
    'http://constructor:18155/callback',
    'vscode://rolecall.rolecall/callback',
    'nonsense',
  ]) {
    it(`not at ${uri}: the sentence says what to write`, async () => {
      const error = await failure(listen(uri));
      assert.equal(error.kind, 'configuration');
      assert.match(error.message, /rolecall\.identity\.redirectUri.*such as http:\/\/127\.0\.0\.1:18155\/callback/);
    });
  }

  it('a port another program uses: the sentence names port and setting', async () => {
    const { server, port } = await occupy('127.0.0.1');
    try {
      const error = await failure(listen(`http://127.0.0.1:${port}/callback`));
      assert.equal(error.kind, 'configuration');
      assert.match(error.message, new RegExp(`^Another program uses port ${port},`));
      assert.match(error.message, /set rolecall\.identity\.redirectUri\.$/);
    } finally {
      await release(server);
    }
  });

  it('`localhost` is both families, and listens nowhere else', async () => {
    const port = await freePort();
    const listener = await listen(`http://localhost:${port}/callback`);
    try {
      assert.equal(new URL(listener.newStartUrl()).host, `localhost:${port}`);
      assert.equal(await listens('127.0.0.1', port), true);
      assert.equal(await listens('::1', port), await hasIpv6());
      void listener.answer(signal).then(() => listener.reply());
      assert.equal((await raw(port, `/callback?state=${STATE}`, { host: `localhost:${port}` })).status, 200);
    } finally {
      await listener.close();
    }
  });

  it('when one family of `localhost` is taken, the other is freed again', async function () {
    if (!(await hasIpv6())) this.skip();
    const { server, port } = await occupy('::1');
    try {
      assert.match((await failure(listen(`http://localhost:${port}/callback`))).message, /Another program uses port/);
      assert.equal(await listens('127.0.0.1', port), false);
    } finally {
      await release(server);
    }
  });

  it('[::1] works where the machine has it, and is refused with a reason where not', async () => {
    const port = await freePort();
    if (await hasIpv6()) {
      const listener = await listen(`http://[::1]:${port}/callback`);
      assert.deepEqual([await listens('::1', port), await listens('127.0.0.1', port)], [true, false]);
      await listener.close();
    } else {
      assert.match((await failure(listen(`http://[::1]:${port}/callback`))).message, /cannot be used on this machine/);
    }
  });
});
