import * as vscode from 'vscode';
import type { Redactor } from '../../core/base/redact.ts';
import { diagnose, reportOf } from '../../core/diagnosis/diagnose.ts';
import { documentPanel } from '../../ids.ts';
import { signalOf } from '../cancellation.ts';
import { withProgress } from '../dialogs.ts';
import type { OpenPage, OpenPages } from '../pages.ts';
import { type EditorSourcesDeps, editorSources } from './editorSources.ts';

export interface DiagnoseSignInDeps extends EditorSourcesDeps {
  readonly redactor: Pick<Redactor, 'redact'>;
  readonly pages: OpenPages;
}

/** Diagnose Sign-In: checks everything a sign-in needs and opens a report. Does not sign in or out. */
export async function diagnoseSignIn(deps: DiagnoseSignInDeps): Promise<void> {
  const report = await newReport(deps);
  const pages = await deps.pages();
  const page: OpenPage<never> = pages.open<never>({
    key: 'signInDiagnosis',
    kind: documentPanel,
    title: vscode.l10n.t('Sign-In Diagnosis'),
    icon: 'pulse',
    column: 'active',
    refresh: async () => show(page, await newReport(deps)),
  });
  show(page, report);
}

function show(page: OpenPage<never>, markdown: string): void {
  page.show({ heading: '', about: '', pieces: [{ markdown }], isWhole: true });
}

async function newReport({ redactor, ...deps }: DiagnoseSignInDeps): Promise<string> {
  const diagnosis = await withProgress(
    {
      location: vscode.ProgressLocation.Notification,
      title: vscode.l10n.t('Checking everything a sign-in needs…'),
      cancellable: true,
    },
    async (_progress, token) => diagnose(editorSources(deps), Date.now, signalOf(token)),
  );
  return reportOf(diagnosis, (text) => redactor.redact(text));
}
