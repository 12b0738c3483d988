import assert from 'node:assert/strict';
import { RULE_KINDS } from '../../../../src/core/rules/accessFile.ts';
import { sortedFindingsOf } from '../../../../src/core/rules/checkAccess.ts';
import { acme, check, type Outlines, outcome, ROLES } from './organizations.ts';

const GONE = { deleted: '2026-11-20T10:00:00Z' };

/** One row: what the rule demands, an organization, and what it comes to. */
interface Row {
  readonly says: string;
  /** Without `id`; `kind` is the table's. */
  readonly rule: string;
  readonly groups: Outlines;
  readonly roles?: string;
  readonly head?: string;
  readonly is: string;
}

const SEPARATE = 'identity: { userIds: separate }\n';
const DUPLICATES = 'identity: { userIds: duplicates }\n';

const tables: Readonly<Record<string, readonly Row[]>> = {
  'separation-of-duties': [
    {
      says: 'finds who is both, through two groups or one, and nobody else',
      rule: 'roles: [admin, auditor]',
      groups: {
        ops: { people: 'ada ben', roles: 'admin' },
        audit: { people: 'ben cyd', roles: 'auditor' },
        both: { people: 'dan', roles: 'admin auditor' },
        other: { people: 'eve', roles: 'admin billing' },
        rest: { people: 'fay', roles: 'viewer' },
      },
      is: 'fail: ben dan',
    },
    {
      says: 'passes where nobody is both',
      rule: 'roles: [admin, auditor]',
      groups: { ops: { people: 'ada', roles: 'admin' }, audit: { people: 'cyd', roles: 'auditor' } },
      is: 'pass',
    },
    {
      says: 'lets somebody have as many as max',
      rule: 'roles: [admin, auditor, billing], max: 2',
      groups: {
        two: { people: 'ada', roles: 'admin auditor' },
        more: { people: 'ben', roles: 'admin auditor' },
        third: { people: 'ben', roles: 'billing' },
      },
      is: 'fail: ben',
    },
    {
      says: 'cannot be judged where max allows everything',
      rule: 'roles: [admin, auditor], max: 2',
      groups: { both: { people: 'dan', roles: 'admin auditor' } },
      is: 'undecided',
    },
    {
      says: 'needs two roles',
      rule: 'roles: [admin]',
      groups: { ops: { people: 'dan', roles: 'admin' } },
      is: 'undecided',
    },
    {
      says: 'counts a role that a pattern and a name name as one',
      rule: 'roles: [admin, "a*"]',
      groups: { one: { people: 'dan', roles: 'admin' }, two: { people: 'eve', roles: 'admin auditor' } },
      is: 'fail: eve',
    },
    {
      says: 'takes equal e-mail addresses of two issuers for one person, whatever their case',
      rule: 'roles: [admin, auditor]',
      groups: {
        ops: { subjects: [{ id: '1', email: 'ada@x', issuer: 'one' }], roles: 'admin' },
        audit: { subjects: [{ id: '2', email: 'Ada@X', issuer: 'two' }], roles: 'auditor' },
      },
      is: 'fail: Ada+ada',
    },
    {
      says: 'takes entries for one person that the file links',
      head: 'people:\n  - { name: Ada, is: [ada@acme.example, "user:u1"] }\n',
      rule: 'roles: [admin, auditor]',
      groups: { ops: { people: 'ada', roles: 'admin' }, audit: { users: 'u1', roles: 'auditor' } },
      is: 'fail: ada+u1',
    },
    {
      says: 'judges service accounts as themselves, and not as the user of that id',
      rule: 'roles: [admin, auditor]',
      head: SEPARATE,
      groups: {
        ops: { users: 'x1', roles: 'admin' },
        audit: { accounts: 'x1', roles: 'auditor' },
        both: { accounts: 'x2', roles: 'admin auditor' },
      },
      is: 'fail: x2',
    },
    {
      says: 'is about people alone where it says so',
      rule: 'roles: [admin, auditor], kinds: [people]',
      groups: { both: { accounts: 'x2', people: 'ada', roles: 'admin auditor' } },
      is: 'fail: ada',
    },
    {
      says: 'leaves exceptions out',
      rule: 'roles: [admin, auditor], except: [ada@acme.example, "serviceAccount:x2"]',
      groups: { both: { accounts: 'x2', people: 'ada ben', roles: 'admin auditor' } },
      is: 'fail: ben',
    },
    {
      says: 'counts a group that is being deleted',
      rule: 'roles: [admin, auditor]',
      groups: { ops: { people: 'ada', roles: 'admin', ...GONE }, audit: { people: 'ada', roles: 'auditor' } },
      is: 'fail: ada',
    },
    {
      says: 'judges user IDs too',
      rule: 'roles: [admin, auditor]',
      groups: { ops: { users: 'u1', roles: 'admin' }, audit: { users: 'u1', roles: 'auditor' } },
      is: 'fail: u1',
    },
    {
      says: 'judges a user ID that repeats a subject too, unless duplicates are known',
      rule: 'roles: [admin, auditor]',
      groups: { both: { people: 'ada', users: 'u1', roles: 'admin auditor' } },
      is: 'fail: ada u1',
    },
    {
      says: 'leaves out a user ID that repeats a subject on every path, where duplicates are known',
      head: DUPLICATES,
      rule: 'roles: [admin, auditor]',
      groups: { both: { people: 'ada', users: 'u1', roles: 'admin auditor' } },
      is: 'fail: ada',
    },
    {
      says: 'judges a user ID with a path of its own',
      head: DUPLICATES,
      rule: 'roles: [admin, auditor]',
      groups: { ops: { people: 'ada', users: 'u1', roles: 'admin' }, audit: { users: 'u1', roles: 'auditor' } },
      is: 'fail: u1',
    },
    {
      says: 'cannot tell where one hand may be a user ID here and a subject there',
      rule: 'roles: [admin, auditor]',
      groups: { ops: { people: 'ada', roles: 'admin' }, audit: { users: 'u1', roles: 'auditor' } },
      is: 'undecided',
    },
    {
      says: 'cannot tell that with duplicates either',
      head: DUPLICATES,
      rule: 'roles: [admin, auditor]',
      groups: { ops: { people: 'ada', roles: 'admin' }, audit: { users: 'u1', roles: 'auditor' } },
      is: 'undecided',
    },
    {
      says: 'can tell it where they are separate',
      head: SEPARATE,
      rule: 'roles: [admin, auditor]',
      groups: { ops: { people: 'ada', roles: 'admin' }, audit: { users: 'u1', roles: 'auditor' } },
      is: 'pass',
    },
    {
      says: 'can tell it where both are in each group',
      rule: 'roles: [admin, auditor]',
      groups: {
        ops: { people: 'ada', users: 'u1', roles: 'admin' },
        audit: { people: 'ben', users: 'u2', roles: 'auditor' },
      },
      is: 'pass',
    },
    {
      says: 'can tell it where the two groups grant the same role',
      rule: 'roles: [admin, auditor]',
      groups: { ops: { people: 'ada', roles: 'admin' }, more: { users: 'u1', roles: 'admin' } },
      is: 'pass',
    },
  ],
  'max-holders': [
    {
      says: 'passes at the limit',
      rule: 'role: admin, max: 2',
      groups: { ops: { people: 'ada ben', roles: 'admin' } },
      is: 'pass',
    },
    {
      says: 'finds one more',
      rule: 'role: admin, max: 2',
      groups: { ops: { people: 'ada ben', roles: 'admin' }, b: { people: 'cyd ada', roles: 'admin' } },
      is: 'fail: admin',
    },
    {
      says: 'counts service accounts',
      rule: 'role: admin, max: 2',
      groups: { ops: { people: 'ada ben', accounts: 'x', roles: 'admin' } },
      is: 'fail: admin',
    },
    {
      says: 'leaves service accounts out where it is about people',
      rule: 'role: admin, max: 2, kinds: [people]',
      groups: { ops: { people: 'ada ben', accounts: 'x', roles: 'admin' } },
      is: 'pass',
    },
    {
      says: 'leaves exceptions out',
      rule: 'role: admin, max: 1, except: ["serviceAccount:x", ben@acme.example]',
      groups: { ops: { people: 'ada ben', accounts: 'x', roles: 'admin' } },
      is: 'pass',
    },
    {
      says: 'cannot tell where user IDs may be the same people',
      rule: 'role: admin, max: 3',
      groups: { ops: { people: 'ada ben', users: 'u1 u2', roles: 'admin' } },
      is: 'undecided',
    },
    {
      says: 'passes where even all of them are not too many',
      rule: 'role: admin, max: 4',
      groups: { ops: { people: 'ada ben', users: 'u1 u2', roles: 'admin' } },
      is: 'pass',
    },
    {
      says: 'finds it where the fewest are too many',
      rule: 'role: admin, max: 1',
      groups: { ops: { people: 'ada ben', users: 'u1 u2', roles: 'admin' } },
      is: 'fail: admin',
    },
    {
      says: 'counts duplicates once',
      head: DUPLICATES,
      rule: 'role: admin, max: 2',
      groups: { ops: { people: 'ada ben', users: 'u1 u2', roles: 'admin' } },
      is: 'pass',
    },
    {
      says: 'counts a user ID apart from subjects also with duplicates',
      head: DUPLICATES,
      rule: 'role: admin, max: 2',
      groups: { ops: { people: 'ada ben', roles: 'admin' }, b: { users: 'u1', roles: 'admin' } },
      is: 'undecided',
    },
    {
      says: 'adds them up where they are separate',
      head: SEPARATE,
      rule: 'role: admin, max: 3',
      groups: { ops: { people: 'ada ben', users: 'u1 u2', roles: 'admin' } },
      is: 'fail: admin',
    },
    {
      says: 'counts linked entries once',
      head: 'people:\n  - { name: Ada, is: [ada@acme.example, "user:u1"] }\n',
      rule: 'role: admin, max: 1',
      groups: { ops: { people: 'ada', users: 'u1', roles: 'admin' } },
      is: 'pass',
    },
    {
      says: 'knows that somebody with a user ID has no other',
      head: 'people:\n  - { name: Ada, is: [ada@acme.example, "user:u1"] }\n',
      rule: 'role: admin, max: 1',
      groups: { ops: { people: 'ada', users: 'u1 u2', roles: 'admin' } },
      is: 'fail: admin',
    },
    {
      says: 'merges equal addresses in the fewest alone',
      rule: 'role: admin, max: 1',
      groups: {
        ops: {
          subjects: [
            { id: '1', email: 'ada@x', issuer: 'one' },
            { id: '2', email: 'ADA@x', issuer: 'two' },
          ],
          roles: 'admin',
        },
      },
      is: 'undecided',
    },
    {
      says: 'counts groups that are being deleted',
      rule: 'role: admin, max: 1',
      groups: { ops: { people: 'ada ben', roles: 'admin', ...GONE } },
      is: 'fail: admin',
    },
    {
      says: 'judges each role of a pattern',
      rule: 'role: "a*", max: 0',
      groups: { ops: { people: 'ada', roles: 'admin billing' } },
      is: 'fail: admin',
    },
  ],
  'min-holders': [
    {
      says: 'passes at the limit',
      rule: 'role: admin, min: 2',
      groups: { ops: { people: 'ada ben', roles: 'admin' } },
      is: 'pass',
    },
    {
      says: 'finds one too few',
      rule: 'role: admin, min: 2',
      groups: { ops: { people: 'ada', roles: 'admin' }, b: { people: 'ben', roles: 'viewer' } },
      is: 'fail: admin',
    },
    {
      says: 'does not count groups that are being deleted',
      rule: 'role: admin, min: 2',
      groups: { ops: { people: 'ada', roles: 'admin' }, b: { people: 'ben', roles: 'admin', ...GONE } },
      is: 'fail: admin',
    },
    {
      says: 'cannot tell where two entries may be one person',
      rule: 'role: admin, min: 2',
      groups: { ops: { people: 'ada', users: 'u1', roles: 'admin' } },
      is: 'undecided',
    },
    {
      says: 'finds it where even all of them are too few',
      rule: 'role: admin, min: 3',
      groups: { ops: { people: 'ada', users: 'u1', roles: 'admin' } },
      is: 'fail: admin',
    },
  ],
  'allowed-holders': [
    {
      says: 'finds every other holder',
      rule: 'role: admin, holders: [ada@acme.example]',
      groups: { ops: { people: 'ada ben', accounts: 'x', roles: 'admin' }, b: { people: 'cyd', roles: 'viewer' } },
      is: 'fail: ben r-admin x r-admin',
    },
    {
      says: 'takes addresses in any case, and patterns',
      rule: 'role: admin, holders: [ADA@acme.example, "b*@acme.example"]',
      groups: { ops: { people: 'ada ben', roles: 'admin' } },
      is: 'pass',
    },
    {
      says: 'does not take the part of an address',
      rule: 'role: admin, holders: [ada@acme.example]',
      groups: {
        ops: { people: 'ada', roles: 'admin' },
        b: { subjects: [{ id: '1', email: 'xada@acme.example', issuer: 'i' }], roles: 'admin' },
      },
      is: 'fail: xada r-admin',
    },
    {
      says: 'does not take a service account for the user of that id',
      rule: 'role: admin, holders: ["user:x1"]',
      groups: { ops: { users: 'x1', roles: 'admin' }, b: { accounts: 'x1', roles: 'admin' } },
      is: 'fail: x1 r-admin',
    },
    {
      says: 'cannot tell whose user ID it is that may repeat a subject',
      rule: 'role: admin, holders: [ada@acme.example]',
      groups: { ops: { people: 'ada', users: 'u1', roles: 'admin' } },
      is: 'undecided',
    },
    {
      says: 'skips such a one where duplicates are known',
      head: DUPLICATES,
      rule: 'role: admin, holders: [ada@acme.example]',
      groups: { ops: { people: 'ada', users: 'u1', roles: 'admin' } },
      is: 'pass',
    },
    {
      says: 'judges such a one where they are separate',
      head: SEPARATE,
      rule: 'role: admin, holders: [ada@acme.example]',
      groups: { ops: { people: 'ada', users: 'u1', roles: 'admin' } },
      is: 'fail: u1 r-admin',
    },
    {
      says: 'judges a user ID that repeats none',
      rule: 'role: admin, holders: [ada@acme.example]',
      groups: { ops: { people: 'ada', roles: 'admin' }, b: { users: 'u1', roles: 'admin' } },
      is: 'fail: u1 r-admin',
    },
    {
      says: 'lets all entries of somebody in',
      head: 'people:\n  - { name: Ada, is: [ada@acme.example, "user:u1"] }\n',
      rule: 'role: admin, holders: [Ada]',
      groups: { ops: { people: 'ada', roles: 'admin' }, b: { users: 'u1', roles: 'admin' } },
      is: 'pass',
    },
    {
      says: 'lets nobody in with an address that two subjects have',
      rule: 'role: admin, holders: [ada@x]',
      groups: {
        ops: {
          subjects: [
            { id: '1', email: 'ada@x', issuer: 'one' },
            { id: '2', email: 'ada@x', issuer: 'two' },
          ],
          roles: 'admin',
        },
      },
      is: 'undecided',
    },
    {
      says: 'takes an id for an address only where no address came',
      rule: 'role: admin, holders: [ada@x]',
      groups: {
        ops: { subjects: [{ id: 'ada@x', issuer: 'one' }], roles: 'admin' },
        b: { subjects: [{ id: 'ada@x', email: 'eve@x', issuer: 'two' }], roles: 'admin' },
      },
      is: 'fail: eve r-admin',
    },
    {
      says: 'takes issuer and subject',
      rule: 'role: admin, holders: [{ issuer: one, subject: "1" }]',
      groups: {
        ops: {
          subjects: [
            { id: '1', issuer: 'one' },
            { id: '1', issuer: 'two' },
          ],
          roles: 'admin',
        },
      },
      is: 'fail: 1 r-admin',
    },
    {
      says: 'needs nobody where nobody is allowed',
      rule: 'role: admin, holders: []',
      groups: { ops: { roles: 'admin' } },
      is: 'pass',
    },
  ],
  'forbidden-holders': [
    {
      says: 'finds who must not',
      rule: 'role: admin, holders: ["*@contractor.example", ben@acme.example]',
      groups: {
        ops: { people: 'ada ben', roles: 'admin' },
        c: { subjects: [{ id: '1', email: 'c@contractor.example', issuer: 'i' }], roles: 'admin' },
      },
      is: 'fail: ben r-admin c r-admin',
    },
    {
      says: 'passes where they have other roles',
      rule: 'role: admin, holders: [ben@acme.example]',
      groups: { ops: { people: 'ada', roles: 'admin' }, c: { people: 'ben', roles: 'viewer' } },
      is: 'pass',
    },
    {
      says: 'cannot tell where they may be among user IDs alone',
      rule: 'role: admin, holders: [ben@acme.example]',
      groups: { ops: { users: 'u1', roles: 'admin' }, c: { people: 'ben', roles: 'viewer' } },
      is: 'undecided',
    },
    {
      says: 'can tell it where they are separate',
      head: SEPARATE,
      rule: 'role: admin, holders: [ben@acme.example]',
      groups: { ops: { users: 'u1', roles: 'admin' }, c: { people: 'ben', roles: 'viewer' } },
      is: 'pass',
    },
    {
      says: 'passes where somebody forbidden is in no group',
      rule: 'role: admin, holders: [gone@acme.example]',
      groups: { ops: { people: 'ada', roles: 'admin' } },
      is: 'pass',
    },
  ],
  'only-through': [
    {
      says: 'finds every other group, with members or without',
      rule: 'role: admin, groups: [ops]',
      groups: {
        ops: { people: 'ada', roles: 'admin' },
        spare: { roles: 'admin' },
        c: { people: 'ben', roles: 'admin viewer' },
        d: { people: 'eve', roles: 'viewer' },
      },
      is: 'fail: c r-admin spare r-admin',
    },
    {
      says: 'takes patterns and ids',
      rule: 'role: "id:r-admin", groups: ["ops-*", "id:g-c"]',
      groups: {
        'ops-1': { roles: 'admin' },
        'ops-2': { roles: 'admin' },
        c: { roles: 'admin' },
        ops: { roles: 'admin' },
      },
      is: 'fail: ops r-admin',
    },
    {
      says: 'does not let a second group of that name in',
      rule: 'role: admin, groups: [ops]',
      groups: { ops: { roles: 'admin' }, 'ops ': { name: 'ops', roles: 'admin' } },
      is: 'undecided',
    },
    {
      says: 'does not take an id for a name',
      rule: 'role: admin, groups: [g-ops]',
      groups: { ops: { roles: 'admin' } },
      is: 'fail: ops r-admin',
    },
    {
      says: 'is case-sensitive',
      rule: 'role: admin, groups: [Ops]',
      groups: { ops: { roles: 'admin' } },
      is: 'fail: ops r-admin',
    },
    {
      says: 'counts a group that is being deleted',
      rule: 'role: admin, groups: []',
      groups: { ops: { roles: 'admin', ...GONE } },
      is: 'fail: ops r-admin',
    },
    {
      says: 'names an unlisted role by its id',
      rule: 'role: "id:r-secret", groups: []',
      groups: { ops: { roles: 'secret' } },
      is: 'fail: ops r-secret',
    },
    {
      says: 'knows no unlisted role by name',
      rule: 'role: r-secret, groups: []',
      groups: { ops: { roles: 'secret' } },
      is: 'undecided',
    },
    {
      says: 'leaves an excepted group out',
      rule: 'role: admin, groups: [], except: ["group:ops"]',
      groups: { ops: { roles: 'admin' }, c: { roles: 'admin' } },
      is: 'fail: c r-admin',
    },
  ],
  'service-accounts-only-in': [
    {
      says: 'finds each account that is in other groups, once',
      rule: 'groups: [robots]',
      groups: { robots: { accounts: 'x y' }, ops: { accounts: 'x', people: 'ada', users: 'y' }, c: { accounts: 'x' } },
      is: 'fail: x',
    },
    {
      says: 'passes where there are none',
      rule: 'groups: []',
      groups: { ops: { people: 'ada', users: 'u1' } },
      is: 'pass',
    },
    {
      says: 'leaves out an account or a group',
      rule: 'groups: [], except: ["serviceAccount:x", "group:c"]',
      groups: { ops: { accounts: 'x y' }, c: { accounts: 'z' } },
      is: 'fail: y',
    },
  ],
  'member-kinds': [
    {
      says: 'finds each other kind in each of the groups',
      rule: 'groups: ["*"], allow: [subject]',
      groups: { a: { people: 'ada' }, b: { users: 'u1', accounts: 'x' }, c: { people: 'ada', users: 'u1' } },
      is: 'fail: b serviceAccount b user c user',
    },
    {
      says: 'looks at those groups alone',
      rule: 'groups: [a], allow: [subject]',
      groups: { a: { people: 'ada' }, b: { users: 'u1' } },
      is: 'pass',
    },
  ],
  'no-empty-groups': [
    {
      says: 'finds groups without members; service accounts are members',
      rule: '',
      groups: { a: { people: 'ada' }, b: { users: 'u1' }, c: { accounts: 'x' }, d: { roles: 'admin' }, e: { ...GONE } },
      is: 'fail: d',
    },
    { says: 'leaves an excepted group out', rule: 'except: ["group:d"]', groups: { d: {} }, is: 'pass' },
  ],
  'no-groups-without-roles': [
    {
      says: 'finds groups without roles',
      rule: '',
      groups: { a: { roles: 'admin' }, b: { people: 'ada' }, c: { ...GONE }, d: { roles: 'unlisted' } },
      is: 'fail: b',
    },
  ],
  'no-unlisted-roles': [
    {
      says: 'finds roles that are granted and not listed',
      rule: '',
      groups: { a: { roles: 'admin secret' }, b: { roles: 'secret' } },
      is: 'fail: r-secret',
    },
    {
      says: 'leaves an excepted role out',
      rule: 'except: ["role:id:r-secret"]',
      groups: { a: { roles: 'admin secret' } },
      is: 'pass',
    },
    {
      says: 'finds every grant where the list is empty',
      rule: '',
      roles: '',
      groups: { a: { roles: 'admin viewer' } },
      is: 'fail: r-admin r-viewer',
    },
  ],
  'no-unused-roles': [
    {
      says: 'finds roles that no group grants',
      rule: '',
      groups: { a: { roles: 'admin' }, b: { roles: 'auditor', ...GONE }, c: { roles: 'billing' } },
      is: 'fail: viewer',
    },
  ],
  naming: [
    {
      says: 'finds groups whose name fits no pattern',
      rule: 'of: groups, match: ["team-*", "ops-?"]',
      groups: { 'team-a': {}, 'ops-1': {}, 'ops-10': {}, team: {}, Team: {}, old: { ...GONE } },
      is: 'fail: Team ops-10 team',
    },
    { says: 'finds roles', rule: 'of: roles, match: ["*er"]', groups: {}, is: 'fail: admin auditor billing' },
  ],
  'required-tags': [
    {
      says: 'finds each tag that is absent or empty',
      rule: 'tags: [owner, cost]',
      groups: {
        a: { tags: { owner: 'x', cost: '1' } },
        b: { tags: { owner: '' } },
        c: { tags: { Owner: 'x', cost: '1' } },
        d: { ...GONE },
      },
      is: 'fail: b cost b owner c owner',
    },
  ],
  'no-unhealthy': [
    {
      says: 'finds groups that are degraded or in error',
      rule: 'of: groups',
      groups: {
        a: {},
        b: { health: 'degraded' },
        c: { health: 'error' },
        d: { provisioning: 'error' },
        e: { health: 'unknown' },
      },
      is: 'fail: b c d',
    },
    {
      says: 'finds no group where it is about roles',
      rule: 'of: roles',
      groups: { b: { health: 'degraded' } },
      is: 'pass',
    },
  ],
  'no-stuck-deletion': [
    {
      says: 'finds what has been in deletion for more days',
      rule: 'of: groups, days: 2',
      groups: { a: {}, b: { deleted: '2026-11-20T00:00:00Z' }, c: { deleted: '2026-11-19T23:59:59Z' } },
      is: 'fail: c',
    },
    { says: 'cannot tell since when', rule: 'of: groups', groups: { b: { deleted: 'lately' } }, is: 'undecided' },
  ],
};

describe('rules', () => {
  for (const [kind, rows] of Object.entries(tables)) {
    describe(kind, () => {
      for (const { says, rule, groups, roles = ROLES, head = '', is } of rows) {
        it(says, () => {
          const body = `${head}rules:\n  - { id: it, kind: ${kind}${rule === '' ? '' : `, ${rule}`} }\n`;
          assert.equal(outcome(check(body, acme(groups, roles))), is);
        });
      }
    });
  }

  it('name a service account as the file does, with the groups it is in', () => {
    const head = 'people:\n  - { name: Deployer, is: ["serviceAccount:x-1"] }\n';
    const body = `${head}rules:\n  - { id: it, kind: service-accounts-only-in, groups: [] }\n`;
    const groups = Object.fromEntries([...'abcdef'].map((name) => [name, { accounts: 'x-1' }]));
    const [finding] = check(body, acme(groups)).rules[0]?.findings ?? [];
    assert.equal(finding?.message, 'Service account Deployer is in a, b, c, d and 2 more');
    assert.equal(finding.through.length, 6);
  });

  it('say what is wrong and what would be right', () => {
    const groups = {
      ops: { people: 'ada ben', roles: 'admin' },
      audit: { people: 'ben', roles: 'auditor admin' },
      left: { roles: 'billing' },
      bare: {},
    };
    const said = (rule: string) => {
      const found = sortedFindingsOf(check(`rules:\n  - { id: it, ${rule} }\n`, acme(groups)));
      return found.map(({ message }) => message.replaceAll('@acme.example', ''));
    };
    assert.deepEqual(said('kind: separation-of-duties, roles: [admin, auditor]'), [
      'ben has both admin and auditor, through ops and audit',
    ]);
    assert.deepEqual(said('kind: max-holders, role: admin, max: 1'), ['admin has 2 holders; at most 1 is allowed']);
    assert.deepEqual(said('kind: min-holders, role: admin, min: 3'), ['admin has 2 holders; at least 3 are required']);
    assert.deepEqual(said('kind: allowed-holders, role: auditor, holders: []'), [
      'ben isn’t allowed to have auditor, but has it through audit',
    ]);
    assert.deepEqual(said('kind: only-through, role: admin, groups: [audit, left]'), [
      'The group ops has admin, but only audit and left may have it',
    ]);
    assert.deepEqual(said('kind: only-through, role: billing, groups: []'), [
      'The group left has billing, but no group is allowed to have it',
    ]);
    assert.deepEqual(said('kind: no-empty-groups'), [
      'bare has no members and no roles',
      'left has no members, but 1 role',
    ]);
  });

  it('has a table for every kind', () => {
    assert.deepEqual(Object.keys(tables).sort(), Object.keys(RULE_KINDS).sort());
  });
});
