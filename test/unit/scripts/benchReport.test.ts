import assert from 'node:assert/strict';
import { isReached, jsonLine, table } from '../../../scripts/benchReport.ts';
import { type Figure, withinLimit } from '../../bench/figure.ts';

const fast: Figure = {
  name: 'calls',
  value: 1234.5678,
  unit: '/s',
  against: 'a rival',
  ratio: 1.50049,
  aim: 1.5,
  higherIsBetter: true,
};
const slow: Figure = { ...fast, name: 'a call', value: 0.00012345, unit: 's', ratio: 1.6, higherIsBetter: false };

describe('the report of the benchmarks', () => {
  it('is one line of JSON for each figure, with every member', () => {
    assert.equal(
      jsonLine(fast),
      '{"name":"calls","value":1230,"unit":"/s","against":"a rival","ratio":1.5,"aim":1.5,"higherIsBetter":true}',
    );
    assert.deepEqual(JSON.parse(jsonLine(slow)), { ...slow, value: 0.000123 });
  });

  it('knows on which side of the aim a ratio is good', () => {
    assert.deepEqual([fast, slow].map(isReached), [true, false]);
    assert.deepEqual(
      [fast, slow].map((figure) => isReached({ ...figure, ratio: 1.4 })),
      [false, true],
    );
    assert.deepEqual(
      [fast, slow].map((figure) => isReached({ ...figure, ratio: 1.5 })),
      [true, true],
    );
  });

  it('is a table for people: a figure once, each rival in a line', () => {
    const lines = table([fast, { ...fast, against: 'another' }, slow]).split('\n');
    assert.equal(lines.length, 4);
    assert.match(lines[1] ?? '', /^calls +1230 \/s +1\.5 × +≥ 1\.5 +reached +a rival$/);
    assert.match(lines[2] ?? '', /^ +1\.5 × +≥ 1\.5 +reached +another$/);
    assert.match(lines[3] ?? '', /^a call +0\.000123 s +1\.6 × +≤ 1\.5 +missed +a rival$/);
  });

  it('judges a limit by the value itself', () => {
    const [fits, exceeds] = [withinLimit('delay', 1.9, 'ms', 2), withinLimit('delay', 2.1, 'ms', 2)];
    assert.deepEqual([fits, exceeds].map(isReached), [true, false]);
    assert.match(table([fits]).split('\n')[1] ?? '', /^delay +1\.9 ms +0\.95 × +≤ 1 +reached +the limit of 2 ms$/);
  });

  it('passes no judgement where nothing is promised', () => {
    const { aim: _, ...open } = slow;
    assert.match(table([open]).split('\n')[1] ?? '', /^a call +0\.000123 s +1\.6 × +a rival$/);
    assert.equal('aim' in (JSON.parse(jsonLine(open)) as object), false);
  });
});
