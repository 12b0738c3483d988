import * as vscode from 'vscode';
import { cancelled } from '../../core/base/errors.ts';
import type { Fetch } from '../../core/base/http.ts';
import type { Log } from '../../core/base/log.ts';
import { acceptsToken } from '../../core/identity/identityClient.ts';
import { readServiceToken, signInWithServiceToken } from '../../core/oauth/serviceToken.ts';
import type { Session } from '../../core/oauth/session.ts';
import type { Cloud } from '../cloud.ts';
import { showInputBox, showWarningMessage, withProgress } from '../dialogs.ts';
import type { Settings } from '../settings.ts';

export interface ServiceTokensDeps {
  readonly settings: Settings;
  readonly fetch: Fetch;
  readonly addSecret: (secret: string | undefined) => void;
  readonly log: Log;
}

/** Signs in with a pasted token that is checked by a call before it is kept. */
export class ServiceTokens {
  readonly #deps: ServiceTokensDeps;

  constructor(deps: ServiceTokensDeps) {
    this.#deps = deps;
  }

  /** @throws RolecallError `cancelled` when none is given, `invalidRequest` when the service refuses it, `offline`, … */
  async signIn(cloud: Cloud, signal: AbortSignal): Promise<Session> {
    const token = await askForToken(
      signal,
      vscode.l10n.t('Service token for {0}', cloud.connection.label),
      vscode.l10n.t(
        'Stored in the editor’s secret store and sent only to {0} and {1}.',
        cloud.connection.identityUrl,
        new URL(cloud.connection.inferenceUrl).origin,
      ),
    );
    const { fetch, settings, addSecret, log } = this.#deps;
    addSecret(token);
    const { session, isChecked } = await withProgress(
      { location: vscode.ProgressLocation.Notification, title: vscode.l10n.t('Checking the token…') },
      () =>
        signInWithServiceToken(
          {
            connection: cloud.connection,
            fetch,
            isTaken: (candidate, stop) =>
              acceptsToken(
                { fetch, identityUrl: cloud.connection.identityUrl, log, now: Date.now },
                candidate,
                settings.organizations()[0],
                stop,
              ),
            now: Date.now,
          },
          token,
          signal,
        ),
    );
    await cloud.tokenManager.signIn(session);
    log.info(`Signed in to ${cloud.connection.identityUrl} with a service token.`);
    if (!isChecked) {
      void showWarningMessage(
        vscode.l10n.t(
          'The token was saved, but the service offers no way to check it. The first request will show whether it works.',
        ),
      ); // No buttons, so nothing to wait for.
    }
    return session;
  }
}

/** @throws RolecallError `cancelled` */
export async function askForToken(signal: AbortSignal, title: string, prompt: string): Promise<string> {
  const source = new vscode.CancellationTokenSource();
  signal.addEventListener('abort', () => source.cancel(), { once: true });
  const typed = await showInputBox(
    {
      title,
      prompt,
      password: true,
      ignoreFocusOut: true,
      validateInput: (value) => {
        try {
          readServiceToken(value);
          return undefined;
        } catch (error) {
          return error instanceof Error ? error.message : String(error);
        }
      },
    },
    source.token,
  );
  source.dispose();
  if (typed === undefined) throw cancelled();
  return readServiceToken(typed);
}
