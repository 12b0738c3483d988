import * as vscode from 'vscode';
import type { Connection } from '../../core/base/connection.ts';
import { asStorageError } from '../../core/oauth/session.ts';
import { secrets } from '../../ids.ts';
import { askForToken } from './serviceTokens.ts';

/** A service token for the inference service alone: entered by command, kept in SecretStorage only. */
export class InferenceTokens {
  readonly #storage: vscode.SecretStorage;

  constructor(storage: vscode.SecretStorage) {
    this.#storage = storage;
  }

  /** @throws RolecallError `storage` */
  get(connection: Connection): Promise<string | undefined> {
    return guarded(() => this.#storage.get(keyOf(connection)));
  }

  /** @throws RolecallError `cancelled`, `storage` */
  async ask(connection: Connection): Promise<void> {
    const token = await askForToken(
      new AbortController().signal,
      vscode.l10n.t('Token for the inference service'),
      vscode.l10n.t(
        'It is kept in the system keyring, sent to {0} only, and used there instead of your sign-in.',
        new URL(connection.inferenceUrl).origin,
      ),
    );
    await guarded(() => this.#storage.store(keyOf(connection), token));
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
