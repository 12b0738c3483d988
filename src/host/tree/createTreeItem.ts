import * as vscode from 'vscode';
import { oneLine } from '../../core/access/plain.ts';
import { escapeMarkdown } from '../escapeMarkdown.ts';

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

export function colouredIcon(icon: string, colour: string): vscode.ThemeIcon {
  return new vscode.ThemeIcon(icon, new vscode.ThemeColor(colour));
}

/** No line of the server's text looks like another fact. */
function plain(text: string): string {
  return escapeMarkdown(oneLine(text.replace(/\s+/g, ' ').trim()));
}
