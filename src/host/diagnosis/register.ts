import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import { commands } from '../../ids.ts';
import { registerCommand } from '../commands.ts';
import type { DiagnoseSignInDeps } from './diagnoseSignIn.ts';
import { DiagnosisDocument } from './diagnosisDocument.ts';

/** Diagnose Sign-In. */
export function registerDiagnoseSignIn(deps: Omit<DiagnoseSignInDeps, 'document'>, log: Log): vscode.Disposable {
  const document = new DiagnosisDocument();
  return vscode.Disposable.from(
    document,
    registerCommand(commands.diagnoseSignIn, log, async () => {
      const { diagnoseSignIn } = await import('./diagnoseSignIn.ts');
      await diagnoseSignIn({ ...deps, document });
    }),
  );
}
