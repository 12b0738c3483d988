import assert from 'node:assert/strict';
import type { AccessInput } from '../../../../src/core/access/model.ts';
import { checkAccess } from '../../../../src/core/rules/checkAccess.ts';
import { acme, check, NOON, outcome, ROLES } from './organizations.ts';

/** What a reading lacks. */
const lacking = {
  groupsUnread: (it: AccessInput) => ({ ...it, groups: { ...it.groups, items: undefined, problem: '403' } }),
  rolesUnread: (it: AccessInput) => ({ ...it, roles: { ...it.roles, items: undefined, problem: '403' } }),
  groupsMalformed: (it: AccessInput) => ({ ...it, groups: { ...it.groups, malformed: 1 } }),
  rolesMalformed: (it: AccessInput) => ({ ...it, roles: { ...it.roles, malformed: 1 } }),
  stale: (it: AccessInput) => ({ ...it, groups: { ...it.groups, problem: 'offline' } }),
} satisfies Record<string, (input: AccessInput) => AccessInput>;

const groups = {
  ops: { people: 'ada', roles: 'admin' },
  audit: { people: 'ben', roles: 'auditor' },
  rest: { people: 'cyd', roles: 'billing viewer' },
};

/** A rule, and its status with the whole reading and with each of those that lack something. */
const rows: readonly (readonly [rule: string, whole: string, Readonly<Record<keyof typeof lacking, string>>])[] = [
  [
    'kind: separation-of-duties, roles: [admin, auditor]',
    'pass',
    {
      groupsUnread: 'undecided',
      rolesUnread: 'undecided',
      groupsMalformed: 'undecided',
      rolesMalformed: 'pass',
      stale: 'undecided',
    },
  ],
  [
    'kind: max-holders, role: "id:r-admin", max: 1',
    'pass',
    {
      groupsUnread: 'undecided',
      rolesUnread: 'pass',
      groupsMalformed: 'undecided',
      rolesMalformed: 'pass',
      stale: 'undecided',
    },
  ],
  [
    'kind: max-holders, role: admin, max: 0',
    'fail',
    {
      groupsUnread: 'undecided',
      rolesUnread: 'undecided',
      groupsMalformed: 'fail',
      rolesMalformed: 'fail',
      stale: 'fail',
    },
  ],
  [
    'kind: max-holders, role: "a*", max: 1',
    'pass',
    {
      groupsUnread: 'undecided',
      rolesUnread: 'undecided',
      groupsMalformed: 'undecided',
      rolesMalformed: 'undecided',
      stale: 'undecided',
    },
  ],
  [
    'kind: max-holders, role: adminn, max: 1',
    'undecided',
    {
      groupsUnread: 'undecided',
      rolesUnread: 'undecided',
      groupsMalformed: 'undecided',
      rolesMalformed: 'undecided',
      stale: 'undecided',
    },
  ],
  [
    'kind: min-holders, role: admin, min: 1',
    'pass',
    {
      groupsUnread: 'undecided',
      rolesUnread: 'undecided',
      groupsMalformed: 'pass',
      rolesMalformed: 'pass',
      stale: 'undecided',
    },
  ],
  [
    'kind: min-holders, role: admin, min: 2',
    'fail',
    {
      groupsUnread: 'undecided',
      rolesUnread: 'undecided',
      groupsMalformed: 'undecided',
      rolesMalformed: 'fail',
      stale: 'fail',
    },
  ],
  [
    'kind: only-through, role: admin, groups: [ops]',
    'pass',
    {
      groupsUnread: 'undecided',
      rolesUnread: 'undecided',
      groupsMalformed: 'undecided',
      rolesMalformed: 'pass',
      stale: 'undecided',
    },
  ],
  [
    'kind: no-unused-roles',
    'pass',
    {
      groupsUnread: 'undecided',
      rolesUnread: 'undecided',
      groupsMalformed: 'pass',
      rolesMalformed: 'undecided',
      stale: 'undecided',
    },
  ],
  [
    'kind: no-unlisted-roles',
    'pass',
    {
      groupsUnread: 'undecided',
      rolesUnread: 'undecided',
      groupsMalformed: 'undecided',
      rolesMalformed: 'pass',
      stale: 'undecided',
    },
  ],
  [
    'kind: naming, of: groups, match: ["*"]',
    'pass',
    {
      groupsUnread: 'undecided',
      rolesUnread: 'pass',
      groupsMalformed: 'undecided',
      rolesMalformed: 'pass',
      stale: 'undecided',
    },
  ],
  [
    'kind: naming, of: roles, match: ["*"]',
    'pass',
    {
      groupsUnread: 'pass',
      rolesUnread: 'undecided',
      groupsMalformed: 'pass',
      rolesMalformed: 'undecided',
      stale: 'pass',
    },
  ],
  [
    'kind: naming, of: groups, match: [o]',
    'fail',
    { groupsUnread: 'undecided', rolesUnread: 'fail', groupsMalformed: 'fail', rolesMalformed: 'fail', stale: 'fail' },
  ],
];

describe('a reading that lacks something', () => {
  for (const [rule, whole, partial] of rows) {
    it(`is never clean for: ${rule}`, () => {
      const statusOf = (change?: (input: AccessInput) => AccessInput) =>
        check(`rules:\n  - { id: it, ${rule} }\n`, acme(groups, ROLES, change)).rules[0]?.status;
      assert.equal(statusOf(), whole);
      const statuses = Object.fromEntries(Object.entries(lacking).map(([name, change]) => [name, statusOf(change)]));
      assert.deepEqual(statuses, partial);
    });
  }

  it('turns roles that are not listed and roles that are not used into "cannot tell" where they may be among the malformed', () => {
    const status = (
      rule: string,
      organization: Parameters<typeof acme>[0],
      change?: (input: AccessInput) => AccessInput,
    ) => check(`rules:\n  - { id: it, kind: ${rule} }\n`, acme(organization, ROLES, change)).rules[0]?.status;
    const secret = { ...groups, more: { roles: 'secret' } };
    assert.equal(status('no-unlisted-roles', secret), 'fail');
    assert.equal(status('no-unlisted-roles', secret, lacking.rolesMalformed), 'undecided');
    assert.equal(status('no-unlisted-roles', secret, lacking.groupsMalformed), 'fail');
    const unused = { ops: groups.ops };
    assert.equal(status('no-unused-roles', unused, lacking.groupsMalformed), 'undecided');
    assert.equal(status('no-unused-roles', unused, lacking.rolesMalformed), 'fail');
  });

  it('keeps findings, with their age', () => {
    const model = acme({ ...groups, ops: { people: 'ada', roles: 'admin auditor' } }, ROLES, lacking.stale);
    const result = check('rules:\n  - { id: it, kind: separation-of-duties, roles: [admin, auditor] }\n', model);
    const [finding] = result.rules[0]?.findings ?? [];
    assert.match(finding?.message ?? '', /\(as of 2026-03-01 12:00 UTC\)$/);
    assert.equal(finding?.staleSince, model.at);
  });

  it('cannot tell where a list of a group was not sent', () => {
    const model = acme(groups, ROLES, (it) => {
      const items = it.groups.items?.map((one) => ({ ...one, spec: { ...one.spec, roleIDs: undefined } }));
      return { ...it, groups: { ...it.groups, items } };
    });
    for (const rule of [
      'no-groups-without-roles',
      'only-through, role: admin, groups: []',
      'min-holders, role: admin, min: 1',
    ]) {
      assert.equal(outcome(check(`rules:\n  - { id: it, kind: ${rule} }\n`, model)), 'undecided', rule);
    }
    assert.equal(outcome(check('rules:\n  - { id: it, kind: naming, of: groups, match: ["*"] }\n', model)), 'pass');
  });

  it('leaves rules for information out of the verdict', () => {
    const info = (rule: string) =>
      check(`rules:\n  - { id: it, severity: info, kind: ${rule} }\n`, acme(groups, ROLES, lacking.rolesUnread));
    assert.equal(info('max-holders, role: "id:r-admin", max: 0').verdict, 'clean');
    assert.equal(info('max-holders, role: admin, max: 0').verdict, 'clean');
  });
});

describe('the offer to take user IDs for repeated subjects', () => {
  const twins = acme({ ops: { people: 'ada ben', users: 'u1 u2', roles: 'admin' } });
  const rules = 'rules: [{ id: few, kind: max-holders, role: admin, max: 2 }]';
  /** The text with the offered fix, or what stands in place of one. */
  const mended = (text: string, model = twins) => {
    const found = checkAccess(text, model, { now: NOON }).problems.find(({ code }) => code === 'duplicate-people');
    const [edit] = found?.fixes?.[0]?.edits ?? [];
    if (!found || !edit) return found?.message;
    const after = text.slice(0, edit.start) + edit.text + text.slice(edit.end);
    assert.equal(checkAccess(after, model, { now: NOON }).rules[0]?.status, 'pass', after);
    return after;
  };
  const head = 'format: rolecall.access-rules\nversion: 1\n';

  it('is written below the organization, however that is written', () => {
    const line = 'identity: { userIds: duplicates }';
    for (const [text, expected] of [
      [`${head}organization: acme # us\n${rules}\n`, `${head}organization: acme # us\n${line}\n${rules}\n`],
      [`${head}"organization": 'acme'\n${rules}\n`, `${head}"organization": 'acme'\n${line}\n${rules}\n`],
      [`${head}organization:\n  acme\n${rules}\n`, `${head}organization:\n  acme\n${line}\n${rules}\n`],
      [`${rules}\n${head}organization: acme`, `${rules}\n${head}organization: acme\n${line}`],
      [
        `${head}organization: acme\n${rules}\n`.replaceAll('\n', '\r\n'),
        `${head}organization: acme\n${line}\n${rules}\n`.replaceAll('\n', '\r\n'),
      ],
      [
        `{ format: rolecall.access-rules, version: 1, organization: acme,\n  ${rules} }`,
        `{ format: rolecall.access-rules, version: 1, organization: acme, ${line},\n  ${rules} }`,
      ],
      // Not the key of that name in a comment.
      [
        `# organization: acme\n${head}organization: acme\n${rules}`,
        `# organization: acme\n${head}organization: acme\n${line}\n${rules}`,
      ],
    ] as const)
      assert.equal(mended(text), expected);
  });

  it('is made only with evidence, and where nothing is said yet', () => {
    const text = `${head}organization: acme\n${rules}\n`;
    const unequal = acme({
      ops: { people: 'ada ben', users: 'u1 u2', roles: 'admin' },
      dev: { people: 'cyd', users: 'u3 u4' },
    });
    assert.match(mended(text, unequal) ?? '', /only 1 of 2 groups/);
    assert.match(mended(`${text}identity: { userIds: unknown }\n`) ?? '', /1 of 1 groups/);
  });
});
