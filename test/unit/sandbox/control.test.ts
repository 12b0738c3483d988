import assert from 'node:assert/strict';
import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type RunningSandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import type { SandboxDescriptor } from '../../../src/sandbox/types.ts';
import { getList, refresh, signIn } from './walk.ts';

const GROUPS = '/api/v1/organizations/meridian/groups';

let sandbox: RunningSandbox;
let descriptor: SandboxDescriptor;
let accessToken: string;

before(async () => {
  sandbox = await startSandbox({ paceMs: 5 });
  descriptor = sandbox.descriptor;
  accessToken = (await signIn(descriptor)).access_token;
});

after(() => sandbox.close());

async function control(method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${descriptor.control}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function fault(rule: object): Promise<void> {
  const response = await control('POST', '/faults', rule);
  assert.equal(response.status, 200, await response.text());
}

const counters = async (): Promise<Record<string, number>> =>
  (await (await control('GET', '/counters')).json()) as Record<string, number>;

const groups = (headers: Record<string, string> = {}): Promise<Response> =>
  getList(descriptor, GROUPS, accessToken, headers);

/** Waits until a counter has this value: the server learns of a closed connection a moment after the client. */
async function until(name: string, value: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if ((await counters())[name] === value) return;
    await wait(10);
  }
  assert.equal((await counters())[name], value, name);
}

/** A streamed completion, as far as the inference half lets it come. */
function stream(signal?: AbortSignal, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${descriptor.inference}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      model: descriptor.models[0]?.id,
      stream: true,
      max_tokens: 30,
      messages: [{ role: 'user', content: 'Tell me about groups and roles, at length.' }],
    }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** All text that arrives until the end or the break, and the error of a break. */
async function readAll(response: Response): Promise<{ text: string; error: unknown }> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true });
    return { text, error: undefined };
  } catch (error) {
    return { text, error };
  }
}

beforeEach(async () => {
  await control('DELETE', '/faults');
});

describe('sandbox control: who may steer', () => {
  for (const path of ['/', '/faults', '/counters', `/${'x'.repeat(32)}/counters`]) {
    it(`answers 404 to ${path}, without the random key`, async () => {
      const { origin } = new URL(descriptor.control);
      assert.equal((await fetch(`${origin}${path}`)).status, 404);
    });
  }

  it('answers 404 to an unknown action with the key', async () => {
    assert.equal((await control('GET', '/restart')).status, 404);
    assert.equal((await control('PUT', '/faults', {})).status, 404);
  });

  it('says what is wrong with a fault it cannot understand', async () => {
    const wrong: [object, RegExp][] = [
      [{ kind: 'latency' }, /service/],
      [{ service: 'identity', kind: 'earthquake' }, /kind/],
      [{ service: 'identity', kind: 'status', status: 99 }, /status/],
      [{ service: 'identity', kind: 'status', path: '(' }, /path/],
      [{ service: 'identity', kind: 'status', times: 0 }, /times/],
      [{ service: 'identity', kind: 'status', colour: 'red' }, /colour/],
    ];
    for (const [rule, told] of wrong) {
      const response = await control('POST', '/faults', rule);
      assert.equal(response.status, 400);
      assert.match(((await response.json()) as { error_description: string }).error_description, told);
    }
    assert.deepEqual(await (await control('GET', '/faults')).json(), []);
  });

  it('says that a body is not JSON', async () => {
    const response = await fetch(`${descriptor.control}/faults`, { method: 'POST', body: '{' });
    assert.equal(response.status, 400);
  });
});

describe('sandbox control: which requests a fault meets', () => {
  it('one request unless told, then the service is itself again', async () => {
    await fault({ service: 'identity', kind: 'status', status: 503 });
    assert.deepEqual([(await groups()).status, (await groups()).status], [503, 200]);
  });

  it('n requests, and says how many are left', async () => {
    await fault({ service: 'identity', kind: 'status', times: 3 });
    assert.equal((await groups()).status, 500);
    assert.deepEqual(await (await control('GET', '/faults')).json(), [
      { service: 'identity', kind: 'status', times: 2 },
    ]);
  });

  it('every request until the faults are removed', async () => {
    await fault({ service: 'identity', kind: 'status', status: 401, times: null });
    for (let index = 0; index < 5; index++) assert.equal((await groups()).status, 401);
    assert.equal((await control('DELETE', '/faults')).status, 204);
    assert.equal((await groups()).status, 200);
  });

  it('only its service, method and path', async () => {
    await fault({ service: 'identity', kind: 'status', path: '/roles$', method: 'get', times: null });
    await fault({ service: 'identity', kind: 'status', method: 'POST', path: 'groups', times: null });
    await fault({ service: 'inference', kind: 'status', path: 'groups', times: null });
    assert.equal((await groups()).status, 200);
    assert.equal((await getList(descriptor, '/api/v1/organizations/meridian/roles', accessToken)).status, 500);
  });

  it('several at once, given as an array: one after the other, each latency besides', async () => {
    await fault([
      { service: 'identity', kind: 'latency', ms: 60 },
      { service: 'identity', kind: 'status', status: 429, headers: { 'Retry-After': '7' } },
      { service: 'identity', kind: 'status', status: 403 },
    ]);
    const start = performance.now();
    const first = await groups();
    assert.ok(performance.now() - start >= 55);
    assert.deepEqual([first.status, first.headers.get('retry-after')], [429, '7']);
    assert.equal((await groups()).status, 403);
    assert.equal((await groups()).status, 200);
  });

  it('the request that asks for it in its header, by kind or as JSON', async () => {
    assert.equal((await groups({ 'x-rolecall-sandbox-fault': 'html' })).status, 502);
    assert.equal((await groups({ 'x-rolecall-sandbox-fault': '{"kind":"status","status":418}' })).status, 418);
    assert.equal((await groups()).status, 200);
    const wrong = await groups({ 'x-rolecall-sandbox-fault': '{"kind":' });
    assert.equal(wrong.status, 400);
  });
});

describe('sandbox control: what a fault does', () => {
  const statuses: [string, number, string][] = [
    ['identity', 401, 'access_denied'],
    ['identity', 403, 'forbidden'],
    ['identity', 409, 'conflict'],
    ['identity', 415, 'unsupported_media_type'],
    ['identity', 413, 'request_entity_too_large'],
    ['identity', 500, 'server_error'],
  ];
  for (const [service, status, error] of statuses) {
    it(`status: ${service} answers ${status} ${error} in the specified shape`, async () => {
      await fault({ service, kind: 'status', status });
      const response = await groups();
      const body = (await response.json()) as Record<string, string>;
      assert.deepEqual([response.status, body.error, typeof body.error_description], [status, error, 'string']);
    });
  }

  it('status: inference answers with the four members of its error object', async () => {
    await fault({ service: 'inference', kind: 'status', status: 503 });
    const { error } = (await (await stream()).json()) as { error: Record<string, string> };
    assert.deepEqual(Object.keys(error).sort(), ['code', 'error_type', 'message', 'param']);
    assert.deepEqual([error.code, error.error_type], ['503', 'SERVICE_UNAVAILABLE']);
  });

  it('status: any other body, as JSON or as it stands', async () => {
    await fault([
      { service: 'identity', kind: 'status', body: { detail: 'no' } },
      { service: 'identity', kind: 'status', body: 'plain words' },
    ]);
    assert.deepEqual(await (await groups()).json(), { detail: 'no' });
    assert.equal(await (await groups()).text(), 'plain words');
  });

  it('html: a proxy page with 502', async () => {
    await fault({ service: 'identity', kind: 'html' });
    const response = await groups();
    assert.equal(response.status, 502);
    assert.equal(response.headers.get('content-type'), 'text/html');
    assert.match(await response.text(), /<h1>502 Bad Gateway<\/h1>/);
  });

  it('resetBefore: the request is not processed', async () => {
    const tokens = await signIn(descriptor, { client: 'link' });
    await fault({ service: 'identity', kind: 'resetBefore', path: 'token' });
    await assert.rejects(refresh(descriptor, descriptor.clients.link, tokens.refresh_token));
    assert.equal((await getList(descriptor, GROUPS, tokens.access_token)).status, 200);
    assert.equal((await refresh(descriptor, descriptor.clients.link, tokens.refresh_token)).status, 200);
  });

  it('resetAfter: the request is processed and the answer lost, so the session is gone', async () => {
    const tokens = await signIn(descriptor, { client: 'link' });
    const before = (await counters()).refreshes ?? 0;
    await fault({ service: 'identity', kind: 'resetAfter', path: 'token' });
    await assert.rejects(refresh(descriptor, descriptor.clients.link, tokens.refresh_token));
    assert.equal((await counters()).refreshes, before + 1);
    assert.equal((await getList(descriptor, GROUPS, tokens.access_token)).status, 401);
    const again = await refresh(descriptor, descriptor.clients.link, tokens.refresh_token);
    assert.equal(((await again.json()) as { error_description: string }).error_description, 'refresh token reuse');
  });

  for (const afterBytes of [0, 1, 100, 9000]) {
    it(`cut: exactly ${afterBytes} bytes of the body arrive, then the connection breaks`, async () => {
      await fault({ service: 'identity', kind: 'cut', afterBytes });
      const response = await groups();
      assert.equal(response.status, 200);
      const { text, error } = await readAll(response);
      assert.equal(Buffer.byteLength(text), afterBytes);
      assert.ok(error instanceof Error);
    });
  }

  it('cut: half of the body unless told', async () => {
    const whole = await (await groups()).text();
    await fault({ service: 'identity', kind: 'cut' });
    const { text, error } = await readAll(await groups());
    assert.equal(text, whole.slice(0, Math.ceil(whole.length / 2)));
    assert.ok(error instanceof Error);
  });

  it('malformedItem: one item among the others is none', async () => {
    const whole = (await (await groups()).json()) as unknown[];
    await fault({ service: 'identity', kind: 'malformedItem', body: { metadata: { id: 7 } } });
    const items = (await (await groups()).json()) as unknown[];
    assert.deepEqual(items, [...whole.slice(0, 6), { metadata: { id: 7 } }, ...whole.slice(6)]);
  });

  it('malformedItem: within `data` too', async () => {
    await fault({ service: 'inference', kind: 'malformedItem' });
    const response = await fetch(`${descriptor.inference}/v1/models`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    const { data } = (await response.json()) as { data: unknown[] };
    assert.equal(data.filter((item) => item === 42).length, 1);
    assert.equal(data.length, descriptor.models.length + 1);
  });

  it('garbage: a body that is no JSON, whole as it is', async () => {
    await fault({ service: 'identity', kind: 'garbage' });
    const response = await groups();
    assert.match(response.headers.get('content-type') ?? '', /json/);
    const text = await response.text();
    assert.throws(() => JSON.parse(text), SyntaxError);
  });

  it('silence: the connection stays open and nothing more comes', async () => {
    await fault({ service: 'identity', kind: 'silence', afterBytes: 10 });
    const controller = new AbortController();
    const response = await getSlow(controller.signal);
    const reader = response.body?.getReader();
    const first = await reader?.read();
    assert.equal(first?.value?.length, 10);
    const next = reader?.read().then(
      () => 'came',
      () => 'came',
    );
    assert.equal(await Promise.race([next, wait(80, 'silent')]), 'silent');
    controller.abort();
  });

  function getSlow(signal: AbortSignal): Promise<Response> {
    return fetch(`${descriptor.identity}${GROUPS}`, { signal, headers: { authorization: `Bearer ${accessToken}` } });
  }
});

describe('sandbox control: faults in a stream', () => {
  const events = (text: string): string[] => text.split('\n\n').filter((event) => event !== '');

  it('cut: some events, no end', async () => {
    await fault({ service: 'inference', kind: 'cut' });
    const { text, error } = await readAll(await stream());
    assert.ok(events(text).length >= 1);
    assert.ok(error instanceof Error);
    assert.doesNotMatch(text, /\[DONE\]/);
    await until('streams.inference.open', 0);
  });

  it('midStreamError: an error object as the last event', async () => {
    await fault({ service: 'inference', kind: 'midStreamError' });
    const { text, error } = await readAll(await stream());
    assert.equal(error, undefined);
    const told = events(text);
    assert.ok(told.length >= 2);
    const last = JSON.parse((told.at(-1) ?? '').slice('data: '.length)) as { error: { message: string } };
    assert.ok(last.error.message);
    assert.match(told[0] ?? '', /chat\.completion\.chunk/);
  });

  it('garbage: one event that is no JSON, and the stream goes on to its end', async () => {
    await fault({ service: 'inference', kind: 'garbage' });
    const { text, error } = await readAll(await stream());
    assert.equal(error, undefined);
    const broken = events(text).filter((event) => {
      const data = event.slice('data: '.length);
      if (data === '[DONE]') return false;
      try {
        return JSON.parse(data) === undefined;
      } catch {
        return true;
      }
    });
    assert.equal(broken.length, 1);
    assert.match(text, /\[DONE\]\n\n$/);
  });

  it('silence: the first event, then nothing until the client leaves', async () => {
    const aborted = (await counters())['streams.inference.aborted'] ?? 0;
    await fault({ service: 'inference', kind: 'silence' });
    const controller = new AbortController();
    const reader = (await stream(controller.signal)).body?.getReader();
    assert.ok(((await reader?.read())?.value?.length ?? 0) > 0);
    const next = reader?.read().then(
      () => 'came',
      () => 'came',
    );
    assert.equal(await Promise.race([next, wait(150, 'silent')]), 'silent');
    controller.abort();
    await until('streams.inference.aborted', aborted + 1);
  });
});

describe('sandbox control: the counters', () => {
  it('tell services, routes, hosts, statuses, sign-ins, refreshes and refusals', async () => {
    assert.equal((await control('DELETE', '/counters')).status, 204);
    const { refresh_token } = await signIn(descriptor, { client: 'link' });
    const client = descriptor.clients.link;
    await refresh(descriptor, client, refresh_token);
    await refresh(descriptor, client, refresh_token);
    await groups();
    await getList(descriptor, GROUPS, 'not-a-token');
    const { host } = new URL(descriptor.identity);
    assert.deepEqual(await counters(), {
      [`host ${host}`]: 9,
      'identity GET /api/v1/organizations/meridian/groups': 2,
      'identity GET /oauth2/v2/authorization': 1,
      'identity GET /oauth2/v2/authorization/:uid': 1,
      'identity GET /sign-in/:uid': 1,
      'identity POST /oauth2/v2/token': 3,
      'identity POST /sign-in/:uid': 1,
      refreshes: 1,
      'refreshes.refused': 1,
      'refreshes.reused': 1,
      'requests.identity': 9,
      signIns: 1,
      'status.identity.200': 4,
      'status.identity.303': 3,
      'status.identity.400': 1,
      'status.identity.401': 1,
      'unauthorized.identity': 1,
      ...openStreams(await counters()),
    });
  });

  it('tell a host the client was sent to by another name', async () => {
    const { port } = new URL(descriptor.identity);
    await new Promise<void>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path: GROUPS, headers: { host: 'evil.example' } }, (answer) => {
        answer.resume().once('end', () => resolve());
      });
      sent.once('error', reject).end();
    });
    assert.equal((await counters())['host evil.example'], 1);
  });

  it('tell a stream that ended, one the client left, and one that a fault cut', async () => {
    await control('DELETE', '/counters');
    await readAll(await stream());
    const controller = new AbortController();
    const left = await stream(controller.signal);
    await left.body?.getReader().read();
    await until('streams.inference.open', 1);
    controller.abort();
    await fault({ service: 'inference', kind: 'cut' });
    await readAll(await stream());
    await until('streams.inference.open', 0);
    await until('streams.inference.aborted', 1);
    const { 'streams.inference.opened': opened, 'streams.inference.ended': ended, ...rest } = await counters();
    assert.deepEqual([opened, ended, rest['streams.inference.cut']], [3, 1, 1]);
  });

  /** Gauges stay when counting starts over. */
  function openStreams(all: Record<string, number>): Record<string, number> {
    return Object.fromEntries(Object.entries(all).filter(([name]) => name.endsWith('.open')));
  }
});
