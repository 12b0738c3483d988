import * as vscode from 'vscode';
import type { LoopbackOptions } from '../../core/oauth/loopbackListener.ts';

/** What the browser shows at the end of a sign-in. */
export function signInPages(label: string): LoopbackOptions['pages'] {
  return {
    done: {
      title: vscode.l10n.t('Signed in'),
      text: vscode.l10n.t(
        'Rolecall has what it needs from {0}. You can close this page and go back to the editor.',
        label,
      ),
    },
    failed: (why) => ({
      title: vscode.l10n.t('Not signed in'),
      text: `${why || vscode.l10n.t('The sign-in was given up.')} ${vscode.l10n.t('You can close this page and go back to the editor.')}`,
    }),
    refused: {
      title: vscode.l10n.t('Nothing to see here'),
      text: vscode.l10n.t(
        'This address waits for one sign-in of Rolecall, and this is not its answer. Start again from the editor.',
      ),
    },
  };
}
