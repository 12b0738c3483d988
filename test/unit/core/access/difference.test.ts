import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  type ComparedAccess,
  type Difference,
  differenceOf,
  type GroupChange,
  isEmptyDifference,
  type SetDifference,
} from '../../../../src/core/access/difference.ts';
import { comparableText, differenceDocument } from '../../../../src/core/access/differenceText.ts';
import { documentMarkdown } from '../../../../src/core/access/pageDocument.ts';
import {
  memberKey,
  type ReviewGroup,
  readReview,
  reviewOf,
  sortedBy,
  writeReview,
} from '../../../../src/core/access/review.ts';
import { group, model, organizations, role } from './organizations.ts';

const reader = { service: 'identity.example.com', account: 'ada@example.com' };
const reviewed = ({ groups, roles }: Parameters<typeof asReview>[0]) => asReview({ groups, roles });
function asReview({ groups, roles }: { groups: Parameters<typeof model>[0]; roles: Parameters<typeof model>[1] }) {
  return reviewOf(model(groups, roles), reader);
}
/** As JSON holds it: a member that is undefined is absent. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

/** What a review becomes by a difference: `applyDifference(a, differenceOf(a, b))` holds what `b` holds. */
function applyDifference(before: ComparedAccess, { groups, roles }: Difference): ComparedAccess {
  const groupChanges = new Map(groups.changed.map((change) => [change.key, change]));
  const roleChanges = new Map(roles.changed.map((change) => [change.key, change.after]));
  return {
    groups: apply(before.groups, groups, (group) => changedGroup(group, groupChanges.get(group.key))),
    roles: apply(before.roles, roles, (role) => roleChanges.get(role.key) ?? role),
  };
}

function changedGroup(group: ReviewGroup, change: GroupChange | undefined): ReviewGroup {
  if (change === undefined) return group;
  const { members, roles, ...facts } = group;
  return {
    ...(change.facts?.after ?? facts),
    members: applySet(members, change.members, memberKey),
    roles: applySet(roles, change.grants, (key) => key),
  };
}

function apply<T extends { readonly key: string }>(
  before: readonly T[],
  { added, removed }: SetDifference<T>,
  change: (item: T) => T,
): T[] {
  const gone = new Set(removed.map(({ key }) => key));
  const kept = before.filter(({ key }) => !gone.has(key)).map(change);
  return sortedBy([...kept, ...added], ({ key }) => key);
}

function applySet<T>(before: readonly T[], { added, removed }: SetDifference<T>, key: (item: T) => string): T[] {
  const gone = new Set(removed.map(key));
  return sortedBy([...before.filter((item) => !gone.has(key(item))), ...added], key);
}

describe('the difference of two reviews', () => {
  it('of a review with itself is empty, also when one has been written and read', () => {
    fc.assert(
      fc.property(organizations, (organization) => {
        const review = reviewed(organization);
        assert.ok(isEmptyDifference(differenceOf(review, review)));
        assert.ok(isEmptyDifference(differenceOf(readReview(writeReview(review)) ?? assert.fail(), review)));
      }),
    );
  });

  it('applied to the first gives the second, and turned around the first', () => {
    let changes = 0;
    fc.assert(
      fc.property(organizations, organizations, (one, other) => {
        const [before, after] = [reviewed(one), reviewed(other)];
        const forward = differenceOf(before, after);
        const { groups, roles } = after;
        assert.deepEqual(plain(applyDifference(before, forward)), plain({ groups, roles }));
        const back = differenceOf(after, before);
        assert.deepEqual(plain(applyDifference(after, back)), plain({ groups: before.groups, roles: before.roles }));
        assert.deepEqual(plain(back.groups.added), plain(forward.groups.removed));
        assert.equal(isEmptyDifference(forward), isEmptyDifference(back));
        changes += forward.groups.changed.length + forward.roles.changed.length;
      }),
    );
    assert.ok(changes > 100, `only ${changes} changed entries: the property saw next to nothing`);
  });

  it('is empty exactly when the comparable texts and the facts beside them are alike', () => {
    fc.assert(
      fc.property(organizations, organizations, (one, other) => {
        const [before, after] = [reviewed(one), reviewed(other)];
        if (isEmptyDifference(differenceOf(before, after))) {
          assert.equal(comparableText(before), comparableText(after));
        }
      }),
    );
  });

  const before = asReview({
    groups: [
      group('g-1', { name: 'operators', users: ['ada', 'ben'], roles: ['r-1', 'r-2'], tags: { env: 'dev' } }),
      group('g-2', { name: 'leaving', users: ['cyd'], roles: ['r-1'] }),
      group('g-3', { name: 'steady', users: ['ada'] }),
    ],
    roles: [role('r-1', { name: 'reader' }), role('r-2', { name: 'writer' }), role('r-4', { name: 'old' })],
  });
  const after = asReview({
    groups: [
      group('g-1', { name: 'operators', users: ['ada', 'dan'], roles: ['r-1', 'r-3'], tags: { env: 'prod' } }),
      group('g-3', { name: 'steady', users: ['ada'] }),
      group('g-4', { name: 'new*', users: ['eve'], roles: ['r-9'] }),
    ],
    roles: [
      role('r-1', { name: 'reader', health: 'degraded' }),
      role('r-2', { name: 'writer' }),
      role('r-3', { name: 'administrator' }),
    ],
  });

  const difference = differenceOf(before, after);

  it('tells every change in words, and nothing of what stayed', () => {
    const text = documentMarkdown(differenceDocument(difference, before, after));
    const [summary, ...sections] = text.split('\n## ').map((each) => each.trim().replaceAll('\n\n', '\n'));
    assert.deepEqual(summary?.split('\n'), [
      '# What changed in acme',
      'acme · from 2026-03-01 12:00 UTC (read by ada@example.com) to 2026-03-01 12:00 UTC (read by ada@example.com)',
      '**Groups added: 1 · Groups removed: 1 · Roles granted: 1 · Roles no longer granted: 1 · Members added: 1 · Members removed: 1 · Other changes to groups: 2 · Roles added: 2 · Roles removed: 1 · Roles changed: 1**',
    ]);
    assert.deepEqual(sections, [
      'Groups added (1)\n- new\\* `g-4`: roles r-9 (not listed); members eve (user ID)',
      'Groups removed (1)\n- **leaving** `g-2`: roles reader; members **cyd** (user ID)',
      'Roles granted (1)\n- operators has the administrator role',
      'Roles no longer granted (1)\n- operators no longer has the writer role',
      'Members added (1)\n- dan (user ID) joined operators',
      'Members removed (1)\n- **ben** (user ID) left operators',
      'Other changes to groups (2)\n- operators: tag env=prod (new)\n- operators: tag env=dev (no longer)',
      'Roles added (2)\n- administrator `r-3`\n- r-9 (not listed) `r-9`',
      'Roles removed (1)\n- **old** `r-4`',
      'Roles changed (1)\n- reader: health changed from healthy to degraded',
    ]);
    assert.doesNotMatch(text, /steady/);
  });

  it('leads to what is there now, and nowhere else', () => {
    const { blocks } = differenceDocument(difference, before, after);
    const links = blocks.flatMap((block) => (block.kind === 'list' ? block.lines.flat() : []));
    const targets = new Set(links.flatMap((each) => (typeof each === 'object' && 'link' in each ? [each.link] : [])));
    const now = model(
      after.groups.map(({ id, members }) => group(id, { users: members.map((member) => member.id) })),
      after.roles.map(({ id }) => role(id)),
    );
    for (const target of targets)
      assert.ok(
        target.kind !== 'organization' && target.kind !== 'graph' && now[target.kind](target.key),
        String(target),
      );
    assert.deepEqual([...new Set([...targets].map((target) => ('key' in target ? target.key : '')))].sort(), [
      'g-1',
      'g-4',
      'r-1',
      'r-2',
      'r-3',
      'r-9',
      'user\ndan',
      'user\neve',
    ]);
  });

  it('says so when nothing has changed, and where it cannot be sure', () => {
    const none = differenceOf(after, after);
    assert.match(documentMarkdown(differenceDocument(none, after, after)), /No changes\./);
    const gaps = [{ list: 'roles', kind: 'unread', count: 0, reason: '' }] as const;
    const partial = { ...before, readAt: 'some day', gaps: [...gaps] };
    const text = documentMarkdown(differenceDocument(difference, partial, after));
    assert.match(text, /from unknown time .*\n\n> \*\*Note:\*\* The earlier data is incomplete/);
  });

  it('as text has a line for each fact', () => {
    const lines = comparableText(after).split('\n');
    for (const line of [
      'group operators (id g-1)',
      '  grants reader (id r-1)',
      '  member dan (user ID)',
      '  tag env=prod',
    ]) {
      assert.ok(lines.includes(line), line);
    }
    assert.ok(lines.includes('role r-9, not listed'));
  });

  it('as text holds any number of members', () => {
    const { groups, roles } = asReview({ groups: [group('g', { users: ['u'] })], roles: [] });
    const many = groups.map((one) => ({ ...one, members: Array(150_000).fill(one.members[0]) }));
    assert.equal(comparableText({ groups: many, roles }).match(/^ {2}member u /gm)?.length, 150_000);
  });
});
