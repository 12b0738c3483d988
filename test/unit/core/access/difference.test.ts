import assert from 'node:assert/strict';
import fc from 'fast-check';
import { applyDifference, differenceOf, isEmptyDifference } from '../../../../src/core/access/difference.ts';
import { comparableText, differenceMarkdown } from '../../../../src/core/access/differenceText.ts';
import { reviewOf } from '../../../../src/core/access/review.ts';
import { readReview, writeReview } from '../../../../src/core/access/reviewFormat.ts';
import { group, model, organizations, role } from './organizations.ts';

const reader = { service: 'identity.example.com', account: 'ada@example.com' };
const reviewed = ({ groups, roles }: Parameters<typeof asReview>[0]) => asReview({ groups, roles });
function asReview({ groups, roles }: { groups: Parameters<typeof model>[0]; roles: Parameters<typeof model>[1] }) {
  return reviewOf(model(groups, roles), reader);
}
/** As JSON holds it: a member that is undefined is absent. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

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

  it('tells every change in words, and nothing of what stayed', () => {
    const text = differenceMarkdown(differenceOf(before, after), before, after).replaceAll('\\', '');
    const sections = text
      .split('\n## ')
      .slice(1)
      .map((each) => each.trim().replaceAll('\n\n', '\n'));
    assert.deepEqual(sections, [
      'Groups added (1)\n- new* (id g-4), granting r-9 (not listed) to eve (user ID)',
      'Groups removed (1)\n- leaving (id g-2), granting reader (id r-1) to cyd (user ID)',
      'Roles granted (1)\n- administrator (id r-3) by operators',
      'Roles no longer granted (1)\n- writer (id r-2) by operators',
      'Members added (1)\n- dan (user ID) in operators',
      'Members removed (1)\n- ben (user ID) in operators',
      'Groups changed otherwise (2)\n- operators: now tag env=prod\n- operators: no longer tag env=dev',
      'Roles added (2)\n- administrator (id r-3)\n- r-9 (not listed)',
      'Roles removed (1)\n- old (id r-4)',
      'Roles changed (2)\n- reader (id r-1): now health degraded\n- reader (id r-1): no longer health healthy',
    ]);
    assert.doesNotMatch(text, /steady/);
  });

  it('says so when nothing has changed', () => {
    assert.match(differenceMarkdown(differenceOf(after, after), after, after), /Nothing has changed\./);
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
});
