import * as vscode from 'vscode';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import type { Fetch } from '../../core/base/http.ts';
import type { Log } from '../../core/base/log.ts';
import { IdentityClient } from '../../core/identity/identityClient.ts';
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
        'Stored in the system keyring and sent only to {0} and {1}.',
        cloud.connection.identityUrl,
        new URL(cloud.connection.inferenceUrl).origin,
      ),
    );
    this.#deps.addSecret(token);
    const { session, isChecked } = await withProgress(
      { location: vscode.ProgressLocation.Notification, title: vscode.l10n.t('Checking the token…') },
      () =>
        signInWithServiceToken(
          {
            connection: cloud.connection,
            fetch: this.#deps.fetch,
            isTaken: (candidate, stop) => this.#isTaken(cloud, candidate, stop),
            now: Date.now,
          },
          token,
          signal,
        ),
    );
    await cloud.tokenManager.signIn(session);
    this.#deps.log.info(`Signed in to ${cloud.connection.identityUrl} with a service token.`);
    if (!isChecked) {
      void showWarningMessage(
        vscode.l10n.t(
          'The token was saved, but the service offers no way to check it. The first request will show whether it works.',
        ),
      ); // No buttons, so nothing to wait for.
    }
    return session;
  }

  /** Asks for organizations, else for the groups of the first one. A “forbidden” means that the token was accepted. */
  async #isTaken(cloud: Cloud, token: string, signal: AbortSignal): Promise<boolean | undefined> {
    let refused = false;
    const client = new IdentityClient({
      fetch: this.#deps.fetch,
      identityUrl: cloud.connection.identityUrl,
      tokens: {
        accessToken: async () => token,
        refreshAfter401: async () => {
          refused = true;
          return undefined;
        },
      },
      log: this.#deps.log,
      now: Date.now,
    });
    const answered = async (ask: () => Promise<unknown>) => {
      try {
        return (await ask()) !== undefined;
      } catch (error) {
        if (refused) return false;
        if (isKnownAllTheSame(error)) return true;
        throw error;
      }
    };
    if (await answered(() => client.organizations(signal))) return true;
    if (refused) return false;
    const organization = this.#deps.settings.organizations()[0];
    if (organization === undefined) return undefined;
    return answered(() => client.groups(organization, signal));
  }
}

/** A service that answers “forbidden” or “not found” has accepted the token. */
function isKnownAllTheSame(error: unknown): boolean {
  return error instanceof RolecallError && (error.kind === 'forbidden' || error.kind === 'notFound');
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
