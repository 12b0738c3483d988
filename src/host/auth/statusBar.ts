import * as vscode from 'vscode';
import type { Clouds } from '../clouds.ts';
import type { TokenUsage } from '../tokenUsage.ts';
import { statusBarContent } from './statusBarContent.ts';

/** Shows the account and the state of its session in the status bar, and the tokens used in the tooltip. */
export function registerStatusBar(clouds: Clouds, usage: TokenUsage): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('rolecall.session', vscode.StatusBarAlignment.Right, 50);
  item.name = vscode.l10n.t('Rolecall sign-in');
  const show = () => {
    const words = statusBarContent(clouds);
    if (!words) {
      item.hide();
      return;
    }
    item.text = words.text;
    item.tooltip = [words.tooltip, ...usedTokens(usage)].join('\n');
    item.command = words.command;
    item.backgroundColor = words.colour && new vscode.ThemeColor(`statusBarItem.${words.colour}Background`);
    item.accessibilityInformation = { label: words.tooltip };
    item.show();
  };
  show();
  return vscode.Disposable.from(item, clouds.onDidChange(show), usage.onDidChange(show));
}

function usedTokens({ lines }: TokenUsage): string[] {
  return lines.length === 0 ? [] : ['', vscode.l10n.t('Tokens used in this window:'), ...lines];
}
