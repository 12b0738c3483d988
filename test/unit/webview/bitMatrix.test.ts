import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  bytesPerRow,
  countOfRow,
  countsOfColumns,
  hasBit,
  makeBits,
  setBit,
} from '../../../src/webview/matrix/bitMatrix.ts';

const size = fc.record({ rows: fc.integer({ min: 1, max: 12 }), columns: fc.integer({ min: 1, max: 40 }) });
const filled = size.chain((each) =>
  fc.record({
    size: fc.constant(each),
    cells: fc.array(fc.tuple(fc.nat(each.rows - 1), fc.nat(each.columns - 1)), { maxLength: 60 }),
    shown: fc.uniqueArray(fc.nat(each.rows - 1)),
  }),
);

describe('the bits of a matrix', () => {
  it('hold what was set and nothing else, and are counted by row and by column', () => {
    fc.assert(
      fc.property(filled, ({ size: { rows, columns }, cells, shown }) => {
        const bits = makeBits(rows, columns);
        assert.equal(bits.length, rows * bytesPerRow(columns));
        for (const [row, column] of cells) setBit(bits, columns, row, column);
        const wanted = new Set(cells.map(String));
        const each = (count: number) => Array.from({ length: count }, (_, index) => index);
        const isSet = (row: number, column: number) => wanted.has(`${row},${column}`);
        const columnsOf = (row: number) => each(columns).filter((column) => isSet(row, column));
        for (const row of each(rows)) {
          const held = each(columns).filter((column) => hasBit(bits, columns, row, column));
          assert.deepEqual(held, columnsOf(row));
          assert.equal(countOfRow(bits, columns, row), held.length);
        }
        const ofColumn = each(columns).map((column) => shown.filter((row) => isSet(row, column)).length);
        assert.deepEqual([...countsOfColumns(bits, columns, shown)], ofColumn);
      }),
    );
  });

  it('are read beyond their end as nothing', () => {
    assert.equal(hasBit(makeBits(1, 8), 8, 4, 3), false);
    assert.equal(countOfRow(makeBits(1, 8), 8, 4), 0);
  });
});
