import type * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import { commands } from '../../ids.ts';
import { registerCommand } from '../commands.ts';
import type { DiagnoseSignInDeps } from './diagnoseSignIn.ts';

/** Diagnose Sign-In. */
export function registerDiagnoseSignIn(deps: DiagnoseSignInDeps, log: Log): vscode.Disposable {
  return registerCommand(commands.diagnoseSignIn, log, async () => {
    const { diagnoseSignIn } = await import('./diagnoseSignIn.ts');
    await diagnoseSignIn(deps);
  });
}
