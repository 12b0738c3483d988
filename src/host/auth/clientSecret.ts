import * as vscode from 'vscode';
import type { Connection } from '../../core/base/connection.ts';
import { asStorageError, cancelled } from '../../core/base/errors.ts';
import { secrets } from '../../ids.ts';
import { showInputBox } from '../dialogs.ts';

/** The client secret of the configured services: entered by command, kept in SecretStorage only. */
export class ClientSecrets {
  readonly #storage: vscode.SecretStorage;

  constructor(storage: vscode.SecretStorage) {
    this.#storage = storage;
  }

  /** @throws RolecallError `cancelled` when `interactive` and the user gives none. */
  async get(connection: Connection, interactive: boolean): Promise<string | undefined> {
    if (connection.clientAuthentication === 'none') return undefined;
    const stored = await this.#guarded(() => this.#storage.get(secretKey(connection)));
    return stored ?? (interactive ? this.ask(connection) : undefined);
  }

  async ask(connection: Connection): Promise<string> {
    const secret = await showInputBox({
      title: vscode.l10n.t('Client secret for {0}', connection.clientId),
      prompt: vscode.l10n.t('Stored in the editor’s secret store and sent only to {0}.', connection.identityUrl),
      password: true,
      ignoreFocusOut: true,
      validateInput: (value) => problem(value),
    });
    if (secret === undefined) throw cancelled();
    await this.#guarded(() => this.#storage.store(secretKey(connection), secret));
    return secret;
  }

  /** @throws RolecallError `storage` */
  async forget(connection: Connection): Promise<void> {
    await this.#guarded(() => this.#storage.delete(secretKey(connection)));
  }

  /** Whether a change of SecretStorage concerns `connection`. */
  concerns(key: string, connection: Connection): boolean {
    return key === secretKey(connection);
  }

  /** Reports a locked keyring as such. */
  async #guarded<T>(use: () => Thenable<T>): Promise<T> {
    try {
      return await use();
    } catch (error) {
      throw asStorageError(error);
    }
  }
}

function problem(value: string): string | undefined {
  if (value === '') return vscode.l10n.t('Paste the secret that belongs to the client ID.');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(value))
    return vscode.l10n.t('The secret contains a line break or control character. Paste only the secret.');
  if (value !== value.trim()) return vscode.l10n.t('The secret begins or ends with a space. Paste only the secret.');
  return undefined;
}

function secretKey(connection: Connection): string {
  return `${secrets.clientSecret}${connection.identityUrl}|${connection.clientId}`;
}
