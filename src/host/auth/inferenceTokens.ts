import * as vscode from 'vscode';
import type { Connection } from '../../core/base/connection.ts';
import { asStorageError, RolecallError } from '../../core/base/errors.ts';
import type { Fetch } from '../../core/base/http.ts';
import type { Log } from '../../core/base/log.ts';
import { secrets } from '../../ids.ts';
import { withProgress } from '../dialogs.ts';
import type { Settings } from '../settings.ts';

/** The longest wait for the answer to a token that was just entered, in milliseconds. */
const CHECK_MS = 20_000;

export interface InferenceTokensDeps {
  readonly settings: Pick<Settings, 'inferenceHeaders'>;
  readonly fetch: Fetch;
  readonly addSecret: (secret: string | undefined) => void;
  readonly log: Log;
}

/** A service token for the inference service alone: entered by command, kept in SecretStorage only. */
export class InferenceTokens {
  readonly #storage: vscode.SecretStorage;
  readonly #deps: InferenceTokensDeps;

  constructor(storage: vscode.SecretStorage, deps: InferenceTokensDeps) {
    this.#storage = storage;
    this.#deps = deps;
  }

  /** @throws RolecallError `storage` */
  get(connection: Connection): Promise<string | undefined> {
    return guarded(() => this.#storage.get(keyOf(connection)));
  }

  /**
   * Asks for a token, tries it where the service lists its models, and keeps it.
   *
   * @throws RolecallError `cancelled`, `invalidRequest` (refused), `offline`, …, `storage`: then nothing was kept
   */
  async ask(connection: Connection): Promise<void> {
    const { askForToken } = await import('./serviceTokens.ts');
    const token = await askForToken(
      new AbortController().signal,
      vscode.l10n.t('Token for the inference service'),
      vscode.l10n.t(
        'Stored in the editor’s secret store, sent only to {0}, and used there instead of your sign-in.',
        new URL(connection.inferenceUrl).origin,
      ),
    );
    this.#deps.addSecret(token); // Before an error of the service could contain it.
    await this.#tryOut(connection, token);
    await guarded(() => this.#storage.store(keyOf(connection), token));
  }

  /** A service that lists no models cannot check the token; its first use will. */
  async #tryOut(connection: Connection, token: string): Promise<void> {
    const { settings, fetch, log } = this.#deps;
    const { headers } = settings.inferenceHeaders();
    const refreshAfter401 = async () => {
      throw new RolecallError(
        'invalidRequest',
        vscode.l10n.t('The inference service does not accept this token. It was not saved.'),
      );
    };
    const deps = { fetch, log, headers, accessToken: async () => token, refreshAfter401 };
    const { listModels } = await import('../../core/completions/models.ts');
    await withProgress(
      { location: vscode.ProgressLocation.Notification, title: vscode.l10n.t('Checking the token…') },
      () => listModels(deps, connection, AbortSignal.timeout(CHECK_MS)),
    );
  }

  /** @throws RolecallError `storage` */
  forget(connection: Connection): Promise<void> {
    return guarded(() => this.#storage.delete(keyOf(connection)));
  }

  /** Whether a change of SecretStorage may concern `connection`. */
  concerns(key: string, connection: Connection): boolean {
    return key === keyOf(connection);
  }
}

async function guarded<T>(use: () => Thenable<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    throw asStorageError(error);
  }
}

function keyOf(connection: Connection): string {
  return secrets.inferenceToken + connection.inferenceUrl;
}
