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
  const shown = facts.filter((fact): fact is readonly [string, string] => Boolean(fact[1]));
  if (shown.length > 0) item.tooltip = tooltip(label, shown);
  return item;
}

export function colouredIcon(icon: string, colour: string): vscode.ThemeIcon {
  return new vscode.ThemeIcon(icon, new vscode.ThemeColor(colour));
}

function tooltip(title: string, facts: readonly (readonly [string, string])[]): vscode.MarkdownString {
  const lines = facts.map(([name, value]) => `${name}: ${plain(value)}`);
  return new vscode.MarkdownString([`**${plain(title)}**`, ...lines].join('\n\n'));
}

/** No line of the server's text looks like another fact. */
function plain(text: string): string {
  return escapeMarkdown(oneLine(text.replace(/\s+/g, ' ').trim()));
}
