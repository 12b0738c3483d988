import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { type ErrorKind, RolecallError } from '../../../src/core/base/errors.ts';
import { targetOfUri } from '../../../src/host/accessTarget.ts';
import { type OrganizationFacts, treeItem } from '../../../src/host/tree/items.ts';
import type { Node, NodeOf } from '../../../src/host/tree/nodes.ts';
import { commands } from '../../../src/ids.ts';
import { metadataOf, readOf } from '../support/access.ts';

const metadata = metadataOf('g-1', {
  name: 'operators',
  creationTime: '2025-03-10T09:24:00Z',
  organizationId: 'meridian',
});
const NOW = Date.parse('2026-03-10T09:24:00Z');
const facts = { readAt: undefined, isStale: false, filter: '', review: undefined };
const draw = (node: Node, more: Partial<OrganizationFacts> = {}) => treeItem(node, NOW, () => ({ ...facts, ...more }));

function modelOf(more: Record<string, unknown> = {}, roles: unknown = []) {
  const spec = { serviceAccountIDs: ['sa-1'], userIDs: ['u-1'], roleIDs: ['r-1', 'r-9'], subjects: SUBJECTS };
  return readOf([{ metadata: { ...metadata, ...more }, spec }], roles).model;
}

const SUBJECTS = [
  { id: 's', email: 'a@b', issuer: 'https://i' },
  { id: 't', email: null, issuer: 'https://i' },
  { id: 'u', email: '', issuer: 'https://i' },
];
const target = { kind: 'group', key: 'g-1', organization: 'meridian', connection: 'c' } as const;

function groupNode(more?: Record<string, unknown>, isFavorite = false): NodeOf<'group'> {
  const model = modelOf(more);
  const entry = model.groups[0] ?? assert.fail('not a group');
  return { kind: 'group', id: 'n', source: { organization: 'meridian', model }, entry, isFavorite, target };
}

/** A tooltip as a person reads it. */
function tooltipOf(node: Node): string {
  const { tooltip } = draw(node);
  assert.ok(tooltip instanceof vscode.MarkdownString);
  return tooltip.value.replaceAll(/\\([^a-z])/g, '$1');
}

function iconOf(node: Node): [icon: string, colour: string | undefined] {
  const { iconPath } = draw(node);
  assert.ok(iconPath instanceof vscode.ThemeIcon);
  return [iconPath.id, iconPath.color?.id];
}

describe('a tree item', () => {
  // Icon, colour and words for each value of the two statuses of the specification, and for one it does not have.
  const states: readonly (readonly [string, string, string, string, string])[] = [
    ['provisioned', 'healthy', 'organization', 'charts.green', ''],
    ['provisioned', 'degraded', 'warning', 'list.warningForeground', 'Degraded'],
    ['provisioned', 'error', 'error', 'list.errorForeground', 'Health error'],
    ['provisioned', 'unknown', 'question', 'disabledForeground', 'Health unknown'],
    ['provisioning', 'unknown', 'sync', 'charts.blue', 'Provisioning · Health unknown'],
    ['deprovisioning', 'healthy', 'sync', 'charts.blue', 'Deprovisioning'],
    ['error', 'healthy', 'error', 'list.errorForeground', 'Provisioning error'],
    ['unknown', 'healthy', 'organization', 'charts.green', 'Provisioning unknown'],
    ['provisioning', 'degraded', 'warning', 'list.warningForeground', 'Provisioning · Degraded'],
    ['provisioned', 'sleeping', 'question', 'disabledForeground', 'Health sleeping'],
  ];
  for (const [provisioningStatus, healthStatus, icon, colour, words] of states) {
    it(`tells ${provisioningStatus} and ${healthStatus} by icon and in words`, () => {
      const node = groupNode({ provisioningStatus, healthStatus });
      assert.deepEqual(iconOf(node), [icon, colour]);
      assert.equal(draw(node).description, words);
      assert.match(tooltipOf(node), new RegExp(`Health: ${healthStatus}\n`));
      assert.match(tooltipOf(node), new RegExp(`Provisioning: ${provisioningStatus}\n`));
    });
  }

  it('shows every member of the metadata that is there, and none that is not', () => {
    const deletionTime = '2026-01-02T00:00:00Z';
    const node = groupNode({
      description: 'Who runs it.',
      createdBy: 'ada',
      modifiedTime: '2026-01-01T00:00:00Z',
      modifiedBy: 'ben',
      deletionTime,
      tags: [
        { name: 'team', value: 'platform' },
        { name: 'empty', value: '' },
      ],
    });
    const local = (time: string) =>
      new Date(time).toLocaleString(vscode.env.language, { dateStyle: 'medium', timeStyle: 'short' });
    assert.deepEqual(tooltipOf(node).split('\n\n'), [
      '**operators**',
      'Description: Who runs it.',
      'ID: g-1',
      'Health: healthy',
      'Provisioning: provisioned',
      `Created: ${local(metadata.creationTime)} (last year) by ada`,
      `Modified: ${local('2026-01-01T00:00:00Z')} (2 months ago) by ben`,
      `Being deleted since: ${local(deletionTime)} (2 months ago)`,
      'Organization: meridian',
      'Tags: team=platform, empty',
    ]);
    assert.equal(draw(node).description, 'Being deleted');
    assert.deepEqual(
      tooltipOf(groupNode())
        .split('\n\n')
        .map((line) => line.split(':')[0]),
      ['**operators**', 'ID', 'Health', 'Provisioning', 'Created', 'Organization'],
    );
  });

  it('shows a time it cannot read as it came', () => {
    assert.match(tooltipOf(groupNode({ creationTime: 'yesterday' })), /Created: yesterday\n/);
  });

  it('shows what the server says as text and never as markup', () => {
    const evil = '**x** [y](command:rolecall.signOut) `z` # <img src=x> $(zap) | a_b';
    const node = groupNode({ name: evil, description: evil, tags: [{ name: evil, value: evil }] });
    const item = draw(node);
    assert.equal(item.label, evil);
    const { tooltip } = item;
    assert.ok(tooltip instanceof vscode.MarkdownString);
    assert.ok(!tooltip.isTrusted && !tooltip.supportHtml && !tooltip.supportThemeIcons);
    const facts = tooltip.value.split('\n\n');
    assert.equal(facts[0]?.slice(0, 2), '**');
    for (const fact of [facts[0]?.slice(2, -2), facts[1], facts.at(-1)]) {
      assert.doesNotMatch(fact ?? '', /(?<!\\)[`*_[\]()#!]/);
    }
  });

  it('lets no line of the server look like another fact', () => {
    const node = groupNode({ description: 'one\n\nHealth: healthy' });
    assert.equal(tooltipOf(node).match(/^Health:/gm)?.length, 1);
    assert.equal(draw(node).label, 'operators');
  });

  const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
  const model = modelOf({}, [{ metadata: { ...metadata, id: 'r-1', name: 'reader' } }]);
  const source = { organization: 'm', model };
  const [granted, unlisted] = model.roles;
  const [jane, nameless, empty, user, account] = model.principals;
  const [group] = model.groups;
  assert.ok(granted && unlisted && jane && nameless && empty && user && account && group);
  const unread = readOf(
    [{ metadata, spec: { serviceAccountIDs: [], roleIDs: ['r-9'] } }],
    new RolecallError('offline', ''),
  );
  const [unknown] = unread.model.roles;
  assert.ok(unknown);
  const tags = (length: number) =>
    Array.from({ length }, (_, n): Node => ({ kind: 'tag', id: `t${n}`, tag: { name: 'a', value: '' } }));
  const common = { id: 'n', organization: 'm', source };
  const malformed = { index: 3, path: 'metadata.id', reason: 'empty', raw: {} };
  const looks: readonly (readonly [Node, string, string, vscode.TreeItemCollapsibleState, string])[] = [
    [{ ...common, kind: 'groups', count: 0, shown: 0 }, 'Groups', '0', Collapsed, 'type-hierarchy-sub'],
    [{ ...common, kind: 'groups', count: 7, shown: 2 }, 'Groups', '2 of 7', Collapsed, 'type-hierarchy-sub'],
    [{ ...common, kind: 'roles', count: undefined, shown: 0 }, 'Roles', 'could not be read', Collapsed, 'shield'],
    [{ ...common, kind: 'favorites', children: tags(2) }, 'Favorites', '2', Expanded, 'star-full'],
    [{ kind: 'role', id: 'n', source, entry: granted, isFavorite: false }, 'reader', '', Collapsed, 'shield'],
    [{ kind: 'role', id: 'n', source, entry: unlisted, isFavorite: false }, 'r-9', 'not listed', Collapsed, 'shield'],
    [{ kind: 'grantedBy', id: 'n', source, entry: group }, 'operators', '', None, 'organization'],
    [{ kind: 'grant', id: 'n', source, entry: granted }, 'reader', '', None, 'shield'],
    [{ kind: 'grant', id: 'n', source, entry: unlisted }, 'r-9', 'not listed', None, 'shield'],
    [
      { kind: 'grant', id: 'n', source: { ...source, model: unread.model }, entry: unknown },
      'r-9',
      'name unknown',
      None,
      'shield',
    ],
    [{ kind: 'part', id: 'n', part: 'grants', children: tags(2) }, 'Roles granted', '2', Expanded, 'shield'],
    [{ kind: 'part', id: 'n', part: 'subjects', children: tags(31) }, 'Subjects', '31', Collapsed, 'account'],
    [{ kind: 'part', id: 'n', part: 'users', children: tags(1) }, 'User IDs', '1', Expanded, 'person'],
    [
      { kind: 'part', id: 'n', part: 'serviceAccounts', children: tags(1) },
      'Service accounts',
      '1',
      Expanded,
      'server-process',
    ],
    [{ kind: 'part', id: 'n', part: 'tags', children: tags(1) }, 'Tags', '1', Expanded, 'tag'],
    [{ kind: 'subject', id: 'n', source, principal: jane }, 'a@b', 'https://i', None, 'account'],
    [{ kind: 'subject', id: 'n', source, principal: nameless }, 't', 'https://i', None, 'account'],
    [{ kind: 'subject', id: 'n', source, principal: empty }, 'u', 'https://i', None, 'account'],
    [{ kind: 'user', id: 'n', source, principal: user }, 'u-1', '', None, 'person'],
    [{ kind: 'serviceAccount', id: 'n', source, principal: account }, 'sa-1', '', None, 'server-process'],
    [{ kind: 'tag', id: 'n', tag: { name: 'team', value: 'x' } }, 'team=x', '', None, 'tag'],
    [
      { kind: 'bucket', id: 'n', from: 'a', to: 'z', range: [1, 500], children: [] },
      'a … z',
      '1–500',
      Collapsed,
      'folder',
    ],
    [
      { kind: 'unlisted', id: 'n', rolesKnown: true, children: tags(1) },
      'Granted, but not listed',
      '1',
      Collapsed,
      'shield',
    ],
    [
      { kind: 'unlisted', id: 'n', rolesKnown: false, children: tags(1) },
      'Granted by groups',
      '1',
      Collapsed,
      'shield',
    ],
    [{ kind: 'empty', id: 'n', text: 'No groups' }, 'No groups', '', None, 'circle-slash'],
    [{ ...common, kind: 'stopped' }, 'Loading was stopped', 'click to refresh', None, 'circle-slash'],
    [
      { ...common, kind: 'malformed', what: 'role', item: malformed },
      'A role could not be understood',
      'item 3: metadata.id',
      None,
      'warning',
    ],
  ];
  for (const [node, label, description, state, icon] of looks) {
    it(`of the kind ${node.kind} reads "${label}" "${description}"`, () => {
      const item = draw(node);
      assert.deepEqual(
        [item.label, item.description, item.collapsibleState, iconOf(node)[0], item.id, item.contextValue],
        [label, description, state, icon, 'n', node.kind],
      );
    });
  }

  it('of an organization tells when it was read, whether that is up to date, and its filter', () => {
    const node: Node = {
      kind: 'organization',
      id: 'n',
      organization: 'meridian',
      label: 'Prod',
      otherName: 'meridian',
    };
    assert.deepEqual([draw(node).label, draw(node).description], ['Prod', 'meridian']);
    assert.equal(iconOf(node)[0], 'briefcase'); // A group has the icon of people.
    const readAt = NOW - 3_600_000;
    const stale = draw(node, { readAt, isStale: true, filter: 'jane' });
    const clock = new Date(readAt).toLocaleTimeString(vscode.env.language, { timeStyle: 'short' });
    assert.equal(stale.description, `meridian · as of ${clock} · out of date · filtered`);
    assert.equal(stale.contextValue, 'organization filtered');
    assert.equal((stale.iconPath as vscode.ThemeIcon).id, 'warning');
    const reviewed = draw(node, { filter: 'jane', review: { name: 'm.review.yaml', decided: 12, all: 51 } });
    assert.equal(reviewed.description, 'meridian · review: 12 of 51 decided · filtered');
    assert.equal(reviewed.contextValue, 'organization filtered reviewed');
    assert.match((reviewed.tooltip as vscode.MarkdownString).value, /Review: 12 of 51 decided \\\(m\.review\.yaml/);
    // A time of the clock: it stays true while the row is not drawn again.
    assert.match((stale.tooltip as vscode.MarkdownString).value, new RegExp(`As of: ${clock}`));
  });

  it('of a list that is not up to date tells why and since when', () => {
    const error = new RolecallError('offline', 'Nobody answers.');
    const item = draw({ kind: 'stale', id: 'n', error, at: NOW - 60_000 });
    assert.match(String(item.label), /Could not be refreshed; shown as of \d/);
    assert.equal(item.description, 'Nobody answers.');
  });

  it('of a favorite says so to menus, and every target has an address for decorations', () => {
    assert.equal(draw(groupNode({}, true)).contextValue, 'group favorite');
    assert.equal(draw(groupNode()).contextValue, 'group');
    assert.deepEqual(targetOfUri(draw(groupNode()).resourceUri ?? assert.fail()), target);
  });

  it('tells what access rules find about it, to the pointer and to a screen reader', () => {
    const node = groupNode({ healthStatus: 'degraded' });
    const message = 'a@b has both admin and **auditor**';
    node.source.model.findings.set(node.entry, [
      { rule: 'apart', message, accepted: undefined },
      { rule: 'few', message: 'waived', accepted: 'until 2999-01-01: T' },
    ]);
    const lines = tooltipOf(node).split('\n\n');
    assert.deepEqual(
      [lines[0], lines.at(-1)],
      ['**operators**', 'Found by access rules: a@b has both admin and **auditor**'],
    );
    assert.equal(draw(node).accessibilityInformation?.label, 'operators, Degraded, a@b has both admin and **auditor**');
    const { source } = node;
    const principal = source.model.principals.find(({ kind }) => kind === 'user') ?? assert.fail('no user');
    source.model.findings.set(principal, [{ rule: 'apart', message, accepted: undefined }]);
    assert.match(tooltipOf({ kind: 'user', id: 'n', source, principal }), /^Found by access rules: a@b/m);
  });

  it('of a long id shows both ends, and the whole to the pointer and to a screen reader', () => {
    const ids = ['7e1c0000-5a5e-4000-8000-000000000003', '7e1c0000-5a5e-4000-8000-000000000004'];
    const { model: long } = readOf([{ metadata, spec: { userIDs: ids, serviceAccountIDs: [], roleIDs: ids } }], []);
    const [first, second] = long.principals;
    const [role] = long.roles;
    assert.ok(first && second && role);
    const node = (principal: typeof first): Node => ({ kind: 'user', id: 'n', source, principal });
    assert.deepEqual([draw(node(first)).label, draw(node(second)).label], ['7e1c0000…00000003', '7e1c0000…00000004']);
    assert.match(tooltipOf(node(first)), /ID: 7e1c0000-5a5e-4000-8000-000000000003/);
    assert.equal(draw(node(first)).accessibilityInformation?.label, ids[0]);
    const unlistedNode: Node = { kind: 'grant', id: 'n', source: { ...source, model: long }, entry: role };
    assert.equal(draw(unlistedNode).accessibilityInformation?.label, `${ids[0]}, not listed`);
  });

  it('tells of a name that breaks the pattern of the specification', () => {
    assert.match(tooltipOf(groupNode({ name: 'two words' })), /does not match the service’s naming rules/);
    assert.doesNotMatch(tooltipOf(groupNode()), /pattern/);
  });

  const steps: readonly (readonly [ErrorKind, string | undefined])[] = [
    ['sessionEnded', commands.signIn],
    ['configuration', 'workbench.action.openSettings'],
    ['protocol', commands.showLog],
    ['forbidden', undefined],
    ['offline', undefined],
  ];
  for (const [kind, command] of steps) {
    it(`of a problem of the kind ${kind} ${command ? `offers ${command}` : 'offers no step that would not help'}`, () => {
      const error = new RolecallError(kind, 'It did not work.', { details: { status: 418 } });
      const item = draw({ kind: 'problem', id: 'n', error });
      assert.equal(item.label, 'It did not work.');
      assert.equal(item.command?.command, command);
      assert.equal(tooltipOf({ kind: 'problem', id: 'n', error }), '**It did not work.**\n\nStatus: 418');
    });
  }
});
