import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { streamCompletion } from '../../../../src/core/completions/client.ts';
import type { InferenceDeps } from '../../../../src/core/completions/endpoint.ts';
import { silentLog } from '../../../support/silentLog.ts';
import { loopbackServer } from '../base/loopbackServer.ts';
import { canary, least, noticesOf, once, stream, streamed, textOf } from './clientHarness.ts';

const deps: InferenceDeps = { fetch: globalThis.fetch, log: silentLog, accessToken: async () => canary };
const [begun = ''] = streamed('Half').split(
  'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},',
);
const short = 40;
/** Longer than any test may take: such a deadline is not the one that passes. */
const long = 60_000;

describe('completions: the connection', () => {
  const server = loopbackServer();
  /** Resolves when the client has closed the connection of the last request before its answer was whole. */
  let closed: Promise<void>;

  /** What the next requests are answered with, besides the headers of a stream. */
  function answer(write: (response: ServerResponse) => unknown): void {
    closed = new Promise((resolve) => {
      // On a busy machine a deadline may pass before the server has read the request.
      let isAsked = false;
      server.onClose = () => isAsked || resolve();
      server.answer = (_request, response) => {
        isAsked = true;
        response.on('close', () => response.writableFinished || resolve());
        write(response);
      };
    });
  }

  const head = (response: ServerResponse) => response.writeHead(201, { 'Content-Type': 'text/event-stream' });
  const begin = (response: ServerResponse) => head(response).write(begun);
  const asked = (deadlines: object, signal?: AbortSignal) => ({
    inferenceUrl: server.origin,
    options: { deadlines: { connectMs: long, firstEventMs: long, idleMs: long, ...deadlines } },
    ...(signal ? { signal } : {}),
  });

  it('brings a whole answer', async () => {
    answer((response) => head(response).end(streamed('Hi')));
    const outcome = await stream(deps, asked({}));
    assert.equal(textOf(outcome), 'Hi');
    assert.equal(outcome.completion?.complete, true);
    assert.equal(server.seen[0]?.path, '/v1/chat/completions');
    assert.equal(server.seen[0]?.headers.authorization, `Bearer ${canary}`);
  });

  it('says that no answer came at all, and closes', async () => {
    answer(() => {});
    const { error, events } = await stream(deps, asked({ connectMs: short }));
    assert.equal(error?.kind, 'timeout');
    assert.equal(
      error?.message,
      `${server.origin} did not respond within 1 second. Check the network, or increase the time limit.`,
    );
    assert.deepEqual(events, []);
    await closed;
  });

  it('allows an answer in one piece the time of a first event for its headers', async () => {
    answer((response) => setTimeout(() => response.end('{"choices":[]}'), 3 * short));
    assert.equal((await once(deps, asked({ connectMs: short }))).error, undefined);
    answer(() => {});
    const { error } = await once(deps, asked({ firstEventMs: short }));
    assert.equal(error?.kind, 'timeout');
    assert.match(error?.message ?? '', /did not respond within 1 second/);
    await closed;
  });

  it('says that the request was taken and no answer began, and closes', async () => {
    answer((response) => head(response).flushHeaders());
    const { error } = await stream(deps, asked({ firstEventMs: short }));
    assert.equal(error?.kind, 'timeout');
    assert.equal(
      error?.message,
      `${server.origin} accepted the request but did not begin to answer within 1 second. Try again, or increase the time limit for models that reason for long.`,
    );
    await closed;
  });

  it('says that the answer stopped, closes, and keeps what had come', async () => {
    answer(begin);
    const { error, events } = await stream(deps, asked({ idleMs: short }));
    assert.equal(error?.kind, 'timeout');
    assert.equal(
      error?.message,
      `The answer stopped: ${server.origin} sent nothing for 1 second, so the connection was closed. The answer so far is kept.`,
    );
    const last = events.at(-1);
    assert.ok(last?.kind === 'interrupted');
    assert.equal(last.completion.choices[0]?.text, 'Half');
    assert.equal(last.completion.incompleteReason, error?.message);
    await closed;
    assert.equal(server.seen.length, 1, 'it is not asked again');
  });

  it('takes keep-alives for a sign of life', async () => {
    answer(async (response) => {
      begin(response);
      for (let at = 0; at < 8; at += 1) {
        await sleep(60);
        response.write(': still here\n\n');
      }
      response.end(streamed(' and whole').slice(streamed('').indexOf('\n\n') + 2));
    });
    const outcome = await stream(deps, asked({ idleMs: 350 }));
    assert.equal(textOf(outcome), 'Half and whole');
  });

  it('does not take a slow reader for the silence of the service', async () => {
    answer(begin);
    const arriving = streamCompletion(
      deps,
      { inferenceUrl: server.origin },
      least,
      { deadlines: { idleMs: 250, firstEventMs: 5000 } },
      new AbortController().signal,
    );
    const first = await arriving.next();
    assert.deepEqual(first.value, { kind: 'text', choice: 0, text: 'Half' });
    let gone = false;
    void closed.then(() => (gone = true));
    await sleep(400);
    assert.equal(gone, false);
    await assert.rejects(
      async () => {
        while (!(await arriving.next()).done);
      },
      { kind: 'timeout' },
    );
  });

  it('is closed by Stop before the headers, before the first event, and in the answer', async () => {
    for (const write of [() => {}, (response: ServerResponse) => head(response).flushHeaders(), begin]) {
      const user = new AbortController();
      answer((response) => {
        write(response);
        if (write !== begin) user.abort();
      });
      const onEvent = () => user.abort();
      const { error, events } = await stream(deps, { ...asked({}, user.signal), onEvent });
      assert.equal(error?.kind, 'cancelled');
      await closed;
      if (write === begin) assert.equal(events.at(-1)?.kind, 'interrupted');
      else assert.deepEqual(events, []);
    }
  });

  it('is closed by Stop at once, also while the reader does something else', async () => {
    answer(begin);
    const user = new AbortController();
    const arriving = streamCompletion(deps, { inferenceUrl: server.origin }, least, {}, user.signal);
    await arriving.next();
    user.abort();
    await closed;
    await assert.rejects(
      async () => {
        while (!(await arriving.next()).done);
      },
      { kind: 'cancelled' },
    );
  });

  it('is closed when the loop is left early', async () => {
    answer(begin);
    const signal = new AbortController().signal;
    for await (const event of streamCompletion(deps, { inferenceUrl: server.origin }, least, {}, signal)) {
      assert.equal(event.kind, 'text');
      break;
    }
    await closed;
  });

  it('that breaks in the answer gives an incomplete answer, and before it an error', async () => {
    answer((response) => {
      begin(response);
      setTimeout(() => response.destroy(), short);
    });
    const { completion, error } = await stream(deps, asked({}));
    assert.equal(error, undefined);
    assert.equal(completion?.complete, false);
    assert.equal(completion?.incompleteReason, 'The connection was closed before the answer was complete.');
    assert.equal(completion?.choices[0]?.text, 'Half');
    answer((response) => response.destroy());
    assert.equal((await stream(deps, asked({}))).error?.kind, 'offline');
    assert.equal(server.seen.length, 2, 'neither is asked again');
  });

  it('need not be closed by the service once everything has come', async () => {
    answer((response) => head(response).write(streamed('Hi')));
    const done = await stream(deps, asked({}));
    assert.equal(done.completion?.complete, true);
    await closed;
    answer((response) => head(response).write(streamed('Hi').replace('data: [DONE]\n\n', '')));
    const finished = await stream(deps, asked({ idleMs: short }));
    assert.equal(finished.completion?.complete, true);
    assert.equal(textOf(finished), 'Hi');
    await closed;
  });

  it('does not lead to another host', async () => {
    answer((response) => response.writeHead(307, { Location: `${server.origin}/elsewhere` }).end());
    assert.equal((await stream(deps, asked({}))).error?.kind, 'protocol');
    assert.deepEqual(
      server.seen.map(({ path }) => path),
      ['/v1/chat/completions'],
    );
  });

  it('waits as long as Retry-After says before it is asked again', async () => {
    const times: number[] = [];
    answer((response) => {
      times.push(performance.now());
      if (times.length === 1) response.writeHead(429, { 'Retry-After': '1' }).end('{"error":"slow"}');
      else head(response).end(streamed('Hi'));
    });
    const outcome = await stream(deps, asked({ connectMs: 900 }));
    assert.equal(textOf(outcome), 'Hi');
    assert.deepEqual(noticesOf(outcome), ['waiting']);
    const [first = 0, second = 0] = times;
    assert.ok(second - first >= 990, `${second - first} ms`);
  });
});
