import * as vscode from 'vscode';
import type { Log } from '../core/base/log.ts';
import { commands } from '../ids.ts';
import { onFirstUse, registerCommands } from './commands.ts';
import type { OpenPages } from './pages.ts';

/** Rendered pages for every feature, and what can be done with the one that is looked at: copy, save, refresh. */
export function registerPages(extensionUri: vscode.Uri, log: Log): vscode.Disposable & { readonly open: OpenPages } {
  const open = onFirstUse(async () => {
    const { Pages } = await import('./pages.ts');
    return new Pages({ extensionUri, log });
  });
  const ids = [commands.copyPage, commands.savePage, commands.refreshPage];
  const registered = registerCommands(ids, log, async () => (await open()).commands);
  return { open, dispose: () => vscode.Disposable.from(registered, open).dispose() };
}
