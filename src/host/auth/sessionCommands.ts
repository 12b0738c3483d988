import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import { commands } from '../../ids.ts';
import type { Clouds } from '../clouds.ts';
import { registerCommand } from '../commands.ts';
import type { ClientSecrets } from './clientSecret.ts';
import type { SignIn } from './signIn.ts';

export interface SessionCommandsDeps {
  readonly clouds: Clouds;
  readonly signIn: SignIn;
  readonly clientSecrets: ClientSecrets;
  readonly log: Log;
}

/** Sign In, Sign Out, Set Client Secret. */
export function registerSessionCommands({
  clouds,
  signIn,
  clientSecrets,
  log,
}: SessionCommandsDeps): vscode.Disposable {
  return vscode.Disposable.from(
    registerCommand(commands.signIn, log, async () => {
      const cloud = clouds.require();
      await cloud.load();
      await signIn.run(cloud);
    }),
    registerCommand(commands.signOut, log, async () => {
      const cloud = clouds.require();
      const { session } = cloud.keeper;
      const signOut = vscode.l10n.t('Sign Out');
      const chosen = await vscode.window.showInformationMessage(
        session
          ? vscode.l10n.t('Sign {0} out of {1}?', session.account.label, cloud.connection.label)
          : vscode.l10n.t('Forget the stored sign-in to {0}?', cloud.connection.label),
        {
          modal: true,
          detail: vscode.l10n.t(
            'Rolecall forgets the session on this machine. The service offers no way to revoke it there: it ends by itself. The chat history that VS Code keeps is not touched.',
          ),
        },
        signOut,
      );
      if (chosen !== signOut) return;
      await cloud.keeper.forget();
      log.info(`Signed out of ${cloud.connection.identityUrl}.`);
    }),
    registerCommand(commands.setClientSecret, log, async () => {
      const { connection } = clouds.require();
      if (connection.id === 'sandbox') {
        void vscode.window.showInformationMessage(vscode.l10n.t('The sandbox brings its own client secret.')); // Says all.
        return;
      }
      await clientSecrets.ask(connection);
    }),
  );
}
