import * as vscode from 'vscode';
import type { Group, Role } from '../../core/identity/schemas.ts';
import { nextStep } from '../showError.ts';
import type { Node } from './nodes.ts';

const { Collapsed, None } = vscode.TreeItemCollapsibleState;

/** How a node looks. What comes from the server is shown as text, never as markup. */
export function treeItem(node: Node): vscode.TreeItem {
  const item = look(node);
  item.id = node.id;
  item.contextValue = node.kind;
  return item;
}

function look(node: Node): vscode.TreeItem {
  switch (node.kind) {
    case 'organization':
      return make(node.organization, Collapsed, 'organization');
    case 'groups':
    case 'roles':
      return section(node);
    case 'group':
      return resource(node.group, 'organization');
    case 'role':
      return resource(node.role, 'shield');
    case 'grantedBy':
      return { ...resource(node.group, 'organization'), collapsibleState: None };
    case 'grant':
      return grant(node);
    case 'subject':
      return make(node.subject.email || node.subject.id, None, 'account', node.subject.issuer, [
        [vscode.l10n.t('Subject'), node.subject.id],
        [vscode.l10n.t('E-mail'), node.subject.email],
        [vscode.l10n.t('Issuer'), node.subject.issuer],
      ]);
    case 'user':
      return make(node.memberId, None, 'person', vscode.l10n.t('user'));
    case 'serviceAccount':
      return make(node.memberId, None, 'server-process', vscode.l10n.t('service account'));
    case 'tag':
      return make(`${node.tag.name}: ${node.tag.value}`, None, 'tag', vscode.l10n.t('tag'));
    case 'empty':
      return make(node.text, None, 'circle-slash');
    case 'problem':
      return problem(node);
    case 'malformed':
      return make(
        vscode.l10n.t('One {0} cannot be read', node.what),
        None,
        new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground')),
        vscode.l10n.t('item {0}: {1}', node.item.index, node.item.path),
        [
          [vscode.l10n.t('Where'), node.item.path || vscode.l10n.t('the item itself')],
          [vscode.l10n.t('Reason'), node.item.reason],
        ],
      );
  }
}

function section(node: Node & { kind: 'groups' | 'roles' }): vscode.TreeItem {
  const label = node.kind === 'groups' ? vscode.l10n.t('Groups') : vscode.l10n.t('Roles');
  return make(
    label,
    Collapsed,
    node.kind === 'groups' ? 'organization' : 'shield',
    node.count === undefined ? vscode.l10n.t('could not be read') : String(node.count),
  );
}

function grant(node: Node & { kind: 'grant' }): vscode.TreeItem {
  const label = node.role?.metadata.name ?? node.roleId;
  const unlisted = node.rolesKnown ? vscode.l10n.t('role, not listed') : vscode.l10n.t('role');
  return make(label, None, 'shield', node.role ? vscode.l10n.t('role') : unlisted, [
    [vscode.l10n.t('Role id'), node.roleId],
    [vscode.l10n.t('Description'), node.role?.metadata.description],
    [
      vscode.l10n.t('Note'),
      node.role || !node.rolesKnown
        ? undefined
        : vscode.l10n.t('The service does not list this role: it is protected, or has been removed.'),
    ],
  ]);
}

function problem(node: Node & { kind: 'problem' }): vscode.TreeItem {
  const icon = new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'));
  const item = make(node.error.message, None, icon, undefined, [
    [vscode.l10n.t('Problem'), node.error.message],
    [vscode.l10n.t('Status'), node.error.facts.status?.toString()],
  ]);
  const step = nextStep(node.error);
  if (step) item.command = { title: step.title, command: step.command, arguments: [...(step.arguments ?? [])] };
  return item;
}

/** A group or role: icon and words both tell its state, for colour alone tells some people nothing. */
function resource({ metadata }: Group | Role, icon: string): vscode.TreeItem {
  const { healthStatus, provisioningStatus, deletionTime } = metadata;
  const states = [
    healthStatus === 'healthy' ? undefined : vscode.l10n.t('health: {0}', healthStatus),
    provisioningStatus === 'provisioned' ? undefined : vscode.l10n.t('provisioning: {0}', provisioningStatus),
    deletionTime ? vscode.l10n.t('being deleted since {0}', moment(deletionTime)) : undefined,
  ].filter((state) => state !== undefined);
  return make(metadata.name, Collapsed, statusIcon(icon, healthStatus, provisioningStatus), states.join(' · '), [
    [vscode.l10n.t('Description'), metadata.description],
    [vscode.l10n.t('Id'), metadata.id],
    [vscode.l10n.t('Health'), healthStatus],
    [vscode.l10n.t('Provisioning'), provisioningStatus],
    [vscode.l10n.t('Created'), by(metadata.creationTime, text(metadata, 'createdBy'))],
    [vscode.l10n.t('Modified'), by(text(metadata, 'modifiedTime'), text(metadata, 'modifiedBy'))],
    [vscode.l10n.t('Being deleted since'), deletionTime && moment(deletionTime)],
    [vscode.l10n.t('Organization'), text(metadata, 'organizationId')],
    [vscode.l10n.t('Tags'), tags(metadata)],
  ]);
}

function statusIcon(plain: string, health: string, provisioning: string): vscode.ThemeIcon {
  if (health === 'error' || provisioning === 'error') return coloured('error', 'list.errorForeground');
  if (health === 'degraded') return coloured('warning', 'list.warningForeground');
  if (provisioning === 'provisioning' || provisioning === 'deprovisioning') return coloured('sync', 'charts.blue');
  if (health === 'healthy') return coloured(plain, 'charts.green');
  return coloured('question', 'disabledForeground');
}

function coloured(icon: string, colour: string): vscode.ThemeIcon {
  return new vscode.ThemeIcon(icon, new vscode.ThemeColor(colour));
}

function make(
  label: string,
  collapsibleState: vscode.TreeItemCollapsibleState,
  icon: string | vscode.ThemeIcon,
  description = '',
  facts: readonly (readonly [string, string | null | undefined])[] = [],
): vscode.TreeItem {
  const item = new vscode.TreeItem(label, collapsibleState);
  item.iconPath = typeof icon === 'string' ? new vscode.ThemeIcon(icon) : icon;
  item.description = description;
  const shown = facts.filter((fact): fact is readonly [string, string] => Boolean(fact[1]));
  if (shown.length > 0) item.tooltip = tooltip(label, shown);
  return item;
}

function tooltip(title: string, facts: readonly (readonly [string, string])[]): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString('**').appendText(title).appendMarkdown('**');
  for (const [name, value] of facts) markdown.appendMarkdown(`\n\n${name}: `).appendText(value);
  return markdown;
}

function by(time: string | undefined, who: string | undefined): string | undefined {
  if (!time) return undefined;
  return who ? vscode.l10n.t('{0} by {1}', moment(time), who) : moment(time);
}

function moment(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? time : date.toLocaleString();
}

function text(metadata: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = metadata[name];
  return typeof value === 'string' ? value : undefined;
}

function tags(metadata: (Group | Role)['metadata']): string | undefined {
  const list = 'tags' in metadata ? (metadata as Group['metadata']).tags : [];
  return list.map(({ name, value }) => `${name}=${value}`).join(', ') || undefined;
}
