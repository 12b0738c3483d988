import assert from 'node:assert/strict';
import { Localizer } from '../../../src/webview/matrix/localizer.ts';
import { MatrixTable } from '../../../src/webview/matrix/matrix.ts';
import {
  type MatrixMessage,
  PROTOCOL_VERSION,
  readToHost,
  readToPage,
  type ToHost,
  versioned,
} from '../../../src/webview/matrix/protocol.ts';

const toHost: readonly ToHost[] = [
  { type: 'ready', mode: 'groups' },
  { type: 'mode', mode: 'people' },
  { type: 'filter', text: 'prod', sequence: 3 },
  { type: 'refresh' },
  { type: 'reveal', mode: 'groups', row: 'g', column: null },
  { type: 'active', mode: 'people', row: null, column: 'r', place: 4 },
];

/** Three groups, two roles: the first group has the second role, the third both. */
const message: MatrixMessage = {
  type: 'matrix',
  mode: 'groups',
  organization: 'm',
  connection: 'c',
  rows: {
    kinds: ['group', 'group', 'group'],
    keys: ['a', 'b', 'c'],
    labels: ['A', 'B', 'C'],
    names: ['A', 'B', 'C'],
    details: ['', '', ''],
    notes: ['', 'degraded', ''],
    states: ['', 'degraded', ''],
    findings: ['', '', 'C has both'],
  },
  columns: { keys: ['r', 's'], labels: ['R', 'Super'], details: ['', ''], listed: [true, false], findings: ['', ''] },
  bits: new Uint8Array([0b10, 0b00, 0b11]),
};
const view = (rows: readonly number[], columns: readonly number[]) =>
  ({
    type: 'view',
    mode: 'groups',
    rows: Uint32Array.from(rows),
    columns: Uint32Array.from(columns),
    filter: '',
    answered: 0,
    empty: '',
  }) as const;

describe('messages between the editor and the page of the matrix', () => {
  it('are read as they were sent', () => {
    for (const each of toHost) assert.deepEqual(readToHost(structuredClone(versioned(each))), versioned(each));
    for (const each of [message, view([1], [0])]) {
      assert.deepEqual(readToPage(structuredClone(versioned(each))), versioned(each));
    }
  });

  it('of another version, or of nobody we know, are nothing', () => {
    for (const each of toHost) {
      assert.equal(readToHost({ ...each, version: PROTOCOL_VERSION + 1 }), undefined);
      assert.equal(readToHost(each), undefined);
    }
    assert.equal(readToPage({ ...message, version: PROTOCOL_VERSION + 1 }), undefined);
    for (const odd of [undefined, null, 'ready', 7, [], { version: PROTOCOL_VERSION, type: 'eval' }]) {
      assert.equal(readToHost(odd), undefined);
      assert.equal(readToPage(odd), undefined);
    }
  });

  const wrong: readonly (readonly [what: string, message: object])[] = [
    ['a mode that does not exist', { type: 'mode', mode: 'roles' }],
    ['a key that is no text', { type: 'reveal', mode: 'groups', row: 3, column: null }],
    ['a filter longer than anybody types', { type: 'filter', text: 'x'.repeat(4001), sequence: 1 }],
    ['no key at all', { type: 'reveal', mode: 'groups' }],
  ];
  for (const [what, content] of wrong) {
    it(`with ${what} are nothing`, () =>
      assert.equal(readToHost({ version: PROTOCOL_VERSION, ...content }), undefined));
  }
});

describe('what the page shows of a matrix', () => {
  it('rows and columns in the order of the view, with counts of what is shown', () => {
    const matrix = new MatrixTable(message, view([2, 0], [1, 0]));
    const cells = [0, 1].map((row) => [0, 1].map((column) => matrix.has(row, column)));
    assert.deepEqual(cells, [
      [true, true],
      [true, false],
    ]);
    assert.deepEqual([matrix.row(0).key, matrix.row(0).count, matrix.row(1).count], ['c', 2, 1]);
    assert.deepEqual([matrix.column(0).label, matrix.column(0).isListed, matrix.column(0).count], ['Super', false, 2]);
    assert.deepEqual([matrix.row(0).finding, matrix.row(1).finding, matrix.hasFindings], ['C has both', '', true]);
    assert.equal(matrix.grants, 3);
    assert.deepEqual(matrix.longest, { row: 1, column: 5 });
    assert.deepEqual(new MatrixTable(message, view([1], [0, 1])).longest, { row: 9, column: 5 });
  });

  it('positions that the matrix does not have are left out', () => {
    const matrix = new MatrixTable(message, view([9, 1], [0, 7]));
    assert.deepEqual([matrix.rows.length, matrix.columns.length, matrix.grants], [1, 1, 0]);
  });
});

describe('the page’s words', () => {
  const words = new Localizer(
    { groupCount: 'Groups: {0}', ofAll: '{0} of {1}' } as ConstructorParameters<typeof Localizer>[0],
    'en',
  );

  it('count what is shown, and of how many', () => {
    assert.equal(words.count('groupCount', 10_000, 10_000), 'Groups: 10,000');
    assert.equal(words.count('groupCount', 3, 10_000), 'Groups: 3 of 10,000');
  });

  it('put texts in as they are', () => assert.equal(words.text('groupCount', '$& {0}'), 'Groups: $& {0}'));

  it('do without a language that the browser does not know', () => {
    assert.equal(new Localizer({ groupCount: '{0}' } as never, 'qps-ploc').text('groupCount', 3), '3');
  });
});
