import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import type { DiagnosisSources } from '../../core/diagnosis/diagnose.ts';
import { commands } from '../../ids.ts';
import { signalOf } from '../cancellation.ts';
import { registerCommand } from '../commands.ts';
import { DiagnosisDocument } from './diagnosisDocument.ts';

export interface DiagnoseSignInDeps {
  readonly sources: DiagnosisSources;
  /** Hides what is known to be secret, and what looks like it. */
  readonly redact: (text: string) => string;
  readonly log: Log;
}

/** Diagnose Sign-In: looks at everything a sign-in needs, and opens a report. Signs nobody in or out. */
export function registerDiagnoseSignIn({ sources, redact, log }: DiagnoseSignInDeps): vscode.Disposable {
  const document = new DiagnosisDocument();
  const command = registerCommand(commands.diagnoseSignIn, log, async () => {
    const diagnosis = await vscode.window.withProgress(
      {
        location: vscode.ProgressLocation.Notification,
        title: vscode.l10n.t('Looking at everything a sign-in needs…'),
        cancellable: true,
      },
      async (_progress, token) => {
        const { diagnose } = await import('../../core/diagnosis/diagnose.ts');
        return diagnose(sources, Date.now, signalOf(token));
      },
    );
    const { reportOf } = await import('../../core/diagnosis/report.ts');
    const report = reportOf(diagnosis, redact);
    await document.show(report);
    void offerCopy(report); // The command is over; the message stays until the user answers it.
  });
  return vscode.Disposable.from(document, command);
}

async function offerCopy(report: string): Promise<void> {
  const copy = vscode.l10n.t('Copy');
  const chosen = await vscode.window.showInformationMessage(
    vscode.l10n.t('The diagnosis holds no token, code or secret. Look it over before you share it.'),
    copy,
  );
  if (chosen === copy) await vscode.env.clipboard.writeText(report);
}
