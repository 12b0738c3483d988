import assert from 'node:assert/strict';
import { clampPosition, movePosition } from '../../../src/webview/matrix/layout.ts';

const bounds = { rows: 100, columns: 20, page: 30 };
/** Where a key leads from row 50, column 10, and from other places. */
const table: readonly (readonly [key: string, from: readonly [number, number], to: readonly [number, number]])[] = [
  ['ArrowUp', [50, 10], [49, 10]],
  ['ArrowDown', [50, 10], [51, 10]],
  ['ArrowLeft', [50, 10], [50, 9]],
  ['ArrowRight', [50, 10], [50, 11]],
  ['PageUp', [50, 10], [20, 10]],
  ['PageDown', [50, 10], [80, 10]],
  ['Home', [50, 10], [50, -1]],
  ['End', [50, 10], [50, 19]],
  ['Control+Home', [50, 10], [-1, -1]],
  ['Control+End', [50, 10], [99, 19]],
  ['ArrowUp', [0, 3], [-1, 3]],
  ['ArrowUp', [-1, 3], [-1, 3]],
  ['ArrowDown', [99, 3], [99, 3]],
  ['ArrowLeft', [4, 0], [4, -1]],
  ['ArrowLeft', [4, -1], [4, -1]],
  ['ArrowRight', [4, 19], [4, 19]],
  ['PageUp', [10, 3], [0, 3]],
  ['PageUp', [-1, 3], [-1, 3]],
  ['PageDown', [-1, 3], [30, 3]],
  ['PageDown', [90, 3], [99, 3]],
];

describe('keys in the matrix', () => {
  for (const [keys, [row, column], to] of table) {
    it(`${keys} leads from ${row}, ${column} to ${to.join(', ')}`, () => {
      const key = keys.replace('Control+', '');
      const place = movePosition({ row, column }, { key, isControl: key !== keys }, bounds);
      assert.deepEqual([place?.row, place?.column], to);
    });
  }

  it('other keys lead nowhere', () =>
    assert.equal(movePosition({ row: 1, column: 1 }, { key: 'a', isControl: false }, bounds), undefined));

  it('a place comes as near as it can where rows and columns are fewer, or none', () => {
    assert.deepEqual(clampPosition({ row: 50, column: 10 }, { rows: 3, columns: 2 }), { row: 2, column: 1 });
    assert.deepEqual(clampPosition({ row: 50, column: 10 }, { rows: 0, columns: 0 }), { row: -1, column: -1 });
    assert.deepEqual(clampPosition({ row: -7, column: 1 }, { rows: 3, columns: 2 }), { row: -1, column: 1 });
  });
});
