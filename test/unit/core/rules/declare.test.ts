import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { AccessGroup, AccessSubject } from '../../../../src/core/access/model.ts';
import { type AccessModel, buildModel } from '../../../../src/core/access/model.ts';
import { readAccessFile } from '../../../../src/core/rules/accessFile.ts';
import { checkAccess } from '../../../../src/core/rules/checkAccess.ts';
import { acceptDrift, addWaiver, declareAccess } from '../../../../src/core/rules/declare.ts';
import { runs } from '../../runs.ts';
import { input, organizations } from '../access/organizations.ts';
import { acme, file, NOON, ROLES } from './organizations.ts';

const checked = (text: string, model: AccessModel) => checkAccess(text, model, { now: NOON });

/** Organizations as services give them: each group has an id of its own, each subject one e-mail address or none. */
const distinct = organizations.map(({ groups, roles }) => {
  const seen = new Set<string>();
  const emails = new Map<string, string | null>();
  const known = (subject: AccessSubject): AccessSubject => {
    const key = `${subject.issuer}\n${subject.id}`;
    const email = emails.get(key) ?? subject.email ?? null;
    emails.set(key, email);
    return { ...subject, email };
  };
  const own = groups.filter(({ metadata: { id } }) => !seen.has(id) && seen.add(id));
  for (const { spec } of own) spec.subjects.forEach(known);
  return {
    roles,
    groups: own.map((group) => ({ ...group, spec: { ...group.spec, subjects: group.spec.subjects.map(known) } })),
  };
});

describe('a declaration of what there is', function () {
  this.timeout(30_000);
  it('is clean against the same reading, whatever names and ids there are', () => {
    fc.assert(
      fc.property(distinct, ({ groups, roles }) => {
        const model = buildModel(input(groups, roles));
        const { verdict, problems, drift } = checked(declareAccess(model), model);
        assert.deepEqual([verdict, problems, drift?.findings], ['clean', [], []]);
      }),
      runs(50),
    );
  });

  it('finds any single change', () => {
    const change = fc.constantFrom(
      'role',
      'noRole',
      'subject',
      'noSubject',
      'user',
      'noUser',
      'account',
      'noAccount',
      'group',
      'noGroup',
      'name',
      'deletion',
    );
    fc.assert(
      fc.property(distinct, change, fc.nat(), ({ groups, roles }, kind, at) => {
        const text = declareAccess(buildModel(input(groups, roles)));
        const changed = changedBy(kind, groups, at);
        fc.pre(changed !== undefined);
        const { verdict } = checked(text, buildModel(input(changed, roles)));
        assert.notEqual(verdict, 'clean', kind);
      }),
      runs(120),
    );
  });

  it('is the same text for the same access, in whatever order it comes', () => {
    fc.assert(
      fc.property(distinct, ({ groups, roles }) => {
        const turned = [...groups].reverse();
        assert.equal(declareAccess(buildModel(input(turned, roles))), declareAccess(buildModel(input(groups, roles))));
      }),
      runs(10),
    );
  });

  it('reads well', () => {
    const model = acme({
      ops: { people: 'ben ada', users: 'u1', roles: 'viewer admin' },
      audit: { subjects: [{ id: '007', issuer: 'https://i' }], accounts: 'x' },
      old: { people: 'ada', deleted: '2026-01-01T00:00:00Z' },
    });
    assert.equal(
      declareAccess(model),
      `format: rolecall.access-rules
version: 1
organization: acme
declared:
  complete: true
  groups:
    - name: audit
      id: g-audit
      roles: []
      members:
        - { issuer: https://i, subject: "007" }
      serviceAccounts:
        - x

    - name: ops
      id: g-ops
      roles:
        - admin
        - viewer
      members:
        - ada@acme.example
        - ben@acme.example
        - user:u1
      serviceAccounts: []
`,
    );
  });

  it('takes the place of what a file declares, and keeps the rest with its comments', () => {
    const before = file(
      '# why\nrules: # all\n  - { id: a, kind: no-empty-groups } # one\ndeclared:\n  groups: []\nwaivers: []\n',
    );
    const after = declareAccess(acme({ ops: { people: 'ada' } }), before);
    for (const kept of ['# why', '# all', '{ id: a, kind: no-empty-groups } # one', 'waivers: []'])
      assert.ok(after.includes(kept), after);
    assert.match(after, /complete: true/);
  });

  it('leaves brackets, quotes, indentation and line ends as they are', () => {
    const before = file(
      `rules:\n- {id: a, kind: no-empty-groups}\n- { id: 'b', kind: naming, of: groups, match: ["*", 'x'] }\n`,
    );
    const model = acme({ ops: { people: 'ada' } });
    assert.ok(declareAccess(model, before).startsWith(before), declareAccess(model, before));
    const onWindows = before.replaceAll('\n', '\r\n');
    assert.ok(declareAccess(model, onWindows).startsWith(onWindows));
    assert.doesNotMatch(declareAccess(model, onWindows), /(?<!\r)\n/);
  });

  it('is refused where groups are missing', () => {
    const partial = acme({ ops: {} }, ROLES, (it) => ({ ...it, groups: { ...it.groups, malformed: 1 } }));
    assert.throws(() => declareAccess(partial), /Not all groups could be read/);
    const unread = acme({}, ROLES, (it) => ({ ...it, groups: { ...it.groups, items: undefined } }));
    assert.throws(() => declareAccess(unread), /Not all groups could be read/);
  });
});

describe('accepting drift', function () {
  this.timeout(30_000);
  it('leads to a clean file, one difference after the other', () => {
    fc.assert(
      fc.property(distinct, distinct, (declaredThen, now) => {
        const model = buildModel(input(now.groups, now.roles));
        let text = declareAccess(buildModel(input(declaredThen.groups, declaredThen.roles)));
        for (let left = 200; left > 0; left -= 1) {
          const [finding] = checked(text, model).drift?.findings ?? [];
          if (finding === undefined) break;
          text = acceptDrift(text, finding, model);
        }
        assert.deepEqual(checked(text, model).drift?.findings, []);
      }),
      runs(8),
    );
  });

  it('keeps comments', () => {
    const text = file(
      'declared:\n  groups:\n    - name: ops # the team\n      # by e-mail\n      members:\n        - ada@acme.example # lead\n',
    );
    const model = acme({ ops: { people: 'ada ben' } });
    const [finding] = checked(text, model).drift?.findings ?? [];
    assert.ok(finding);
    const expected = text.replace('# lead\n', '# lead\n        - ben@acme.example\n');
    assert.equal(acceptDrift(text, finding, model), expected);
  });
});

describe('adding a waiver', () => {
  it('puts it among the others by rule, and keeps what is there', () => {
    const waiver = {
      rule: 'b',
      for: 'ada@acme.example',
      owner: 'ben@acme.example',
      reason: 'T: 1',
      until: '2027-01-31',
    };
    const before = file('rules: [] # none\nwaivers:\n  - { rule: c, for: all } # last\n');
    const after = addWaiver(before, waiver);
    assert.match(
      after,
      /waivers:\n {2}- \{ rule: b, for: ada@acme\.example, owner: ben@acme\.example, reason: "T: 1", until: 2027-01-31 \}\n {2}- \{ rule: c, for: all \} # last\n$/,
    );
    assert.match(addWaiver(file('rules: []\n'), waiver), /\nwaivers:\n {2}- \{ rule: b,/);
    const dead = file('waivers:\n  - { rule: b, for: all, reason: T, until: 2026-01-31 } # why\n');
    const [old] = readAccessFile(dead.replace('reason', 'owner: x, reason')).waivers;
    assert.match(
      addWaiver(dead, waiver, old),
      /waivers:\n {2}- \{ rule: b, for: ada@acme\.example, reason: "T: 1", until: 2027-01-31, owner: .* \} # why\n$/,
      'in the place of one that has expired',
    );
    assert.equal(readAccessFile(addWaiver(dead.replace('reason: T', 'reason: U'), waiver, old)).waivers.length, 1);
    for (const broken of ['rules: [', 'rules: []\nrules: []\n', `${'  a: '.repeat(4000)}|\n x\n`]) {
      assert.throws(() => addWaiver(broken, waiver), /has errors/);
    }
  });
});

function changedBy(kind: string, groups: readonly AccessGroup[], at: number): readonly AccessGroup[] | undefined {
  const staying = groups.filter(({ metadata }) => !metadata.deletionTime);
  const one = staying[at % Math.max(1, staying.length)];
  if (kind === 'group') {
    const metadata = { id: 'new', name: 'new', tags: [], creationTime: '', provisioningStatus: '', healthStatus: '' };
    return [...groups, { metadata, spec: { subjects: [], userIDs: [], serviceAccountIDs: [], roleIDs: [] } }];
  }
  if (one === undefined) return undefined;
  const { subjects, userIDs, serviceAccountIDs = [], roleIDs = [] } = one.spec;
  const spec = (change: Partial<AccessGroup['spec']>) => ({ ...one, spec: { ...one.spec, ...change } });
  const without = <T>(list: readonly T[], key: (item: T) => string): readonly T[] | undefined => {
    const item = list[at % Math.max(1, list.length)];
    return item === undefined ? undefined : list.filter((other) => key(other) !== key(item));
  };
  const replaced = (by: AccessGroup | undefined) => by && groups.map((other) => (other === one ? by : other));
  const text = (value: string) => value;
  const taken = <T>(list: readonly T[] | undefined, make: (list: readonly T[]) => AccessGroup) =>
    list ? replaced(make(list)) : undefined;
  switch (kind) {
    case 'role':
      return replaced(spec({ roleIDs: [...roleIDs, 'new'] }));
    case 'noRole':
      return taken(without(roleIDs, text), (left) => spec({ roleIDs: left }));
    case 'subject':
      return replaced(spec({ subjects: [...subjects, { id: 'new', issuer: 'https://one.example', email: 'new@x' }] }));
    case 'noSubject':
      return taken(
        without(subjects, ({ id, issuer }) => `${issuer}\n${id}`),
        (left) => spec({ subjects: left }),
      );
    case 'user':
      return replaced(spec({ userIDs: [...userIDs, 'new'] }));
    case 'noUser':
      return taken(without(userIDs, text), (left) => spec({ userIDs: left }));
    case 'account':
      return replaced(spec({ serviceAccountIDs: [...serviceAccountIDs, 'new'] }));
    case 'noAccount':
      return taken(without(serviceAccountIDs, text), (left) => spec({ serviceAccountIDs: left }));
    case 'noGroup':
      return groups.filter((other) => other !== one);
    case 'name':
      return replaced({ ...one, metadata: { ...one.metadata, name: `${one.metadata.name}!` } });
    default:
      return replaced({ ...one, metadata: { ...one.metadata, deletionTime: '2026-01-01T00:00:00Z' } });
  }
}
