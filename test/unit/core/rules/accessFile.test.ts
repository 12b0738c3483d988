import assert from 'node:assert/strict';
import { checkAccess } from '../../../../src/core/rules/checkAccess.ts';
import { acme, check, file, NOON, outcome, problemsOf } from './organizations.ts';

const model = acme({
  ops: { people: 'ada ben', roles: 'admin' },
  'ops-west': { people: 'cyd', roles: 'viewer' },
  twice: { name: 'same', roles: 'viewer' },
  again: { name: 'same', roles: 'viewer' },
});
const RULE = 'kind: only-through, role: admin, groups: [ops]';
const LONG = `${'a'.repeat(1000)}*`;

describe('a file of access rules', () => {
  it('cannot tell who is who where its people have a mistake, and says what it is at its place', () => {
    const people = 'people:\n  - { name: Ada, is: [ada@acme.example] }\n  - { name: Ada, is: [ben@acme.example] }\n';
    const rules =
      'rules:\n  - { id: few, kind: max-holders, role: admin, max: 1 }\n  - { id: full, kind: no-empty-groups }\n';
    const result = check(`${people}${rules}declared:\n  groups:\n    - { name: ops }\n`, model);
    assert.deepEqual(problemsOf(result), ['bad-value "Ada"']);
    const [few, full] = result.rules;
    assert.deepEqual(few?.reasons, ['The people in this file are not defined correctly.']);
    assert.deepEqual(result.drift?.reasons, few?.reasons);
    assert.deepEqual(full?.reasons, []);
  });

  const rows: readonly (readonly [says: string, body: string, problems: readonly string[], is: string])[] = [
    ['is sound where all is', `rules:\n  - { id: a, ${RULE}, why: x, severity: error }\n`, [], 'pass'],
    [
      'names an unknown key of a rule',
      `rules:\n  - { id: a, ${RULE}, groop: x }\n  - { id: b, ${RULE} }\n`,
      ['unknown-key "groop"'],
      'undecided; pass',
    ],
    [
      'names a missing key, at the head of the rule',
      'rules:\n  - { id: a, kind: only-through, role: admin }\n',
      ['missing-key "id"'],
      'undecided',
    ],
    [
      'names an unknown kind',
      'rules:\n  - { id: a, kind: only-throu, x: y }\n',
      ['bad-value "only-throu"', 'unknown-key "x"'],
      'undecided',
    ],
    [
      'names a value of another kind',
      'rules:\n  - { id: a, kind: max-holders, role: admin, max: many }\n',
      ['bad-value "many"'],
      'undecided',
    ],
    [
      'does not take 007 for seven',
      'rules:\n  - { id: a, kind: max-holders, role: admin, max: 007 }\n',
      ['bad-value "007"'],
      'undecided',
    ],
    [
      'does not take a text for a list',
      'rules:\n  - { id: a, kind: only-through, role: admin, groups: ops }\n',
      ['bad-value "ops"'],
      'undecided',
    ],
    [
      'does not take nothing for an empty list',
      'rules:\n  - id: a\n    kind: only-through\n    role: admin\n    groups:\n',
      ['empty-key "groups"'],
      'undecided',
    ],
    [
      'takes [] for an empty list',
      'rules:\n  - { id: a, kind: only-through, role: admin, groups: [] }\n',
      [],
      'fail: ops r-admin',
    ],
    [
      'judges the first of two rules with one id',
      `rules:\n  - { id: a, ${RULE} }\n  - { id: a, ${RULE} }\n`,
      ['repeated-id "a"'],
      'pass; undecided',
    ],
    [
      'knows rules that are off',
      `rules:\n  - { id: a, ${RULE}, enabled: false }\n  - { id: b, ${RULE} }\n`,
      [],
      'off; pass',
    ],
    [
      'refuses anchors and tags',
      'rules:\n  - { id: a, kind: naming, of: groups, match: [&x "*", *x] }\n',
      ['bad-value "\\"*\\""', 'bad-value "*x"'],
      'undecided',
    ],
    [
      'names what fits nothing, in an allow-list as a warning',
      'rules:\n  - { id: a, kind: only-through, role: admin, groups: [ops, opps] }\n',
      ['unknown-reference "opps"'],
      'pass',
    ],
    [
      'names a role that there is not',
      'rules:\n  - { id: a, kind: only-through, role: admim, groups: [ops] }\n',
      ['unknown-reference "admim"'],
      'undecided',
    ],
    [
      'names what fits two',
      'rules:\n  - { id: a, kind: only-through, role: admin, groups: [ops, same] }\n',
      ['ambiguous-reference "same"'],
      'undecided',
    ],
    [
      'takes a pattern that fits two',
      'rules:\n  - { id: a, kind: only-through, role: viewer, groups: ["sam?", "ops*"] }\n',
      [],
      'pass',
    ],
    [
      'names a pattern that fits nothing',
      'rules:\n  - { id: a, kind: member-kinds, groups: ["x*"], allow: [] }\n',
      ['unknown-reference "\\"x*\\""'],
      'undecided',
    ],
    [
      'refuses patterns that are too long, and takes other texts of that length',
      `rules:\n  - { id: a, kind: naming, of: groups, match: [${LONG}] }\n  - { id: b, ${RULE}, why: ${LONG} }\n  - { id: c, kind: only-through, role: admin, groups: [ops, ${LONG}] }\n`,
      [`bad-value "${LONG}"`, `bad-value "${LONG}"`],
      'undecided; pass; undecided',
    ],
    [
      'refuses an exception that the rule cannot have',
      `rules:\n  - { id: a, ${RULE}, except: [ada@acme.example] }\n`,
      ['bad-value "ada@acme.example"'],
      'undecided',
    ],
    [
      'wants names of people that are no other reference',
      `people:\n  - { name: a@b, is: [ada@acme.example] }\nrules:\n  - { id: a, ${RULE} }\n  - { id: b, kind: max-holders, role: admin, max: 9 }\n`,
      ['bad-value "a@b"'],
      'pass; undecided',
    ],
    [
      'wants an entry for one person',
      `people:\n  - { name: A, is: [ada@acme.example] }\n  - { name: B, is: [ada@acme.example] }\nrules:\n  - { id: b, kind: max-holders, role: admin, max: 9 }\n`,
      ['bad-value "ada@acme.example"'],
      'undecided',
    ],
    [
      'warns of an entry that is in no group',
      `people:\n  - { name: A, is: [gone@acme.example] }\nrules:\n  - { id: b, kind: max-holders, role: admin, max: 9 }\n`,
      ['unknown-reference "gone@acme.example"'],
      'pass',
    ],
  ];
  for (const [says, body, problems, is] of rows) {
    it(says, () => {
      const result = check(body, model);
      assert.deepEqual(problemsOf(result), problems);
      assert.equal(outcome(result), is);
    });
  }

  const whole: readonly (readonly [says: string, text: string])[] = [
    ['that is empty', ''],
    ['with broken syntax', file('rules: [')],
    ['with a key twice', file('rules: []\nrules: []\n')],
    ['of two documents', `${file('rules: []\n')}---\n${file('rules: []\n')}`],
    ['of another format', file(`rules:\n  - { id: a, ${RULE} }\n`).replace('access-rules', 'campaign')],
    ['of another version', file(`rules:\n  - { id: a, ${RULE} }\n`).replace('version: 1', 'version: 2')],
    ['without a version', file(`rules:\n  - { id: a, ${RULE} }\n`).replace('version: 1\n', '')],
    ['of another organization', file(`rules:\n  - { id: a, ${RULE} }\n`).replace('acme', 'other')],
    ['with an unknown key at the top', file(`rules:\n  - { id: a, ${RULE} }\nrule: []\n`)],
    ['with rules that are no list', file('rules: x\n')],
    ['without rules and a declaration', file('')],
    ['with no rule that is on', file(`rules:\n  - { id: a, ${RULE}, enabled: false }\n`)],
    ['that is nested without end', file(`rules: ${'['.repeat(100_000)}`)],
    ['with a list in a list without end', file(`rules: ${'- '.repeat(100_000)}`)],
    ['that the parser cannot follow', `${'  a: '.repeat(4000)}|\n x\n`],
    ['that is a list', '- a\n'],
  ];
  for (const [says, text] of whole) {
    it(`cannot tell anything of a file ${says}`, () => {
      const result = checkAccess(text, model, { now: NOON });
      assert.equal(result.verdict, 'undecided');
      assert.ok(result.reasons.length > 0 || result.rules.some(({ status }) => status === 'undecided'));
    });
  }

  it('offers what was probably meant', () => {
    const fixes = (body: string) =>
      check(body, model).problems.flatMap(
        (problem) => problem.fixes?.flatMap(({ edits }) => edits.map(({ text }) => text)) ?? [],
      );
    assert.deepEqual(fixes('rules:\n  - { id: a, kind: only-throu, role: x, groups: [] }\n'), ['only-through']);
    assert.deepEqual(fixes('rules:\n  - { id: a, kind: only-through, role: admim, groups: [] }\n'), ['admin']);
    assert.deepEqual(fixes('rules:\n  - { id: a, kind: only-through, role: r-admin, groups: [] }\n'), ['id:r-admin']);
    assert.deepEqual(
      fixes('rules:\n  - { id: a, kind: allowed-holders, role: admin, holders: [adda@acme.example] }\n'),
      ['ada@acme.example'],
    );
    assert.deepEqual(fixes('rules:\n  - { id: a, kind: no-empty-groups, except: ["group:opps"] }\n'), ['group:ops']);
    assert.deepEqual(fixes('rulez: []\n'), ['rules']);
  });

  it('says why in the words of the problem, so that nothing is told twice', () => {
    const told = (body: string) => {
      const { problems, rules, drift, reasons } = check(body, model);
      return [problems.map(({ message }) => message), rules[0]?.reasons ?? drift?.reasons ?? reasons];
    };
    const same = (message: string, body: string) => assert.deepEqual(told(body), [[message], [message]]);
    same(
      'No role is called "admim". Did you mean "admin"?',
      'rules:\n  - { id: a, kind: only-through, role: admim, groups: [] }\n',
    );
    same(
      'Unknown key "roel". Did you mean "role"?',
      'rules:\n  - { id: a, kind: only-through, role: admin, roel: x, groups: [] }\n',
    );
    same(
      'No group is called "opps". Did you mean "ops"?',
      'rules:\n  - { id: a, kind: member-kinds, groups: [opps], allow: [user] }\n',
    );
    same('Separation needs at least two roles.', 'rules:\n  - { id: a, kind: separation-of-duties, roles: [admin] }\n');
    same('"kind" needs a value.', 'rules:\n  - { id: a, kind: , roles: [admin] }\n');
    same(
      '"roles" needs a value. For an empty list, write [].',
      'declared:\n  groups:\n    - name: ops\n      roles:\n',
    );
    same(
      'A declared group is a single group, so patterns cannot be used.',
      'declared:\n  groups:\n    - { name: "o*" }\n',
    );
    same('Expected a list.', 'declared:\n  groups:\n    - { name: ops, roles: none }\n');
    same('Unknown key "rulez". Did you mean "rules"?', 'rulez: []\n');
    same('The closing quotation mark is missing.', 'rules: "\n');
  });

  it('names what was probably meant before all that there is', () => {
    const [problem] = check('rules:\n  - { id: a, kind: no-empty-group }\n', model).problems;
    assert.match(
      problem?.message ?? '',
      /^Unknown value "no-empty-group"\. Did you mean "no-empty-groups"\? Use one of: .*, only-through, /,
    );
  });

  it('offers to say that user IDs repeat subjects, with what speaks for it', () => {
    const mirrored = acme({
      a: { people: 'ada ben', users: 'u1 u2', roles: 'admin' },
      b: { people: 'cyd', users: 'u3' },
    });
    const body = 'rules:\n  - { id: a, kind: max-holders, role: admin, max: 2 }\n';
    const result = check(body, mirrored);
    const [offer] = result.problems;
    assert.match(offer?.message ?? '', /: 2 of 2 groups/);
    const [edit] = offer?.fixes?.[0]?.edits ?? [];
    assert.ok(edit);
    const text = result.file.text.slice(0, edit.start) + edit.text + result.file.text.slice(edit.end);
    assert.equal(checkAccess(text, mirrored, { now: NOON }).verdict, 'clean');
    const uneven = acme({
      a: { people: 'ada ben', users: 'u1 u2', roles: 'admin' },
      b: { people: 'cyd', users: 'u3 u4' },
    });
    assert.deepEqual(
      check(body, uneven).problems.map(({ fixes }) => fixes),
      [undefined],
    );
  });
});
