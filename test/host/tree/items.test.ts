import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { type ErrorKind, RolecallError } from '../../../src/core/base/errors.ts';
import { type Group, readGroups, readRoles } from '../../../src/core/identity/schemas.ts';
import { treeItem } from '../../../src/host/tree/items.ts';
import type { Node } from '../../../src/host/tree/nodes.ts';
import { commands } from '../../../src/ids.ts';

const metadata = {
  id: 'g-1',
  name: 'operators',
  creationTime: '2025-03-10T09:24:00Z',
  provisioningStatus: 'provisioned',
  healthStatus: 'healthy',
  organizationId: 'meridian',
};

function group(more: Record<string, unknown> = {}): Group {
  const body = [{ metadata: { ...metadata, ...more }, spec: { serviceAccountIDs: [], roleIDs: [] } }];
  return readGroups(body)?.items[0] ?? assert.fail('not a group');
}

const groupNode = (more?: Record<string, unknown>): Node => ({
  kind: 'group',
  id: 'n',
  organization: 'meridian',
  group: group(more),
  roles: undefined,
});

/** A tooltip as a person reads it. */
function tooltipOf(node: Node): string {
  const { tooltip } = treeItem(node);
  assert.ok(tooltip instanceof vscode.MarkdownString);
  return tooltip.value.replaceAll('&nbsp;', ' ').replaceAll(/\\([^a-z])/g, '$1');
}

function iconOf(node: Node): [icon: string, colour: string | undefined] {
  const { iconPath } = treeItem(node);
  assert.ok(iconPath instanceof vscode.ThemeIcon);
  return [iconPath.id, iconPath.color?.id];
}

describe('a tree item', () => {
  // Icon, colour and words for each value of the two statuses of the specification, and for one it does not have.
  const states: readonly (readonly [string, string, string, string, string])[] = [
    ['provisioned', 'healthy', 'organization', 'charts.green', ''],
    ['provisioned', 'degraded', 'warning', 'list.warningForeground', 'health: degraded'],
    ['provisioned', 'error', 'error', 'list.errorForeground', 'health: error'],
    ['provisioned', 'unknown', 'question', 'disabledForeground', 'health: unknown'],
    ['provisioning', 'unknown', 'sync', 'charts.blue', 'health: unknown · provisioning: provisioning'],
    ['deprovisioning', 'healthy', 'sync', 'charts.blue', 'provisioning: deprovisioning'],
    ['error', 'healthy', 'error', 'list.errorForeground', 'provisioning: error'],
    ['unknown', 'healthy', 'organization', 'charts.green', 'provisioning: unknown'],
    ['provisioning', 'degraded', 'warning', 'list.warningForeground', 'health: degraded · provisioning: provisioning'],
    ['provisioned', 'sleeping', 'question', 'disabledForeground', 'health: sleeping'],
  ];
  for (const [provisioningStatus, healthStatus, icon, colour, words] of states) {
    it(`tells ${provisioningStatus} and ${healthStatus} by icon and in words`, () => {
      const node = groupNode({ provisioningStatus, healthStatus });
      assert.deepEqual(iconOf(node), [icon, colour]);
      assert.equal(treeItem(node).description, words);
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
    const local = (time: string) => new Date(time).toLocaleString();
    assert.deepEqual(tooltipOf(node).split('\n\n'), [
      '**operators**',
      'Description: Who runs it.',
      'Id: g-1',
      'Health: healthy',
      'Provisioning: provisioned',
      `Created: ${local(metadata.creationTime)} by ada`,
      `Modified: ${local('2026-01-01T00:00:00Z')} by ben`,
      `Being deleted since: ${local(deletionTime)}`,
      'Organization: meridian',
      'Tags: team=platform, empty=',
    ]);
    assert.equal(treeItem(node).description, `being deleted since ${local(deletionTime)}`);
    assert.deepEqual(
      tooltipOf(groupNode())
        .split('\n\n')
        .map((line) => line.split(':')[0]),
      ['**operators**', 'Id', 'Health', 'Provisioning', 'Created', 'Organization'],
    );
  });

  it('shows a time it cannot read as it came', () => {
    assert.match(tooltipOf(groupNode({ creationTime: 'yesterday' })), /Created: yesterday\n/);
  });

  it('shows what the server says as text and never as markup', () => {
    const evil = '**x** [y](command:rolecall.signOut) `z` # <img src=x> $(zap) | a_b';
    const node = groupNode({ name: evil, description: evil, tags: [{ name: evil, value: evil }] });
    const item = treeItem(node);
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

  it('keeps line breaks of the server inside their own fact', () => {
    const node = groupNode({ description: 'one\n\nHealth: healthy' });
    assert.equal(tooltipOf(node).match(/^Health:/gm)?.length, 2); // Shown as two paragraphs, still after the label.
    assert.equal(treeItem(node).label, 'operators');
  });

  const role = readRoles([{ metadata: { ...metadata, id: 'r-1', name: 'reader' } }])?.items[0] ?? assert.fail();
  const { Collapsed, None } = vscode.TreeItemCollapsibleState;
  const looks: readonly (readonly [Node, string, string, vscode.TreeItemCollapsibleState, string])[] = [
    [{ kind: 'organization', id: 'n', organization: 'meridian' }, 'meridian', '', Collapsed, 'organization'],
    [{ kind: 'groups', id: 'n', organization: 'm', count: 0 }, 'Groups', '0', Collapsed, 'organization'],
    [
      { kind: 'roles', id: 'n', organization: 'm', count: undefined },
      'Roles',
      'could not be read',
      Collapsed,
      'shield',
    ],
    [{ kind: 'role', id: 'n', organization: 'm', role, grantedBy: [] }, 'reader', '', Collapsed, 'shield'],
    [{ kind: 'grantedBy', id: 'n', group: group() }, 'operators', '', None, 'organization'],
    [{ kind: 'grant', id: 'n', roleId: 'r-1', role, rolesKnown: true }, 'reader', 'role', None, 'shield'],
    [
      { kind: 'grant', id: 'n', roleId: 'r-9', role: undefined, rolesKnown: true },
      'r-9',
      'role, not listed',
      None,
      'shield',
    ],
    [{ kind: 'grant', id: 'n', roleId: 'r-9', role: undefined, rolesKnown: false }, 'r-9', 'role', None, 'shield'],
    [
      { kind: 'subject', id: 'n', subject: { id: 's', email: 'a@b', issuer: 'https://i' } },
      'a@b',
      'https://i',
      None,
      'account',
    ],
    [
      { kind: 'subject', id: 'n', subject: { id: 's', email: null, issuer: 'https://i' } },
      's',
      'https://i',
      None,
      'account',
    ],
    [
      { kind: 'subject', id: 'n', subject: { id: 's', email: '', issuer: 'https://i' } },
      's',
      'https://i',
      None,
      'account',
    ],
    [{ kind: 'user', id: 'n', memberId: 'u-1' }, 'u-1', 'user', None, 'person'],
    [{ kind: 'serviceAccount', id: 'n', memberId: 'sa-1' }, 'sa-1', 'service account', None, 'server-process'],
    [{ kind: 'tag', id: 'n', tag: { name: 'team', value: 'x' } }, 'team: x', 'tag', None, 'tag'],
    [{ kind: 'empty', id: 'n', text: 'No groups' }, 'No groups', '', None, 'circle-slash'],
    [
      { kind: 'malformed', id: 'n', what: 'role', item: { index: 3, path: 'metadata.id', reason: 'empty', raw: {} } },
      'One role cannot be read',
      'item 3: metadata.id',
      None,
      'warning',
    ],
  ];
  for (const [node, label, description, state, icon] of looks) {
    it(`of the kind ${node.kind} reads “${label}” “${description}”`, () => {
      const item = treeItem(node);
      assert.deepEqual(
        [item.label, item.description, item.collapsibleState, iconOf(node)[0], item.id, item.contextValue],
        [label, description, state, icon, 'n', node.kind],
      );
    });
  }

  const steps: readonly (readonly [ErrorKind, string | undefined])[] = [
    ['sessionEnded', commands.signIn],
    ['configuration', 'workbench.action.openSettings'],
    ['protocol', commands.showLog],
    ['forbidden', undefined],
    ['offline', undefined],
  ];
  for (const [kind, command] of steps) {
    it(`of a problem of the kind ${kind} ${command ? `offers ${command}` : 'offers no step that would not help'}`, () => {
      const error = new RolecallError(kind, 'It did not work.', { facts: { status: 418 } });
      const item = treeItem({ kind: 'problem', id: 'n', error });
      assert.equal(item.label, 'It did not work.');
      assert.equal(item.command?.command, command);
      assert.match(tooltipOf({ kind: 'problem', id: 'n', error }), /Status: 418/);
    });
  }
});
