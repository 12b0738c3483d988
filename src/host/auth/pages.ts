import * as vscode from 'vscode';
import type { LoopbackOptions } from '../../core/oauth/loopbackListener.ts';

/** What the browser shows at the end of a sign-in. */
export function signInPages(label: string): LoopbackOptions['pages'] {
  return {
    done: {
      title: vscode.l10n.t('Signed in'),
      text: vscode.l10n.t('You’re signed in to {0}. You can close this tab and return to the editor.', label),
    },
    failed: (why) => ({
      title: vscode.l10n.t('Not signed in'),
      text: `${why || vscode.l10n.t('The sign-in was canceled.')} ${vscode.l10n.t('You can close this tab and return to the editor.')}`,
    }),
    refused: {
      title: vscode.l10n.t('Not the expected response'),
      text: vscode.l10n.t(
        'Rolecall is waiting here for a sign-in, and this is not its response. Start again from the editor.',
      ),
    },
  };
}
