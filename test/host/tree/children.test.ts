import assert from 'node:assert/strict';
import { RolecallError } from '../../../src/core/base/errors.ts';
import {
  contentsOf,
  groupChildren,
  groupNodes,
  organizationChildren,
  ownChildren,
  roleChildren,
  roleNodes,
} from '../../../src/host/tree/children.ts';
import { type Node, NodeIdAllocator, type NodeOf, nameOfNode } from '../../../src/host/tree/nodes.ts';
import { metadataOf, readOf, shown } from '../support/access.ts';

const organization = { kind: 'organization', id: 'o', organization: 'm', label: 'm', otherName: '' } as const;
const source = { organization: 'm', model: readOf([], []).model };
const section = { organization: 'm', source, count: 0, shown: 0 } as const;
const groupsSection = { ...section, kind: 'groups', id: 'o/groups' } as const;
const rolesSection = { ...section, kind: 'roles', id: 'o/roles' } as const;

const group = (id: string, roleIDs: readonly string[] = [], more = {}) => ({
  metadata: metadataOf(id, more),
  spec: { roleIDs, serviceAccountIDs: [] },
});
const role = (id: string, more = {}) => ({ metadata: metadataOf(id, more) });
const only = <K extends Node['kind']>(nodes: readonly Node[], kind: K) =>
  nodes.filter((node): node is NodeOf<K> => node.kind === kind);
const kinds = (nodes: readonly Node[]) => nodes.map(({ kind }) => kind);
const names = (nodes: readonly Node[]) => nodes.map(nameOfNode);
const offline = new RolecallError('offline', 'Nobody answers.');

describe('the children of an organization', () => {
  const forbidden = (words: string) =>
    new RolecallError('forbidden', `Not allowed. It said: ${words}`, { details: { status: 403 } });

  it('are one problem when both lists were refused for one reason, however it is worded', () => {
    const nodes = organizationChildren(organization, shown(forbidden('no groups'), forbidden('no roles')));
    assert.deepEqual(kinds(nodes), ['problem', 'step', 'step']);
  });

  it('are both sections when the reasons differ, each with its own problem below', () => {
    const all = shown(forbidden('no groups'), offline);
    assert.deepEqual(kinds(organizationChildren(organization, all)), ['groups', 'roles']);
    assert.equal(only(groupNodes(groupsSection, all), 'problem')[0]?.error.kind, 'forbidden');
    assert.equal(only(roleNodes(rolesSection, all), 'problem')[0]?.error, offline);
  });

  it('count what can be read, and what the filter leaves of it', () => {
    const [groups, roles] = organizationChildren(
      organization,
      shown([group('g'), group('h'), 42], [], { filter: 'g' }),
    );
    assert.ok(groups?.kind === 'groups' && roles?.kind === 'roles');
    assert.deepEqual([groups.count, groups.shown, roles.count], [2, 1, 0]);
  });

  it('begin with why they are not up to date, once where both lists have one reason', () => {
    const read = readOf([group('g')], [role('r')], offline);
    const all = contentsOf(read, { filter: '', order: 'service', isFavorite: () => false });
    const nodes = organizationChildren(organization, all);
    assert.deepEqual(kinds(nodes), ['stale', 'groups', 'roles']);
    assert.equal(only(nodes, 'stale')[0]?.error, offline);
  });

  it('show favorites first, also those that the filter hides', () => {
    const all = shown([group('g'), group('h')], [role('r')], {
      filter: 'nothing',
      isFavorite: (target) => target.kind !== 'organization' && ['h', 'r'].includes(target.key),
    });
    const [favorites, ...rest] = organizationChildren(organization, all);
    assert.deepEqual(kinds(rest), ['groups', 'roles']);
    assert.ok(favorites?.kind === 'favorites');
    assert.deepEqual(names(ownChildren(favorites)), ['h', 'r']);
  });

  it('say that reading was stopped', () => {
    const stopped = new RolecallError('cancelled', 'Cancelled.');
    assert.deepEqual(kinds(organizationChildren(organization, shown(stopped, [role('r')]))), ['stopped']);
  });
});

describe('groups and roles', () => {
  it('keep the others when one is not what the specification describes', () => {
    const nodes = groupNodes(groupsSection, shown([group('g'), 42, group('h')], []));
    assert.deepEqual(kinds(nodes), ['malformed', 'group', 'group']);
  });

  it('are filtered and sorted as the user wishes', () => {
    const groups = [group('b'), group('c', ['r']), group('a', ['r'])];
    const all = shown(groups, [role('r')], { filter: 'role:r', order: 'name' });
    assert.deepEqual(names(groupNodes(groupsSection, all)), ['a', 'c']);
  });

  it('tell "none" from "none passes the filter"', () => {
    const said = (nodes: readonly Node[]) => only(nodes, 'empty')[0]?.text;
    assert.equal(said(groupNodes(groupsSection, shown([], []))), 'No groups');
    assert.equal(said(groupNodes(groupsSection, shown([group('g')], [], { filter: 'x' }))), 'No matching groups');
    assert.equal(said(roleNodes(rolesSection, shown([], null))), 'No roles');
    assert.equal(said(roleNodes(rolesSection, shown([], [role('r')], { filter: 'x' }))), 'No matching roles');
  });

  it('that are only granted stand apart from those that are listed', () => {
    const nodes = roleNodes(rolesSection, shown([group('g', ['r', 'gone'])], [role('r')]));
    assert.deepEqual(kinds(nodes), ['role', 'unlisted']);
    assert.deepEqual(names(ownChildren(only(nodes, 'unlisted')[0] ?? assert.fail())), ['gone']);
    const unread = roleNodes(rolesSection, shown([group('g', ['r'])], offline));
    assert.deepEqual(kinds(unread), ['problem', 'unlisted']);
    assert.equal(only(unread, 'unlisted')[0]?.rolesKnown, false);
  });

  for (const [count, buckets] of [
    [1000, 0],
    [1001, 3],
    [10_000, 20],
  ] as const) {
    it(`${count} stand in ${buckets} buckets, each once and in order`, () => {
      const many = Array.from({ length: count }, (_, index) => group(`g-${index}`));
      const nodes = groupNodes(groupsSection, shown(many, []));
      assert.equal(only(nodes, 'bucket').length, buckets);
      const all = nodes.flatMap((node) => (node.kind === 'bucket' ? node.children : [node]));
      assert.deepEqual(
        names(all),
        many.map(({ metadata }) => metadata.id),
      );
    });
  }
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
  const whole = { metadata: metadataOf('g', { tags: [{ name: 'team', value: 'x' }] }), spec };
  const nodeOf = (body: unknown, roles: unknown) =>
    only(groupNodes(groupsSection, shown([body], roles)), 'group')[0] ?? assert.fail();

  it('stand under what they are, with how many there are', () => {
    const parts = only(groupChildren(nodeOf(whole, [role('r-1', { name: 'reader' })])), 'part');
    assert.deepEqual(
      parts.map((node) => [node.part, names(ownChildren(node))]),
      [
        ['grants', ['reader', 'r-gone']],
        ['subjects', ['s', 's']],
        ['users', ['u']],
        ['serviceAccounts', ['sa']],
        ['tags', ['team=x']],
      ],
    );
    const ids = parts.flatMap((node) => [node.id, ...node.children.map(({ id }) => id)]);
    assert.equal(new Set(ids).size, ids.length);
  });

  it('say that there are none', () => {
    assert.deepEqual(kinds(groupChildren(nodeOf(group('g'), []))), ['empty']);
  });
});

describe('the children of a role', () => {
  const rolesOf = (groups: unknown, roles: unknown) => only(roleNodes(rolesSection, shown(groups, roles)), 'role');

  it('do not say that no group grants it when the groups could not be read', () => {
    const [node] = rolesOf(offline, [role('r-1')]);
    const [said] = only(roleChildren(node ?? assert.fail()), 'empty');
    assert.match(said?.text ?? '', /could not be read/);
  });

  it('are the groups that grant it, once each', () => {
    const groups = [group('a', ['r-1', 'r-1']), group('b', ['r-2']), group('c', ['r-2', 'r-1'])];
    const [granted, unused] = rolesOf(groups, [role('r-1'), role('r-3')]);
    assert.deepEqual(names(roleChildren(granted ?? assert.fail())), ['a', 'c']);
    assert.deepEqual(kinds(roleChildren(unused ?? assert.fail())), ['empty']);
  });
});

describe('ids of nodes', () => {
  it('cannot be mistaken for each other, whatever the server names its things', () => {
    const ids = new NodeIdAllocator('o');
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
    const below = new NodeIdAllocator(ids.next('group', 'x'));
    assert.notEqual(below.next('grant', 'y'), ids.next('group', 'x/grant/y'));
  });
});
