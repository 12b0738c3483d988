import assert from 'node:assert/strict';
import type { AccessInput } from '../../../../src/core/access/model.ts';
import { checkAccess } from '../../../../src/core/rules/checkAccess.ts';
import { newAccessFile } from '../../../../src/core/rules/newFile.ts';
import { acme, NOON, type Outlines } from './organizations.ts';

describe('a new file of access rules', () => {
  const begin = (groups: Outlines, roles?: string) => {
    const model = acme(groups, roles);
    const text = newAccessFile(model, NOON);
    return { text, result: checkAccess(text, model, { now: NOON }) };
  };

  const ORGANIZATIONS: Readonly<Record<string, Outlines>> = {
    'that is looked after': {
      ops: { people: 'ada ben', roles: 'admin' },
      audit: { people: 'cyd', roles: 'auditor' },
    },
    'whose user IDs repeat its subjects': {
      ops: { people: 'ada ben', users: 'u1 u2', roles: 'admin' },
      audit: { people: 'cyd', users: 'u3', roles: 'auditor' },
    },
    'whose user IDs may repeat its subjects': {
      ops: { people: 'ada ben', users: 'u1', roles: 'admin' },
      audit: { people: 'cyd', users: 'u3', roles: 'auditor' },
    },
    'with an empty group, an unlisted role, and one who is both': {
      ops: { people: 'ada', roles: 'admin secret' },
      audit: { people: 'ada', roles: 'auditor' },
      old: {},
    },
    'with names that are no plain YAML': {
      '# ops: {': { people: 'ada', roles: 'admin' },
      'a\n- id: x': { people: 'ben', roles: 'viewer' },
    },
    'without anything': {},
  };
  for (const [says, groups] of Object.entries(ORGANIZATIONS)) {
    it(`has no problem and no finding in an organization ${says}`, () => {
      const { text, result } = begin(groups);
      assert.deepEqual(
        [result.verdict, result.problems.map(({ message }) => message), result.reasons],
        ['clean', [], []],
        text,
      );
      assert.ok(result.rules.length > 0);
    });
  }

  it('stays what it is whatever roles are called', () => {
    const named = (name: string) => (input: AccessInput) => {
      const items = input.roles.items?.map((one) => ({ ...one, metadata: { ...one.metadata, name } }));
      return { ...input, roles: { ...input.roles, items } };
    };
    for (const name of ['a\nrules: []', '# x', 'a: b', "it's", '*', '']) {
      const model = acme({ ops: { people: 'ada', roles: 'admin' } }, 'admin', named(name));
      const text = newAccessFile(model, NOON);
      const { verdict, problems, rules } = checkAccess(text, model, { now: NOON });
      assert.deepEqual([verdict, problems, rules[0]?.rule.id], ['clean', [], 'few-holders'], text);
    }
  });

  it('has what holds as rules, and what does not as comments that hold once they are true', () => {
    const { text, result } = begin({
      ops: { people: 'ada ben', users: 'u1 u2', roles: 'admin' },
      audit: { people: 'cyd', users: 'u3', roles: 'auditor' },
      old: {},
    });
    assert.deepEqual(
      result.rules.map(({ rule }) => rule.id),
      ['few-holders', 'kept-apart', 'no-unlisted-roles'],
    );
    assert.match(text, /role: admin\n {4}max: 2\n/);
    const uncommented = text.replace(/^ {2}# (?=- id| *kind)/gm, '  ');
    assert.deepEqual(
      checkAccess(uncommented, acme({ ops: { people: 'ada', roles: 'admin' } }), { now: NOON }).rules.map(
        ({ rule }) => rule.id,
      ),
      ['few-holders', 'kept-apart', 'no-unlisted-roles', 'no-empty-groups'],
    );
  });
});
