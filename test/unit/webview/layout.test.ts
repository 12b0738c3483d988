import assert from 'node:assert/strict';
import fc from 'fast-check';
import { drawnRange, gridMetrics, positionsOf, scrollToShow } from '../../../src/webview/matrix/layout.ts';

const line = fc.record({ count: fc.integer({ min: 0, max: 20_000 }), size: fc.integer({ min: 1, max: 200 }) });
const length = fc.integer({ min: 1, max: 3000 });
const anyScroll = fc.integer({ min: -500, max: 5_000_000 });

describe('what is drawn of a matrix', () => {
  it('is everything in sight, within the list, and not much more, wherever it is scrolled to', () => {
    fc.assert(
      fc.property(line, anyScroll, length, ({ count, size }, scroll, seen) => {
        const { first, end } = drawnRange({ count, size }, scroll, seen);
        assert.ok(first >= 0 && first <= end && end <= count);
        const top = Math.min(Math.max(0, scroll), Math.max(0, count * size - seen));
        for (const pixel of [top, Math.min(top + seen, count * size) - 1]) {
          const index = Math.floor(pixel / size);
          if (count > 0) assert.ok(index >= first && index < end, `${index} in ${first}–${end}`);
        }
        assert.ok(end - first <= Math.ceil(seen / size) + 34);
      }),
    );
  });

  it('does not change while it is scrolled by less than a step', () => {
    const rows = { count: 10_000, size: 24 };
    assert.deepEqual(drawnRange(rows, 24 * 800, 24 * 16), { first: 792, end: 824 });
    assert.deepEqual(drawnRange(rows, 24 * 800 + 23, 24 * 15), { first: 792, end: 824 });
    assert.deepEqual(drawnRange(rows, 24 * 808, 24 * 16), { first: 800, end: 832 });
  });

  it('is nothing of an empty list, or where there is no room', () => {
    assert.deepEqual(drawnRange({ count: 0, size: 24 }, 100, 500), { first: 0, end: 0 });
    assert.deepEqual(drawnRange({ count: 9, size: 24 }, 0, 0), { first: 0, end: 0 });
  });

  it('holds the active one too, once and in order', () => {
    assert.deepEqual(positionsOf({ first: 8, end: 11 }, 3), [3, 8, 9, 10]);
    assert.deepEqual(positionsOf({ first: 8, end: 11 }, 9), [8, 9, 10]);
    assert.deepEqual(positionsOf({ first: 8, end: 11 }, 11), [8, 9, 10, 11]);
    assert.deepEqual(positionsOf({ first: 8, end: 11 }, -1), [8, 9, 10]);
  });
});

describe('scrolling to a place', () => {
  it('shows all of it, and moves no further than it must', () => {
    fc.assert(
      fc.property(line, fc.nat(4_000_000), length, fc.nat(), ({ count, size }, scroll, seen, any) => {
        fc.pre(count > 0);
        const index = any % count;
        const to = scrollToShow({ count, size }, index, scroll, seen);
        const start = index * size;
        assert.ok(to <= start, 'its beginning');
        if (size <= seen) assert.ok(start + size <= to + seen, 'its end');
        if (scroll <= start && start + size <= scroll + seen) assert.equal(to, scroll);
      }),
    );
  });

  it('leaves everything as it is for a header, which is always in sight', () => {
    assert.equal(scrollToShow({ count: 9, size: 24 }, -1, 77, 100), 77);
  });
});

describe('the sizes of a matrix', () => {
  const longest = { row: 30, column: 20 };

  it('few roles have their names across, many upright, and they fill the window without leaving it', () => {
    const few = gridMetrics(1000, 4, longest);
    assert.deepEqual([few.isUpright, few.headerHeight], [false, 48]);
    const many = gridMetrics(1000, 200, longest);
    assert.deepEqual([many.isUpright, many.columnWidth], [true, 28]);
    fc.assert(
      fc.property(fc.integer({ min: 300, max: 4000 }), fc.integer({ min: 1, max: 300 }), (width, columns) => {
        const frame = gridMetrics(width, columns, longest);
        if (frame.columnWidth > 28) assert.ok(frame.rowHeaderWidth + columns * frame.columnWidth <= width);
      }),
    );
  });

  it('names get the room they need, within bounds', () => {
    assert.ok(gridMetrics(1000, 200, { row: 10, column: 5 }).rowHeaderWidth < 160);
    assert.equal(gridMetrics(1000, 200, { row: 500, column: 5 }).rowHeaderWidth, 400);
    assert.equal(gridMetrics(1000, 200, { row: 5, column: 500 }).headerHeight, 190);
    assert.equal(gridMetrics(100, 3, { row: 5, column: 5 }).rowHeaderWidth, 140);
    // In a narrow tab a name stays readable, beside a few columns.
    assert.equal(gridMetrics(305, 10, { row: 30, column: 5 }).rowHeaderWidth, 220);
    assert.equal(gridMetrics(246, 10, { row: 30, column: 5 }).rowHeaderWidth, 162);
  });
});
