import * as vscode from 'vscode';
import type { RolecallError } from '../core/base/errors.ts';
import { withProgress } from './dialogs.ts';

/** A reading that is done within this time needs no notification; the view's own bar shows that something happens. */
const PATIENCE_MS = 1500;

/** Shows that an organization is being read, once that takes long or has to be tried again, with a way to stop it. */
export function progressOfReading(label: string) {
  let lastRetry: string | undefined;
  let report: ((message: string) => void) | undefined;
  let open: (() => void) | undefined;
  return {
    /** A retry is shown at once. */
    retry(error: RolecallError): void {
      lastRetry = vscode.l10n.t('{0} Trying again…', error.message);
      report?.(lastRetry);
      open?.();
    },
    show(reading: Promise<unknown>, stop: () => void): void {
      let isShown = false;
      open = () => {
        if (isShown) return;
        isShown = true;
        void withProgress(
          {
            location: vscode.ProgressLocation.Notification,
            title: vscode.l10n.t('Reading {0}', label),
            cancellable: true,
          },
          async (tell, token) => {
            report = tell;
            if (lastRetry !== undefined) report(lastRetry);
            token.onCancellationRequested(stop);
            await reading.catch(() => {}); // Whoever asked for it sees how it ends.
          },
        );
      };
      const timer = setTimeout(open, PATIENCE_MS);
      const done = () => {
        clearTimeout(timer);
        open = undefined;
      };
      void reading.then(done, done);
    },
  };
}
