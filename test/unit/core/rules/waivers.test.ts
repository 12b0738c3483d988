import assert from 'node:assert/strict';
import { acme, check, outcome, problemsOf } from './organizations.ts';

const model = acme({
  ops: { people: 'ada ben', roles: 'admin' },
  b: { people: 'cyd', accounts: 'x', roles: 'admin auditor' },
});
const DAY = Date.UTC(2026, 10, 22);
const RULE = 'rules:\n  - { id: one, kind: only-through, role: admin, groups: [ops] }\n';
const HOLDERS = 'rules:\n  - { id: one, kind: allowed-holders, role: admin, holders: ["a*@acme.example"] }\n';
const OTHERS = 'owner: lead@acme.example, reason: T-1';
const waiver = (text: string) => `waivers:\n  - { ${text} }\n`;

describe('a waiver', () => {
  const rows: readonly (readonly [says: string, body: string, is: string, problems: readonly string[]])[] = [
    [
      'takes a finding out of the verdict',
      RULE + waiver(`rule: one, for: "group:b", ${OTHERS}, until: 2027-01-31`),
      'waived: ~b r-admin',
      [],
    ],
    ['is for all', RULE + waiver(`rule: one, for: all, ${OTHERS}, until: 2027-01-31`), 'waived: ~b r-admin', []],
    [
      'is for its own subject alone',
      HOLDERS + waiver(`rule: one, for: ben@acme.example, ${OTHERS}, until: 2027-01-31`),
      'fail: cyd r-admin x r-admin ~ben r-admin',
      [],
    ],
    [
      'is for a service account',
      HOLDERS + waiver(`rule: one, for: "serviceAccount:x", ${OTHERS}, until: 2027-01-31`),
      'fail: ben r-admin cyd r-admin ~x r-admin',
      [],
    ],
    [
      'does not apply without an owner',
      RULE + waiver('rule: one, for: all, reason: x, until: 2027-01-31'),
      'fail: b r-admin',
      ['missing-key "rule"'],
    ],
    [
      'does not apply without a reason',
      RULE + waiver(`rule: one, for: all, owner: lead@acme.example, reason: "", until: 2027-01-31`),
      'fail: b r-admin',
      ['bad-value "\\"\\""'],
    ],
    [
      'does not apply until a day that is none',
      RULE + waiver(`rule: one, for: all, ${OTHERS}, until: 2027-02-30`),
      'fail: b r-admin',
      ['bad-value "2027-02-30"'],
    ],
    [
      'does not apply with an unknown key',
      RULE + waiver(`rule: one, for: all, ${OTHERS}, until: 2027-01-31, note: x`),
      'fail: b r-admin',
      ['unknown-key "note"'],
    ],
    [
      'is a finding again when it has expired',
      RULE + waiver(`rule: one, for: all, ${OTHERS}, until: 2026-11-21`),
      'fail: b r-admin',
      ['waiver-expired "2026-11-21"'],
    ],
    [
      'is announced when it ends soon',
      RULE + waiver(`rule: one, for: all, ${OTHERS}, until: 2026-12-06`),
      'waived: ~b r-admin',
      ['waiver-expires "2026-12-06"'],
    ],
    [
      'is not announced a day earlier',
      RULE + waiver(`rule: one, for: all, ${OTHERS}, until: 2026-12-07`),
      'waived: ~b r-admin',
      [],
    ],
    [
      'is questioned for more than a year',
      RULE + waiver(`rule: one, for: all, ${OTHERS}, until: 2027-11-24`),
      'waived: ~b r-admin',
      ['waiver-long "2027-11-24"'],
    ],
    [
      'that waives nothing is named',
      RULE + waiver(`rule: one, for: "group:ops", ${OTHERS}, until: 2027-01-31`),
      'fail: b r-admin',
      ['waiver-unused "\\"group:ops\\""'],
    ],
    [
      'for somebody unknown is named',
      RULE + waiver(`rule: one, for: "group:gone", ${OTHERS}, until: 2027-01-31`),
      'fail: b r-admin',
      ['unknown-reference "\\"group:gone\\""'],
    ],
    [
      'of a rule that is not there is named',
      RULE + waiver(`rule: on, for: all, ${OTHERS}, until: 2027-01-31`),
      'fail: b r-admin',
      ['waiver-rule "on"'],
    ],
    [
      'is not its owner’s own',
      HOLDERS + waiver('rule: one, for: ben@acme.example, owner: BEN@acme.example, reason: x, until: 2027-01-31'),
      'fail: cyd r-admin x r-admin ~ben r-admin',
      ['waiver-owner "BEN@acme.example"'],
    ],
    [
      'hides no problem: a rule that cannot be judged stays so',
      'rules:\n  - { id: one, kind: only-through, role: admim, groups: [ops] }\n' +
        waiver(`rule: one, for: all, ${OTHERS}, until: 2027-01-31`),
      'undecided',
      ['unknown-reference "admim"'],
    ],
    [
      'of max-holders needs upTo',
      'rules:\n  - { id: one, kind: max-holders, role: admin, max: 1 }\n' +
        waiver(`rule: one, for: all, ${OTHERS}, until: 2027-01-31`),
      'fail: admin',
      ['waiver-up-to "one"'],
    ],
    [
      'of max-holders accepts that many',
      'rules:\n  - { id: one, kind: max-holders, role: admin, max: 1 }\n' +
        waiver(`rule: one, for: "role:admin", upTo: 4, ${OTHERS}, until: 2027-01-31`),
      'waived: ~admin',
      [],
    ],
    [
      'of max-holders accepts no more',
      'rules:\n  - { id: one, kind: max-holders, role: admin, max: 1 }\n' +
        waiver(`rule: one, for: all, upTo: 3, ${OTHERS}, until: 2027-01-31`),
      'fail: admin',
      [],
    ],
    [
      'has upTo for no other kind',
      RULE + waiver(`rule: one, for: all, upTo: 3, ${OTHERS}, until: 2027-01-31`),
      'fail: b r-admin',
      ['waiver-up-to "3"'],
    ],
    [
      'hides no drift',
      `declared:\n  groups:\n    - { name: ops, roles: [] }\n${waiver(`rule: declared, for: all, ${OTHERS}, until: 2027-01-31`)}`,
      'extra-role',
      ['waiver-rule "declared"'],
    ],
  ];
  for (const [says, body, is, problems] of rows) {
    it(says, () => {
      const result = check(body, model, DAY + 3_600_000);
      assert.equal(outcome(result), is);
      assert.deepEqual(problemsOf(result), problems);
    });
  }

  it('cannot tell whether there are more than accepted where entries may be one person', () => {
    const twins = acme({ ops: { people: 'ada ben', users: 'u1 u2', roles: 'admin' } });
    const of = (upTo: number) =>
      outcome(
        check(
          `rules:\n  - { id: one, kind: max-holders, role: admin, max: 1 }\n${waiver(`rule: one, for: all, upTo: ${upTo}, ${OTHERS}, until: 2027-01-31`)}`,
          twins,
        ),
      );
    assert.deepEqual([of(1), of(2), of(3), of(4)], ['fail: admin', 'undecided', 'undecided', 'waived: ~admin']);
  });

  for (const zone of ['Pacific/Kiritimati', 'UTC', 'Pacific/Pago_Pago']) {
    it(`applies until the end of its last day in UTC, in ${zone} too`, () => {
      const before = process.env.TZ;
      process.env.TZ = zone;
      try {
        const at = (now: number) =>
          outcome(check(RULE + waiver(`rule: one, for: all, ${OTHERS}, until: 2026-11-22`), model, now));
        assert.equal(at(DAY), 'waived: ~b r-admin');
        assert.equal(at(DAY + 86_399_999), 'waived: ~b r-admin');
        assert.equal(at(DAY + 86_400_000), 'fail: b r-admin');
      } finally {
        if (before === undefined) delete process.env.TZ;
        else process.env.TZ = before;
      }
    });
  }
});
