import assert from 'node:assert/strict';
import fc from 'fast-check';
import { accessAnswerText, effectiveAccessAnswer, groupsAnswer } from '../../../../src/core/access/answers.ts';
import { groupNotes } from '../../../../src/core/access/descriptions.ts';
import { differenceOf } from '../../../../src/core/access/difference.ts';
import { differenceDocument } from '../../../../src/core/access/differenceText.ts';
import { groupMatrix, groupsGranting, peopleMatrix } from '../../../../src/core/access/matrix.ts';
import type { AccessGroup } from '../../../../src/core/access/model.ts';
import { buildModel, principalKey } from '../../../../src/core/access/model.ts';
import { documentMarkdown } from '../../../../src/core/access/pageDocument.ts';
import {
  effectiveAccess,
  findGroups,
  findPrincipals,
  findRoles,
  holdersOf,
  orphansOf,
} from '../../../../src/core/access/queries.ts';
import { reviewOf } from '../../../../src/core/access/review.ts';
import { reviewCsv, reviewDocument, reviewJson } from '../../../../src/core/access/reviewText.ts';
import { group, input, model, organizations, role } from './organizations.ts';

/** Whether the raw lists say that a member is in a group, by the plainest reading. */
function isIn(raw: AccessGroup, kind: string, id: string, issuer?: string): boolean {
  const { subjects, userIDs, serviceAccountIDs } = raw.spec;
  if (kind === 'subject') return subjects.some((subject) => subject.id === id && subject.issuer === issuer);
  return (kind === 'user' ? userIDs : (serviceAccountIDs ?? [])).includes(id);
}

describe('the access model', () => {
  it('agrees in both directions, and with the plainest reading of the lists', () => {
    let paths = 0;
    fc.assert(
      fc.property(organizations, ({ groups, roles }) => {
        const built = model(groups, roles);
        for (const entry of built.roles) {
          const holders = new Map(holdersOf(entry).map(({ principal, grantedBy }) => [principal, grantedBy]));
          for (const principal of built.principals) {
            const reached = effectiveAccess(principal).find((each) => each.role === entry);
            const { kind, id, issuer } = principal;
            const plain = groups.filter((raw) => isIn(raw, kind, id, issuer) && raw.spec.roleIDs?.includes(entry.id));
            const twin = built.role(entry.id) !== entry; // A second role with that id holds its groups, as the first.
            if (!twin) assert.deepEqual(reached?.grantedBy.map((through) => through.group) ?? [], plain);
            assert.deepEqual(holders.get(principal)?.map((through) => through.group) ?? [], plain);
            paths += plain.length;
          }
        }
      }),
    );
    assert.ok(paths > 1000, `only ${paths} paths: the property saw next to nothing`);
  });

  it('holds every group, member and role once, whatever repeats', () => {
    fc.assert(
      fc.property(organizations, ({ groups, roles }) => {
        const built = model(groups, roles);
        assert.deepEqual(
          built.groups.map((entry) => entry.group),
          groups,
        );
        assert.deepEqual(
          built.roles.flatMap((entry) => entry.role ?? []),
          roles,
        );
        for (const list of [built.groups, built.roles, built.principals]) {
          assert.equal(new Set(list.map(({ key }) => key)).size, list.length);
          assert.deepEqual(
            list.map(({ index }) => index),
            list.map((_, index) => index),
          );
        }
        for (const { members, roles: granted } of built.groups) {
          assert.equal(new Set(members).size, members.length);
          assert.equal(new Set(granted).size, granted.length);
        }
        for (const entry of built.groups) assert.equal(built.group(entry.key), entry);
        for (const principal of built.principals) assert.equal(built.principal(principal.key), principal);
      }),
    );
  });

  it('tells subjects of two issuers apart, and users from subjects and service accounts', () => {
    const built = model(
      [
        group('g', {
          subjects: [
            { id: 'ada', issuer: 'one' },
            { id: 'ada', issuer: 'two', email: 'ada@two' },
          ],
          users: ['ada'],
          accounts: ['ada'],
        }),
      ],
      [],
    );
    assert.deepEqual(
      built.principals.map(({ kind, issuer, email }) => [kind, issuer, email]),
      [
        ['subject', 'one', undefined],
        ['subject', 'two', 'ada@two'],
        ['user', undefined, undefined],
        ['serviceAccount', undefined, undefined],
      ],
    );
    assert.equal(built.principal(principalKey('subject', 'ada', 'two')), built.principals[1]);
  });

  it('takes the e-mail address from whichever group has it', () => {
    const nameless = { id: 'ada', issuer: 'one' };
    const subjects = [
      group('g1', { subjects: [nameless] }),
      group('g2', { subjects: [{ ...nameless, email: 'a@x' }] }),
    ];
    assert.equal(model(subjects, []).principals[0]?.email, 'a@x');
  });

  it('is built in time linear in what repeats', () => {
    // Quadratic would take minutes, for which no test has the time.
    const many = Array.from({ length: 30_000 }, () => group('same', { users: ['u'], roles: ['r'] }));
    const built = model(
      many,
      Array.from({ length: 30_000 }, () => role('r')),
    );
    assert.equal(new Set(built.groups.map(({ key }) => key)).size, 30_000);
  });

  describe('of groups that came without a list they have to have', () => {
    const { roleIDs: _roles, ...withoutRoles } = group('g', { users: ['u'] }).spec;
    const { serviceAccountIDs: _accounts, ...withoutAccounts } = group('h', { roles: ['r'] }).spec;
    const reader = { service: 's', account: 'a' };
    const nothing = { added: [], removed: [] };
    const built = model(
      [{ ...group('g'), spec: withoutRoles }, { ...group('h'), spec: withoutAccounts }, group('whole')],
      [role('r')],
    );

    it('tells that, and does not call it none', () => {
      assert.deepEqual(
        built.groups.map(({ missing }) => missing),
        [['roles'], ['serviceAccounts'], []],
      );
      assert.deepEqual(built.groups.map(groupNotes), [
        ['roles not sent by the service'],
        ['service accounts not sent by the service'],
        [],
      ]);
      assert.deepEqual(built.gaps, [{ list: 'groups', kind: 'missing', count: 2, reason: '' }]);
      const { groupsWithoutRoles, groupsWithoutMembers, membersWithoutRole } = orphansOf(built);
      assert.deepEqual(
        [groupsWithoutRoles, groupsWithoutMembers].map((found) => found.map(({ key }) => key)),
        [['whole'], ['whole']],
      );
      assert.deepEqual(membersWithoutRole, []);
    });

    it('says so in every answer', () => {
      const user = built.principals[0] ?? assert.fail();
      const reached = accessAnswerText(effectiveAccessAnswer(built, user));
      assert.match(reached, /INCOMPLETE: The service sent 2 groups without a list of roles or service accounts/);
      assert.match(reached, /\nunknown roles through g \(id g, roles not sent by the service\)/);
      assert.doesNotMatch(accessAnswerText(groupsAnswer(built)), /g \(id g\).*grants no role/);
      const review = documentMarkdown(reviewDocument(built, reader));
      assert.match(review, /\n\| g \| unknown \| 1 user ID \|/);
      for (const text of [review, reviewCsv(built, reader), reviewJson(built, reader)]) {
        assert.match(text, /not sent by the service|"missing": \[/);
      }
    });

    it('compares only what both know', () => {
      const before = reviewOf(model([group('g', { users: ['u'], roles: ['r'] })], [role('r')]), reader);
      const after = reviewOf(model([{ ...group('g'), spec: withoutRoles }], [role('r')]), reader);
      const [change] = differenceOf(before, after).groups.changed;
      assert.deepEqual([change?.grants, change?.members], [nothing, nothing]);
      const text = documentMarkdown(differenceDocument(differenceOf(before, after), before, after));
      assert.match(text, /roles not sent by the service/);
    });
  });

  it('says what it may lack', () => {
    const reason = 'Could not reach it.';
    const unread = buildModel({
      organization: 'acme',
      groups: { items: [], malformed: 2, at: 5, problem: reason },
      roles: { items: undefined, malformed: 0, at: undefined, problem: reason },
    });
    assert.deepEqual(unread.gaps, [
      { list: 'groups', kind: 'stale', count: 0, reason },
      { list: 'groups', kind: 'malformed', count: 2, reason: '' },
      { list: 'roles', kind: 'unread', count: 0, reason },
    ]);
    assert.deepEqual([unread.groupsKnown, unread.rolesKnown, unread.at], [true, false, 5]);
    assert.deepEqual(model([], []).gaps, []);
    assert.equal(model([], []).at, Date.UTC(2026, 2, 1, 12));
  });
});

describe('orphans', () => {
  it('are each named, and nothing else is', () => {
    const built = model(
      [
        group('fine', { users: ['u1'], roles: ['r1'] }),
        group('unlisted', { users: ['u1'], roles: ['r9'] }),
        group('empty', { roles: ['r1'] }),
        group('idle', { users: ['u1', 'u2'] }),
        group('going', { users: ['u1'], roles: ['r1'], deleted: '2026-01-01T00:00:00Z' }),
        group('sick', { users: ['u1'], roles: ['r1'], health: 'degraded' }),
        group('broken', { users: ['u1'], roles: ['r1'], provisioning: 'error' }),
        group('unheard', { users: ['u1'], roles: ['r1'], health: 'unknown', provisioning: 'provisioning' }),
      ],
      [role('r1'), role('r2', { health: 'error' })],
    );
    const found = orphansOf(built);
    const lists: [string, readonly { key: string }[]][] = Object.entries(found);
    const keys = Object.fromEntries(lists.map(([name, list]) => [name, list.map(({ key }) => key)]));
    assert.deepEqual(keys, {
      unlistedRoles: ['r9'],
      groupsWithoutMembers: ['empty'],
      groupsWithoutRoles: ['idle'],
      membersWithoutRole: [principalKey('user', 'u2')],
      groupsBeingDeleted: ['going'],
      unhealthyGroups: ['sick', 'broken'],
      unhealthyRoles: ['r2'],
    });
  });

  it('calls no role unlisted where the list of roles could not be read', () => {
    const built = buildModel(input([group('g', { roles: ['r'] })], undefined));
    assert.deepEqual(orphansOf(built).unlistedRoles, []);
    assert.equal(built.roles.length, 1);
  });
});

describe('the matrix', () => {
  it('says the same as the lists, cell by cell, with what stands behind each', () => {
    fc.assert(
      fc.property(organizations, ({ groups, roles }) => {
        const built = model(groups, roles);
        const byGroup = groupMatrix(built);
        const byPerson = peopleMatrix(built);
        assert.deepEqual(JSON.parse(JSON.stringify(byPerson)), byPerson); // It travels to a webview.
        for (const [index, raw] of groups.entries()) {
          const granted = new Set(byGroup.rows[index]?.cells.map((cell) => byGroup.columns[cell]?.key));
          assert.deepEqual(granted, new Set(raw.spec.roleIDs));
        }
        for (const [index, principal] of built.principals.entries()) {
          const cells = byPerson.rows[index]?.cells ?? assert.fail();
          const reached = effectiveAccess(principal);
          assert.deepEqual(
            cells,
            reached.map(({ role: { index: column } }) => column),
          );
          for (const { role: entry, grantedBy } of reached)
            assert.deepEqual(groupsGranting(principal, entry), grantedBy);
        }
      }),
    );
  });

  it('marks the columns of roles that are not listed', () => {
    const groups = [group('g', { roles: ['r1', 'r9'] })];
    const listed = (roles: Parameters<typeof input>[1]) =>
      groupMatrix(buildModel(input(groups, roles))).columns.map((column) => [column.label, column.listed]);
    assert.deepEqual(listed([role('r1', { name: 'reader' })]), [
      ['reader', true],
      ['r9', false],
    ]);
    assert.deepEqual(listed(undefined), [
      ['r1', true],
      ['r9', true],
    ]);
  });
});

describe('what a person types', () => {
  const built = model(
    [
      group('g-1', {
        name: 'operators',
        roles: ['r-1'],
        subjects: [{ id: 's-1', email: 'Jane.Doe@x', issuer: 'i' }],
        users: ['u-1', 'jane'],
      }),
    ],
    [role('r-1', { name: 'reader' }), role('r-2', { name: 'reader-of-secrets' })],
  );
  const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);
  it('means exactly that where something is called so', () => {
    assert.deepEqual(ids(findPrincipals(built, 'jane')), ['jane']);
    assert.deepEqual(ids(findPrincipals(built, ' JANE.DOE@X ')), ['s-1']);
    assert.deepEqual(ids(findRoles(built, 'reader')), ['r-1']);
    assert.deepEqual(ids(findRoles(built, 'R-2')), ['r-2']);
  });
  it('else means whatever holds it, and nothing means nothing', () => {
    assert.deepEqual(ids(findPrincipals(built, 'jan')), ['s-1', 'jane']);
    assert.deepEqual(ids(findRoles(built, 'read')), ['r-1', 'r-2']);
    assert.equal(findGroups(built, 'oper').length, 1);
    for (const nothing of ['', '  ', 'nobody']) assert.deepEqual(findPrincipals(built, nothing), []);
  });
});
