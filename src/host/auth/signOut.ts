import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import type { Cloud } from '../cloud.ts';
import { showInformationMessage } from '../dialogs.ts';
import type { InferenceTokens } from './inferenceTokens.ts';

/** Signs out of a cloud, in every window at once. */
export class SignOut {
  readonly #inferenceTokens: InferenceTokens;
  readonly #log: Log;

  constructor(inferenceTokens: InferenceTokens, log: Log) {
    this.#inferenceTokens = inferenceTokens;
    this.#log = log;
  }

  /** Asks first, because it affects every window. */
  async ask(cloud: Cloud): Promise<void> {
    const { session } = cloud.tokenManager;
    const signOut = vscode.l10n.t('Sign Out');
    const chosen = await showInformationMessage(
      session
        ? vscode.l10n.t('Sign {0} out of {1}?', session.account.label, cloud.connection.label)
        : vscode.l10n.t('Sign out of {0}?', cloud.connection.label),
      {
        modal: true,
        detail:
          cloud.connection.id === 'sandbox'
            ? vscode.l10n.t('You’ll be signed out in all windows. Snapshots and chats are kept.')
            : vscode.l10n.t('You’ll be signed out in all windows. Snapshots, chats and the client secret are kept.'),
      },
      signOut,
    );
    if (chosen === signOut) await this.run(cloud);
  }

  /** From the Accounts menu, where VS Code has asked already. */
  async runAndNotify(cloud: Cloud): Promise<void> {
    const { label } = cloud.connection;
    await this.run(cloud);
    void showInformationMessage(vscode.l10n.t('Signed out of {0} in all windows.', label)); // No buttons, so nothing to wait for.
  }

  async run(cloud: Cloud): Promise<void> {
    const { connection, tokenManager } = cloud;
    try {
      await tokenManager.signOut();
    } finally {
      if (connection.id !== 'sandbox') {
        await this.#inferenceTokens.forget(connection);
        await cloud.readInferenceToken();
      }
    }
    this.#log.info(`Signed out of ${connection.identityUrl}.`);
  }
}
