import * as vscode from 'vscode';
import { type Connection, connectionKey } from '../../core/base/connection.ts';
import { secrets } from '../../ids.ts';
import type { SessionStorage } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import type { ClientSecrets } from './clientSecret.ts';
import type { InferenceTokens } from './inferenceTokens.ts';

/** SecretStorage (the system keyring, or its substitute), shared by all windows of this editor. */
export function editorSessionStorage(
  storage: vscode.SecretStorage,
  connection: Connection,
  state?: string,
): SessionStorage {
  const key = secrets.session + connectionKey(connection);
  return {
    store: {
      read: async () => storage.get(key),
      write: async (text) => storage.store(key, text),
    },
    storeName: vscode.env.uriScheme,
    ...(state !== undefined && { state }),
    dispose: () => {},
  };
}

/** Key of the sandbox whose session was stored last. */
const LAST_SANDBOX = 'rolecall.lastSandbox';

/**
 * Like {@link editorSessionStorage}, in the folder of the sandbox, which is removed with it. Each sandbox is another
 * connection, so the session of the previous one is deleted.
 */
export function sandboxSessionStorage(
  storage: vscode.SecretStorage,
  memory: vscode.Memento,
  connection: Connection,
  folder: string,
): SessionStorage {
  const key = connectionKey(connection);
  const before = memory.get<string>(LAST_SANDBOX);
  if (before !== key) {
    void memory.update(LAST_SANDBOX, key); // The next one looks again.
    // It belongs to a sandbox that no longer exists.
    if (before !== undefined) void Promise.resolve(storage.delete(secrets.session + before)).catch(() => {});
  }
  return editorSessionStorage(storage, connection, folder);
}

/**
 * Reads what other windows have stored, where VS Code reports it (on the desktop, not in a browser). Sessions also reach
 * the windows directly; a client secret and a token of the inference service arrive only in this way.
 */
export function watchSecrets(
  storage: vscode.SecretStorage,
  clouds: Clouds,
  clientSecrets: Pick<ClientSecrets, 'concerns'>,
  inferenceTokens: Pick<InferenceTokens, 'concerns'>,
): vscode.Disposable {
  return storage.onDidChange(({ key }) => {
    for (const cloud of clouds.all) {
      if (key === secrets.session + connectionKey(cloud.connection)) void cloud.tokenManager.load(); // Never rejects.
      if (clientSecrets.concerns(key, cloud.connection)) void cloud.readClientSecret(); // Never rejects.
      if (inferenceTokens.concerns(key, cloud.connection)) void cloud.readInferenceToken(); // Never rejects.
    }
  });
}
