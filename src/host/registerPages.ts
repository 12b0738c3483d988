import * as vscode from 'vscode';
import type { Log } from '../core/base/log.ts';
import { commands, contextKeys, extensionId, walkthrough } from '../ids.ts';
import { onFirstUse, registerCommand, registerCommands } from './commands.ts';
import { setContextKey } from './contextKeys.ts';
import type { OpenPages } from './pages.ts';

export interface PagesOptions {
  readonly extensionUri: vscode.Uri;
  /** The last part of `log`. */
  readonly channel: Pick<vscode.OutputChannel, 'show'>;
  readonly log: Log;
}

/** Rendered pages for every feature and the commands of their toolbar; Show Log and Open Walkthrough. */
export function registerPages({
  extensionUri,
  channel,
  log,
}: PagesOptions): vscode.Disposable & { readonly open: OpenPages } {
  const open = onFirstUse(async () => {
    const { Pages } = await import('./pages.ts');
    return new Pages({ extensionUri, log });
  });
  const ids = [commands.copyPage, commands.savePage, commands.refreshPage];
  const registered = vscode.Disposable.from(
    open,
    registerCommands(ids, log, async () => (await open()).commands),
    registerCommand(commands.showLog, log, () => channel.show()),
    registerCommand(commands.openWalkthrough, log, openWalkthrough),
  );
  return { open, dispose: () => registered.dispose() };
}

/**
 * Get Started. VS Code ticks a step when its condition becomes true after it has read the walkthrough, which it does
 * when it first opens one: so the conditions of finished steps become true again then.
 */
async function openWalkthrough(): Promise<void> {
  setContextKey(contextKeys.isOpeningWalkthrough, true);
  try {
    await vscode.commands.executeCommand('workbench.action.openWalkthrough', `${extensionId}#${walkthrough}`);
  } finally {
    setContextKey(contextKeys.isOpeningWalkthrough, false);
  }
}
