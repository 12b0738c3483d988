import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import type { Session } from '../../core/oauth/session.ts';
import { signInWithBrowser } from '../../core/oauth/signIn.ts';
import { signalOf } from '../cancellation.ts';
import type { Cloud } from '../cloud.ts';

/** Signs in to `cloud` through the user's browser, with a progress notification that can be cancelled. */
export class SignIn {
  readonly #log: Log;
  readonly #learn: (secret: string | undefined) => void;
  #running: { readonly cloud: Cloud; readonly session: Promise<Session> } | undefined;

  constructor(log: Log, learn: (secret: string | undefined) => void) {
    this.#log = log;
    this.#learn = learn;
  }

  /** A second call for the same connection joins the sign-in that is under way. */
  run(cloud: Cloud): Promise<Session> {
    if (this.#running?.cloud === cloud) return this.#running.session;
    const session = this.#withProgress(cloud).finally(() => {
      if (this.#running?.session === session) this.#running = undefined;
    });
    this.#running = { cloud, session };
    return session;
  }

  async #withProgress(cloud: Cloud): Promise<Session> {
    const server = await cloud.authorizationServer(true);
    return vscode.window.withProgress(
      {
        location: vscode.ProgressLocation.Notification,
        title: vscode.l10n.t('Signing in to {0}: finish in your browser…', cloud.connection.label),
        cancellable: true,
      },
      async (_progress, token) => {
        const session = await signInWithBrowser(
          {
            connection: cloud.connection,
            server,
            pages: pages(cloud.connection.label),
            openBrowser: async (url) => vscode.env.openExternal(vscode.Uri.parse(url, true)),
            learn: this.#learn,
            log: this.#log,
            now: Date.now,
          },
          signalOf(token),
        );
        await cloud.keeper.adopt(session);
        this.#log.info(`Signed in to ${cloud.connection.identityUrl}.`);
        return session;
      },
    );
  }
}

function pages(label: string) {
  return {
    done: {
      title: vscode.l10n.t('Signed in'),
      text: vscode.l10n.t(
        'Rolecall has what it needs from {0}. You can close this page and go back to the editor.',
        label,
      ),
    },
    failed: {
      title: vscode.l10n.t('Not signed in'),
      text: vscode.l10n.t('The sign-in was refused or cancelled. The editor says why.'),
    },
    refused: {
      title: vscode.l10n.t('Nothing to see here'),
      text: vscode.l10n.t(
        'This address waits for one sign-in of Rolecall, and this is not its answer. Start again from the editor.',
      ),
    },
  };
}
