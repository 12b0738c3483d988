import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import { commands } from '../../ids.ts';
import { onFirstUse, registerCommand } from '../commands.ts';
import type { ParametersPageDeps } from './parametersPage.ts';

/** Show Effective Parameters. */
export function registerEffectiveParameters(deps: ParametersPageDeps, log: Log): vscode.Disposable {
  const page = onFirstUse(async () => {
    const { ParametersPage } = await import('./parametersPage.ts');
    return new ParametersPage(deps, log);
  });
  return vscode.Disposable.from(
    page,
    registerCommand(commands.showEffectiveParameters, log, async () => (await page()).show()),
  );
}
