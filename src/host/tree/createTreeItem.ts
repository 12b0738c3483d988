import * as vscode from 'vscode';
import { stateTexts } from '../../core/access/descriptions.ts';
import { type AccessGroup, type AccessRole, attentionOf, isBeingDeleted } from '../../core/access/model.ts';
import { tagText } from '../../core/access/queries.ts';
import { oneLine } from '../../core/base/text.ts';
import { NAME_PATTERN, normalizeHealthStatus, normalizeProvisioningStatus } from '../../core/identity/schemas.ts';
import { formatTime } from '../formats.ts';
import { escapeMarkdown } from '../markdown.ts';

export type TooltipLine = readonly [name: string, value: string | null | undefined];

/** A row of the tree. What comes from the server is shown as text, never as markup. */
export function createTreeItem(
  label: string,
  collapsibleState: vscode.TreeItemCollapsibleState,
  icon: string | vscode.ThemeIcon,
  description = '',
  facts: readonly TooltipLine[] = [],
): vscode.TreeItem {
  const item = new vscode.TreeItem(label, collapsibleState);
  item.iconPath = typeof icon === 'string' ? new vscode.ThemeIcon(icon) : icon;
  item.description = description;
  addFacts(item, facts);
  return item;
}

/** Adds lines to the tooltip of a row: its name stands above them. */
export function addFacts(item: vscode.TreeItem, facts: readonly TooltipLine[]): void {
  const shown = facts.filter((fact): fact is readonly [string, string] => Boolean(fact[1]));
  if (shown.length === 0) return;
  const before =
    item.tooltip instanceof vscode.MarkdownString ? item.tooltip.value : `**${plain(String(item.label))}**`;
  const lines = shown.map(([name, value]) => `${name}: ${plain(value)}`);
  item.tooltip = new vscode.MarkdownString([before, ...lines].join('\n\n'));
}

export function coloredIcon(icon: string, colour: string): vscode.ThemeIcon {
  return new vscode.ThemeIcon(icon, new vscode.ThemeColor(colour));
}

/** No line of the server's text looks like another fact. */
function plain(text: string): string {
  return escapeMarkdown(oneLine(text.replace(/\s+/g, ' ').trim()));
}

type Metadata = (AccessGroup | AccessRole)['metadata'];

/** A group or role: icon and words both convey its state, since not everyone can tell colors apart. */
export function resourceItem(
  { metadata }: { readonly metadata: Metadata },
  icon: string,
  collapsibleState: vscode.TreeItemCollapsibleState,
  now: number,
): vscode.TreeItem {
  const states = [...stateTexts(metadata), ...(isBeingDeleted(metadata) ? [vscode.l10n.t('Being deleted')] : [])];
  return createTreeItem(
    metadata.name,
    collapsibleState,
    statusIcon(icon, metadata),
    states.join(' · '),
    factsOf(metadata, now),
  );
}

function factsOf(metadata: Metadata, now: number): readonly TooltipLine[] {
  const { healthStatus, provisioningStatus, deletionTime } = metadata;
  return [
    [vscode.l10n.t('Description'), metadata.description],
    [vscode.l10n.t('ID'), metadata.id],
    [vscode.l10n.t('Health'), healthStatus],
    [vscode.l10n.t('Provisioning'), provisioningStatus],
    [vscode.l10n.t('Created'), by(metadata.creationTime, text(metadata, 'createdBy'), now)],
    [vscode.l10n.t('Modified'), by(text(metadata, 'modifiedTime'), text(metadata, 'modifiedBy'), now)],
    [vscode.l10n.t('Being deleted since'), deletionTime && formatTime(deletionTime, now)],
    [vscode.l10n.t('Organization'), text(metadata, 'organizationId')],
    [vscode.l10n.t('Tags'), tags(metadata)],
    [
      vscode.l10n.t('Note'),
      NAME_PATTERN.test(metadata.name)
        ? undefined
        : vscode.l10n.t('This name does not match the service’s naming rules.'),
    ],
  ];
}

function statusIcon(plain: string, metadata: Metadata): vscode.ThemeIcon {
  const attention = attentionOf(metadata);
  if (attention === 'error') return coloredIcon('error', 'list.errorForeground');
  if (attention === 'degraded') return coloredIcon('warning', 'list.warningForeground');
  const provisioning = normalizeProvisioningStatus(metadata.provisioningStatus);
  if (provisioning === 'provisioning' || provisioning === 'deprovisioning') return coloredIcon('sync', 'charts.blue');
  if (normalizeHealthStatus(metadata.healthStatus) === 'healthy') return coloredIcon(plain, 'charts.green');
  return coloredIcon('question', 'disabledForeground');
}

function by(time: string | undefined, who: string | undefined, now: number): string | undefined {
  if (!time) return who || undefined;
  return who ? vscode.l10n.t('{0} by {1}', formatTime(time, now), who) : formatTime(time, now);
}

function text(metadata: Metadata, name: string): string | undefined {
  const value: unknown = (metadata as unknown as Readonly<Record<string, unknown>>)[name]; // Roles may have them too.
  return typeof value === 'string' ? value : undefined;
}

function tags(metadata: Metadata): string | undefined {
  const list = 'tags' in metadata ? (metadata as AccessGroup['metadata']).tags : [];
  return list.map(tagText).join(', ') || undefined;
}
