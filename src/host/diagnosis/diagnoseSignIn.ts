import * as vscode from 'vscode';
import { diagnose } from '../../core/diagnosis/diagnose.ts';
import { reportOf } from '../../core/diagnosis/report.ts';
import { signalOf } from '../cancellation.ts';
import { showInformationMessage, withProgress } from '../dialogs.ts';
import type { DiagnosisDocument } from './diagnosisDocument.ts';
import { type EditorSourcesDeps, editorSources } from './editorSources.ts';

export interface DiagnoseSignInDeps extends EditorSourcesDeps {
  /** Hides what is known to be secret, and what looks like it. */
  readonly redact: (text: string) => string;
  /** Where the report is shown. */
  readonly document: DiagnosisDocument;
}

/** Diagnose Sign-In: checks everything a sign-in needs and opens a report. Signs nobody in or out. */
export async function diagnoseSignIn({ redact, document, ...deps }: DiagnoseSignInDeps): Promise<void> {
  const diagnosis = await withProgress(
    {
      location: vscode.ProgressLocation.Notification,
      title: vscode.l10n.t('Checking everything a sign-in needs…'),
      cancellable: true,
    },
    async (_progress, token) => diagnose(editorSources(deps), Date.now, signalOf(token)),
  );
  const report = reportOf(diagnosis, redact);
  await document.show(report);
  void offerCopy(report); // The command is over; the message stays until the user answers it.
}

async function offerCopy(report: string): Promise<void> {
  const copy = vscode.l10n.t('Copy');
  const chosen = await showInformationMessage(
    vscode.l10n.t('The diagnosis contains no tokens or secrets. Review it before sharing.'),
    copy,
  );
  if (chosen === copy) await vscode.env.clipboard.writeText(report);
}
