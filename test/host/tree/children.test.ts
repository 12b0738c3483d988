import assert from 'node:assert/strict';
import { RolecallError } from '../../../src/core/base/errors.ts';
import type { OrganizationAccess } from '../../../src/core/identity/directory.ts';
import { readGroups, readRoles } from '../../../src/core/identity/schemas.ts';
import {
  groupChildren,
  groupNodes,
  organizationChildren,
  roleChildren,
  roleNodes,
} from '../../../src/host/tree/children.ts';
import { IdGiver, type Node } from '../../../src/host/tree/nodes.ts';

const organization = { kind: 'organization', id: 'o', organization: 'm' } as const;
const groupsSection = { kind: 'groups', id: 'o/groups', organization: 'm', count: 0 } as const;
const rolesSection = { kind: 'roles', id: 'o/roles', organization: 'm', count: 0 } as const;

const metadata = (id: string, more = {}) => ({
  id,
  name: id,
  creationTime: '2025-01-01T00:00:00Z',
  provisioningStatus: 'provisioned',
  healthStatus: 'healthy',
  ...more,
});

function access(groups: unknown, roles: unknown): OrganizationAccess {
  const loaded = <T>(list: T | undefined) => ({ kind: 'loaded' as const, list: list ?? assert.fail(), at: 0 });
  return {
    id: 'm',
    groups: groups instanceof RolecallError ? { kind: 'failed', error: groups } : loaded(readGroups(groups)),
    roles: roles instanceof RolecallError ? { kind: 'failed', error: roles } : loaded(readRoles(roles)),
  };
}

const only = <K extends Node['kind']>(nodes: readonly Node[], kind: K) =>
  nodes.filter((node): node is Node & { kind: K } => node.kind === kind);

describe('the children of an organization', () => {
  const forbidden = (status: number, words: string) =>
    new RolecallError('forbidden', `Not allowed. It said: ${words}`, { facts: { status } });

  it('are one problem when both lists were refused for one reason, however it is worded', () => {
    const nodes = organizationChildren(organization, access(forbidden(403, 'no groups'), forbidden(403, 'no roles')));
    assert.deepEqual(
      nodes.map(({ kind }) => kind),
      ['problem'],
    );
  });

  it('are both sections when the reasons differ, each with its own problem below', () => {
    const offline = new RolecallError('offline', 'Nobody answers.');
    const lists = access(forbidden(403, 'no groups'), offline);
    assert.deepEqual(
      organizationChildren(organization, lists).map(({ kind }) => kind),
      ['groups', 'roles'],
    );
    assert.equal(only(groupNodes(groupsSection, lists), 'problem')[0]?.error.kind, 'forbidden');
    assert.equal(only(roleNodes(rolesSection, lists), 'problem')[0]?.error, offline);
  });

  it('count what can be read', () => {
    const lists = access([{ metadata: metadata('g'), spec: { roleIDs: [], serviceAccountIDs: [] } }, 42], []);
    const [groups, roles] = organizationChildren(organization, lists);
    assert.ok(groups?.kind === 'groups' && roles?.kind === 'roles');
    assert.deepEqual([groups.count, roles.count], [1, 0]);
    assert.deepEqual(
      groupNodes(groupsSection, lists).map(({ kind }) => kind),
      ['malformed', 'group'],
    );
  });
});

describe('the children of a group', () => {
  const spec = {
    roleIDs: ['r-1', 'r-gone'],
    subjects: [
      { id: 's', issuer: 'https://one' },
      { id: 's', issuer: 'https://two' },
    ],
    userIDs: ['u'],
    serviceAccountIDs: ['sa'],
  };
  const group = { metadata: metadata('g', { tags: [{ name: 'team', value: 'x' }] }), spec };

  it('are its roles by name, everybody in it, and its tags', () => {
    const [node] = only(groupNodes(groupsSection, access([group], [{ metadata: metadata('r-1') }])), 'group');
    const children = groupChildren(node ?? assert.fail());
    assert.deepEqual(
      children.map(({ kind }) => kind),
      ['grant', 'grant', 'subject', 'subject', 'user', 'serviceAccount', 'tag'],
    );
    assert.deepEqual(
      only(children, 'grant').map(({ role, rolesKnown }) => [role?.metadata.name, rolesKnown]),
      [
        ['r-1', true],
        [undefined, true],
      ],
    );
    assert.equal(new Set(children.map(({ id }) => id)).size, children.length);
  });

  it('do not call a role unlisted when the list of roles could not be read', () => {
    const [node] = only(groupNodes(groupsSection, access([group], new RolecallError('offline', 'No.'))), 'group');
    const grants = only(groupChildren(node ?? assert.fail()), 'grant');
    assert.deepEqual(
      grants.map(({ rolesKnown }) => rolesKnown),
      [false, false],
    );
  });

  it('say that there are none', () => {
    const bare = { metadata: metadata('g'), spec: { roleIDs: [], serviceAccountIDs: [] } };
    const [node] = only(groupNodes(groupsSection, access([bare], [])), 'group');
    assert.deepEqual(
      groupChildren(node ?? assert.fail()).map(({ kind }) => kind),
      ['empty'],
    );
  });
});

describe('the children of a role', () => {
  it('do not say that no group grants it when the groups could not be read', () => {
    const lists = access(new RolecallError('offline', 'No.'), [{ metadata: metadata('r-1') }]);
    const [role] = only(roleNodes(rolesSection, lists), 'role');
    const [said] = only(roleChildren(role ?? assert.fail()), 'empty');
    assert.match(said?.text ?? '', /could not be read/);
  });

  it('are the groups that grant it, once each', () => {
    const group = (id: string, roleIDs: string[]) => ({
      metadata: metadata(id),
      spec: { roleIDs, serviceAccountIDs: [] },
    });
    const lists = access(
      [group('a', ['r-1', 'r-1']), group('b', ['r-2']), group('c', ['r-2', 'r-1'])],
      [{ metadata: metadata('r-1') }, { metadata: metadata('r-3') }],
    );
    const [granted, unused] = only(roleNodes(rolesSection, lists), 'role');
    assert.deepEqual(
      only(roleChildren(granted ?? assert.fail()), 'grantedBy').map(({ group }) => group.metadata.name),
      ['a', 'c'],
    );
    assert.deepEqual(
      roleChildren(unused ?? assert.fail()).map(({ kind }) => kind),
      ['empty'],
    );
  });
});

describe('ids of nodes', () => {
  it('cannot be mistaken for each other, whatever the server names its things', () => {
    const ids = new IdGiver('o');
    const given = [
      ids.next('group', 'a/b'),
      ids.next('group', 'a'),
      ids.next('group/a', 'b'),
      ids.next('group', 'a'),
      ids.next('group', 'a~2'),
      ids.next('group', 'a'),
      ids.next('role', 'a'),
    ];
    assert.equal(new Set(given).size, given.length, given.join(' '));
    const below = new IdGiver(ids.next('group', 'x'));
    assert.notEqual(below.next('grant', 'y'), ids.next('group', 'x/grant/y'));
  });
});
