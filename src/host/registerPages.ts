import * as vscode from 'vscode';
import type { Log } from '../core/base/log.ts';
import { commands, extensionId, walkthrough } from '../ids.ts';
import { onFirstUse, registerCommand, registerCommands } from './commands.ts';
import type { OpenPages } from './pages.ts';

export interface PagesOptions {
  readonly extensionUri: vscode.Uri;
  /** Where `log` ends. */
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
    registerCommand(commands.openWalkthrough, log, () =>
      vscode.commands.executeCommand('workbench.action.openWalkthrough', `${extensionId}#${walkthrough}`),
    ),
  );
  return { open, dispose: () => registered.dispose() };
}
