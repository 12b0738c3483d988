import assert from 'node:assert/strict';
import fc from 'fast-check';
import { filterPeople, parseFilter } from '../../../../src/core/access/filter.ts';
import { buildModel } from '../../../../src/core/access/model.ts';
import { group, input, model, organizations, role } from './organizations.ts';

const issuer = 'https://issuer.example';
const acme = model(
  [
    group('g-ops', {
      name: 'operators',
      description: 'runs prod',
      tags: { env: 'prod' },
      health: 'degraded',
      subjects: [{ id: 's-1', email: 'jane@acme.example', issuer }],
      users: ['bob'],
      roles: ['r-admin'],
    }),
    group('g-read', { name: 'readers', users: ['bob', 'cyd'], roles: ['r-read'] }),
    group('g-idle', { name: 'idle', accounts: ['robot'] }),
  ],
  [role('r-admin', { name: 'administrator' }), role('r-read', { name: 'reader' })],
);

const cyd = acme.principal('user\ncyd');
const bob = acme.principal('user\nbob');
if (bob) acme.findings.set(bob, [{ rule: 'r', message: 'a finding', accepted: 'until 2027-01-01: T-1' }]);
if (cyd) acme.findings.set(cyd, [{ rule: 'r', message: 'a finding', accepted: undefined }]);

/** What a filter leaves of jane, bob, cyd and robot. */
const table: readonly (readonly [filter: string, left: string])[] = [
  ['', 's-1 bob cyd robot'],
  ['member:jane', 's-1'],
  ['member:acme.example', 's-1'],
  ['is:finding', 'cyd'],
  ['-is:finding', 's-1 bob robot'],
  ['jane', 's-1'],
  ['operators', 's-1 bob'],
  ['administrator', 's-1 bob'],
  ['env=prod', 's-1 bob'],
  ['runs', 's-1 bob'],
  ['tag:env=prod', 's-1 bob'],
  ['role:reader', 'bob cyd'],
  ['group:idle', 'robot'],
  ['health:degraded', 's-1 bob'],
  ['-health:healthy', 's-1'],
  ['role:reader role:administrator', 'bob'],
  ['role:reader -role:administrator', 'cyd'],
  ['-member:bob', 's-1 cyd robot'],
  ['-operators', 'cyd robot'],
  ['member:bob role:reader', 'bob'],
  ['nobody', ''],
];

describe('a filter over people', () => {
  for (const [filter, left] of table) {
    it(`"${filter}" leaves ${left || 'nobody'}`, () => {
      const ids = filterPeople(acme, parseFilter(filter)).map(({ id }) => id);
      assert.deepEqual(ids, left.split(' ').filter(Boolean));
    });
  }

  const word = fc.constantFrom(
    'ops',
    'ada',
    'role:reader',
    'member:ben',
    'health:degraded',
    'group:g1',
    'tag:env',
    'by:ada',
  );

  it('a term and its contrary divide everybody, in the order of the model', () => {
    fc.assert(
      fc.property(organizations, word, ({ groups, roles }, term) => {
        const built = buildModel(input(groups, roles));
        const [is, not] = [term, `-${term}`].map((text) => filterPeople(built, parseFilter(text)));
        const both = [...(is ?? []), ...(not ?? [])].sort((one, other) => one.index - other.index);
        assert.deepEqual(both, built.principals);
      }),
    );
  });
});
