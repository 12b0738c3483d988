import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deadlines } from '../../../../src/core/completions/deadlineSignal.ts';
import { FakeService, once, stream, streamed, textOf } from './clientHarness.ts';

const short = 40;
/** Longer than any test may take: such a deadline is not the one that passes. */
const long = 60_000;
const [untilDone = ''] = streamed('Half').split('data: [DONE]');
const begun = untilDone.replace('"stop"', 'null');

/** What a service says that sends `first` and then `ping` again and again, for ever. */
function alive(first: string, ping: string) {
  let said = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (said) await sleep(5);
      controller.enqueue(new TextEncoder().encode(said ? ping : first));
      said = true;
    },
  });
  const headers = { 'content-type': ping === '\n' ? 'application/json' : 'text/event-stream' };
  return { ...new FakeService().deps, fetch: async () => new Response(body, { status: 201, headers }) };
}

const within = (deadlines: Partial<Deadlines>) => ({
  options: { deadlines: { connectMs: long, firstEventMs: long, idleMs: long, ...deadlines } },
});

/** Every way to say nothing: a comment, an event without data, one that is no JSON, one that is, a chunk without a choice. */
const pings = [
  ': ping\n\n',
  'data:\n\n',
  'data: ping\n\n',
  'event: ping\ndata: {"type":"ping"}\n\n',
  'data: {"id":"x","choices":[]}\n\n',
];

describe('completions: a service that only keeps the connection open', () => {
  for (const ping of pings) {
    it(`has not begun to answer: ${JSON.stringify(ping)}`, async () => {
      const { error, events } = await stream(alive(ping, ping), within({ firstEventMs: short }));
      assert.equal(error?.kind, 'timeout');
      assert.equal(error.details.deadline, 'firstEvent');
      assert.match(
        error.message,
        /accepted the request but did not begin to answer within 1 second\. Try again, or increase/,
      );
      assert.deepEqual(events, []);
    });

    it(`does not go on with its answer: ${JSON.stringify(ping)}`, async () => {
      const deps = alive(begun, ping);
      const { error, events } = await stream(deps, within({ firstEventMs: short, idleMs: short + 20 }));
      assert.equal(error?.kind, 'timeout');
      assert.equal(error.details.deadline, 'firstEvent');
      assert.equal(
        error.message,
        'The answer stopped: https://inference.example.com kept the connection open but sent no more of the answer for 1 second, so it was closed. The answer so far is kept. Try again, or increase the time limit for models that reason for long.',
      );
      const last = events.at(-1);
      assert.ok(last?.kind === 'interrupted');
      assert.equal(last.completion.choices[0]?.text, 'Half');
    });

    it(`has answered once it said why it stopped: ${JSON.stringify(ping)}`, async () => {
      const outcome = await stream(alive(untilDone, ping), within({ idleMs: short }));
      assert.equal(textOf(outcome), 'Half');
      assert.equal(outcome.completion?.complete, true);
    });
  }

  it('with blank lines, has not begun to answer in one piece', async () => {
    const { error } = await once(alive('\n', '\n'), within({ firstEventMs: short }));
    assert.equal(error?.kind, 'timeout');
    assert.match(error.message, /did not begin to answer within 1 second/);
  });
});

describe('completions: Stop and a cut after the end of the answer', () => {
  const ends: readonly [name: string, what: (stop: () => void, controller: ReadableStreamDefaultController) => void][] =
    [
      ['Stop', (stop) => stop()],
      ['a cut', (_, controller) => controller.error(new TypeError('terminated'))],
    ];
  for (const [name, what] of ends) {
    for (const [how, body, complete] of [
      ['leave it complete when every choice has finished', untilDone, true],
      ['leave it incomplete when none has', begun, false],
    ] as const) {
      it(`${name}: ${how}`, async () => {
        const user = new AbortController();
        let said = false;
        const answer = new ReadableStream<Uint8Array>(
          {
            async pull(controller) {
              // It is asked for more once what came has been read.
              if (said) what(() => user.abort(), controller);
              else controller.enqueue(new TextEncoder().encode(body));
              said = true;
            },
          },
          { highWaterMark: 0 },
        );
        const fetch = async () => new Response(answer, { headers: { 'content-type': 'text/event-stream' } });
        const outcome = await stream({ ...new FakeService().deps, fetch }, { signal: user.signal });
        const last = outcome.events.at(-1);
        const came = outcome.completion ?? (last?.kind === 'interrupted' ? last.completion : undefined);
        assert.equal(came?.choices[0]?.text, 'Half');
        assert.equal(came?.complete, complete);
        assert.equal(outcome.error?.kind, name === 'Stop' && !complete ? 'cancelled' : undefined);
      });
    }
  }
});
