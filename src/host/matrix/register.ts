import * as vscode from 'vscode';
import { Lazy } from '../../core/base/lazy.ts';
import { commands } from '../../ids.ts';
import { registerCommand } from '../commands.ts';
import type { MatrixCommandDeps } from './matrixCommand.ts';

/** Show Access Matrix. */
export function registerMatrix(deps: MatrixCommandDeps): vscode.Disposable {
  const open = new Lazy(async () => {
    const { matrices } = await import('./matrixCommand.ts');
    return matrices(deps);
  });
  return vscode.Disposable.from(
    open,
    registerCommand(commands.showMatrix, deps.log, async (node) => (await open.get()).show(node)),
  );
}
