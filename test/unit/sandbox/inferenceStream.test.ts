import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChoiceEvent } from '../../../src/sandbox/inference/choice.ts';
import { deliver } from '../../../src/sandbox/inference/completion.ts';
import type { ChatRequest } from '../../../src/sandbox/inference/request.ts';
import { CounterTable } from '../../../src/sandbox/testing/control.ts';
import {
  ask,
  type Chunk,
  type Entry,
  InferenceHarness,
  listFiles,
  type ToolCall,
  user,
  wordCount,
} from './inferenceHarness.ts';

const service = new InferenceHarness();
before(() => service.start());
after(() => service.stop());

const deltas = (chunks: Chunk[], index = 0): Chunk['choices'] =>
  chunks.flatMap(({ choices }) => choices.filter((choice) => choice.index === index));

/** What a client makes of the chunks of one choice. */
function assemble(chunks: Chunk[], index = 0): object {
  let content = '';
  let reasoning = '';
  const calls: ToolCall[] = [];
  const entries: Entry[] = [];
  let end: unknown;
  for (const { delta, logprobs, finish_reason, stop_reason } of deltas(chunks, index)) {
    content += delta.content ?? '';
    reasoning += delta.reasoning_content ?? '';
    entries.push(...(logprobs?.content ?? []));
    for (const { index: at = -1, id, type, function: fn } of delta.tool_calls ?? []) {
      if (id !== undefined) calls[at] = { id, type: type ?? '', function: { name: fn.name ?? '', arguments: '' } };
      const call = calls[at];
      assert.ok(call, 'the first delta of a call carries its id');
      call.function.arguments += fn.arguments ?? '';
    }
    if (finish_reason !== null) end = [finish_reason, stop_reason];
  }
  return { content, reasoning, calls, entries, end };
}

/** Waits until a counter has a value; the test's own time-out is the limit. */
async function until(counters: CounterTable, name: string, value: number): Promise<void> {
  while (counters.get(name) !== value) await sleep(2);
}

describe('sandbox inference: the stream', () => {
  it('is 201 with content type text/event-stream and ends with [DONE]', async () => {
    const response = await service.post(ask('hello', { stream: true }));
    assert.equal(response.status, 201);
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.match(await response.text(), /\n\ndata: \[DONE\]\n\n$/);
  });

  it('has the same id, object, created, model and system_fingerprint in every chunk', async () => {
    const chunks = await service.stream(ask('hello', { stream_options: { include_usage: true } }));
    const { choices: _choices, ...envelope } = chunks[0] as Chunk;
    assert.equal(envelope.object, 'chat.completion.chunk');
    assert.equal(envelope.model, 'sandbox/guide');
    for (const { choices: _ignored, usage: _usage, ...same } of chunks) assert.deepEqual(same, envelope);
  });

  it('opens with a role chunk of empty content and closes with finish_reason and stop_reason', async () => {
    const parts = deltas(await service.stream(ask('say: x y', { stop: ' y' })));
    assert.deepEqual(parts[0], {
      index: 0,
      delta: { role: 'assistant', content: '' },
      logprobs: null,
      finish_reason: null,
    });
    assert.deepEqual(parts.at(-1), { index: 0, delta: {}, logprobs: null, finish_reason: 'stop', stop_reason: ' y' });
    for (const part of parts.slice(0, -1)) assert.equal(part.finish_reason, null);
  });

  it('has a usage chunk without choices only when include_usage is true', async () => {
    const chunks = await service.stream(ask('say: x', { stream_options: { include_usage: true } }));
    assert.deepEqual(chunks.at(-1)?.choices, []);
    assert.deepEqual(chunks.at(-1)?.usage, (await service.complete(ask('say: x'))).usage);
    for (const stream_options of [undefined, null, {}, { include_usage: false }])
      assert.ok(
        (await service.stream(ask('say: x', { stream_options }))).every(
          (chunk) => chunk.usage === undefined && chunk.choices.length === 1,
        ),
      );
  });

  const requests: [name: string, body: object][] = [
    ['content', ask('tell me about roles')],
    ['reasoning and content', ask('hello', { reasoning_effort: 'high' })],
    ['one call', ask('run word_count on "naïve 漢字 \\" quote"', { tools: [wordCount] })],
    [
      'calls in parallel after reasoning',
      ask('run word_count and list_files', { tools: [wordCount, listFiles], reasoning_effort: 'low' }),
    ],
    ['a stop string', ask('say: alpha beta gamma', { stop: 'a gam' })],
    ['a limit inside the arguments of a call', ask('run word_count', { tools: [wordCount], max_tokens: 3 })],
    ['logprobs of characters in pieces', ask('say: 漢字 👩‍🚀!', { logprobs: true, top_logprobs: 2 })],
    ['logprobs with a stop string', ask('say: one two three', { logprobs: true, stop: 'o three' })],
    ['a cut character', ask('say: 漢', { logprobs: true, max_tokens: 2 })],
    ['nothing', ask('say nothing')],
    ['raw text', { model: 'sandbox/ngram', messages: [user('When')], logprobs: true, temperature: 1.3 }],
    ['several choices', { model: 'sandbox/ngram', messages: [user('When')], n: 4 }],
  ];
  for (const [name, body] of requests)
    it(`tells the same as the whole answer: ${name}`, async () => {
      const seeded = { ...body, seed: 11 };
      const [whole, chunks] = [await service.complete(seeded), await service.stream(seeded)];
      for (const { index, message, logprobs, finish_reason, stop_reason } of whole.choices)
        assert.deepEqual(assemble(chunks, index), {
          content: message.content ?? '',
          reasoning: message.reasoning_content ?? '',
          calls: message.tool_calls,
          entries: logprobs?.content ?? [],
          end: [finish_reason, stop_reason],
        });
    });

  it('sends reasoning_content before content', async () => {
    const parts = deltas(await service.stream(ask('say: x y z', { reasoning_effort: 'low' }))).slice(1);
    const kinds = parts.map(({ delta }) =>
      delta.reasoning_content === undefined ? (delta.content === undefined ? 'end' : 'content') : 'reasoning',
    );
    assert.deepEqual([...new Set(kinds)], ['reasoning', 'content', 'end']);
    assert.deepEqual(
      kinds,
      [...kinds].sort(
        (a, b) => ['reasoning', 'content', 'end'].indexOf(a) - ['reasoning', 'content', 'end'].indexOf(b),
      ),
    );
  });

  it('splits a call: index, id, type and name first, then only index and fragments', async () => {
    const parts = deltas(await service.stream(ask('run word_count on "a b c"', { tools: [wordCount] })));
    const calls = parts.flatMap(({ delta }) => delta.tool_calls ?? []);
    assert.deepEqual(Object.keys(calls[0] ?? {}).sort(), ['function', 'id', 'index', 'type']);
    assert.deepEqual(calls[0]?.function, { name: 'word_count', arguments: '' });
    assert.ok(calls.length > 4);
    for (const call of calls.slice(1)) {
      assert.deepEqual(Object.keys(call).sort(), ['function', 'index']);
      assert.deepEqual(Object.keys(call.function), ['arguments']);
    }
  });

  it('interleaves choices when n is more than 1', async () => {
    const chunks = await service.stream({
      model: 'sandbox/ngram',
      messages: [user('A role')],
      n: 3,
      max_tokens: 6,
      seed: 1,
    });
    assert.deepEqual(
      chunks.slice(0, 6).map(({ choices }) => choices[0]?.index),
      [0, 1, 2, 0, 1, 2],
    );
  });

  it('carries a logprobs entry for every token, in the chunk of its text', async () => {
    const parts = deltas(await service.stream(ask('say: one two', { logprobs: true })));
    for (const { delta, logprobs } of parts.slice(1, -1))
      assert.equal(logprobs?.content.map(({ token }) => token).join(''), delta.content);
  });
});

describe('sandbox inference: pace and leaving early', () => {
  const slow = new InferenceHarness();
  before(() => slow.start({ paceMs: 5 }));
  after(() => slow.stop());

  it('sends tokens one after the other, not at once', async () => {
    const response = await slow.post(ask('count to 20', { stream: true }));
    let reads = 0;
    for await (const _bytes of response.body ?? []) reads++;
    assert.ok(reads > 10, `${reads} reads`);
  });

  it('stops writing when the client leaves a stream', async () => {
    const leave = new AbortController();
    const response = await slow.post(ask('count to 5000', { stream: true }), { signal: leave.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    assert.equal(slow.counters.get('completions.open'), 1);
    leave.abort();
    await until(slow.counters, 'completions.open', 0);
    assert.equal(slow.counters.get('completions.aborted'), 1);
  });

  it('stops writing when the client leaves while a whole answer is made', async () => {
    const before = slow.counters.get('completions.aborted');
    const leave = new AbortController();
    const answer = slow.post(ask('count to 5000', { n: 8, max_tokens: 4096, logprobs: true, top_logprobs: 20 }), {
      signal: leave.signal,
    });
    await until(slow.counters, 'completions.open', 1);
    leave.abort();
    await assert.rejects(answer, { name: 'AbortError' });
    await until(slow.counters, 'completions.open', 0);
    assert.equal(slow.counters.get('completions.aborted'), before + 1);
  });

  it('counts completions; a whole and a finished answer is not an aborted one', async () => {
    const counted = new InferenceHarness();
    await counted.start();
    try {
      await counted.complete(ask('say: x'));
      await counted.stream(ask('say: x'));
      await counted.refuse({});
      await until(counted.counters, 'completions.open', 0);
      assert.deepEqual(counted.counters.toJSON(), { completions: 2, 'completions.open': 0 });
    } finally {
      await counted.stop();
    }
  });

  it('answers others while a long answer is made', async () => {
    const leave = new AbortController();
    const long = slow.post(ask('count to 5000', { n: 8, max_tokens: 4096, logprobs: true }), { signal: leave.signal });
    await until(slow.counters, 'completions.open', 1);
    await slow.complete(ask('say: quick'));
    assert.equal(slow.counters.get('completions.open'), 1, 'the long answer is still being made');
    leave.abort();
    await assert.rejects(long);
  });
});

describe('sandbox inference: a client that left before writing began', () => {
  it('gets nothing written, and the completion counts as aborted', async () => {
    const counters = new CounterTable();
    let steps = 0;
    function* endless(): Generator<ChoiceEvent, void> {
      for (;;) {
        steps++;
        yield { kind: 'content', text: 'x', entries: [], tokens: 1 };
      }
    }
    const envelope = { id: 'x', created: 0, model: 'm', system_fingerprint: 'fp' };
    const server = createServer((req, res) => {
      req.socket.destroy();
      res.once('close', () => {
        void deliver(
          res,
          { stream: true } as ChatRequest,
          { envelope, promptTokens: 1, choices: [endless()] },
          { hooks: counters, paceMs: 0 },
        );
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await assert.rejects(fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
    await until(counters, 'completions.aborted', 1);
    assert.deepEqual([counters.get('completions.open'), steps], [0, 0]);
    server.close();
  });
});

describe('sandbox inference: a defect while writing', () => {
  async function answerOf(request: Partial<ChatRequest>): Promise<{ status: number; text: string; error?: unknown }> {
    function* broken(): Generator<ChoiceEvent, void> {
      yield { kind: 'content', text: 'so far', entries: [], tokens: 1 };
      throw new Error('defect');
    }
    const envelope = { id: 'x', created: 0, model: 'm', system_fingerprint: 'fp' };
    let error: unknown;
    const server = createServer((_req, res) => {
      deliver(
        res,
        request as ChatRequest,
        { envelope, promptTokens: 1, choices: [broken()] },
        { hooks: {}, paceMs: 0 },
      ).catch((reason: unknown) => {
        error = reason;
        res.end();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const text = await response.text();
    server.closeAllConnections();
    server.close();
    return { status: response.status, text, error };
  }

  it('in a stream becomes an error object after what came before, without [DONE]', async () => {
    const { status, text } = await answerOf({ stream: true });
    assert.equal(status, 201);
    assert.match(text, /so far/);
    const last = text.trimEnd().split('\n\n').at(-1) ?? '';
    assert.deepEqual(JSON.parse(last.slice('data: '.length)).error.error_type, 'INTERNAL_ERROR');
  });

  it('in a whole answer is thrown to the caller, who answers 500', async () => {
    assert.match(String((await answerOf({ stream: false })).error), /defect/);
  });
});
