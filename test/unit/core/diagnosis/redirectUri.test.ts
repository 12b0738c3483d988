import assert from 'node:assert/strict';
import { createServer, type Server as HttpServer } from 'node:http';
import { inspectRedirectUri } from '../../../../src/core/diagnosis/probe.ts';
import { listenForRedirect } from '../../../../src/core/oauth/loopbackListener.ts';
import { freePort, hasIpv6, occupy, release } from '../base/ports.ts';
import { withShortDeadlines } from '../base/shortDeadlines.ts';

const never = new AbortController().signal;
const look = (uri: string, signal = never) => inspectRedirectUri(uri, 'vscode', signal);
const page = { title: 'x', text: 'x' };

describe('who listens on the redirect URI', () => {
  it('nobody: a sign-in can, and still can after the look', async () => {
    const port = await freePort();
    for (const host of ['127.0.0.1', 'localhost']) {
      const uri = `http://${host}:${port}/callback`;
      assert.deepEqual(await look(uri), { uri, kind: 'free' });
    }
    const { server } = await occupy('127.0.0.1', port);
    await release(server);
  });

  it('Rolecall, in the middle of a sign-in, which goes on', async () => {
    const uri = `http://127.0.0.1:${await freePort()}/callback`;
    const listener = await listenForRedirect({
      redirectUri: uri,
      state: 'expected',
      authorizationUrl: 'https://identity.example.com/oauth2/v2/authorization',
      pages: { done: page, failed: () => page, refused: page },
    });
    try {
      assert.deepEqual(await look(uri), { uri, kind: 'ours' });
      const answer = listener.answer(AbortSignal.timeout(5000));
      void fetch(`${uri}?code=x&state=expected`).then((shown) => shown.text());
      assert.equal((await answer).searchParams.get('code'), 'x');
    } finally {
      await listener.close();
    }
  });

  it('another program that speaks HTTP, by its own name', async () => {
    const server: HttpServer = createServer((_request, response) => {
      response.writeHead(200, { server: 'Werkzeug/3.0' }).end('<title>Rolecall</title>');
    });
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
    });
    try {
      const uri = `http://127.0.0.1:${port}/callback`;
      assert.deepEqual(await look(uri), { uri, kind: 'taken', program: 'Werkzeug/3.0' });
      const local = `http://localhost:${port}/callback`;
      assert.deepEqual(await look(local), { uri: local, kind: 'taken', program: 'Werkzeug/3.0' });
    } finally {
      server.closeAllConnections();
      await release(server);
    }
  });

  it('another program that says nothing, which is not waited for', async () => {
    const { server, port } = await occupy('127.0.0.1', 0, 'nothing');
    const sockets: { destroy(): void }[] = [];
    server.on('connection', (socket) => sockets.push(socket));
    try {
      const uri = `http://127.0.0.1:${port}/callback`;
      const deadlines = await withShortDeadlines(async () => assert.deepEqual(await look(uri), { uri, kind: 'taken' }));
      assert.deepEqual(deadlines, [1500]);
      assert.deepEqual(await look(uri, AbortSignal.abort()), { uri, kind: 'taken' });
    } finally {
      for (const socket of sockets) socket.destroy();
      await release(server);
    }
  });

  it('another program on the other family of `localhost`', async function () {
    if (!(await hasIpv6())) return this.skip();
    const { server, port } = await occupy('::1');
    try {
      const uri = `http://localhost:${port}/callback`;
      assert.deepEqual(await look(uri), { uri, kind: 'taken' });
    } finally {
      await release(server);
    }
  });

  const others: readonly (readonly [uri: string, expected: object])[] = [
    ['vscode://rolecall.rolecall/callback', { kind: 'editorLink', scheme: 'vscode', isThisEditor: true }],
    [
      'vscode-insiders://rolecall.rolecall/callback',
      { kind: 'editorLink', scheme: 'vscode-insiders', isThisEditor: false },
    ],
    ['https://app.example.com/callback', { kind: 'elsewhere' }],
    ['http://127.0.0.1/callback', { kind: 'elsewhere' }],
    ['http://10.0.0.1:18155/callback', { kind: 'elsewhere' }],
    ['not an address', { kind: 'elsewhere' }],
  ];
  for (const [uri, expected] of others) {
    it(`of "${uri}": ${JSON.stringify(expected)}`, async () => assert.deepEqual(await look(uri), { uri, ...expected }));
  }
});
