import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { loopbackServer } from '../core/base/loopbackServer.ts';
import { freePort } from '../core/base/ports.ts';
import { deferred } from '../core/deferred.ts';
import { useCommandLine } from './harness.ts';

const ESC = '\u001b';

/** Bodies by hand, as the specifications describe them: not the sandbox's. */
const groups = [
  {
    metadata: {
      id: 'g-1',
      name: `ops${ESC}[31m`,
      creationTime: '2025-01-01T00:00:00Z',
      provisioningStatus: 'provisioned',
      healthStatus: 'healthy',
      organizationId: 'acme',
    },
    spec: { userIDs: [`eve${ESC}]0;owned\u0007`], serviceAccountIDs: [], roleIDs: ['r-1'] },
  },
];
const roles = [
  {
    metadata: {
      id: 'r-1',
      name: 'operator',
      creationTime: '2025-01-01T00:00:00Z',
      provisioningStatus: 'provisioned',
      healthStatus: 'healthy',
    },
  },
];

describe('the command line against a plain HTTP server', function () {
  this.timeout(60_000);
  const server = loopbackServer();
  const commandLine = useCommandLine();
  const env = () => ({
    ROLECALL_TOKEN: 'service-token-of-a-pipeline',
    ROLECALL_IDENTITY_URL: server.origin,
    ROLECALL_INFERENCE_URL: server.origin,
    ROLECALL_ORGANIZATION: 'acme',
  });
  const json = (response: http.ServerResponse, value: unknown, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

  beforeEach(() => {
    server.answer = ({ url }, response) => {
      if (url === '/api/v1/organizations/acme/groups') return json(response, groups);
      if (url === '/api/v1/organizations/acme/roles') return json(response, roles);
      if (url === '/oauth2/v2/userinfo') return json(response, { sub: '17', email: 'pipeline@acme.example' });
      return json(response, { error: 'not_found', error_description: 'No.' }, 404);
    };
  });

  it('reads with the token and nothing else', async () => {
    const { code, stdout, stderr } = await commandLine.start(['who-has', 'operator'], { env: env() }).ended;
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^operator \(id r-1\) in acme: 1 user ID through 1 group\.\n/);
    assert.deepEqual(server.seen.map(({ method, path }) => `${method} ${path}`).sort(), [
      'GET /api/v1/organizations/acme/groups',
      'GET /api/v1/organizations/acme/roles',
    ]);
    for (const { headers } of server.seen) {
      assert.equal(headers.authorization, 'Bearer service-token-of-a-pipeline');
    }
  });

  it('says who is signed in, where the service tells it', async () => {
    const { code, stdout } = await commandLine.run(['whoami', '--json'], { env: env() });
    const { account, source, organizations } = JSON.parse(stdout);
    assert.deepEqual([account, source, organizations], ['pipeline@acme.example', 'ROLECALL_TOKEN', ['acme']]);
    assert.equal(code, 0);
  });

  it('lets no control character of a server or a model through, in any format', async () => {
    const outputs = await Promise.all(
      [
        ['who-has', 'operator'],
        ['who-has', 'operator', '--json'],
        ...['md', 'csv', 'json'].map((format) => ['review', '--format', format]),
      ].map((args) => commandLine.run(args, { env: env() })),
    );
    const text = (content: string) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
    server.answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(text(`one${ESC}[2J\r\u009b`))}\n\n`);
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`);
      response.end('data: [DONE]\n\n');
    };
    const chats = await Promise.all(
      [
        ['chat', 'x', '-m', 'm'],
        ['chat', 'x', '-m', 'm', '--json'],
      ].map((args) => commandLine.run(args, { env: env() })),
    );
    for (const { code, stdout, stderr } of [...outputs, ...chats]) {
      assert.equal(code, 0, stderr);
      assert.ok(stdout.length > 10);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
      assert.doesNotMatch(stdout.replaceAll('\r\n', '\n'), /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }
    assert.equal(JSON.parse(chats[1]?.stdout ?? '').choices[0].text, `one${ESC}[2J\r\u009b`, 'the value is the same');
  });

  it('never prints a token that a service repeats', async () => {
    const [token, other] = ['service-token-of-a-pipeline', 'inference-token-of-a-pipeline'];
    server.answer = ({ url, headers }, response) => {
      const echo = `${headers.authorization}`;
      if (url === '/oauth2/v2/userinfo') return json(response, { sub: echo, email: echo });
      if (url?.endsWith('/groups'))
        return json(response, [{ ...groups[0], spec: { userIDs: [echo], roleIDs: [echo] } }]);
      if (url?.endsWith('/roles')) return json(response, [{ metadata: { ...roles[0]!.metadata, name: echo } }]);
      if (url === '/v1/models') return json(response, { data: [{ id: echo }] });
      return json(response, { choices: [{ index: 0, message: { content: echo }, finish_reason: 'stop' }] });
    };
    const printed = await Promise.all(
      [
        ['whoami'],
        ['models'],
        ['models', '--json'],
        ['chat', 'x', '-m', 'm'],
        ['chat', 'x', '-m', 'm', '--json'],
        ['who-has', 'Bearer'],
        ...['md', 'csv', 'json'].map((format) => ['review', '--format', format]),
      ].map(async (args) => {
        const { stdout, stderr } = await commandLine.run(args, { env: { ...env(), ROLECALL_INFERENCE_TOKEN: other } });
        assert.match(stdout, /hidden/, args.join(' ')); // So it was repeated.
        return stdout + stderr;
      }),
    );
    for (const text of printed) for (const secret of [token, other]) assert.ok(!text.includes(secret), text);
  });

  it('says that it cannot reach a service', async () => {
    const away = { ...env(), ROLECALL_IDENTITY_URL: `http://127.0.0.1:${await freePort()}` };
    const { code, stdout, stderr } = await commandLine.run(['who-has', 'operator'], { env: away });
    assert.deepEqual([code, stdout], [3, '']);
    assert.match(stderr, /^error: Could not reach http:\/\/127\.0\.0\.1:\d+: nothing is listening there\.\n$/);
  });

  it('reads no file to the end that has none', async function () {
    if (process.platform === 'win32') this.skip();
    const { code, stderr } = await commandLine.run(['chat', 'x', '-m', 'm', '-f', '/dev/zero'], { env: env() });
    assert.equal(code, 2);
    assert.match(stderr, /\/dev\/zero is larger than 1 MB/);
  });

  it('names what is missing or wrong in its configuration, by the name it was given', async () => {
    const cases: readonly [args: string[], env: Record<string, string>, says: RegExp][] = [
      [['who-has', 'x'], { ROLECALL_TOKEN: 'service-token' }, /Set ROLECALL_IDENTITY_URL, or use --identity-url\./],
      [['models'], { ROLECALL_TOKEN: 'service-token' }, /Set ROLECALL_INFERENCE_URL, or use --inference-url\./],
      [['whoami'], { ...env(), ROLECALL_IDENTITY_URL: 'ftp://x' }, /ROLECALL_IDENTITY_URL must be an address/],
      [['whoami', '--identity-url', 'http://far.example'], env(), /--identity-url must begin with https/],
      [['whoami'], { ...env(), ROLECALL_TOKEN: 'two words' }, /ROLECALL_TOKEN: A service token contains no spaces/],
      [['review'], { ...env(), ROLECALL_ORGANIZATION: 'a,b' }, /Choose one organization with --organization: a, b\./],
      [['chat', '-m', 'm'], env(), /There is no message/],
      [['chat', 'x', '-m', 'm', '-f', 'no-such-file'], env(), /no-such-file does not exist/],
      [['review', '--format', 'pdf'], env(), /Allowed choices are md, csv, json/],
      [['review', '--format', 'csv', '--json'], env(), /'--format <format>' cannot be used with option '--json'/],
      [['no-such-command'], env(), /unknown command 'no-such-command'/],
      [['who-has'], env(), /missing required argument 'role'/],
    ];
    for (const [args, given, says] of cases) {
      const { code, stdout, stderr } = await commandLine.run(args, { env: given });
      assert.match(stderr, says);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    }
  });

  it('does not wait for an input that it does not need', async () => {
    server.answer = (_request, response) => json(response, { choices: [{ index: 0, message: { content: 'Hello' } }] });
    const running = commandLine.start(['chat', 'x', '-m', 'm'], { env: env(), keepsOpen: true });
    const { code, stdout } = await running.ended;
    running.process.stdin.end();
    assert.deepEqual([code, stdout], [0, 'Hello\n']);
  });

  it('prints no colors into a pipe, and ends quietly when its reader has enough', async () => {
    const long = roles.concat(
      Array.from({ length: 20_000 }, (_, at) => ({
        metadata: { ...roles[0]!.metadata, id: `r-${at}`, name: `role-${at}` },
      })),
    );
    server.answer = ({ url }, response) => json(response, url?.endsWith('/groups') ? groups : long);
    const running = commandLine.start(['review', '--format', 'json'], { env: env() });
    await once(running.process.stdout, 'data');
    running.process.stdout.destroy();
    const { code, stderr } = await running.ended;
    assert.deepEqual([code, stderr], [0, '']);
  });

  it('does not end as if all was well where its reader left before the answer was known', async () => {
    const closed = deferred<void>();
    server.answer = (_request, response) => {
      const piece = { choices: [{ index: 0, delta: { content: 'x'.repeat(1000) } }] };
      const more = () => response.write(`data: ${JSON.stringify(piece)}\n\n`);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      more();
      void closed.promise.then(more);
    };
    const running = commandLine.start(['chat', 'x', '-m', 'm'], { env: env() });
    await once(running.process.stdout, 'data');
    running.process.stdout.destroy();
    closed.resolve();
    const { code, stderr } = await running.ended;
    assert.deepEqual([code, stderr], [141, '']);
  });

  it('says that a disk is full, and does not end as if it had written all', async function () {
    if (process.platform !== 'linux') this.skip();
    const { spawn } = await import('node:child_process');
    const child = spawn(
      '/bin/sh',
      ['-c', '"$0" "$1" review --format md > /dev/full', process.execPath, commandLine.program],
      { env: { ...env(), PATH: process.env.PATH ?? '' }, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let told = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      told += text;
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 3);
    assert.match(told, /error: .*ENOSPC/);
  });

  describe('behind a proxy', () => {
    const asked: string[] = [];
    let proxy: http.Server;

    before(async () => {
      proxy = http.createServer((request, response) => {
        asked.push(request.url ?? '');
        response.writeHead(502).end();
      });
      proxy.on('connect', ({ url }, socket) => {
        asked.push(url ?? '');
        socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
      });
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    });
    after(() => proxy.close());
    beforeEach(() => {
      asked.length = 0;
    });
    const proxyEnv = () => {
      const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      return { ...env(), HTTPS_PROXY: address, HTTP_PROXY: address };
    };

    it('asks the proxy for another machine', async () => {
      const far = { ...proxyEnv(), ROLECALL_IDENTITY_URL: 'https://identity.example.invalid' };
      const { code } = await commandLine.run(['who-has', 'operator'], { env: far });
      assert.equal(code, 3);
      assert.ok(asked.includes('identity.example.invalid:443'));
    });

    it('asks none for a host of NO_PROXY', async () => {
      const env = { ...proxyEnv(), NO_PROXY: '.invalid', ROLECALL_IDENTITY_URL: 'https://identity.example.invalid' };
      await commandLine.run(['who-has', 'operator'], { env });
      assert.deepEqual(asked, []);
    });

    for (const address of ['proxy.example:3128', 'secret@proxy', 'ftp://proxy.example']) {
      it(`says once, without the address, that it is none: ${address}`, async () => {
        const { code, stderr } = await commandLine.run(['who-has', 'operator'], {
          env: { ...env(), HTTPS_PROXY: address },
        });
        assert.equal(code, 2);
        assert.equal(stderr, 'error: HTTPS_PROXY is not an address such as http://proxy.example:3128.\n');
      });
    }

    it('asks none for this machine, where the token travels without TLS', async () => {
      const { code } = await commandLine.run(['who-has', 'operator'], { env: proxyEnv() });
      assert.equal(code, 0);
      assert.deepEqual(asked, []);
    });
  });
});
