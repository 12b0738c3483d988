import assert from 'node:assert/strict';
import {
  type Group,
  HEALTH_STATUSES,
  NAME_PATTERN,
  normalizeHealthStatus,
  normalizeProvisioningStatus,
  PROVISIONING_STATUSES,
  rawOf,
  readGroups,
  readOrganizations,
  readRoles,
} from '../../../../src/core/identity/schemas.ts';
import { fixture } from './fixtures.ts';

const first = (body: unknown): Group => readGroups(body)?.items[0] ?? assert.fail('no group was read');

describe('groups as the specification describes them', () => {
  it('every field arrives', () => {
    const raw = fixture('groups.json');
    const listing = readGroups(raw);
    assert.deepEqual(listing?.malformed, []);
    assert.deepEqual(listing?.items[0], raw[0]);
  });

  it('absent optional lists are empty lists, absent optional texts stay absent', () => {
    const group = readGroups(fixture('groups.json'))?.items[1] ?? assert.fail();
    assert.deepEqual(group.spec, { subjects: [], userIDs: [], serviceAccountIDs: [], roleIDs: [] });
    assert.deepEqual(group.metadata.tags, []);
    assert.equal('description' in group.metadata, false);
  });

  it('a list that every group has to have is not known where it is absent, and empty where it is null', () => {
    const [whole] = fixture('groups.json');
    const { roleIDs: _roles, serviceAccountIDs: _accounts, ...spec } = whole.spec;
    const nulls = { ...spec, roleIDs: null, serviceAccountIDs: null };
    const read = readGroups([
      { ...whole, spec },
      { ...whole, spec: nulls },
    ])?.items.map((group) => group.spec);
    assert.deepEqual(
      read?.map(({ roleIDs, serviceAccountIDs }) => [roleIDs, serviceAccountIDs]),
      [
        [undefined, undefined],
        [[], []],
      ],
    );
  });

  it('`null` stands for absent, unknown statuses and members are kept', () => {
    const group = first(fixture('groups-newer.json'));
    assert.deepEqual(group.spec, { subjects: [], userIDs: [], serviceAccountIDs: [], roleIDs: [], priority: 3 });
    assert.deepEqual([group.metadata.provisioningStatus, group.metadata.healthStatus], ['quarantined', 'flapping']);
    assert.equal(group.metadata.projectId, 'p-17');
    assert.deepEqual(group.links, { self: '/api/v1/organizations/acme/groups/newer' });
  });

  it('the two enumerations are those of the specification', () => {
    assert.deepEqual(PROVISIONING_STATUSES, ['unknown', 'provisioning', 'provisioned', 'deprovisioning', 'error']);
    assert.deepEqual(HEALTH_STATUSES, ['unknown', 'healthy', 'degraded', 'error']);
  });

  it('names match the pattern of the specification', () => {
    for (const name of ['x', '7', 'platform-admins', 'a_b.c-d', 'x'.repeat(63)]) assert.match(name, NAME_PATTERN);
    for (const name of ['', '-a', 'a-', '.a', 'a b', 'ü', 'x'.repeat(64)]) assert.doesNotMatch(name, NAME_PATTERN);
  });
});

describe('roles', () => {
  it('have metadata and no spec; unknown members such as `grantable` are kept', () => {
    const raw = fixture('roles.json');
    assert.deepEqual(readRoles(raw), { items: raw, malformed: [] });
  });

  it('an empty list arrives as null in the specified version', () => {
    assert.deepEqual(readRoles(fixture('roles-empty.json')), { items: [], malformed: [] });
    assert.deepEqual(readRoles([]), { items: [], malformed: [] });
    assert.deepEqual(readGroups(null), { items: [], malformed: [] });
  });
});

describe('what is not a list is no empty list', () => {
  for (const body of [undefined, {}, { items: [] }, 'groups', 0, true]) {
    it(JSON.stringify(body) ?? 'nothing', () => {
      assert.equal(readGroups(body), undefined);
      assert.equal(readRoles(body), undefined);
      assert.equal(readOrganizations(body), undefined);
    });
  }
});

describe('a malformed item', () => {
  const good = fixture('groups.json')[1];
  const withMetadata = (change: object) => ({ ...good, metadata: { ...good.metadata, ...change } });
  const rows: readonly [what: string, raw: unknown, path: string, reason: string][] = [
    ['no object', 'oops', '', 'not of type object'],
    ['null', null, '', 'not of type object'],
    ['no metadata', { spec: good.spec }, 'metadata', 'not of type object'],
    ['no spec', { metadata: good.metadata }, 'spec', 'not of type object'],
    ['an id that is a number', withMetadata({ id: 7 }), 'metadata.id', 'not of type string'],
    ['an empty id', withMetadata({ id: '' }), 'metadata.id', 'empty'],
    ['no name', withMetadata({ name: undefined }), 'metadata.name', 'not of type string'],
    ['a status that is no text', withMetadata({ healthStatus: 3 }), 'metadata.healthStatus', 'not of type string'],
    ['a tag without value', withMetadata({ tags: [{ name: 'a' }] }), 'metadata.tags.0.value', 'not of type string'],
    ['roleIDs that is no list', { ...good, spec: { roleIDs: 'a' } }, 'spec.roleIDs', 'not of type array'],
    ['a role id that is null', { ...good, spec: { roleIDs: ['a', null] } }, 'spec.roleIDs.1', 'not of type string'],
    [
      'a subject without issuer',
      { ...good, spec: { subjects: [{ id: 'a' }] } },
      'spec.subjects.0.issuer',
      'not of type string',
    ],
  ];
  for (const [what, raw, path, reason] of rows) {
    it(`${what}: ${path || 'the item itself'} is ${reason}`, () => {
      assert.deepEqual(readGroups([raw]), { items: [], malformed: [{ index: 0, path, reason, raw }] });
    });
  }

  it('among a thousand hides none of the others', () => {
    const body = Array.from({ length: 1000 }, (_, index) => withMetadata({ id: `g${index}` }));
    body[500] = withMetadata({ id: 7 });
    const listing = readGroups(body);
    assert.equal(listing?.items.length, 999);
    assert.deepEqual(
      listing?.malformed.map(({ index, path }) => [index, path]),
      [[500, 'metadata.id']],
    );
    assert.deepEqual(
      [listing?.items[499], listing?.items[500]].map((group) => group?.metadata.id),
      ['g499', 'g501'],
    );
  });
});

describe('what the service sent', () => {
  it('is there for every item, also where a list was null or absent', () => {
    for (const name of ['groups.json', 'groups-newer.json']) {
      const raw = fixture(name);
      assert.deepEqual(readGroups(raw)?.items.map(rawOf), raw);
    }
    const roles = fixture('roles.json');
    assert.deepEqual(readRoles(roles)?.items.map(rawOf), roles);
  });
});

describe('a status', () => {
  it('means what the specification says, and `unknown` where it is silent', () => {
    for (const known of HEALTH_STATUSES) assert.equal(normalizeHealthStatus(known), known);
    for (const known of PROVISIONING_STATUSES) assert.equal(normalizeProvisioningStatus(known), known);
    for (const other of ['flapping', '', 'Healthy', 'toString']) {
      assert.deepEqual([normalizeHealthStatus(other), normalizeProvisioningStatus(other)], ['unknown', 'unknown']);
    }
  });
});

describe('organizations, where the service lists them', () => {
  it('need an id, and nothing else', () => {
    const listing = readOrganizations(fixture('organizations.json'));
    assert.deepEqual(
      listing?.items.map(({ metadata }) => [metadata.id, metadata.name]),
      [
        ['acme', 'acme-corporation'],
        ['nameless', undefined],
      ],
    );
    assert.equal(listing?.malformed.length, 1);
    const odd = [{ metadata: { id: 'a', name: null } }, { metadata: { id: '' } }];
    assert.deepEqual(
      readOrganizations(odd)?.items.map(({ metadata }) => metadata.id),
      ['a'],
    );
  });
});
