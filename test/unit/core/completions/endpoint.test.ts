import assert from 'node:assert/strict';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import type { Fetch } from '../../../../src/core/base/http.ts';
import { DeadlineSignal } from '../../../../src/core/completions/deadlineSignal.ts';
import { authorizationHeader, endpointUrl, sendInferenceRequest } from '../../../../src/core/completions/endpoint.ts';
import { silentLog } from '../../../support/silentLog.ts';

const url = 'https://inference.example.com/v1/chat/completions';
const init = { method: 'POST' as const, headers: { Authorization: 'Bearer canary-token' }, body: '{}' };

async function failure(fetch: Fetch, user: AbortSignal = new AbortController().signal): Promise<RolecallError> {
  const watch = new DeadlineSignal(user);
  const deps = { fetch, log: silentLog, accessToken: async () => 'canary-token' };
  try {
    await sendInferenceRequest(deps, url, init, watch, 'm');
  } catch (error) {
    assert.ok(error instanceof RolecallError);
    return error;
  } finally {
    watch.dispose();
  }
  return assert.fail('it did not fail');
}

describe('completions: the endpoint', () => {
  it('is the address, the path of the specification, and one slash between', () => {
    for (const inferenceUrl of ['https://h.example', 'https://h.example/', 'https://h.example//']) {
      assert.equal(endpointUrl({ inferenceUrl }, '/v1/chat/completions'), 'https://h.example/v1/chat/completions');
    }
    assert.equal(
      endpointUrl({ inferenceUrl: 'https://h.example/at/' }, '/v1/models'),
      'https://h.example/at/v1/models',
    );
  });

  it('is refused when the address is none', () => {
    for (const inferenceUrl of ['', 'h.example', 'https://']) {
      assert.throws(() => endpointUrl({ inferenceUrl }, '/v1/models'), {
        name: 'RolecallError',
        kind: 'configuration',
      });
    }
  });

  it('gets the token as a bearer, and refuses what a header cannot hold without repeating it', () => {
    assert.equal(authorizationHeader('a.b-c_d'), 'Bearer a.b-c_d');
    for (const token of ['', 'canary token', 'canary\ntoken', 'canary\u0000', 'canäry']) {
      assert.throws(
        () => authorizationHeader(token),
        (error) => error instanceof RolecallError && error.kind === 'configuration' && !error.message.includes('can'),
      );
    }
  });
});

describe('completions: sending', () => {
  it('gives back any answer that says success', async () => {
    for (const status of [200, 201, 202]) {
      const watch = new DeadlineSignal(new AbortController().signal);
      const response = new Response('x', { status });
      const deps = { fetch: async () => response, log: silentLog, accessToken: async () => '' };
      assert.equal(await sendInferenceRequest(deps, url, init, watch), response);
      watch.dispose();
    }
  });

  it('asks fetch not to follow redirects, and refuses each', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const seen: unknown[] = [];
      const error = await failure(async (_url, sent) => {
        seen.push(sent?.redirect);
        return new Response(null, { status, headers: { location: 'https://elsewhere.example/' } });
      });
      assert.deepEqual(seen, ['manual']);
      assert.equal(error.kind, 'protocol');
      assert.match(error.message, /responded with a redirect\. Rolecall does not follow redirects/);
    }
  });

  /** Codes of the network, and the words a person gets. */
  const network: readonly [code: string, kind: string, says: RegExp][] = [
    ['ECONNREFUSED', 'offline', /^Could not reach https:\/\/inference\.example\.com: nothing is listening there\.$/],
    ['ENOTFOUND', 'offline', /the host name is unknown/],
    ['ECONNRESET', 'offline', /the connection was lost/],
    ['UND_ERR_HEADERS_TIMEOUT', 'timeout', /did not begin within 300 seconds/],
    ['UND_ERR_BODY_TIMEOUT', 'timeout', /paused for 300 seconds/],
  ];
  for (const [code, kind, says] of network) {
    it(`tells ${code} as ${kind}`, async () => {
      const cause = Object.assign(new Error('canary-token'), { code });
      const error = await failure(async () => {
        throw new TypeError('fetch failed', { cause });
      });
      assert.equal(error.kind, kind);
      assert.match(error.message, says);
      assert.ok(!error.message.includes('canary'));
    });
  }

  it('takes the time to wait from the answer', async () => {
    const error = await failure(async () => new Response('', { status: 429, headers: { 'retry-after': '7' } }));
    assert.equal(error.kind, 'rateLimited');
    assert.equal(error.details.retryAfterMs, 7000);
  });

  it('does not wait for a fetch that ignores Stop, and lets its late answer go', async () => {
    const user = new AbortController();
    let arrive: (response: Response) => void = () => {};
    const late = new Promise<Response>((resolve) => {
      arrive = resolve;
    });
    const failed = failure(() => late, user.signal);
    user.abort();
    assert.equal((await failed).kind, 'cancelled');
    await new Promise((cancel) => arrive(new Response(new ReadableStream({ cancel }))));
  });

  it('reads no more of an error than is needed', async () => {
    let pulled = 0;
    let cancelled = false;
    const body = new ReadableStream({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new TextEncoder().encode('x'.repeat(16 * 1024)));
      },
      cancel() {
        cancelled = true;
      },
    });
    const error = await failure(async () => new Response(body, { status: 400 }));
    assert.equal(error.kind, 'invalidRequest');
    assert.ok(pulled < 10, `${pulled} pieces were read`);
    assert.equal(cancelled, true);
  });

  it('tells an error by its status when its body breaks', async () => {
    const body = new ReadableStream({
      pull(controller) {
        controller.error(new Error('reset'));
      },
    });
    assert.equal((await failure(async () => new Response(body, { status: 503 }))).kind, 'server');
  });
});
