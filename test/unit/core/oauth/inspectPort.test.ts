import assert from 'node:assert/strict';
import { inspectPort, listenForRedirect, serveStartPage } from '../../../../src/core/oauth/loopbackListener.ts';
import { freePort, occupy, release } from '../base/ports.ts';
import { withShortDeadlines } from '../base/shortDeadlines.ts';

const { signal } = new AbortController();
const page = { title: '', text: '' };
const pages = { done: page, failed: () => page, refused: page };

describe('who listens at a redirect URI', () => {
  let port: number;
  beforeEach(async () => {
    port = await freePort();
  });

  it('nobody', async () => {
    assert.equal(await inspectPort(`http://127.0.0.1:${port}/callback`, signal), 'nobody');
    assert.equal(await inspectPort(`http://localhost:${port}/callback`, signal), 'nobody');
  });

  it('a sign-in of Rolecall that waits, which goes on waiting', async () => {
    const redirectUri = `http://127.0.0.1:${port}/callback`;
    const listener = await listenForRedirect({ redirectUri, state: 's', authorizationUrl: 'http://x/', pages });
    assert.equal(await inspectPort(redirectUri, signal), 'rolecall');
    const answer = listener.answer(signal);
    const shown = fetch(`${redirectUri}?state=s&code=c`);
    assert.equal((await answer).searchParams.get('code'), 'c');
    listener.reply();
    assert.equal((await shown).status, 200);
    await listener.close();
  });

  for (const says of ['hello', 'nothing'] as const) {
    it(`another program that says ${says}`, async () => {
      const taken = await occupy('127.0.0.1', port, says);
      const deadlines = await withShortDeadlines(async () => {
        assert.equal(await inspectPort(`http://127.0.0.1:${port}/callback`, signal), 'other');
      });
      assert.deepEqual(deadlines, [500]);
      await release(taken.server);
    });
  }

  it('cannot be asked of an address elsewhere', async () => {
    await assert.rejects(inspectPort('https://example.com/callback', signal), /loopback address/);
  });
});

describe('the start address alone', () => {
  it('leads to the authorization address letter by letter, answers nothing else, and closes', async () => {
    const authorizationUrl = 'https://identity.example.com/a?redirect_uri=vscode%3A%2F%2Fx&state=s';
    const { newStartUrl, close } = await serveStartPage(authorizationUrl);
    const startUrl = newStartUrl();
    const { hostname, origin } = new URL(startUrl);
    assert.equal(hostname, '127.0.0.1');
    const answer = await fetch(startUrl, { redirect: 'manual' });
    assert.deepEqual([answer.status, answer.headers.get('location')], [302, authorizationUrl]);
    for (const [path, method] of [
      ['/', 'GET'],
      [new URL(startUrl).pathname, 'GET'],
      [new URL(newStartUrl()).pathname, 'POST'],
      ['/callback', 'GET'],
    ]) {
      assert.equal((await fetch(`${origin}${path}`, { method: method ?? '', redirect: 'manual' })).status, 404);
    }
    await close();
    await assert.rejects(fetch(startUrl));
  });
});
