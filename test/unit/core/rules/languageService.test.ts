import assert from 'node:assert/strict';
import { ACCESS_FILE_SCHEMA, RULE_KINDS } from '../../../../src/core/rules/accessFile.ts';
import { schemaCompletions, schemaHover } from '../../../../src/core/rules/languageService.ts';
import { acme, file } from './organizations.ts';

const model = acme({ ops: { people: 'ada', accounts: 'x', roles: 'admin' }, 'a b': { roles: 'viewer' } });
const known = { model, organizations: ['acme', 'other'] };

/** What is offered at `|`, and the text that it replaces. */
function offered(marked: string): {
  readonly labels: readonly string[];
  readonly replaces: string;
  readonly inserts: readonly string[];
} {
  const offset = marked.indexOf('|');
  const text = marked.replace('|', '');
  const found = schemaCompletions(text, offset, ACCESS_FILE_SCHEMA, known);
  return {
    labels: found?.items.map(({ label }) => label) ?? [],
    inserts: found?.items.map(({ insert }) => insert) ?? [],
    replaces: found ? text.slice(found.place.start, found.place.end) : '',
  };
}

describe('completion in access rules', () => {
  const rows: readonly (readonly [says: string, text: string, includes: readonly string[], replaces: string])[] = [
    ['offers the keys at the top', file('ru|'), ['rules', 'waivers', 'declared'], 'ru'],
    ['offers the kinds', file('rules:\n  - id: a\n    kind: |'), Object.keys(RULE_KINDS), ''],
    [
      'offers the keys of the kind',
      file('rules:\n  - id: a\n    kind: only-through\n    |'),
      ['role', 'groups', 'except'],
      '',
    ],
    ['offers roles', file('rules:\n  - id: a\n    kind: only-through\n    role: ad|'), ['admin', 'viewer'], 'ad'],
    [
      'offers groups in a list of one line',
      file('rules:\n  - { id: a, kind: only-through, groups: [ops, o|] }'),
      ['ops', 'a b'],
      'o',
    ],
    [
      'offers roles where a bracket is not closed yet',
      file('rules:\n  - id: a\n    roles: [admin, vi|\n    kind: separation-of-duties\n    max: 1\n'),
      ['admin', 'viewer'],
      'vi',
    ],
    [
      'offers roles where only the brace after it is closed',
      file('rules:\n  - { id: a, roles: [ad|, kind: separation-of-duties }\n'),
      ['admin'],
      'ad',
    ],
    [
      'offers groups and replaces no other line where brackets and a quote are open',
      file('rules:\n  - id: a\n    groups: [\n      ops, "o|\n    kind: only-through\n    role: admin\n'),
      ['ops', 'a b'],
      '"o',
    ],
    [
      'offers groups and keeps what follows where a quote is open in the middle of a line',
      file('rules:\n  - { id: a, kind: only-through, role: admin, groups: ["o|, audit] }\n'),
      ['ops', 'a b'],
      '"o',
    ],
    [
      'offers groups in a list of several lines',
      file('rules:\n  - id: a\n    kind: only-through\n    groups:\n      - |'),
      ['ops'],
      '',
    ],
    [
      'offers people',
      file('rules:\n  - { id: a, kind: allowed-holders, holders: [|] }'),
      ['ada@acme.example', 'serviceAccount:x'],
      '',
    ],
    ['offers rules and subjects of waivers', file('rules:\n  - { id: mine }\nwaivers:\n  - { rule: | }'), ['mine'], ''],
    [
      'offers what a waiver can be for',
      file('waivers:\n  - { rule: a, for: | }'),
      ['group:ops', 'role:admin', 'ada@acme.example'],
      '',
    ],
    ['offers organizations', 'organization: |', ['acme', 'other'], ''],
    ['offers severities', file('rules:\n  - { id: a, severity: | }'), ['error', 'warning', 'info'], ''],
  ];
  for (const [says, text, includes, replaces] of rows) {
    it(says, () => {
      const found = offered(text);
      for (const label of includes) assert.ok(found.labels.includes(label), `${label} in ${found.labels}`);
      assert.equal(found.replaces, replaces);
    });
  }

  it('explains each kind that it offers', () => {
    const found = schemaCompletions(
      file('rules:\n  - { id: a, kind: }'),
      file('rules:\n  - { id: a, kind: ').length,
      ACCESS_FILE_SCHEMA,
      known,
    );
    const details = new Map(found?.items.map(({ label, detail }) => [label, detail]));
    assert.equal(details.get('only-through'), 'Only these groups have the role, with or without members.');
    assert.ok([...details.values()].every((detail) => detail !== undefined));
  });

  it('offers no key twice, and quotes what YAML would take for something else', () => {
    assert.ok(!offered(file('|')).labels.includes('organization'));
    assert.ok(offered(file('rules:\n  - { id: a, kind: only-through, groups: [|] }')).inserts.includes('"a b"'));
  });

  it('puts the space after the colon of a key, and none after that of a reference', () => {
    const after = offered(file('rules:\n  - id: a\n    kind:|\n'));
    assert.deepEqual([after.inserts.includes(' naming'), after.replaces], [true, '']);
    assert.ok(offered(file('rules:\n  - { id: a, kind:|, of: groups }')).inserts.includes(' naming'));
    const list = offered(
      file('rules:\n  - id: a\n    kind: allowed-holders\n    holders:\n      - serviceAccount:|\n'),
    );
    assert.deepEqual([list.inserts.includes('serviceAccount:x'), list.replaces], [true, 'serviceAccount:']);
  });

  it('offers nothing where nothing is known', () => {
    assert.deepEqual(offered(file('rules:\n  - { id: | }')).labels, []);
    assert.deepEqual(offered('rules: [[[|').labels, []);
  });
});

describe('hover in access rules', () => {
  const linesAt = (marked: string) => {
    const found = schemaHover(marked.replace('|', ''), marked.indexOf('|'), ACCESS_FILE_SCHEMA, model);
    return found?.lines.join('\n');
  };
  it('explains keys, and what a name stands for', () => {
    assert.match(
      linesAt(file('rules:\n  - { id: a, kind: only-through, gr|oups: [] }')) ?? '',
      /The groups that can have it/,
    );
    assert.equal(
      linesAt(file('rules:\n  - { id: a, kind: only-through, groups: [o|ps] }')),
      'ops: 1 role, 1 subject, 1 service account',
    );
    assert.equal(
      linesAt(file('rules:\n  - { id: a, kind: only-through, role: ad|min }')),
      'admin: 1 group, 1 subject, 1 service account',
    );
    assert.equal(linesAt(file('waivers:\n  - { rule: a, for: ad|a@acme.example }')), 'ada@acme.example: ops');
    assert.equal(linesAt(file('rules:\n  - { id: |a }')), undefined);
    assert.equal(
      linesAt(file('rules:\n  - { id: a, kind: no-un|used-roles }')),
      'Every role is used by at least one group.',
      'a kind',
    );
    assert.equal(linesAt(file('rules:\n  - { id: a, kind: no|ne }')), undefined);
    assert.equal(linesAt(file('rules:\n  - { id: a, kind: no-unused-roles, severity: er|ror }')), undefined);
  });
});
