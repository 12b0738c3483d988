import * as vscode from 'vscode';
import { commands } from '../../ids.ts';
import { onFirstUse, registerCommand } from '../commands.ts';
import type { MatrixCommandDeps } from './matrixCommand.ts';

/** Show Access Matrix. */
export function registerMatrix(deps: MatrixCommandDeps): vscode.Disposable {
  const open = onFirstUse(async () => {
    const { createMatrices } = await import('./matrixCommand.ts');
    return createMatrices(deps);
  });
  return vscode.Disposable.from(
    open,
    registerCommand(commands.showMatrix, deps.log, async (node) => (await open()).show(node)),
  );
}
