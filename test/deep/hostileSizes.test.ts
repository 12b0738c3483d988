import assert from 'node:assert/strict';
import { repairHistory } from '../../src/core/completions/history.ts';
import type { ChatMessage } from '../../src/core/completions/request.ts';
import { repairArguments } from '../../src/core/completions/toolCalls.ts';
import { arrived, assertSound, bytes, play, stream } from '../unit/core/completions/playAnswer.ts';
import { stepsOf } from './steps.ts';

const chunk = (delta: object, finish_reason: string | null = null) =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] });
const called = (...calls: object[]) => chunk({ tool_calls: calls });
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

async function assertLinear(steps: (count: number) => Promise<number>) {
  await steps(10); // What is loaded or made once.
  const [once, twice] = [await steps(100), await steps(200)];
  assert.ok(twice < once * 2.1, `${once} steps, then ${twice}`);
}

/** What the client makes of a stream of these chunks. */
async function answerOf(chunks: readonly string[]) {
  const outcome = await play({ packets: [bytes(stream(...chunks, chunk({}, 'tool_calls'), '[DONE]'))] });
  assertSound(outcome);
  return arrived(outcome)?.choices[0];
}

const many: readonly (readonly [string, (count: number) => readonly string[]])[] = [
  [
    'calls with id and index',
    (count) =>
      numbers(count).map((at) => called({ index: at, id: `c${at}`, function: { name: 'f', arguments: '{}' } })),
  ],
  [
    'calls with an id only',
    (count) => numbers(count).map((at) => called({ id: `c${at}`, function: { name: 'f', arguments: '{}' } })),
  ],
  [
    'calls with neither, in one list',
    (count) => [called(...numbers(count).map((at) => ({ function: { name: 'f', arguments: `{"a":${at}}` } })))],
  ],
  [
    'calls all with index 0',
    (count) => numbers(count).map((at) => called({ index: 0, id: `c${at}`, function: { name: 'f', arguments: '{}' } })),
  ],
];

/** Pieces of one call, whose arguments are a list of that many objects. */
const pieces: readonly (readonly [string, (piece: string, at: number) => object])[] = [
  ['as they should come', (json) => ({ index: 0, function: { arguments: json } })],
  ['with a fresh id each', (json, at) => ({ index: 0, id: `c${at}`, function: { arguments: json } })],
  ['with the name each', (json) => ({ index: 0, function: { name: 'f', arguments: json } })],
];

describe('an answer of hostile size', () => {
  for (const [what, chunks] of many) {
    it(`takes twice the work for twice as many ${what}`, async () => {
      const steps = (count: number) =>
        stepsOf(async () => assert.equal((await answerOf(chunks(count)))?.toolCalls.length, count));
      await assertLinear(steps);
    });
  }

  for (const [how, delta] of pieces) {
    it(`takes twice the work for twice as many pieces of arguments, ${how}`, async () => {
      const steps = (count: number) =>
        stepsOf(async () => {
          const items = numbers(count).flatMap((at) => [at === 0 ? '' : ',', '{"a":{}}']);
          const begin = called({ index: 0, id: 'c', function: { name: 'f', arguments: '{"list":[' } });
          const choice = await answerOf([begin, ...[...items, ']}'].map((piece, at) => called(delta(piece, at)))]);
          assert.deepEqual(choice?.toolCalls[0]?.parsed, { list: numbers(count).map(() => ({ a: {} })) });
        });
      await assertLinear(steps);
    });
  }

  it('is sent back with twice the work for twice as many calls', async () => {
    const steps = (count: number) =>
      stepsOf(() => {
        const ids = numbers(count).map(String);
        const call = (id: string) => ({ id, type: 'function' as const, function: { name: 'f', arguments: '{}' } });
        const messages: ChatMessage[] = [
          { role: 'assistant', content: '', tool_calls: ids.map(call) },
          ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: `result ${id}` })),
        ];
        assert.deepEqual(repairHistory(messages), messages);
      });
    await assertLinear(steps);
  });

  // Quadratic would take minutes, for which no test has the time.
  const long = 1_000_000;
  for (const [what, json] of [
    ['blanks in a fence without an end', `\`\`\`${' '.repeat(long)}x`],
    ['blanks within a fence', `\`\`\`x${' '.repeat(long)}x\`\`\``],
    ['quotes in a string without an end', `{"${'\\"'.repeat(long)}`],
    ['commas and blanks', `{"a":1${', '.repeat(long)}`],
  ] as const) {
    it(`is no arguments with a million ${what}`, () => assert.equal(repairArguments(json), undefined));
  }

  it('has its arguments repaired however long their strings are', () => {
    const text = 'a'.repeat(30 * long);
    assert.equal(repairArguments(`{"a":"${text}",}`), `{"a":"${text}"}`);
  });

  it('is no keep-alive with a million quotes', async () => {
    const { error } = await play({ packets: [bytes(stream(chunk({ content: 'a' }), `${'"'.repeat(long)}x`))] });
    assert.equal(error?.kind, 'protocol');
  });
});
