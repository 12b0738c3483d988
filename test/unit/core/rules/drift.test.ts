import assert from 'node:assert/strict';
import type { AccessInput } from '../../../../src/core/access/model.ts';
import { acme, check, type Outlines, outcome, problemsOf, ROLES } from './organizations.ts';

interface Row {
  readonly says: string;
  /** The items of `groups`. */
  readonly declared: string;
  readonly groups: Outlines;
  readonly head?: string;
  readonly isComplete?: boolean;
  /** `kind@"the text it stands at"`. */
  readonly is: readonly string[];
  readonly verdict: 'clean' | 'findings' | 'undecided';
  readonly lacks?: (input: AccessInput) => AccessInput;
}

const OPS = { ops: { people: 'ada ben', accounts: 'x', roles: 'admin viewer' } };

const rows: readonly Row[] = [
  {
    says: 'is none where all is as declared, in another order, with repetitions',
    declared:
      '{ name: ops, roles: [viewer, admin, admin], members: [ben@acme.example, ADA@acme.example], serviceAccounts: [x] }',
    groups: OPS,
    is: [],
    verdict: 'clean',
  },
  {
    says: 'names what is more and what is less',
    declared:
      '{ name: ops, roles: [viewer, auditor], members: [ada@acme.example, cyd@acme.example], serviceAccounts: [y] }',
    groups: OPS,
    is: [
      'extra-role@roles',
      'missing-role@auditor',
      'extra-member@members',
      'missing-member@cyd@acme.example',
      'extra-service-account@serviceAccounts',
      'missing-service-account@y',
    ],
    verdict: 'findings',
  },
  { says: 'does not compare what is not declared', declared: '{ name: ops }', groups: OPS, is: [], verdict: 'clean' },
  {
    says: 'takes [] for none',
    declared: '{ name: ops, roles: [], members: [], serviceAccounts: [] }',
    groups: OPS,
    is: [
      'extra-role@roles',
      'extra-role@roles',
      'extra-member@members',
      'extra-member@members',
      'extra-service-account@serviceAccounts',
    ],
    verdict: 'findings',
  },
  {
    says: 'names a group that is missing',
    declared: '{ name: gone, roles: [] }',
    groups: OPS,
    is: ['missing-group@gone'],
    verdict: 'findings',
  },
  {
    says: 'does not mind other groups',
    declared: '{ name: ops }',
    groups: { ...OPS, more: {} },
    is: [],
    verdict: 'clean',
  },
  {
    says: 'minds other groups where it is complete',
    isComplete: true,
    declared: '{ name: ops }',
    groups: { ...OPS, more: {}, old: { deleted: '2026-01-01T00:00:00Z' } },
    is: ['extra-group@complete'],
    verdict: 'findings',
  },
  {
    says: 'knows a group that was renamed by its id',
    isComplete: true,
    declared: '{ name: before, id: g-ops, roles: [admin, viewer] }',
    groups: OPS,
    is: ['renamed@before'],
    verdict: 'findings',
  },
  {
    says: 'takes a rename without id for one less and one more',
    isComplete: true,
    declared: '{ name: before, roles: [admin, viewer], members: [ada@acme.example, ben@acme.example] }',
    groups: OPS,
    is: ['extra-group@complete', 'missing-group@before'],
    verdict: 'findings',
  },
  {
    says: 'goes by the id where another group has the name',
    declared: '{ name: ops, id: g-other, roles: [] }',
    groups: { ...OPS, other: {} },
    is: ['renamed@ops'],
    verdict: 'findings',
  },
  {
    says: 'cannot tell which of two groups with one name is meant',
    declared: '{ name: same, roles: [] }',
    groups: { a: { name: 'same' }, b: { name: 'same', roles: 'admin' } },
    is: [],
    verdict: 'undecided',
  },
  {
    says: 'can tell them apart by id',
    declared: '{ name: same, id: g-a, roles: [] }',
    groups: { a: { name: 'same' }, b: { name: 'same', roles: 'admin' } },
    is: [],
    verdict: 'clean',
  },
  {
    says: 'names a declared group that is being deleted, and nothing else of it',
    declared: '{ name: ops, roles: [] }',
    groups: { ops: { ...OPS.ops, deleted: '2026-01-01T00:00:00Z' } },
    is: ['being-deleted@ops'],
    verdict: 'findings',
  },
  {
    says: 'cannot tell whose user ID it is that may repeat a member',
    declared: '{ name: ops, members: [ada@acme.example] }',
    groups: { ops: { people: 'ada', users: 'u1' } },
    is: [],
    verdict: 'undecided',
  },
  {
    says: 'skips such a one where duplicates are known',
    head: 'identity: { userIds: duplicates }\n',
    declared: '{ name: ops, members: [ada@acme.example] }',
    groups: { ops: { people: 'ada', users: 'u1' } },
    is: [],
    verdict: 'clean',
  },
  {
    says: 'judges such a one where they are separate',
    head: 'identity: { userIds: separate }\n',
    declared: '{ name: ops, members: [ada@acme.example] }',
    groups: { ops: { people: 'ada', users: 'u1' } },
    is: ['extra-member@members'],
    verdict: 'findings',
  },
  {
    says: 'judges a user ID in a group without subjects',
    declared: '{ name: ops, members: [] }',
    groups: { ops: { users: 'u1' } },
    is: ['extra-member@members'],
    verdict: 'findings',
  },
  {
    says: 'takes a named user ID',
    declared: '{ name: ops, members: [ada@acme.example, "user:u1"] }',
    groups: { ops: { people: 'ada', users: 'u1' } },
    is: [],
    verdict: 'clean',
  },
  {
    says: 'takes all entries of somebody',
    head: 'people:\n  - { name: Ada, is: [ada@acme.example, "user:u1"] }\n',
    declared: '{ name: ops, members: [Ada] }',
    groups: { ops: { people: 'ada', users: 'u1' } },
    is: [],
    verdict: 'clean',
  },
  {
    says: 'does not let in who brings the address of a member',
    declared: '{ name: ops, members: [ada@x] }',
    groups: {
      ops: {
        subjects: [
          { id: '1', email: 'ada@x', issuer: 'one' },
          { id: '2', email: 'ada@x', issuer: 'two' },
        ],
      },
    },
    is: [],
    verdict: 'undecided',
  },
  {
    says: 'cannot tell a missing group where some could not be understood',
    declared: '{ name: gone }',
    groups: OPS,
    is: [],
    verdict: 'undecided',
    lacks: (it) => ({ ...it, groups: { ...it.groups, malformed: 1 } }),
  },
  {
    says: 'cannot tell anything without groups',
    declared: '{ name: ops }',
    groups: OPS,
    is: [],
    verdict: 'undecided',
    lacks: (it) => ({ ...it, groups: { ...it.groups, items: undefined } }),
  },
  {
    says: 'cannot tell names without roles',
    declared: '{ name: ops, roles: [admin, viewer] }',
    groups: OPS,
    is: [],
    verdict: 'undecided',
    lacks: (it) => ({ ...it, roles: { ...it.roles, items: undefined } }),
  },
  {
    says: 'needs no list of roles for ids',
    declared: '{ name: ops, roles: ["id:r-admin"] }',
    groups: OPS,
    is: ['extra-role@roles'],
    verdict: 'findings',
    lacks: (it) => ({ ...it, roles: { ...it.roles, items: undefined } }),
  },
  {
    says: 'is not clean by an old reading',
    declared: '{ name: ops }',
    groups: OPS,
    is: [],
    verdict: 'undecided',
    lacks: (it) => ({ ...it, groups: { ...it.groups, problem: 'offline' } }),
  },
  {
    says: 'refuses patterns',
    declared: '{ name: "o*", members: ["*@acme.example"] }',
    groups: OPS,
    is: [],
    verdict: 'undecided',
  },
  {
    says: 'refuses a group that is declared twice',
    declared: '{ name: ops }\n    - { id: g-ops }',
    groups: OPS,
    is: [],
    verdict: 'undecided',
  },
  { says: 'refuses a group without name and id', declared: '{ roles: [] }', groups: OPS, is: [], verdict: 'undecided' },
  {
    says: 'refuses a member that is no reference',
    declared: '{ name: ops, members: [ada] }',
    groups: OPS,
    is: ['extra-member@members'],
    verdict: 'undecided',
  },
];

describe('drift', () => {
  for (const { says, declared, groups, head = '', isComplete, is, verdict, lacks } of rows) {
    it(says, () => {
      const body = `${head}declared:\n${isComplete ? '  complete: true\n' : ''}  groups:\n    - ${declared}\n`;
      const result = check(body, acme(groups, ROLES, lacks));
      const found = result.drift?.findings.map(
        ({ kind, place }) => `${kind}@${result.file.text.slice(place.start, place.end)}`,
      );
      assert.equal(result.verdict, verdict, String([...(result.drift?.reasons ?? []), ...problemsOf(result)]));
      if (verdict !== 'undecided') assert.deepEqual(found?.sort(), [...is].sort());
    });
  }

  it('hints at the group that a missing one may have become', () => {
    const result = check(
      'declared:\n  groups:\n    - { name: before, roles: [admin, viewer], members: [ada@acme.example, ben@acme.example] }\n',
      acme(OPS),
    );
    assert.match(
      result.drift?.findings[0]?.message ?? '',
      /The declared group before doesn’t exist; ops has the same members and roles/,
    );
    assert.equal(outcome(result), 'missing-group');
  });
});
