import * as vscode from 'vscode';
import type { LoopbackOptions } from '../../core/oauth/loopbackListener.ts';

/** The pages that the browser shows at the end of a sign-in. */
export function signInPages(label: string): LoopbackOptions['pages'] {
  return {
    done: {
      title: vscode.l10n.t('Signed in'),
      text: vscode.l10n.t('You’re signed in to {0}. You can close this tab and return to the editor.', label),
    },
    failed: (why) => ({
      title: vscode.l10n.t('Not signed in'),
      text: vscode.l10n.t(
        '{0} You can close this tab and return to the editor.',
        why || vscode.l10n.t('The sign-in was canceled.'),
      ),
    }),
    refused: {
      title: vscode.l10n.t('Unexpected response'),
      text: vscode.l10n.t(
        'Rolecall is waiting for the response to a sign-in, but this is a different one. Start again from the editor.',
      ),
    },
  };
}
