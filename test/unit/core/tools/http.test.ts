// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isCancelled, RolecallError } from '../../../../src/core/base/errors.ts';
import { httpLines } from '../../../../src/core/tools/consent.ts';
import type { HttpRun } from '../../../../src/core/tools/definition.ts';
import { hostEntry, isAllowedHost, prepareHttp, runHttp } from '../../../../src/core/tools/http.ts';

const never = new AbortController().signal;

describe('a tool that sends a request', () => {
  let server: Server;
  let host: string;
  let seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
  let answer: (request: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    seen = [];
    answer = (_, response) => void response.end('hello');
    server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      answer(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const prepare = (changes: Partial<HttpRun> & { path?: string } = {}, args: Record<string, unknown> = {}) => {
    const { path = '/', ...run } = changes;
    return prepareHttp(
      {
        kind: 'http',
        method: 'GET',
        url: `http://${host}${path}`,
        headers: {},
        timeoutSeconds: 5,
        outputLimit: 1000,
        ...run,
      },
      args,
      [host],
    );
  };
  const run = (changes: Parameters<typeof prepare>[0] = {}, args: Record<string, unknown> = {}, signal = never) =>
    runHttp(prepare(changes, args), { fetch, signal });

  it('sends what consent shows, and nothing that could be a secret', async () => {
    const spec = prepare(
      {
        method: 'POST',
        path: '/a/${id}?q=${q}',
        headers: { Accept: 'text/plain' },
        body: { id: '${id}', none: '${none}' },
      },
      { id: 7, q: 'x y' },
    );
    const lines = httpLines(spec).map(({ kind, text }) => `${kind} ${text}`);
    assert.deepEqual(lines, [
      `request POST "http://${host}/a/7?q=x%20y"`,
      'header content-type: "application/json"',
      'header accept: "text/plain"',
      'body "{\\"id\\":7}"',
      'timeout 5 s',
    ]);
    const result = await runHttp(spec, { fetch, signal: never });
    assert.deepEqual(result, { content: 'The server returned status 200.\nhello', isError: false });
    const [request] = seen;
    assert.deepEqual([request?.method, request?.url, request?.body], ['POST', '/a/7?q=x%20y', '{"id":7}']);
    assert.equal(request?.headers.accept, 'text/plain');
    assert.deepEqual(
      [request?.headers.authorization, request?.headers.cookie, request?.headers.referer],
      [undefined, undefined, undefined],
    );
  });

  it('is not prepared for a host the user did not allow', () => {
    const one: HttpRun = {
      kind: 'http',
      method: 'GET',
      url: 'https://other.example/',
      headers: {},
      timeoutSeconds: 1,
      outputLimit: 256,
    };
    assert.throws(
      () => prepareHttp(one, {}, [host]),
      (error) =>
        error instanceof RolecallError &&
        error.kind === 'configuration' &&
        /"other\.example"/.test(error.message) &&
        error.remedy?.kind === 'changeSetting',
    );
    assert.deepEqual(seen, []);
  });

  it('gives an answer of 400 and above to the model as an error, with its body', async () => {
    answer = (_, response) => void response.writeHead(404, { 'content-type': 'application/json' }).end('{"no":1}');
    assert.deepEqual(await run(), { content: 'The server returned status 404.\n{"no":1}', isError: true });
  });

  it('follows a redirect on the same host, for GET only', async () => {
    answer = (request, response) =>
      void (request.url === '/b' ? response.end('there') : response.writeHead(302, { location: '/b#x' }).end());
    assert.match((await run({ path: '/a' })).content, /there/);
    assert.deepEqual(
      seen.map(({ url }) => url),
      ['/a', '/b'],
    );
    const posted = await run({ path: '/a', method: 'POST', body: 1 });
    assert.deepEqual([posted.isError, /redirect to \/b/.test(posted.content)], [true, true]);
    assert.equal(seen.length, 3);
  });

  it('says that a redirect leads nowhere', async () => {
    answer = (_, response) => void response.writeHead(302).end();
    const { content } = await run();
    assert.deepEqual([content, seen.length], ['The server returned a redirect without a location.', 1]);
  });

  it('never follows a redirect to another host, port or scheme, even an allowed one', async () => {
    const reached: string[] = [];
    const other = createServer((request, response) => {
      reached.push(request.url ?? '');
      response.end('secret');
    });
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    try {
      for (const location of [
        `http://127.0.0.1:${port}/`,
        `//127.0.0.1:${port}/`,
        `https://${host}/`,
        `http://u:p@${host}/`,
        'file:///etc/passwd',
      ]) {
        answer = (_, response) => void response.writeHead(307, { location }).end();
        const result = await run();
        assert.equal(result.isError, true);
        assert.match(result.content, /another host/);
      }
      assert.deepEqual(reached, []);
      assert.equal(seen.length, 5);
    } finally {
      other.close();
    }
  });

  it('does not go round in a ring', async () => {
    answer = (_, response) => void response.writeHead(302, { location: '/' }).end();
    const result = await run();
    assert.match(result.content, /more than 5 times/);
    assert.equal(seen.length, 6);
  });

  it('keeps of a long answer what its limit says, and says what is left out', async () => {
    answer = (_, response) => void response.end(`begin${'x'.repeat(100_000)}end`);
    const { content } = await run({ outputLimit: 256 });
    assert.match(content, /begin[\s\S]*\[\d+ bytes left out\][\s\S]*end$/);
    assert.ok(content.length < 400);
  });

  it('stops reading an answer without end', async () => {
    const block = Buffer.alloc(1024 * 1024, 'y');
    answer = (_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(block));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    const { content } = await run({ outputLimit: 256, timeoutSeconds: 60 });
    assert.match(content, /longer than 16777216 bytes/);
  });

  it('does not read what is no text', async () => {
    answer = (_, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(10));
    assert.match((await run()).content, /image\/png, which is not text/);
  });

  it('is ended by its time limit', async () => {
    answer = () => {};
    await assert.rejects(
      run({ timeoutSeconds: 0.05 }),
      (error) => error instanceof RolecallError && error.kind === 'timeout' && /0\.05 seconds/.test(error.message),
    );
  });

  it('is ended on the wire by Stop, also in the middle of the answer', async () => {
    const stop = new AbortController();
    const closed = new Promise<void>((resolve) => {
      answer = (request, response) => {
        request.socket.once('close', () => resolve());
        response.write('half');
        stop.abort();
      };
    });
    await assert.rejects(run({}, {}, stop.signal), isCancelled);
    await closed;
  });

  it('says so when nobody answers', async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
    await assert.rejects(run(), (error) => error instanceof RolecallError && error.kind === 'offline');
  });
});

describe('allowed hosts', () => {
  const rows: [entry: string, url: string, allowed: boolean][] = [
    ['api.example.com', 'https://api.example.com/x', true],
    [' API.example.com/ ', 'https://api.example.com/x', true],
    ['api.example.com', 'http://api.example.com/x', false],
    ['api.example.com', 'https://api.example.com:8443/', false],
    ['api.example.com:8443', 'https://api.example.com:8443/', true],
    ['example.com', 'https://api.example.com/', false],
    ['example.com', 'https://example.com.evil.test/', false],
    ['http://intranet:8080', 'http://intranet:8080/x', true],
    ['http://intranet:8080', 'https://intranet:8080/x', false],
    ['localhost:3000', 'http://localhost:3000/', true],
    ['localhost:3000', 'https://localhost:3000/', true],
    ['localhost:3000', 'http://127.0.0.1:3000/', false],
    ['localhost', 'http://localhost/', true],
    ['localhost', 'http://localhost:3000/', false],
    ['127.0.0.1:80', 'http://127.0.0.1/', true],
    ['[::1]:9', 'http://[::1]:9/', true],
    ['localhost.evil.test', 'http://localhost.evil.test/', false],
    ['*', 'https://api.example.com/', false],
    ['', 'https://api.example.com/', false],
    ['https://api.example.com/path', 'https://api.example.com/path', false],
    ['user@api.example.com', 'https://api.example.com/', false],
    ['ftp://api.example.com', 'https://ftp/', false],
  ];
  for (const [entry, url, allowed] of rows) {
    it(`"${entry}" ${allowed ? 'allows' : 'does not allow'} ${url}`, () => {
      assert.equal(isAllowedHost(new URL(url), ['other.example', entry]), allowed);
    });
  }

  it('are named so that the user can allow them', () => {
    for (const url of [
      'https://a.example/',
      'https://a.example:1/',
      'http://a.example/',
      'http://localhost:3/',
      'http://[::1]/',
    ]) {
      assert.ok(isAllowedHost(new URL(url), [hostEntry(new URL(url))]), url);
    }
  });
});
