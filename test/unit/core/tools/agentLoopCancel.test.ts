import assert from 'node:assert/strict';
import fc from 'fast-check';
import { cancelled } from '../../../../src/core/base/errors.ts';
import type { ToolResult } from '../../../../src/core/tools/agentLoop.ts';
import { runAgentLoop } from '../../../../src/core/tools/agentLoop.ts';
import { runs } from '../../runs.ts';
import {
  assertConsistent,
  call,
  calls,
  model,
  type Options,
  options,
  play,
  toolMessages,
  turn,
} from './agentLoopPlay.ts';

describe('runToolLoop, cancelled', () => {
  it('does not wait for a request or a call that does not heed the signal', async () => {
    const controller = new AbortController();
    const never = new Promise<never>(() => {});
    const deaf = options({
      signal: controller.signal,
      complete: async function* () {
        yield 'x';
        return never;
      },
    });
    const first = await play(deaf, ({ type }) => type === 'model' && queueMicrotask(() => controller.abort()));
    assert.deepEqual([first.end.reason, first.end.history], ['cancelled', [{ role: 'assistant', content: 'x' }]]);

    const other = new AbortController();
    const second = await play(
      options({
        signal: other.signal,
        complete: model(calls(call('a'), call('b'), call('c'))).complete,
        maxParallel: 2,
        invoke: () => never,
      }),
      (event) => event.type === 'toolStarted' && event.call.name === 'b' && setTimeout(() => other.abort(), 1),
    );
    assert.equal(second.end.reason, 'cancelled');
    assert.deepEqual(
      toolMessages(second.end.history).map(({ content }) => content),
      [
        'Cancelled by the user before it was done.',
        'Cancelled by the user before it was done.',
        'Not run: cancelled by the user.',
      ],
    );
    assert.equal(second.events.filter((event) => event.type === 'toolFinished' && event.cancelled).length, 2);
  });

  it('keeps what was said of a later turn, behind the calls and results of the earlier one', async () => {
    const controller = new AbortController();
    let round = 0;
    const { end } = await play(
      options({
        signal: controller.signal,
        complete: async function* () {
          round += 1;
          if (round === 1) return calls(call('a'));
          yield 'Half an ';
          yield 'answer';
          return new Promise<never>(() => {});
        },
      }),
      (event) => event.type === 'model' && event.event === 'answer' && queueMicrotask(() => controller.abort()),
    );
    assertConsistent(end.history);
    assert.equal(toolMessages(end.history).length, 1);
    assert.deepEqual(end.history.at(-1), { role: 'assistant', content: 'Half an answer' });
  });

  it('asks nothing when it is aborted before it begins', async () => {
    const { events, end } = await play(
      options({ signal: AbortSignal.abort(), complete: () => assert.fail('was asked') }),
    );
    assert.deepEqual([events, end.reason, end.history], [[], 'cancelled', []]);
  });

  it('aborts what it started when its reader leaves', async () => {
    let requested: AbortSignal | undefined;
    let invoked: AbortSignal | undefined;
    const loop = runAgentLoop(
      options({
        complete: async function* (_, __, signal) {
          requested = signal;
          yield 'x';
          return calls(call('a'));
        },
        invoke: (_, signal) => {
          invoked = signal;
          return new Promise(() => {});
        },
        tools: [...options().tools],
      }),
    );
    for await (const event of loop) if (event.type === 'toolStarted') break;
    assert.equal(requested?.aborted, true);
    assert.equal(invoked, undefined, 'nothing is started before the reader has seen that it is');
  });

  /** `deaf` and `heeds` end by an abort only. */
  const behaviour = fc.constantFrom('ok', 'slow', 'fail', 'dismissed', 'deaf', 'heeds', 'refused');
  async function behave(kind: string, signal: AbortSignal, abortLater: () => void): Promise<ToolResult> {
    if (kind === 'slow') await new Promise((resolve) => setImmediate(resolve));
    if (kind === 'fail') throw new Error('failed');
    if (kind === 'dismissed') throw cancelled();
    if (kind === 'deaf' || kind === 'heeds') {
      abortLater();
      await new Promise((_, reject) => {
        if (kind === 'heeds') signal.addEventListener('abort', () => reject(signal.reason));
      });
    }
    return { content: 'x', isError: false, refused: kind === 'refused' };
  }
  const rawCall = fc
    .record({
      name: fc.constantFrom('a', 'b', 'nope'),
      args: fc.constantFrom('{}', '', '{"x":1}', '{"x', '[]'),
    })
    .map(({ name, args }) => call(name, args, crypto.randomUUID()));
  const rounds = fc.array(
    fc.record({
      text: fc.constantFrom('', 'ab'),
      toolCalls: fc.array(rawCall, { maxLength: 5 }),
      complete: fc.constantFrom(true, true, true, false),
    }),
    { minLength: 1, maxLength: 4 },
  );

  it('whenever it is cancelled: the history is consistent, every started call ends, and nothing starts afterwards', async () => {
    const reasons = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        rounds,
        fc.array(behaviour, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 30 }),
        fc.nat(3),
        fc.nat(3),
        fc.integer({ min: 1, max: 4 }),
        async (said, behaviours, at, ticks, failsAt, maxRounds) => {
          const controller = new AbortController();
          const { signal } = controller;
          let count = 0;
          let lateStarts = 0;
          const invoke: Options['invoke'] = async (_, given) => {
            if (signal.aborted) lateStarts += 1;
            const kind = behaviours[count++ % behaviours.length] ?? 'ok';
            return behave(kind, given, () => setTimeout(() => controller.abort(), 2));
          };
          let asked = 0;
          const { complete } = model(...said.map((each) => turn(each)), turn({ text: 'end' }));
          const given = options({
            signal,
            invoke,
            maxRounds,
            maxParallel: 2,
            complete: (...args) => {
              asked += 1;
              if (asked === failsAt) throw new Error('503');
              return complete(...args);
            },
          });
          const abort = async (): Promise<void> => {
            for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
            controller.abort();
          };
          const { events, end } = await play(given, (_, seen) => {
            if (seen === at) void abort();
          });
          assertConsistent(end.history);
          const started = events.flatMap((event) => (event.type === 'toolStarted' ? [event.call.id] : []));
          const ended = events.flatMap((event) => {
            if (event.type === 'toolFinished') return [event.call.id];
            return event.type === 'toolRefused' && event.reason === 'user' ? [event.call.id] : [];
          });
          assert.deepEqual(started.toSorted(), ended.toSorted());
          // What may have had an effect is told of.
          const told = toolMessages(end.history).map((message) =>
            message.role === 'tool' ? message.tool_call_id : '',
          );
          assert.ok(started.every((id) => told.includes(id)));
          assert.equal(lateStarts, 0);
          reasons.add(end.reason);
        },
      ),
      runs(80),
    );
    assert.deepEqual([...reasons].sort(), ['answered', 'cancelled', 'failed', 'incomplete', 'roundLimit']);
  });
});
