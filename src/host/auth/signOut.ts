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

  /** Asks first, and says what signing out means. */
  async ask(cloud: Cloud): Promise<void> {
    const { session } = cloud.keeper;
    const signOut = vscode.l10n.t('Sign Out');
    const chosen = await showInformationMessage(
      session
        ? vscode.l10n.t('Sign {0} out of {1}?', session.account.label, cloud.connection.label)
        : vscode.l10n.t('Forget the stored sign-in to {0}?', cloud.connection.label),
      {
        modal: true,
        detail: `${vscode.l10n.t('Rolecall forgets the session and what it has read, in every window of this machine. The client secret and saved snapshots stay; each has a command that removes it.')} ${afterwards()}`,
      },
      signOut,
    );
    if (chosen === signOut) await this.run(cloud);
  }

  /** From the Accounts menu, where VS Code has asked already. */
  async runAndTell(cloud: Cloud): Promise<void> {
    const { label } = cloud.connection;
    await this.run(cloud);
    void showInformationMessage(
      `${vscode.l10n.t('Signed out of {0}, in every window of this machine.', label)} ${afterwards()}`,
    ); // Says all.
  }

  async run(cloud: Cloud): Promise<void> {
    const { connection, keeper } = cloud;
    try {
      await keeper.forget();
    } finally {
      if (connection.id !== 'sandbox') {
        await this.#inferenceTokens.forget(connection);
        await cloud.readInferenceToken();
      }
    }
    this.#log.info(`Signed out of ${connection.identityUrl}.`);
  }
}

function afterwards(): string {
  return vscode.l10n.t(
    'The service offers no way to revoke it there: it ends by itself. The chat history that VS Code keeps is not touched.',
  );
}
