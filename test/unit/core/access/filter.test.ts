import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  applyFilter,
  FILTER_KEYS,
  filterProblemsOf,
  parseFilter,
  sortEntries,
} from '../../../../src/core/access/filter.ts';
import { group, model, organizations, role } from './organizations.ts';

const built = model(
  [
    group('g-1', {
      name: 'Operators',
      description: 'Run the clusters',
      tags: { env: 'prod', team: 'blue sky' },
      users: ['u-1'],
      subjects: [{ id: 's-1', email: 'Jane@example.com', issuer: 'i' }],
      roles: ['r-1'],
      createdBy: 'ada',
    }),
    group('g-2', { name: 'readers', tags: { env: 'production' }, users: ['u-2'], roles: ['r-2'], health: 'degraded' }),
    group('g-3', { name: 'leaving', roles: ['r-1', 'r-9'], provisioning: 'error', deleted: '2026-01-01T00:00:00Z' }),
    group('urn:x:7', { name: 'odd', tags: { env: 'dev' }, users: ['u-1'], modifiedBy: 'ben' }),
  ],
  [
    role('r-1', { name: 'administrator', description: 'May do all' }),
    role('r-2', { name: 'reader', health: 'error' }),
    role('r-3', { name: 'unused' }),
  ],
);

for (const entry of [built.group('g-3'), built.role('r-2')])
  if (entry) built.findings.set(entry, [{ rule: 'r', message: 'a finding', accepted: undefined }]);

describe('a filter', () => {
  const rows: readonly (readonly [text: string, groups: string, roles: string])[] = [
    ['', 'g-1 g-2 g-3 urn:x:7', 'r-1 r-2 r-3 r-9'],
    ['oper', 'g-1', ''],
    ['OPER', 'g-1', ''],
    ['clusters', 'g-1', ''],
    ['jane', 'g-1', ''],
    ['administrator', 'g-1 g-3', 'r-1'],
    ['all', '', 'r-1'],
    ['blue', 'g-1', ''],
    ['env=dev', 'urn:x:7', ''],
    ['name:read', 'g-2', 'r-2'],
    ['id:g-', 'g-1 g-2 g-3', ''],
    ['tag:env', 'g-1 g-2 urn:x:7', ''],
    ['tag:env=prod', 'g-1 g-2', ''],
    ['tag:env=production', 'g-2', ''],
    ['tag:en', '', ''],
    ['tag:env=rod', '', ''],
    ['tag:"team=blue sky"', 'g-1', ''],
    ['role:admin', 'g-1 g-3', 'r-1'],
    ['role:r-9', 'g-3', 'r-9'],
    ['group:operators', 'g-1', 'r-1'],
    ['member:jane', 'g-1', 'r-1'],
    ['member:u-1', 'g-1 urn:x:7', 'r-1'],
    ['health:degraded', 'g-2', ''],
    ['health:error', '', 'r-2'],
    ['status:error', 'g-3', 'r-2'],
    ['status:degraded', 'g-2', ''],
    ['by:ada', 'g-1', ''],
    ['by:ben', 'urn:x:7', ''],
    ['is:deleting', 'g-3', ''],
    ['is:empty', 'g-3', 'r-3'],
    ['is:unlisted', '', 'r-9'],
    ['is:finding', 'g-3', 'r-2'],
    ['-is:finding', 'g-1 g-2 urn:x:7', 'r-1 r-3 r-9'],
    ['urn:x:7', 'urn:x:7', ''],
    ['is:odd', '', ''],
    ['role:admin -is:deleting', 'g-1', 'r-1'],
    ['-jane', 'g-2 g-3 urn:x:7', 'r-1 r-2 r-3 r-9'],
    ['oper jane', 'g-1', ''],
    ['oper nobody', '', ''],
    ['role:', 'g-1 g-2 g-3 urn:x:7', 'r-1 r-2 r-3 r-9'],
    ['"run the"', 'g-1', ''],
  ];
  for (const [text, groups, roles] of rows) {
    it(`"${text}" leaves ${groups || 'no groups'} and ${roles || 'no roles'}`, () => {
      const left = applyFilter(built, parseFilter(text));
      assert.equal(left.groups.map(({ group: { metadata } }) => metadata.id).join(' '), groups);
      assert.equal(left.roles.map(({ id }) => id).join(' '), roles);
    });
  }

  it('has a row for every key', () => {
    for (const key of FILTER_KEYS)
      assert.ok(
        rows.some(([text]) => text.startsWith(`${key}:`)),
        key,
      );
  });

  const syntax: readonly (readonly [string, readonly string[]])[] = [
    ['  a   b ', ['a', 'b']],
    ['ROLE:X', ['role=x']],
    ['-tag:a -b', ['!tag=a', '!b']],
    ['role:"a b" c', ['role=a b', 'c']],
    ['"a b', ['a b']],
    ['foo:bar', ['foo:bar']],
    ['foo:"a b"', ['foo:a b']],
    ['-', []],
    ['a\tb', ['a', 'b']],
    ['""', []],
    [':', [':']],
    ['a"b"', ['a"b"']],
  ];
  for (const [text, terms] of syntax) {
    it(`"${text}" reads as ${terms.join(', ') || 'nothing'}`, () => {
      const read = parseFilter(text).map(
        ({ key, value, negated }) => `${negated ? '!' : ''}${key ? `${key}=` : ''}${value}`,
      );
      assert.deepEqual(read, terms);
    });
  }

  const term = fc.oneof(
    fc.constantFrom('ada', 'g1', 'reader', 'ops', 'is:empty', 'is:unlisted', 'is:deleting', 'health:error', 'tag:env'),
    fc
      .tuple(fc.constantFrom(...FILTER_KEYS), fc.constantFrom('a', 'reader', 'g', 'degraded'))
      .map(([key, value]) => `${key}:${value}`),
  );

  it('with more terms leaves what each of them leaves; turned around, exactly the rest', () => {
    fc.assert(
      fc.property(organizations, term, term, ({ groups, roles }, one, other) => {
        const all = model(groups, roles);
        const left = (text: string) => applyFilter(all, parseFilter(text));
        for (const list of ['groups', 'roles'] as const) {
          const [first, second] = [new Set<unknown>(left(one)[list]), new Set<unknown>(left(other)[list])];
          assert.deepEqual(
            left(`${one} ${other}`)[list],
            all[list].filter((entry) => first.has(entry) && second.has(entry)),
          );
          assert.deepEqual(
            left(`-${one}`)[list],
            all[list].filter((entry) => !first.has(entry)),
          );
        }
      }),
    );
  });

  it('of any text whatever leaves a part, in the same order, and never fails', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), organizations, (text, { groups, roles }) => {
        const all = model(groups, roles);
        const left = new Set(applyFilter(all, parseFilter(text)).groups);
        assert.deepEqual(
          [...left],
          all.groups.filter((entry) => left.has(entry)),
        );
      }),
    );
  });
});

describe('the order', () => {
  const all = model(
    [
      group('1', { name: 'team-10', created: '2024-01-01T00:00:00Z', health: 'healthy' }),
      group('2', { name: 'Team-9', created: '2026-01-01T00:00:00Z', health: 'degraded' }),
      group('3', { name: 'alpha', created: 'yesterday', health: 'error' }),
      group('4', { name: 'beta', created: '2025-01-01T00:00:00+02:00', health: 'sleeping' }),
      group('5', { name: 'beta', created: '2025-01-01T00:00:00Z', provisioning: 'error' }),
    ],
    [],
  );
  const rows = [
    ['service', '1 2 3 4 5'],
    ['name', '3 4 5 2 1'],
    ['creation', '2 5 4 1 3'],
    ['health', '3 5 2 4 1'],
  ] as const;
  for (const [order, expected] of rows) {
    it(`by ${order} is ${expected}`, () => {
      assert.equal(
        sortEntries(all.groups, order)
          .map(({ key }) => key)
          .join(' '),
        expected,
      );
    });
  }
  it('of roles puts those that are not listed last by creation, and by the name they have', () => {
    const { roles } = model([group('g', { roles: ['b-unlisted'] })], [role('c'), role('a')]);
    assert.deepEqual(
      sortEntries(roles, 'name').map(({ key }) => key),
      ['a', 'b-unlisted', 'c'],
    );
    assert.deepEqual(
      sortEntries(roles, 'creation').map(({ key }) => key),
      ['c', 'a', 'b-unlisted'],
    );
    assert.deepEqual(
      sortEntries(roles, 'health').map(({ key }) => key),
      ['b-unlisted', 'a', 'c'],
    );
  });
});

describe('a key that a filter does not know', () => {
  const rows: readonly (readonly [
    text: string,
    unknown: readonly (readonly [string, string | readonly string[] | undefined])[],
  ])[] = [
    ['helth:error', [['helth', 'health']]],
    ['-rolle:x prod', [['rolle', 'role']]],
    [
      'stauts:error nmae:x',
      [
        ['stauts', 'status'],
        ['nmae', 'name'],
      ],
    ],
    ['colour:red', [['colour', undefined]]],
    ['health:error prod "a:b c" -is:empty', [['a', undefined]]],
    ['https://identity.example urn: x', []],
    ['f81d4fae:7dec 12:30', []],
    [
      'is:nothing -is:degraded',
      ['nothing', 'degraded'].map((typed) => [typed, ['deleting', 'empty', 'unlisted', 'finding']]),
    ],
    ['is:em', []],
    ['', []],
  ];
  for (const [text, unknown] of rows) {
    it(`is told of "${text}": ${unknown.map(([typed]) => typed).join(', ') || 'none'}`, () => {
      assert.deepEqual(
        filterProblemsOf(text).map((one) => [one.typed, one.kind === 'key' ? one.suggestion : one.values]),
        unknown,
      );
    });
  }
});
