import assert from 'node:assert/strict';
import { Ajv } from 'ajv';
import { Organizations } from '../../../src/sandbox/identity/api.ts';
import { bigSky } from '../../../src/sandbox/identity/bigSky.ts';
import { MERIDIAN } from '../../../src/sandbox/identity/meridian.ts';
import { type Group, NAME_PATTERN, type Organization, type Role } from '../../../src/sandbox/identity/resources.ts';

const PROVISIONING = ['unknown', 'provisioning', 'provisioned', 'deprovisioning', 'error'];
const HEALTH = ['unknown', 'healthy', 'degraded', 'error'];

const string = { type: 'string' } as const;
const strings = { type: 'array', items: string } as const;
const time = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?Z$' } as const;
const closed = (properties: object, required: string[]): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const metadata = {
  id: string,
  name: { type: 'string', pattern: NAME_PATTERN.source },
  description: string,
  tags: { type: 'array', items: closed({ name: string, value: string }, ['name', 'value']) },
  creationTime: time,
  createdBy: string,
  modifiedTime: time,
  modifiedBy: string,
  deletionTime: time,
  provisioningStatus: { enum: PROVISIONING },
  healthStatus: { enum: HEALTH },
};
const always = ['id', 'name', 'creationTime', 'provisioningStatus', 'healthStatus'];

/** the specification of the identity service "Resources and their fields", written down again; no other member is allowed. */
const groupSchema = closed(
  {
    metadata: closed({ ...metadata, organizationId: string }, [...always, 'organizationId']),
    spec: closed(
      {
        subjects: {
          type: 'array',
          items: closed({ id: string, email: string, issuer: string }, ['id', 'issuer']),
        },
        userIDs: strings,
        serviceAccountIDs: strings,
        roleIDs: strings,
      },
      ['serviceAccountIDs', 'roleIDs'],
    ),
  },
  ['metadata', 'spec'],
);
const { id, name, description, creationTime, provisioningStatus, healthStatus } = metadata;
const roleSchema = closed(
  {
    metadata: closed({ id, name, description, creationTime, provisioningStatus, healthStatus }, [
      ...always,
      'description',
    ]),
  },
  ['metadata'],
);

const ajv = new Ajv({ allErrors: true });
const validGroups = ajv.compile<Group[]>({ type: 'array', items: groupSchema });
const validRoles = ajv.compile<Role[]>({ type: 'array', items: roleSchema });

const sizes: [string, () => Organization][] = [
  ['the hand-written organization', () => MERIDIAN],
  ['the generated organization', () => bigSky(400, 40)],
];

for (const [what, make] of sizes) {
  describe(`sandbox data: ${what}`, () => {
    const { groups, roles, id: organizationId } = make();

    it('has only resources of the specified shape', () => {
      assert.ok(validGroups(groups), ajv.errorsText(validGroups.errors));
      assert.ok(validRoles(roles), ajv.errorsText(validRoles.errors));
    });

    it('is sorted by id, without one id twice', () => {
      for (const list of [groups, roles]) {
        const ids = list.map((item) => item.metadata.id);
        assert.deepEqual(ids, [...new Set(ids)].sort());
      }
    });

    it('shows every provisioning status and every health status', () => {
      for (const list of [groups, roles]) {
        assert.deepEqual(
          [...new Set(list.map((item) => item.metadata.provisioningStatus))].sort(),
          PROVISIONING.sort(),
        );
        assert.deepEqual([...new Set(list.map((item) => item.metadata.healthStatus))].sort(), HEALTH.sort());
      }
    });

    it('belongs to its organization', () => {
      assert.deepEqual([...new Set(groups.map((group) => group.metadata.organizationId))], [organizationId]);
    });
  });
}

describe('sandbox data: what the hand-written organization shows', () => {
  const { groups, roles } = MERIDIAN;
  const some = (test: (group: Group) => boolean): void => assert.ok(groups.some(test));

  it('about twelve groups and eight roles', () => {
    assert.deepEqual([groups.length, roles.length], [12, 9]);
  });

  it('a group that has only what the specification requires', () => {
    const bare = groups.find((group) => group.metadata.name === 'break-glass');
    assert.deepEqual(Object.keys(bare?.metadata ?? {}).sort(), [...always, 'organizationId'].sort());
    assert.deepEqual(bare?.spec, { serviceAccountIDs: [], roleIDs: [] });
  });

  it('tags, one of them with an empty value', () => {
    some((group) => group.metadata.tags?.some((tag) => tag.value === '') === true);
    some((group) => (group.metadata.tags?.length ?? 0) > 1);
  });

  it('subjects with and without an e-mail address, of two issuers', () => {
    const subjects = groups.flatMap((group) => group.spec.subjects ?? []);
    assert.ok(subjects.some((subject) => subject.email === undefined));
    assert.ok(subjects.some((subject) => subject.email !== undefined));
    assert.equal(new Set(subjects.map((subject) => subject.issuer)).size, 2);
  });

  it('users, service accounts, and a group of service accounts only', () => {
    some((group) => (group.spec.userIDs?.length ?? 0) > 2 && group.spec.serviceAccountIDs.length > 0);
    some((group) => group.spec.userIDs?.length === 0 && group.spec.serviceAccountIDs.length > 0);
  });

  it('a role id that no listed role has, and a role no group holds', () => {
    const listed = new Set(roles.map((role) => role.metadata.id));
    const held = new Set(groups.flatMap((group) => group.spec.roleIDs));
    assert.equal([...held].filter((roleId) => !listed.has(roleId)).length, 1);
    assert.equal([...listed].filter((roleId) => !held.has(roleId)).length, 1);
  });

  it('exactly one group being deleted', () => {
    assert.deepEqual(
      groups.filter((group) => group.metadata.deletionTime !== undefined).map((group) => group.metadata.name),
      ['Contractors_2025.Q4'],
    );
  });

  it('changed groups with time and author, and unchanged ones without', () => {
    some((group) => group.metadata.modifiedTime !== undefined && group.metadata.modifiedBy !== undefined);
    some((group) => group.metadata.modifiedTime === undefined && group.metadata.modifiedBy === undefined);
  });
});

describe('sandbox data: the generated organization', () => {
  it('is the same for the same numbers and another for others', () => {
    assert.equal(JSON.stringify(bigSky(100, 10)), JSON.stringify(bigSky(100, 10)));
    assert.notEqual(JSON.stringify(bigSky(100, 10).groups), JSON.stringify(bigSky(100, 11).groups));
  });

  it('has five memberships a group, and roles that are listed', () => {
    const { groups, roles } = bigSky(2000, 50);
    const memberships = groups.reduce((sum, group) => sum + (group.spec.userIDs?.length ?? 0), 0);
    assert.ok(Math.abs(memberships / groups.length - 5) < 0.3, String(memberships / groups.length));
    const listed = new Set(roles.map((role) => role.metadata.id));
    assert.ok(
      groups.every((group) => group.spec.roleIDs.length > 0 && group.spec.roleIDs.every((id) => listed.has(id))),
    );
  });

  it('bears the smallest sizes', () => {
    assert.deepEqual([bigSky(0, 0).groups, bigSky(0, 0).roles], [[], []]);
    assert.equal(bigSky(1, 0).groups.length, 1);
  });

  it('is generated on demand and serialized once', () => {
    const organizations = new Organizations({ groups: 50, roles: 3 });
    const body = organizations.body('big-sky', 'groups');
    assert.equal((JSON.parse(String(body)) as unknown[]).length, 50);
    assert.equal(organizations.body('big-sky', 'groups'), body);
    assert.equal(organizations.body('nowhere', 'groups'), undefined);
  });
});
