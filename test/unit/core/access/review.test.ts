import assert from 'node:assert/strict';
import fc from 'fast-check';
import { buildModel } from '../../../../src/core/access/model.ts';
import { documentMarkdown } from '../../../../src/core/access/pageDocument.ts';
import { readReview, reviewOf, writeReview } from '../../../../src/core/access/review.ts';
import { csv, reviewCsv, reviewDocument, reviewJson } from '../../../../src/core/access/reviewText.ts';
import { oneLine } from '../../../../src/core/base/text.ts';
import { runs } from '../../runs.ts';
import { group, input, model, organizations, role } from './organizations.ts';

const reviewMarkdown = (...of: Parameters<typeof reviewDocument>) => documentMarkdown(reviewDocument(...of));
const reader = { service: 'identity.example.com', account: 'ada@example.com' };
const small = model(
  [
    group('g-2', { name: 'idle', users: ['u-2'] }),
    group('g-1', {
      name: 'operators',
      subjects: [{ id: 's-1', email: '=cmd|calc', issuer: 'https://i' }],
      accounts: ['sa-1'],
      roles: ['r-1', 'r-9'],
      health: 'degraded',
    }),
    group('g-3', { name: 'empty', roles: ['r-1'], deleted: '2026-01-01T00:00:00Z' }),
  ],
  [role('r-1', { name: 'reader' })],
);

/** Reads CSV as RFC 4180 says, every cell quoted. */
function parseCsv(text: string): string[][] {
  return text
    .split('\r\n')
    .slice(0, -1)
    .map((line) => [...line.matchAll(/"((?:[^"]|"")*)"(?:,|$)/g)].map(([, cell = '']) => cell.replaceAll('""', '"')));
}

describe('an access review', () => {
  it('survives being written and read', () => {
    fc.assert(
      fc.property(organizations, ({ groups, roles }) => {
        const review = reviewOf(model(groups, roles), reader);
        const read = readReview(writeReview(review));
        assert.equal(JSON.stringify(read), JSON.stringify(review));
        assert.equal(JSON.stringify(readReview(reviewJson(model(groups, roles), reader))), JSON.stringify(review));
      }),
    );
  });

  it('of a later version, or of something else, is not read', () => {
    const text = writeReview(reviewOf(small, reader));
    assert.ok(readReview(text));
    for (const other of [text.replace('"version": 1', '"version": 2'), '{}', 'null', '', text.slice(0, -9)]) {
      assert.equal(readReview(other), undefined);
    }
  });

  it('is the same whatever the order of the service, where ids do not repeat', () => {
    fc.assert(
      fc.property(organizations, ({ groups, roles }) => {
        const distinct = <T extends { metadata: { id: string } }>(items: readonly T[]) => [
          ...new Map(items.map((item) => [item.metadata.id, item])).values(),
        ];
        const plain = groups.map(({ metadata, spec }) => ({ metadata, spec: { ...spec, subjects: [] } }));
        const [some, others] = [distinct(plain), distinct(roles)];
        assert.deepEqual(
          reviewOf(model(some.toReversed(), others.toReversed()), reader),
          reviewOf(model(some, others), reader),
        );
      }),
    );
  });

  it('as JSON begins with whether it is whole and what to look at first', () => {
    const { complete, orphans, account, readAt, groups } = JSON.parse(reviewJson(small, reader));
    assert.deepEqual([complete, account, readAt], [true, 'ada@example.com', '2026-03-01T12:00:00.000Z']);
    assert.deepEqual(orphans.unlistedRoles, ['r-9']);
    assert.deepEqual(orphans.groupsWithoutMembers, ['g-3']);
    assert.deepEqual(
      groups.map(({ id }: { id: string }) => id),
      ['g-1', 'g-2', 'g-3'],
    );
    const order = Object.keys(JSON.parse(reviewJson(small, reader)));
    assert.ok(order.indexOf('orphans') < order.indexOf('groups'));
  });

  it('for people begins with a summary, who administers and the findings, and has each fact once', () => {
    const text = reviewMarkdown(
      model(
        [
          group('g-1', {
            name: 'operators',
            subjects: [{ id: 's-1', email: 'a.b@x', issuer: 'i' }],
            roles: ['r-1', 'r-9'],
          }),
          group('g-2', { name: 'idle', users: ['u-2', 'u-3'], health: 'degraded' }),
          group('g-3', { name: 'root', accounts: ['sa-1'], subjects: [{ id: 's-1', issuer: 'i' }], roles: ['r-2'] }),
        ],
        [
          role('r-1', { name: 'reader', description: 'Reads.', health: 'error' }),
          role('r-2', { name: 'Administrator' }),
        ],
      ),
      reader,
    );
    assert.deepEqual(
      text.split('\n').filter((line) => line !== ''),
      [
        '# Access review of acme',
        'acme · Read from identity.example.com by ada@example.com, 2026-03-01 12:00 UTC',
        '- Groups: **3**',
        '- Roles: **2**',
        '- Members: **1 subject, 2 user IDs, 1 service account**',
        '- Complete: **yes**',
        '- Findings: **6**',
        '## Administrators',
        'Members with a role that has "admin" in its name. The service does not say what a role permits.',
        '| Name | Kind | Role | Through |',
        '| --- | --- | --- | --- |',
        '| a.b@x | subject | Administrator | root |',
        '| sa-1 | service account | Administrator | root |',
        '## Findings',
        '- **Roles granted but not listed (1):** r-9 (granted by 1 group)',
        '- **Groups without roles (1):** idle',
        '- **Members without a role (2):** u-2, u-3',
        '- **Groups in error or degraded (1):** idle',
        '- **Roles in error or degraded (1):** reader (granted by 1 group)',
        '## Groups',
        '| Group | Roles | Members | State | ID |',
        '| --- | --- | --- | --- | --- |',
        '| operators | reader, r-9 (not listed) | 1 subject |  | `g-1` |',
        '| idle |  | 2 user IDs | Degraded | `g-2` |',
        '| root | Administrator | 1 subject, 1 service account |  | `g-3` |',
        '## Members',
        'A subject comes from the identity provider, a user ID from the cloud. The same person may have both.',
        '| Name | Kind | Groups | Roles | ID |',
        '| --- | --- | --- | --- | --- |',
        '| a.b@x | subject | operators, root | reader, Administrator, r-9 (not listed) | `s-1` issued by `i` |',
        '| u-2 | user ID | idle |  |  |',
        '| u-3 | user ID | idle |  |  |',
        '| sa-1 | service account | root | Administrator |  |',
        '## Roles',
        '| Role | Description | Granted by | State | ID |',
        '| --- | --- | --- | --- | --- |',
        '| reader | Reads. | 1 group | Health error | `r-1` |',
        '| Administrator |  | 1 group |  | `r-2` |',
        '| r-9 (not listed) |  | 1 group |  | `r-9` |',
      ],
    );
  });

  it('words a state as the tree does, and names the issuer of somebody who has no e-mail address', () => {
    const text = reviewMarkdown(
      model(
        [
          group('g-1', { provisioning: 'provisioning', health: 'unknown', subjects: [{ id: 's-1', issuer: 'i' }] }),
          group('g-2', { provisioning: 'deprovisioning' }),
        ],
        [],
      ),
      reader,
    );
    assert.match(text, /\| Provisioning, Health unknown \| `g-1` \|/);
    assert.match(text, /\| Deprovisioning \| `g-2` \|/);
    assert.match(text, /\| s-1 \| subject \|.*\| issued by `i` \|/);
  });

  it('as CSV has orphans first, then a row for each path, and loses nothing', () => {
    const [columns = [], ...rows] = parseCsv(reviewCsv(small, reader));
    const cell = (row: readonly string[], name: string) => row[columns.indexOf(name)];
    assert.deepEqual([...new Set(rows.map((row) => cell(row, 'section')))], ['orphan', 'access']);
    const paths = rows.filter((row) => cell(row, 'section') === 'access');
    assert.deepEqual(
      paths.map((row) => ['kind', 'who', 'role', 'role listed', 'group id'].map((name) => cell(row, name))),
      [
        ['user ID', 'u-2', '', '', 'g-2'],
        ['subject', "'=cmd|calc", 'reader', 'yes', 'g-1'],
        ['subject', "'=cmd|calc", 'r-9', 'no', 'g-1'],
        ['service account', 'sa-1', 'reader', 'yes', 'g-1'],
        ['service account', 'sa-1', 'r-9', 'no', 'g-1'],
        ['', '', 'reader', 'yes', 'g-3'],
      ],
    );
    for (const row of rows) {
      assert.deepEqual(
        ['read by', 'read at', 'complete'].map((name) => cell(row, name)),
        ['ada@example.com', '2026-03-01T12:00:00.000Z', 'yes'],
      );
    }
  });

  it('that lacks something says so in every form', () => {
    const partial = buildModel({
      ...input([group('g')], undefined),
      groups: { items: [group('g')], malformed: 1, at: 0 },
      roles: { items: undefined, malformed: 0, at: undefined, problem: 'You may | not.' },
    });
    assert.equal(JSON.parse(reviewJson(partial, reader)).complete, false);
    const text = reviewMarkdown(partial, reader);
    assert.match(text, /\*\*Note:\*\* Incomplete: 1 group could not be understood/);
    assert.match(text, /- Roles: \*\*unknown \(could not be read\)\*\*\n/);
    assert.match(text, /- Complete: \*\*no\*\*/);
    assert.match(text, /## Administrators\n\n.*\n\nUnknown: /);
    assert.match(text, /## Roles\n\nUnknown: the roles could not be read\./);
    const rows = parseCsv(reviewCsv(partial, reader));
    assert.deepEqual(
      rows.slice(1, 3).map((row) => row.slice(0, 2)),
      [
        ['incomplete', 'One of the groups could not be understood and was left out.'],
        ['incomplete', 'The roles could not be read. You may | not.'],
      ],
    );
    assert.ok(rows.slice(1).every((row) => row.at(-1) === 'no'));
    assert.match(reviewCsv(partial, reader), /"not known"|"incomplete"/);
  });

  it('keeps its tables whole, whatever the names', () => {
    fc.assert(
      fc.property(organizations, ({ groups, roles }) => {
        const built = model(groups, roles);
        for (const line of reviewMarkdown(built, reader).split('\n')) {
          if (!line.startsWith('|')) continue;
          const bars = line.replace(/\\./g, '').match(/\|/g)?.length;
          assert.ok(bars === 6 || bars === 5, line);
          assert.doesNotMatch(line.replace(/`[^`]*`/g, ''), /(?<!\\)</);
        }
        // A line break inside a cell stays inside it.
        const width = parseCsv(reviewCsv(model([], []), reader))[0]?.length;
        const text = reviewCsv(built, reader);
        const cells = [...text.matchAll(/"(?:[^"]|"")*"/g)];
        assert.equal(cells.length % (width ?? 0), 0);
        for (const [cell] of cells) assert.doesNotMatch(cell, /^"[=+\-@\t\r\n]/);
      }),
    );
  });
});

describe('a cell', () => {
  for (const begin of ['=', '+', '-', '@', '\t', '\r', '\n']) {
    it(`that begins with ${JSON.stringify(begin)} is no formula`, () => {
      assert.equal(csv([[`${begin}1+1`]]), `"'${begin}1+1"\r\n`);
    });
  }
  /** Every piece between two separators, as a spreadsheet reads that takes another one than the comma for it. */
  const pieces = (text: string, separator: string) =>
    text.split(separator).map((piece) => piece.replace(/^[\s"]+/, ''));
  it('is no formula behind any separator that a spreadsheet may choose', () => {
    const characters = fc.constantFrom(...';,|\t\n\r =+-@"\'', '＝', '＋', '－', '＠', ...'ab1');
    fc.assert(
      fc.property(fc.array(fc.string({ unit: characters, maxLength: 12 }), { minLength: 1, maxLength: 3 }), (cells) => {
        for (const separator of [';', ',', '|', '\t', '\n', '\r']) {
          for (const piece of pieces(csv([cells]), separator)) assert.doesNotMatch(piece, /^[=+\-@＝＋－＠]/);
        }
      }),
      runs(400),
    );
    assert.equal(csv([['x;=cmd|1;"-2"\n@3', 'a-b@c=d']]), '"x;\'=cmd|1;""\'-2""\n\'@3","a-b@c=d"\r\n');
  });
  it('with anything else stays as it is, quotes doubled', () => {
    assert.equal(csv([['a=b', '', 'say "x"', '1']]), '"a=b","","say ""x""","1"\r\n');
  });
});

describe('text of a server', () => {
  it('stays on one line and in its direction', () => {
    assert.equal(oneLine('a\nb\r\tc\u2028d\u202Ee\u0000'), 'a\\u{a}b\\u{d}\\u{9}c\\u{2028}d\\u{202e}e\\u{0}');
    assert.equal(oneLine('Größe 👩‍🔧 ok'), 'Größe 👩‍🔧 ok');
  });
});
