import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { Worker } from 'node:worker_threads';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { type Fetch, type HttpRequest, originOf, retryAfterMs, sendRequest } from '../../../../src/core/base/http.ts';
import { loopbackServer } from './loopbackServer.ts';
import { freePort } from './ports.ts';

const REQUEST: HttpRequest = { method: 'GET', deadlineMs: 5_000, maxBytes: 1_000_000 };
const { signal } = new AbortController();

const thrown = async (promise: Promise<unknown>): Promise<RolecallError> => {
  const error = await promise.then(
    () => assert.fail('nothing was thrown'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof RolecallError, String(error));
  return error;
};

describe('one exchange', () => {
  const server = loopbackServer();
  const foreign = loopbackServer();
  const get = (request: Partial<HttpRequest> = {}, stop: AbortSignal = signal) =>
    sendRequest(fetch, `${server.origin}/private/path?code=1`, { ...REQUEST, ...request }, stop);

  it('sends method, headers and body as given, and reads the answer to its end', async () => {
    server.answer = (_request, response) => response.writeHead(201, { 'x-answer': 'yes' }).end('{"a":"ü"}');
    const request: Partial<HttpRequest> = {
      method: 'POST',
      headers: { authorization: 'Bearer x', 'content-type': 'text/plain' },
      body: 'né',
    };
    const answer = await get(request);
    assert.deepEqual([answer.status, answer.headers.get('x-answer'), answer.text], [201, 'yes', '{"a":"ü"}']);
    const [seen] = server.seen;
    assert.deepEqual([seen?.method, seen?.body, seen?.path], ['POST', 'né', '/private/path?code=1']);
    assert.deepEqual([seen?.headers.authorization, seen?.headers['content-type']], ['Bearer x', 'text/plain']);
  });

  for (const status of [200, 204, 400, 401, 404, 500, 502]) {
    it(`${status} is an answer, not an error`, async () => {
      server.answer = (_request, response) => response.writeHead(status).end(status === 204 ? undefined : 'body');
      assert.deepEqual(await get().then((answer) => [answer.status, answer.text]), [
        status,
        status === 204 ? '' : 'body',
      ]);
    });
  }

  it('puts together characters that were cut between packets, and drops a byte order mark', async () => {
    const bytes = Buffer.from('\ufeff{"name":"Zoë 🦊"}');
    server.answer = async (_request, response) => {
      for (const byte of bytes) {
        response.write(Buffer.from([byte]));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    };
    assert.equal((await get()).text, '{"name":"Zoë 🦊"}');
  });

  for (const status of [301, 302, 303, 307, 308]) {
    it(`a ${status} to another host is refused, and that host is never called`, async () => {
      server.answer = (_request, response) =>
        response.writeHead(status, { location: `${foreign.origin}/steal` }).end('moved');
      const error = await thrown(get({ headers: { authorization: 'Bearer secret' } }));
      assert.deepEqual([error.kind, error.details.status], ['protocol', status]);
      assert.match(error.message, /responded with a redirect\. Rolecall does not follow redirects/);
      assert.equal(foreign.seen.length, 0);
    });
  }

  it('a redirect that fetch hides (opaque) is refused too', async () => {
    const opaque: Fetch = async () => Object.defineProperty(new Response(), 'type', { value: 'opaqueredirect' });
    assert.equal((await thrown(sendRequest(opaque, server.origin, REQUEST, signal))).kind, 'protocol');
  });

  it('takes a body of exactly the limit and refuses one byte more', async () => {
    server.answer = (_request, response) => response.end('x'.repeat(1000));
    assert.equal((await get({ maxBytes: 1000 })).text.length, 1000);
    const error = await thrown(get({ maxBytes: 999 }));
    assert.equal(error.kind, 'protocol');
    assert.match(error.message, /sent more than .* MB, so the response was discarded/);
  });

  it('counts bytes, not characters, and stops reading an endless body', async () => {
    let closed: () => void = () => {};
    const dropped = new Promise<void>((resolve) => {
      closed = resolve;
    });
    server.answer = (_request, response) => {
      const more = setInterval(() => response.write('ü'.repeat(20_000)), 1);
      response.on('close', () => {
        clearInterval(more);
        closed();
      });
    };
    assert.equal((await thrown(get({ maxBytes: 100_000 }))).kind, 'protocol');
    await dropped;
  });

  it('a deadline that passes before the answer says which host and after how long', async () => {
    server.answer = () => {};
    const error = await thrown(get({ deadlineMs: 20 }));
    assert.equal(error.kind, 'timeout');
    assert.equal(error.message, `${server.origin} did not respond within 1 second.`);
  });

  for (const how of ['a deadline', 'Cancel'] as const) {
    it(`${how} ends an exchange whose fetch does not look at its signal`, async () => {
      const deaf: Fetch = () => new Promise(() => {});
      const stop = new AbortController();
      const request = { method: 'GET', deadlineMs: how === 'Cancel' ? 60_000 : 20, maxBytes: 1 } as const;
      const error = thrown(sendRequest(deaf, server.origin, request, stop.signal));
      if (how === 'Cancel') stop.abort();
      assert.equal((await error).kind, how === 'Cancel' ? 'cancelled' : 'timeout');
    });
  }

  it('a response that came while this process was stopped is read, although its deadline has passed since', async () => {
    const source = `
      const { parentPort } = require('node:worker_threads');
      const { createServer } = require('node:http');
      const asked = new Int32Array(new SharedArrayBuffer(4));
      const server = createServer((_request, response) => response.end('here', () => Atomics.notify(asked, Atomics.add(asked, 0, 1))));
      server.listen(0, '127.0.0.1', () => parentPort.postMessage({ port: server.address().port, asked }));`;
    const worker = new Worker(source, { eval: true });
    try {
      const { port, asked } = await new Promise<{ port: number; asked: Int32Array }>((resolve) =>
        worker.once('message', resolve),
      );
      const request = { method: 'GET', deadlineMs: 500, maxBytes: 10 } as const;
      const answer = sendRequest(fetch, `http://127.0.0.1:${port}/`, request, signal);
      const sent = new Promise<void>((resolve) => channel('undici:client:sendHeaders').subscribe(() => resolve()));
      await sent;
      Atomics.wait(asked, 0, 0); // Nothing of this process runs until the server has answered,
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600); // nor until the deadline has passed.
      assert.equal((await answer).text, 'here');
    } finally {
      await worker.terminate();
    }
  });

  it('the deadline holds for the body too', async () => {
    server.answer = (_request, response) => response.write('half');
    assert.equal((await thrown(get({ deadlineMs: 30 }))).kind, 'timeout');
  });

  const moments: readonly [string, (response: { write(text: string): unknown }) => void][] = [
    ['before the answer', () => {}],
    ['in the middle of the body', (response) => response.write('half')],
  ];
  for (const [when, begin] of moments) {
    it(`Cancel ${when} is \`cancelled\`, not an error of the network, and reaches the server`, async () => {
      const stop = new AbortController();
      const gone = new Promise<void>((resolve) => {
        server.answer = (_request, response) => {
          begin(response);
          response.on('close', () => resolve());
          setTimeout(() => stop.abort(), 15);
        };
      });
      assert.equal((await thrown(get({}, stop.signal))).kind, 'cancelled');
      await gone;
    });
  }

  it('cancelled beforehand, it sends nothing', async () => {
    assert.equal((await thrown(get({}, AbortSignal.abort()))).kind, 'cancelled');
    assert.equal(server.seen.length, 0);
  });

  it('a connection cut before or within the answer is `offline`, and half an answer is no answer', async () => {
    for (const begin of [() => {}, (response: { write(text: string): unknown }) => response.write('[{"half":')]) {
      server.answer = (request, response) => {
        begin(response);
        setTimeout(() => request.socket.destroy(), 15);
      };
      const error = await thrown(get());
      assert.equal(error.kind, 'offline');
      assert.equal(error.message, `Could not reach ${server.origin}: the connection was lost.`);
    }
  });

  for (const encoding of ['gzip', 'deflate', 'br']) {
    it(`an answer that cannot be decompressed (${encoding}) is not one that did not come`, async () => {
      server.answer = (_request, response) => {
        response.setHeader('content-encoding', encoding);
        response.end('[] in plain text');
      };
      const error = await thrown(get());
      assert.equal(error.kind, 'protocol');
      assert.match(error.message, /sent a response that cannot be decompressed\./);
    });
  }

  it('a port where nothing listens is `offline`, and the sentence names the origin only', async () => {
    const closed = await freePort();
    const refused = await thrown(sendRequest(fetch, `http://127.0.0.1:${closed}/private/path?code=1`, REQUEST, signal));
    assert.equal(refused.message, `Could not reach http://127.0.0.1:${closed}: nothing is listening there.`);
    assert.deepEqual([refused.kind, refused.details.code], ['offline', 'ECONNREFUSED']);
  });

  it('both addresses of localhost refused is told as one refusal', async () => {
    const error = await thrown(sendRequest(fetch, `http://localhost:${await freePort()}`, REQUEST, signal));
    assert.match(error.message, /nothing is listening there\.$/);
  });
});

describe('why there was no answer', () => {
  const rows: readonly [string, RegExp][] = [
    ['ENOTFOUND', /the host name is unknown/],
    ['EAI_AGAIN', /could not be looked up/],
    ['ENETUNREACH', /no network connection/],
    ['EHOSTUNREACH', /no network connection/],
    ['ECONNRESET', /connection was lost/],
    ['ETIMEDOUT', /connection timed out/],
    ['UND_ERR_CONNECT_TIMEOUT', /connection timed out/],
    ['UND_ERR_HEADERS_TIMEOUT', /did not begin within 300 seconds/],
    ['UND_ERR_BODY_TIMEOUT', /paused for 300 seconds/],
    ['CERT_HAS_EXPIRED', /certificate has expired/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /certificate is self-signed/],
    ['SELF_SIGNED_CERT_IN_CHAIN', /chain is not trusted/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /incomplete or not trusted/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /for another host name/],
    ['SOMETHING_NEW', /the network request failed/],
    ['toString', /the network request failed/],
  ];
  const coded = (code: string) => Object.assign(new Error('inner'), { code });
  for (const [code, sentence] of rows) {
    it(`${code}: ${sentence.source}`, async () => {
      const failing: Fetch = async () => {
        throw new TypeError('fetch failed', { cause: coded(code) });
      };
      const error = await thrown(sendRequest(failing, 'https://identity.example.com/x', REQUEST, signal));
      assert.equal(error.kind, 'offline');
      assert.match(error.message, /^Could not reach https:\/\/identity\.example\.com: /);
      assert.match(error.message, sentence);
    });
  }

  it('the reason is found two levels deep, and among several addresses', async () => {
    const deep = new TypeError('fetch failed', { cause: new Error('proxy', { cause: coded('ENOTFOUND') }) });
    const several = new TypeError('fetch failed', { cause: new AggregateError([coded('ECONNREFUSED')]) });
    for (const [failure, reason] of [
      [deep, /unknown/],
      [several, /nothing is listening/],
    ] as const) {
      const failing: Fetch = () => Promise.reject(failure);
      assert.match((await thrown(sendRequest(failing, 'https://x.example', REQUEST, signal))).message, reason);
    }
  });

  it('a cause that is its own cause is not followed for ever', async () => {
    const circle = new Error('circle');
    circle.cause = circle;
    const failing: Fetch = () => Promise.reject(circle);
    assert.equal((await thrown(sendRequest(failing, 'https://x.example', REQUEST, signal))).kind, 'offline');
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-03-01T12:00:00Z');
  const rows: readonly [value: string | undefined, ms: number | undefined][] = [
    ['0', 0],
    ['7', 7000],
    [' 7 ', 7000],
    ['Sun, 01 Mar 2026 12:00:05 GMT', 5000],
    ['Sunday, 01-Mar-26 12:00:05 GMT', 5000],
    ['Sun, 01 Mar 2026 11:59:00 GMT', 0],
    [undefined, undefined],
    ['', undefined],
    ['soon', undefined],
    ['-5', undefined],
    ['1.5', undefined],
  ];
  for (const [value, ms] of rows) {
    it(`${value ?? 'absent'} → ${ms ?? 'no answer to that'}`, () => {
      assert.equal(retryAfterMs(new Headers(value === undefined ? {} : { 'retry-after': value }), now), ms);
    });
  }
});

describe('the origin to name', () => {
  it('never tells path, query or credentials', () => {
    assert.equal(originOf('https://me:pw@identity.example.com:8443/a?b=c#d'), 'https://identity.example.com:8443');
    assert.equal(originOf('not an address?code=secret'), 'The server');
  });
});
