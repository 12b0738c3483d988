import assert from 'node:assert/strict';
import type { ToolCallDelta } from '../../../../src/core/completions/chunk.ts';
import { ToolCallAssembler } from '../../../../src/core/completions/toolCalls.ts';

const finished = { isFinished: true };

const delta = (values: Partial<ToolCallDelta>): ToolCallDelta => ({
  index: undefined,
  id: '',
  name: '',
  arguments: '',
  ...values,
});

function assemble(...lists: readonly (readonly Partial<ToolCallDelta>[])[]): ToolCallAssembler {
  let made = 0;
  const assembler = new ToolCallAssembler(new Set(), () => `made${++made}`);
  for (const list of lists) assembler.accept(list.map(delta));
  return assembler;
}

const calls = (...lists: readonly (readonly Partial<ToolCallDelta>[])[]) =>
  assemble(...lists)
    .calls(finished)
    .map(({ id, name, arguments: json }) => [id, name, json]);

describe('tool calls', () => {
  it('puts fragments together in linear pieces, whatever they are cut into', () => {
    const json = '{"code":"function f() { return {} }","list":[{"a":{}},{}]}';
    for (let at = 0; at <= json.length; at++) {
      const [first, second] = [json.slice(0, at), json.slice(at)];
      assert.deepEqual(
        calls([{ index: 0, id: 'c', name: 'f' }], [{ index: 0, arguments: first }], [{ index: 0, arguments: second }]),
        [['c', 'f', json]],
        `cut at ${at}`,
      );
    }
    const letters = Array.from(json, (letter) => [{ index: 0, arguments: letter }]);
    assert.deepEqual(calls([{ index: 0, id: 'c', name: 'f' }], ...letters), [['c', 'f', json]]);
  });

  it('keeps calls apart that have neither id nor index but stand in one list', () => {
    const one = { name: 'f', arguments: '{"a":1}' };
    assert.deepEqual(calls([one, one]), [
      ['made1', 'f', '{"a":1}'],
      ['made2', 'f', '{"a":1}'],
    ]);
  });

  it('joins what has neither id nor name to the call of its index, also in one list; without an index it stays apart', () => {
    const begins = { index: 0, id: 'c', name: 'f' };
    assert.deepEqual(calls([begins, { index: 0, arguments: '{"a":1}' }]), [['c', 'f', '{"a":1}']]);
    assert.deepEqual(calls([begins, { arguments: '{"a":1}' }]), [
      ['c', 'f', '{}'],
      ['made1', '', '{"a":1}'],
    ]);
  });

  it('starts another call where another name comes without an id', () => {
    assert.deepEqual(calls([{ index: 0, name: 'f', arguments: '{}' }], [{ index: 0, name: 'g', arguments: '{}' }]), [
      ['made1', 'f', '{}'],
      ['made2', 'g', '{}'],
    ]);
  });

  it('starts another call of the same tool where other whole arguments come without an id', () => {
    const call = (city: string) => [{ index: 0, name: 'f', arguments: `{"city":"${city}"}` }];
    assert.deepEqual(calls(call('Oslo'), call('Oslo'), call('Rome')), [
      ['made1', 'f', '{"city":"Oslo"}'],
      ['made2', 'f', '{"city":"Rome"}'],
    ]);
  });

  it('does not take a fresh id on every delta for a new call', () => {
    assert.deepEqual(
      calls(
        [{ index: 0, id: 'c1', name: 'f', arguments: '{"a"' }],
        [{ index: 0, id: 'c2', arguments: ':1' }],
        [{ index: 0, id: 'c3', arguments: '}' }],
      ),
      [['c1', 'f', '{"a":1}']],
    );
  });

  it('takes an id that comes late, and replaces one that comes twice', () => {
    assert.deepEqual(calls([{ index: 0, name: 'f' }], [{ index: 0, id: 'late', arguments: '{}' }]), [
      ['late', 'f', '{}'],
    ]);
    assert.deepEqual(calls([{ index: 0, id: 'c', name: 'f' }], [{ index: 1, id: 'c', name: 'g' }]), [
      ['c', 'f', '{}'],
      ['made1', 'g', '{}'],
    ]);
  });

  it('replaces an id that the conversation holds already', () => {
    const assembler = new ToolCallAssembler(new Set(['call_0']), () => 'made');
    assembler.accept([delta({ id: 'call_0', name: 'f' }), delta({ id: 'call_1', name: 'f' })]);
    assert.deepEqual(
      assembler.calls(finished).map(({ id }) => id),
      ['made', 'call_1'],
    );
  });

  it('gives made-up ids once: the same when asked again', () => {
    const assembler = assemble([{ name: 'f' }]);
    assert.deepEqual(assembler.calls(finished), assembler.calls(finished));
  });

  it('ignores a delta that says nothing', () => {
    const assembler = assemble([{ index: 0 }], [{}]);
    assert.equal(assembler.size, 0);
    assert.deepEqual(assembler.calls(finished), []);
  });

  it('replaces empty arguments at the start by the real ones, in one piece or in several', () => {
    const start = { index: 0, id: 'c', name: 'f', arguments: '{}' };
    assert.deepEqual(calls([start], [{ index: 0, arguments: '{"a":1}' }]), [['c', 'f', '{"a":1}']]);
    assert.deepEqual(calls([start], [{ index: 0, arguments: '{"a"' }], [{ index: 0, arguments: ':1}' }]), [
      ['c', 'f', '{"a":1}'],
    ]);
    assert.deepEqual(calls([{ index: 0, id: 'c', name: 'f', arguments: '{"a":1}' }], [{ index: 0, arguments: '{}' }]), [
      ['c', 'f', '{"a":1}'],
    ]);
  });

  for (const [written, parsed] of [
    ['', {}],
    [' \n', {}],
    ['null', {}],
    ['{"a":[1]}', { a: [1] }],
    ['"{\\"a\\":1}"', { a: 1 }],
    ['{"a":1,}', { a: 1 }],
    ['```json\n{"a":1}\n```', { a: 1 }],
  ] as const) {
    it(`reads the arguments ${JSON.stringify(written)}`, () => {
      const [call] = assemble([{ id: 'c', name: 'f', arguments: written }]).calls(finished);
      assert.deepEqual(call?.parsed, parsed);
      assert.deepEqual(JSON.parse(call?.arguments ?? ''), parsed, 'what is sent back is an object too');
      assert.equal(call?.problem, undefined);
    });
  }

  for (const written of ['{"a":', '[1]', '7', '"text"', '{"a":1}}', 'city: Oslo']) {
    it(`names the problem of the arguments ${written}`, () => {
      const [call] = assemble([{ id: 'c', name: 'f', arguments: written }]).calls(finished);
      assert.equal(call?.parsed, undefined);
      assert.equal(call?.arguments, written);
      assert.match(call?.problem ?? '', /arguments that the model wrote for f are not a JSON object/);
    });
  }

  it('never runs a call without a name, nor any call of an answer that was cut', () => {
    const [nameless] = assemble([{ id: 'c', arguments: '{}' }]).calls(finished);
    assert.match(nameless?.problem ?? '', /without naming it/);
    assert.equal(nameless?.parsed, undefined);
    const [cut] = assemble([{ id: 'c', name: 'f', arguments: '{}' }]).calls({ ...finished, cut: 'The line was cut.' });
    assert.equal(cut?.problem, 'The line was cut.');
    assert.equal(cut?.parsed, undefined);
  });

  for (const written of ['', ' ', 'null', '{"a":', '{"a":1,}']) {
    it(`runs no call with the arguments ${JSON.stringify(written)} where nobody said that the answer is finished`, () => {
      const [call] = assemble([{ id: 'c', name: 'f', arguments: written }]).calls({ isFinished: false });
      assert.equal(call?.parsed, undefined);
      assert.match(call?.problem ?? '', /not a JSON object/);
    });
  }

  it('runs a call with whole arguments though nobody said that the answer is finished', () => {
    const [call] = assemble([{ id: 'c', name: 'f', arguments: '{"a":1}' }]).calls({ isFinished: false });
    assert.deepEqual(call?.parsed, { a: 1 });
  });

  it('makes up nine letters and digits, as the strictest chat templates want them', () => {
    const assembler = new ToolCallAssembler();
    assembler.accept(Array.from({ length: 50 }, () => delta({ name: 'f' })));
    const ids = assembler.calls(finished).map(({ id }) => id);
    assert.equal(new Set(ids).size, 50);
    for (const id of ids) assert.match(id, /^[a-zA-Z0-9]{9}$/);
  });
});
