import assert from 'node:assert/strict';
import fc from 'fast-check';
import { effectiveAccessDocument, holdersDocument } from '../../../../src/core/access/accessDocuments.ts';
import {
  type AccessAnswer,
  accessAnswerText,
  effectiveAccessAnswer,
  groupsAnswer,
  holdersAnswer,
  rolesAnswer,
  truncateAnswer,
} from '../../../../src/core/access/answers.ts';
import { buildModel } from '../../../../src/core/access/model.ts';
import { documentMarkdown } from '../../../../src/core/access/pageDocument.ts';
import { reviewDocument } from '../../../../src/core/access/reviewText.ts';
import { group, input, model, organizations, role } from './organizations.ts';

const built = model(
  [
    group('g-1', {
      name: 'operators',
      subjects: [{ id: '17', email: 'jane@x', issuer: 'https://i' }],
      accounts: ['bot'],
      roles: ['r-1', 'r-9'],
      tags: { env: 'prod' },
    }),
    group('g-2', { name: 'readers', subjects: [{ id: '17', issuer: 'https://i' }], roles: ['r-1'], health: 'error' }),
    group('g-3', { name: 'idle', subjects: [{ id: '17', issuer: 'https://i' }] }),
    group('g-4', { name: 'nobody', roles: ['r-1'], deleted: '2026-01-01T00:00:00Z' }),
  ],
  [role('r-1', { name: 'reader', description: 'Reads\neverything' })],
);
const [jane, bot] = built.principals;
assert.ok(jane && bot);
const reader = built.role('r-1') ?? assert.fail();

describe('answers', () => {
  it('names the access rule that forbids something, and why it is accepted', () => {
    const found = model([group('g-1', { users: ['u-1'], roles: ['r-1'] })], [role('r-1')]);
    const [principal] = found.principals;
    const [entry] = found.roles;
    assert.ok(principal && entry);
    found.findings.set(principal, [
      { rule: 'apart', message: 'u-1 has\nboth', accepted: undefined },
      { rule: 'few', message: 'too many', accepted: 'until 2027-01-31: T-1' },
    ]);
    const lines = [
      'FINDING of "apart" in the access rules: u-1 has\\u{a}both',
      'ACCEPTED until 2027-01-31: T-1 ("few" in the access rules: too many)',
    ];
    assert.deepEqual(effectiveAccessAnswer(found, principal).heading.slice(-2), lines);
    found.findings.set(entry, found.findings.get(principal) ?? []);
    assert.deepEqual(holdersAnswer(found, entry).heading.slice(-2), lines);
  });

  it('what somebody can reach, each role with its paths', () => {
    assert.deepEqual(accessAnswerText(effectiveAccessAnswer(built, jane)).split('\n'), [
      'jane@x (subject of https://i, id 17) in acme: 2 roles through 3 groups.',
      '',
      'reader (id r-1) through operators (id g-1), readers (id g-2, error)',
      'r-9 (not listed) through operators (id g-1)',
      'no role through idle (id g-3), which grants none',
      '',
    ]);
  });

  it('who has a role, each with their paths', () => {
    assert.deepEqual(accessAnswerText(holdersAnswer(built, reader)).split('\n'), [
      'reader (id r-1) in acme: 1 subject, 1 service account through 3 groups.',
      '',
      'jane@x (subject of https://i, id 17) through operators (id g-1), readers (id g-2, error)',
      'bot (service account) through operators (id g-1)',
      'nobody through nobody (id g-4, being deleted), which has no members',
      '',
    ]);
  });

  it('groups and roles, a line each', () => {
    assert.deepEqual(groupsAnswer(built).lines, [
      'operators (id g-1): 1 subject, 1 service account; grants reader, r-9; tag env=prod',
      'readers (id g-2): 1 subject; grants reader; error',
      'idle (id g-3): 1 subject; grants no role',
      'nobody (id g-4): no members; grants reader; being deleted',
    ]);
    assert.deepEqual(groupsAnswer(built, built.groups.slice(0, 1)).heading, ['Groups of acme: 1 of 4.']);
    assert.deepEqual(rolesAnswer(built).lines, [
      'reader (id r-1): granted by 3 groups; Reads\\u{a}everything',
      'r-9 (not listed): granted by 1 group',
    ]);
  });

  it('count subjects and user IDs apart, and say that both may be the same people', () => {
    const twice = model(
      [
        group('g', {
          subjects: [
            { id: '1', email: 'ada@x', issuer: 'i' },
            { id: '2', email: 'ben@x', issuer: 'i' },
          ],
          users: ['u-1', 'u-2'],
          roles: ['r'],
        }),
      ],
      [role('r')],
    );
    const [ada] = twice.principals;
    const says =
      /A subject comes from the identity provider, a user ID from the cloud\. The same person may have both\./;
    const answers = [
      holdersAnswer(twice, twice.role('r') ?? assert.fail()),
      groupsAnswer(twice),
      effectiveAccessAnswer(twice, ada ?? assert.fail()),
    ];
    for (const { heading } of answers) assert.match(heading[1] ?? '', says);
    assert.equal(answers[0]?.heading[0], 'r (id r) in acme: 2 subjects, 2 user IDs through 1 group.');
    assert.match(answers[1]?.lines[0] ?? '', /^g \(id g\): 2 subjects, 2 user IDs; /);
    const review = documentMarkdown(reviewDocument(twice, { service: 's', account: 'a' }));
    assert.match(review, /^- Members: \*\*2 subjects, 2 user IDs\*\*$/m);
    assert.match(review, says);
    assert.doesNotMatch(accessAnswerText(groupsAnswer(built)), says);
  });

  it('that may lack something begin with saying so', () => {
    const partial = buildModel(input([group('g', { users: ['u'], roles: ['r'] })], undefined));
    const [user] = partial.principals;
    assert.ok(user);
    const answers = [effectiveAccessAnswer(partial, user), groupsAnswer(partial), rolesAnswer(partial)];
    for (const { heading } of answers) assert.equal(heading[1], 'INCOMPLETE: The roles could not be read.');
    assert.match(accessAnswerText(rolesAnswer(partial)), /r \(name not known\)/);
  });

  it('hold one line for each thing, whatever the names', () => {
    fc.assert(
      fc.property(organizations, ({ groups, roles }) => {
        const all = model(groups, roles);
        const answers: AccessAnswer[] = [
          groupsAnswer(all),
          rolesAnswer(all),
          ...all.principals.map((principal) => effectiveAccessAnswer(all, principal)),
          ...all.roles.map((each) => holdersAnswer(all, each)),
        ];
        for (const { heading, lines } of answers) {
          for (const line of [...heading, ...lines]) assert.doesNotMatch(line, /[\n\r\u2028\u202e]/);
        }
      }),
    );
  });
});

describe('answers for people', () => {
  const shown = (document: Parameters<typeof documentMarkdown>[0]) =>
    documentMarkdown(document)
      .split('\n')
      .filter((line) => line !== '');

  it('who has a role: names and groups first, IDs last', () => {
    assert.deepEqual(shown(holdersDocument(built, reader, 'read now')), [
      '# Who has reader',
      'acme · read now',
      'reader: **1 subject, 1 service account** through 3 groups.',
      'ID: `r-1`',
      'Reads\\\\u{a}everything',
      '| Name | Kind | Through | ID |',
      '| --- | --- | --- | --- |',
      '| jane@x | subject | operators, readers (error) | `17` issued by `https://i` |',
      '| bot | service account | operators |  |',
      'Groups that have this role but no members: nobody (being deleted).',
    ]);
  });

  it('what somebody can reach: roles and groups first, IDs last', () => {
    assert.deepEqual(shown(effectiveAccessDocument(built, jane, 'read now')), [
      '# Effective access of jane@x',
      'acme · read now',
      'jane@x (subject): **2 roles** through 3 groups.',
      'ID: `17` issued by `https://i`',
      '| Role | Through | ID |',
      '| --- | --- | --- |',
      '| reader | operators, readers (error) | `r-1` |',
      '| r-9 (not listed) | operators | `r-9` |',
      'Also in groups without roles: idle.',
    ]);
  });

  it('say what is missing before anything else, and leave unknown what could not be read', () => {
    const partial = buildModel(input([group('g', { users: ['u'], roles: ['r'] })], undefined));
    const [user] = partial.principals;
    const role = partial.role('r');
    assert.ok(user && role);
    const [, , gap, , ...rest] = shown(effectiveAccessDocument(partial, user, ''));
    assert.equal(gap, '> **Note:** Incomplete: The roles could not be read.');
    assert.equal(rest.at(-1), '| r (name unknown) | g | `r` |');
    const blind = buildModel(input(undefined, []));
    const text = shown(holdersDocument(blind, { key: 'r', id: 'r', role: undefined, index: 0, groups: [] }, ''));
    assert.equal(text.at(-1), 'Unknown: the groups could not be read.');
    assert.ok(text.includes('> **Note:** Groups have this role, but the service does not list it.'));
  });
});

describe('an answer within a budget', () => {
  const lines = fc.array(fc.string({ minLength: 5, maxLength: 30 }), { minLength: 10, maxLength: 60, size: 'max' });
  it('is whole where it fits; else it is as long as it may be and says how much is missing', async () => {
    let cuts = 0;
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 60, max: 900 }), async (all, budget) => {
        const answer = { heading: ['Heading.'], lines: all };
        const measure = (text: string) => text.length;
        const fitted = await truncateAnswer(answer, budget, measure);
        if (accessAnswerText(answer).length <= budget) {
          assert.equal(fitted, accessAnswerText(answer));
          return;
        }
        cuts += 1;
        const left = /… (\d+) of (\d+) left out/.exec(fitted) ?? assert.fail(fitted);
        const kept = all.length - Number(left[1]);
        assert.equal(Number(left[2]), all.length);
        assert.deepEqual(fitted.split('\n').slice(0, 2 + kept), ['Heading.', '', ...all.slice(0, kept)]);
        assert.ok(fitted.length <= budget || kept === 0);
        const oneMore = fitted
          .replace(left[0], `… ${all.length - kept - 1} of ${all.length} left out`)
          .replace(/\n… /, () => `\n${all[kept] ?? ''}\n… `);
        assert.ok(kept === all.length - 1 || oneMore.length > budget, 'one more line would have fitted');
      }),
    );
    assert.ok(cuts > 30, `only ${cuts} answers were cut`);
  });

  it('counts few texts, since counting may be slow', async () => {
    let counted = 0;
    const all = Array.from({ length: 100_000 }, (_, index) => `line ${index}`);
    await truncateAnswer({ heading: [], lines: all }, 5000, (text) => {
      counted += 1;
      return text.length;
    });
    assert.ok(counted <= 20, String(counted));
  });
});
