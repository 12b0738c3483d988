import assert from 'node:assert/strict';
import { CompletionAssembler, type StreamEnd } from '../../../../src/core/completions/assemble.ts';
import { readChunk } from '../../../../src/core/completions/chunk.ts';
import type { CompletionEvent } from '../../../../src/core/completions/completion.ts';

const done: StreamEnd = { kind: 'done' };
const cut: StreamEnd = { kind: 'cut', reason: 'The line was cut.' };

function assemble(chunks: readonly Readonly<Record<string, unknown>>[], expected = 1) {
  const assembler = new CompletionAssembler(expected);
  const events: CompletionEvent[] = [];
  for (const chunk of chunks) assembler.accept(readChunk(chunk), events);
  return { assembler, events };
}

const says = (content: string, index = 0) => ({ choices: [{ index, delta: { content } }] });
const ends = (finish_reason: string, index = 0) => ({ choices: [{ index, delta: {}, finish_reason }] });
const calls = (name: string) => ({
  choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'c', function: { name, arguments: '{}' } }] } }],
});

describe('assembling a completion', () => {
  it('tells text and reasoning as they come, and nothing for empty pieces', () => {
    const thinks = { choices: [{ index: 0, delta: { reasoning_content: 'Hm', content: '' } }] };
    const { events } = assemble([says(''), thinks, says('A'), says('B', 1)], 2);
    assert.deepEqual(events, [
      { kind: 'reasoning', choice: 0, text: 'Hm' },
      { kind: 'text', choice: 0, text: 'A' },
      { kind: 'text', choice: 1, text: 'B' },
    ]);
  });

  it('tells in one event what comes in one packet, in its order', () => {
    const { events } = assemble([says('A'), says('B'), says('x', 1), says('y', 1), says('C')], 2);
    assert.deepEqual(events, [
      { kind: 'text', choice: 0, text: 'AB' },
      { kind: 'text', choice: 1, text: 'xy' },
      { kind: 'text', choice: 0, text: 'C' },
    ]);
  });

  it('tells calls, finishes and usage at the end, in order of the choices', () => {
    const usage = { choices: [], usage: { total_tokens: 5 } };
    const { assembler, events } = assemble([says('B', 1), ends('stop', 1), calls('f'), ends('tool_calls'), usage], 2);
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['text'],
    );
    const end = assembler.end(done);
    const call = { id: 'c', name: 'f', arguments: '{}', parsed: {} };
    assert.deepEqual(end.events, [
      { kind: 'toolCall', choice: 0, call },
      { kind: 'finish', choice: 0, reason: 'tool_calls' },
      { kind: 'finish', choice: 1, reason: 'stop' },
      { kind: 'usage', usage: { totalTokens: 5 } },
    ]);
    const common = { role: 'assistant', reasoning: '', ending: 'finished' };
    assert.deepEqual(end.completion, {
      choices: [
        { ...common, index: 0, text: '', toolCalls: [call], finishReason: 'tool_calls' },
        { ...common, index: 1, text: 'B', toolCalls: [], finishReason: 'stop' },
      ],
      usage: { totalTokens: 5 },
      complete: true,
      notices: [],
    });
  });

  it('is finished when every choice that was asked for said why it ended', () => {
    const steps = [says('A'), ends('stop'), says('B', 1), ends('length', 1)];
    const finished = steps.map((_, at) => assemble(steps.slice(0, at + 1), 2).assembler.isFinished);
    assert.deepEqual(finished, [false, false, false, true]);
    assert.equal(assemble([]).assembler.isFinished, false);
  });

  it('has begun with the first choice, not with a head or usage', () => {
    assert.equal(assemble([{ id: 'x', choices: [] }, { usage: { total_tokens: 1 } }]).assembler.hasBegun, false);
    assert.equal(assemble([says('')]).assembler.hasBegun, true);
  });

  it('is complete after a cut only when every choice had finished', () => {
    assert.equal(assemble([says('A'), ends('stop')]).assembler.end(cut).completion.complete, true);
    const { completion } = assemble([says('A'), ends('stop'), says('B', 1)], 2).assembler.end(cut);
    assert.equal(completion.complete, false);
    assert.equal(completion.incompleteReason, 'The line was cut.');
    const half = assemble([says('A'), says('B', 1), ends('stop', 1)], 2).assembler.end(cut);
    assert.deepEqual(half.events, [{ kind: 'finish', choice: 1, reason: 'stop' }]);
  });

  it('tells no call of an answer that was cut, and gives each the reason as its problem', () => {
    const { events, completion } = assemble([calls('f')]).assembler.end(cut);
    assert.deepEqual(events, []);
    assert.deepEqual(completion.choices[0]?.toolCalls, [
      { id: 'c', name: 'f', arguments: '{}', problem: 'The line was cut.' },
    ]);
  });

  it('is not complete without any choice, even when the service says that it is done', () => {
    const { completion } = assemble([{ id: 'x', choices: [] }]).assembler.end(done);
    assert.equal(completion.complete, false);
    assert.match(completion.incompleteReason ?? '', /ended the response without an answer/);
    assert.equal(completion.id, 'x');
  });

  it('gives what arrived when an error interrupts', () => {
    const { assembler } = assemble([says('A'), calls('f')]);
    const completion = assembler.interrupted('Engine died.');
    assert.equal(completion.complete, false);
    assert.equal(completion.incompleteReason, 'Engine died.');
    assert.equal(completion.choices[0]?.text, 'A');
    assert.equal(completion.choices[0]?.toolCalls[0]?.problem, 'Engine died.');
  });

  it('takes the head from the first chunk that says something', () => {
    const empty = { id: '', object: '', model: '', created: 0 };
    const head = { id: 'x', object: 'o', model: 'm', created: 7, system_fingerprint: 'f' };
    const { completion } = assemble([empty, head, { ...head, id: 'y', model: 'n' }, says('A')]).assembler.end(done);
    const { id, object, model, created, fingerprint } = completion;
    assert.deepEqual(
      { id, object, model, created, fingerprint },
      {
        id: 'x',
        object: 'o',
        model: 'm',
        created: 7,
        fingerprint: 'f',
      },
    );
  });

  it('takes each member of the head where it comes first, however late', () => {
    const late: Readonly<Record<string, unknown>> = {
      object: 'o',
      created: 7,
      system_fingerprint: 'f',
      prompt_logprobs: [null],
    };
    const pieces = Object.entries(late).map(([name, value]) => ({ id: 'x', model: 'm', [name]: value }));
    const { completion } = assemble([{ id: 'x', model: 'm' }, says('A'), ...pieces]).assembler.end(done);
    const { id, model, object, created, fingerprint, promptLogprobs } = completion;
    assert.deepEqual(
      { id, model, object, created, fingerprint, promptLogprobs },
      { id: 'x', model: 'm', object: 'o', created: 7, fingerprint: 'f', promptLogprobs: [null] },
    );
  });

  for (const [promise, chunks, expected, codes] of [
    ['tool_calls without a call', [says('A'), ends('tool_calls')], 1, ['finishWithoutCalls']],
    ['stop with a call', [calls('f'), ends('stop')], 1, ['callsWithoutFinish']],
    ['fewer choices than asked for', [says('A'), ends('stop')], 3, ['fewerChoices']],
    ['nothing unusual', [calls('f'), ends('tool_calls')], 1, []],
  ] as const) {
    it(`notices ${promise}, as an event and in the completion`, () => {
      const { events, completion } = assemble(chunks, expected).assembler.end(done);
      assert.deepEqual(
        completion.notices.map(({ code }) => code),
        codes,
      );
      const told = events.flatMap((event) => (event.kind === 'notice' ? [event] : []));
      assert.deepEqual(
        told,
        completion.notices.map((notice) => ({ kind: 'notice', ...notice })),
      );
      assert.ok(completion.notices.every(({ message }) => message.endsWith('.')));
    });
  }
});
