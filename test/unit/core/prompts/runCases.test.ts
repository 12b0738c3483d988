import assert from 'node:assert/strict';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { RequestQueue } from '../../../../src/core/prompts/promptClient.ts';
import type { RunEvent } from '../../../../src/core/prompts/runCases.ts';
import type { CaseResult } from '../../../../src/core/prompts/runResults.ts';
import { reasonsOf } from '../../../../src/core/prompts/runText.ts';
import { json, play, refuses, resourcesOf, says } from './harness.ts';

const yaml = (more = '', cases = '[{input: one, expected: "1"}, {input: two, expected: "2"}]') => `
messages: [{role: user, content: '{{input}}'}]
modelParameters: {stream: false}
testData: ${cases}
evaluators: [{name: same, string: {equals: '{{expected}}'}}]
${more}`;
const many = (count: number) =>
  JSON.stringify(Array.from({ length: count }, (_, at) => ({ input: `q${at}`, expected: 'a' })));
const answers: Readonly<Record<string, string>> = { one: '1', two: '3' };
const verdicts = (results: readonly CaseResult[]) =>
  results.map(({ verdict, case: { label }, model }) => [label, model, verdict]);
const textEvents = (events: readonly RunEvent[]) => events.map(({ kind }) => kind);

describe('a run of cases', function () {
  this.timeout(20_000);
  it('asks each model each case, and tells what happens', async () => {
    const { run, sent, events } = await play(yaml(), ({ text }) => says(answers[text] ?? ''), {
      plan: { models: ['a', 'b'] },
      concurrency: 1,
    });
    assert.deepEqual(verdicts(run.results), [
      ['one', 'a', 'passed'],
      ['one', 'b', 'passed'],
      ['two', 'a', 'failed'],
      ['two', 'b', 'failed'],
    ]);
    assert.deepEqual(
      sent.map(({ body, text }) => [body.model, text]),
      [
        ['a', 'one'],
        ['b', 'one'],
        ['a', 'two'],
        ['b', 'two'],
      ],
    );
    assert.deepEqual(textEvents(events).slice(0, 8), [
      'started',
      'sent',
      'event',
      'event',
      'event',
      'evaluated',
      'attempted',
      'finished',
    ]);
    assert.deepEqual([run.planned, run.stopped, run.file], [4, false, 'a.prompt.yml']);
  });

  it('keeps the very bytes that were sent, and no header', async () => {
    let body = '';
    const { run, events } = await play(yaml('', '[{input: ü😀}]'), ({ body: parsed }) => {
      body = JSON.stringify(parsed);
      return says('x');
    });
    const [attempt] = run.results[0]?.attempts ?? [];
    assert.equal(attempt?.body, body);
    assert.deepEqual(attempt?.request, JSON.parse(body));
    const shown = events.find((event) => event.kind === 'sent');
    assert.equal(shown?.kind === 'sent' && shown.body, body);
    assert.doesNotMatch(JSON.stringify(run), /canary/);
  });

  it('fills values in one pass, and leaves what has none', async () => {
    const { sent } = await play(
      `messages: [{role: user, content: '{{a}} {{b}} {{none}} {{ a }} {{{a}}}'}]\ntestData: [{a: '{{b}}', b: '{{file:secret}}'}]`,
      () => says('x'),
    );
    assert.equal(sent[0]?.text, '{{b}} {{file:secret}} {{none}} {{ a }} {{{b}}}');
  });

  it('sends files, images, tools, seeds and formats as the file says', async () => {
    const { sent } = await play(
      `messages:
  - {role: system, content: '{{file:rules/./a.md}}'}
  - {role: user, content: 'Look'}
responseFormat: json_object
testData: [{input: a, picture: cat.png}]
rolecall:
  images: ['{{picture}}']
  tools: [weather]
  seeds: [7, 8]
`,
      () => says('x'),
      {
        concurrency: 1,
        deps: { resources: resourcesOf({ 'rules/a.md': 'Be {{input}}', 'cat.png': 'CAT' }, ['weather']) },
      },
    );
    const { messages, seed, tools, response_format, tool_choice } = sent[0]?.body ?? {};
    assert.deepEqual(messages, [
      { role: 'system', content: 'Be {{input}}' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,Q0FU' } },
        ],
      },
    ]);
    assert.deepEqual(
      [seed, sent[1]?.body.seed, tools, response_format, tool_choice],
      [7, 8, [{ type: 'function', function: { name: 'weather' } }], { type: 'json_object' }, undefined],
    );
  });

  it('is an error, sent nothing, where a file, a path or a tool cannot be had', async () => {
    const missing = [
      ['{{file:none.md}}', ''],
      ['{{file:/etc/passwd}}', ''],
      ['{{file:~/x}}', ''],
      ['{{file:C:\\x}}', ''],
      ['{{file:https://example.com/x}}', ''],
      ['x', 'rolecall: {tools: [none]}'],
      ['x', 'rolecall: {images: [a.svg]}'],
      ['x', "rolecall: {images: ['{{input}}']}"],
    ] as const;
    for (const [content, more] of missing) {
      const { run, sent } = await play(
        `messages: [{role: user, content: '${content}'}]\ntestData: [{input: /etc/passwd}]\n${more}`,
        () => says('x'),
        { deps: { resources: resourcesOf({ 'a.svg': '<svg/>' }) } },
      );
      const [result] = run.results;
      assert.equal(result?.verdict, 'error', content + more);
      assert.deepEqual(
        [result?.attempts[0]?.error?.kind, result?.attempts[0]?.error?.wasSent],
        ['configuration', false],
      );
      assert.equal(sent.length, 0);
    }
  });

  describe('a case', () => {
    const rows: readonly [what: string, reply: () => Response, expected: string, reason: RegExp][] = [
      ['whose request is refused', () => refuses(400, 'No such thing'), 'error', /No such thing/],
      ['whose service fails', () => refuses(503, 'down'), 'error', /down|503/],
      ['whose answer is empty', () => json({ choices: [] }), 'error', /without an answer/],
      [
        'whose answer is no JSON',
        () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
        'error',
        /web page instead of data/,
      ],
      ['whose answer ended early', () => says('1', { finish_reason: 'content_filter' }), 'error', /content_filter/],
      ['whose answer is at its limit', () => says('1', { finish_reason: 'length' }), 'passed', /^$/],
      [
        'whose answer has only reasoning',
        () => says('', { message: { role: 'assistant', content: '', reasoning_content: '1' } }),
        'failed',
        /Expected "1", got ""/,
      ],
    ];
    for (const [what, reply, expected, reason] of rows) {
      it(`${what}: ${expected}`, async () => {
        const { run } = await play(yaml('', '[{input: one, expected: "1"}]'), reply);
        const [result] = run.results;
        assert.equal(result?.verdict, expected);
        const [attempt] = result?.attempts ?? [];
        assert.match(attempt?.error?.message ?? attempt?.answers[0]?.evaluations[0]?.reason ?? '', reason);
      });
    }

    it('whose stream is cut is an error, and keeps what came', async () => {
      const chunk = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: '1' } }] })}\n\n`;
      const { run } = await play(
        yaml('', '[{input: one, expected: "1"}]'),
        () => new Response(chunk, { headers: { 'content-type': 'text/event-stream' } }),
      );
      const [attempt] = run.results[0]?.attempts ?? [];
      assert.deepEqual([run.results[0]?.verdict, attempt?.error?.kind], ['error', 'incomplete']);
      assert.equal(attempt?.completion?.choices[0]?.text, '1');
    });

    it('without evaluators is skipped: nothing was checked', async () => {
      const { run } = await play('messages: [{role: user, content: x}]\ntestData: [{input: a}]', () => says('x'));
      assert.equal(run.results[0]?.verdict, 'skipped');
    });

    it('without evaluators is not even sent where only what is checked counts', async () => {
      const { run, sent, events } = await play(
        'messages: [{role: user, content: x}]\ntestData: [{input: a}]\nrolecall: {repeats: 3, passes: 2}',
        () => says('x'),
        { plan: { onlyChecked: true } },
      );
      assert.deepEqual(sent, []);
      assert.deepEqual(textEvents(events), ['finished']);
      const [result] = run.results;
      assert.deepEqual(
        [result?.verdict, reasonsOf(result?.attempts ?? [])],
        ['skipped', ['Not sent: there are no evaluators to check the answer.']],
      );
    });

    it('that fails one check has failed, whatever became of the judge', async () => {
      const { run } = await play(
        `messages: [{role: user, content: x}]
testData: [{input: a}]
evaluators: [{name: judge, uses: github/fluency}, {name: same, string: {equals: y}}]
rolecall: {judge: the-judge}`,
        ({ body }) => (body.model === 'the-judge' ? refuses(500, 'down') : says('x')),
      );
      const [result] = run.results;
      assert.equal(result?.verdict, 'failed');
      assert.match(
        reasonsOf(result?.attempts ?? []).join('\n'),
        /^judge \(error\): The judge did not answer: .*down.*\nsame: /,
      );
    });

    it('with only skipped evaluators is skipped, and passes with one that passed', async () => {
      const text = (more: string) =>
        `messages: [{role: user, content: x}]\ntestData: [{input: a}]\nevaluators: [{uses: github/none}${more}]`;
      const skipped = await play(text(''), () => says('x'));
      const passed = await play(text(', {string: {equals: x}}'), () => says('x'));
      const failed = await play(text(', {string: {equals: y}}'), () => says('x'));
      assert.deepEqual(
        [skipped, passed, failed].map(({ run }) => run.results[0]?.verdict),
        ['skipped', 'passed', 'failed'],
      );
    });
  });

  describe('repeats', () => {
    const rows: readonly [what: string, more: string, replies: readonly string[], verdict: string, passed: number][] = [
      ['all must pass', 'rolecall: {repeats: 3}', ['a', 'a', 'a'], 'passed', 3],
      ['one fails', 'rolecall: {repeats: 3}', ['a', 'b', 'a'], 'failed', 2],
      ['two are enough', 'rolecall: {repeats: 3, passes: 2}', ['a', 'b', 'a'], 'passed', 2],
      ['two are not reached', 'rolecall: {repeats: 3, passes: 2}', ['a', 'b', 'b'], 'failed', 1],
      ['one cannot be measured, two are enough', 'rolecall: {repeats: 3, passes: 2}', ['a', '!', 'a'], 'passed', 2],
      ['one cannot be measured and could decide', 'rolecall: {repeats: 3, passes: 2}', ['a', '!', 'b'], 'error', 1],
      ['one cannot be measured', 'rolecall: {repeats: 2}', ['a', '!'], 'error', 1],
      ['one cannot be measured and one fails', 'rolecall: {repeats: 2}', ['!', 'b'], 'failed', 0],
      ['seeds are repeats', 'rolecall: {seeds: [1, 2]}', ['a', 'a'], 'passed', 2],
    ];
    for (const [what, more, replies, verdict, passed] of rows) {
      it(`${what}: ${verdict}`, async () => {
        const { run } = await play(
          yaml(more, '[{input: x, expected: a}]'),
          (_request, index) => (replies[index] === '!' ? refuses(500, 'down') : says(replies[index] ?? '')),
          { concurrency: 1 },
        );
        const [result] = run.results;
        assert.deepEqual(
          [result?.verdict, result?.agreement.passed, result?.agreement.of],
          [verdict, passed, replies.length],
        );
      });
    }

    it('count the choices of an answer', async () => {
      const choice = (index: number, content: string) => ({ index, message: { content }, finish_reason: 'stop' });
      const { run } = await play(
        yaml('', '[{input: x, expected: a}]').replace('stream: false', 'stream: false, n: 2'),
        () => json({ choices: [choice(0, 'a'), choice(1, 'b')] }),
      );
      const [result] = run.results;
      assert.deepEqual(
        [result?.verdict, result?.agreement],
        ['failed', { passed: 1, failed: 1, skipped: 0, errors: 0, of: 2 }],
      );
    });
  });

  it('sends no more at one time than it may, and keeps the order of the file', async () => {
    let open = 0;
    let most = 0;
    const { run } = await play(
      yaml('', many(50)),
      async () => {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setImmediate(resolve));
        open--;
        return says('a');
      },
      { concurrency: 3 },
    );
    assert.equal(most, 3);
    assert.deepEqual(
      run.results.map(({ case: { label } }) => label),
      Array.from({ length: 50 }, (_, at) => `q${at}`),
    );
  });

  it('shares its turns with other runs, which follow in order', async () => {
    const queue = new RequestQueue(2);
    const order: string[] = [];
    let open = 0;
    let most = 0;
    const one = (name: string) =>
      play(
        yaml('', many(4)),
        async ({ text }) => {
          order.push(name + text);
          most = Math.max(most, ++open);
          await new Promise((resolve) => setImmediate(resolve));
          open--;
          return says('a');
        },
        { deps: { queue } },
      );
    await Promise.all([one('a '), one('b ')]);
    assert.equal(most, 2);
    assert.deepEqual(order, ['a q0', 'a q1', 'a q2', 'a q3', 'b q0', 'b q1', 'b q2', 'b q3']);
  });

  it('waits with all requests when the service asks to, and then goes on', async () => {
    const waits: number[] = [];
    const texts: string[] = [];
    let sentMeanwhile: readonly string[] = [];
    const { run } = await play(
      yaml('', many(6)),
      ({ text }) => {
        texts.push(text);
        return texts.length === 1 ? refuses(429, 'slow down', { 'retry-after': '1' }) : says('a');
      },
      {
        concurrency: 2,
        onEvent: async (event) => {
          if (event.kind !== 'waiting') return;
          waits.push(event.ms);
          for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
          sentMeanwhile = [...texts];
        },
      },
    );
    assert.deepEqual(waits, [1000]);
    // What was under way with the refused request may have been followed by one more.
    assert.ok(sentMeanwhile.length > 0 && sentMeanwhile.length <= 3, sentMeanwhile.join());
    assert.deepEqual(texts.toSorted(), ['q0', 'q0', 'q1', 'q2', 'q3', 'q4', 'q5']);
    assert.ok(run.results.every(({ verdict }) => verdict === 'passed'));
  });

  it('does not wait for a service that names no time, or one too long', async () => {
    for (const headers of [{}, { 'retry-after': '3600' }]) {
      const { run, sent } = await play(yaml('', many(1)), () => refuses(429, 'slow down', headers));
      assert.deepEqual([run.results[0]?.verdict, sent.length], ['error', 1]);
    }
  });

  it('gives up a model that fails in the same lasting way, and only that one', async () => {
    const { run, sent } = await play(
      yaml('', many(20)),
      ({ body }) => (body.model === 'gone' ? refuses(404, 'no such model') : says('a')),
      { plan: { models: ['gone', 'here'] }, concurrency: 1 },
    );
    assert.equal(sent.filter(({ body }) => body.model === 'gone').length, 3);
    const gone = run.results.filter(({ model }) => model === 'gone');
    assert.ok(gone.every(({ verdict }) => verdict === 'error'));
    assert.match(gone.at(-1)?.attempts[0]?.error?.message ?? '', /^Not sent because other requests failed: /);
    assert.ok(run.results.filter(({ model }) => model === 'here').every(({ verdict }) => verdict === 'passed'));
  });

  it('asks on where failures can pass', async () => {
    const { run, sent } = await play(
      yaml('', many(10)),
      (_request, index) => (index < 8 ? refuses(503, 'busy') : says('a')),
      {
        concurrency: 1,
      },
    );
    assert.equal(sent.length, 10);
    assert.equal(run.results.filter(({ verdict }) => verdict === 'passed').length, 2);
  });

  it('stops at once, and has what was finished by then', async () => {
    const stop = new AbortController();
    const { run, sent } = await play(
      yaml('', many(500)),
      (_request, index) => {
        if (index === 10) stop.abort();
        return index < 10 ? says('a') : new Promise(() => {});
      },
      { concurrency: 4, signal: stop.signal },
    );
    assert.equal(run.stopped, true);
    assert.ok(sent.length <= 14, String(sent.length));
    assert.ok(run.results.length <= 10 && run.results.length > 0);
    assert.ok(run.results.every(({ verdict }) => verdict === 'passed'));
    assert.equal(run.planned, 500);
  });

  it('stops while it waits for the service', async () => {
    const stop = new AbortController();
    const { run } = await play(yaml('', many(3)), () => refuses(429, 'slow down', { 'retry-after': '200' }), {
      signal: stop.signal,
      onEvent: (event) => event.kind === 'waiting' && stop.abort(),
    });
    assert.deepEqual([run.stopped, run.results.length], [true, 0]);
  });

  it('is an error where the sign-in is missing, and asks the identity service no more than it must', async () => {
    let asked = 0;
    const { run, sent } = await play(yaml('', many(20)), () => says('a'), {
      concurrency: 1,
      deps: {
        inference: {
          log: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
          fetch: () => assert.fail('not sent'),
          accessToken: async () => {
            asked++;
            throw new RolecallError('signedOut', 'You are not signed in.');
          },
        },
      },
    });
    assert.deepEqual([sent.length, asked], [0, 3]);
    assert.ok(run.results.every(({ verdict }) => verdict === 'error'));
  });

  /** A run whose answer begins after 250 ms and ends at `end`. */
  const playFor = async (end: number) => {
    let now = 0;
    const line = (value: object) => new TextEncoder().encode(`data: ${JSON.stringify(value)}\n\n`);
    const body = new ReadableStream(
      {
        async pull(controller) {
          now = 250;
          controller.enqueue(line({ choices: [{ index: 0, delta: { content: '1' }, finish_reason: null }] }));
          await new Promise((resolve) => setImmediate(resolve));
          await new Promise((resolve) => setImmediate(resolve));
          now = end;
          const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { completion_tokens: 11 } };
          controller.enqueue(line(last));
          controller.enqueue(new TextEncoder().encode('data: [DONE]\n\n'));
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const { run } = await play(
      yaml('', '[{input: x, expected: "1"}]'),
      () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
      { deps: { now: () => now }, plan: { withEvents: true } },
    );
    return run.results[0]?.attempts[0];
  };

  it('measures times from sending, and speed from the first token', async () => {
    const attempt = await playFor(1250);
    assert.deepEqual(attempt?.timings, { totalMs: 1250, firstTokenMs: 250, tokensPerSecond: 10 });
    assert.deepEqual(
      attempt?.events?.map(({ data }) => data.slice(0, 11)),
      ['{"choices":', '{"choices":', '[DONE]'],
    );
  });

  it('measures no speed of an answer that took less than a quarter of a second', async () => {
    assert.deepEqual((await playFor(499))?.timings, { totalMs: 499, firstTokenMs: 250 });
    assert.deepEqual((await playFor(500))?.timings, { totalMs: 500, firstTokenMs: 250, tokensPerSecond: 40 });
  });

  it('measures no speed of an answer that only calls a tool, which comes at once', async () => {
    const call = { index: 0, id: 'c', type: 'function', function: { name: 'count', arguments: '{}' } };
    const chunk = { choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] };
    const body = `data: ${JSON.stringify({ ...chunk, usage: { completion_tokens: 19 } })}\n\ndata: [DONE]\n\n`;
    const { run } = await play(
      yaml('', '[{input: x}]'),
      () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
    );
    const [attempt] = run.results[0]?.attempts ?? [];
    assert.equal(attempt?.completion?.choices[0]?.toolCalls.length, 1);
    assert.deepEqual(Object.keys(attempt?.timings ?? {}), ['totalMs']);
  });

  it('hides the token where a service sends it back', async () => {
    const { run } = await play(yaml('', '[{input: x}]'), () => says('Bearer canary-token-of-the-test'), {
      plan: { withEvents: true },
    });
    assert.doesNotMatch(JSON.stringify(run.results[0]?.attempts[0]?.events), /canary-token-of-the-test/);
  });
});
