import type * as vscode from 'vscode';
import { type Connection, connectionKey } from '../../core/base/connection.ts';
import type { SessionStore } from '../../core/oauth/tokenKeeper.ts';
import { secrets } from '../../ids.ts';

/** The session of one connection in VS Code's SecretStorage (the system keyring, or its substitute). */
export function secretSessionStore(storage: vscode.SecretStorage, connection: Connection): SessionStore {
  const key = secrets.session + connectionKey(connection);
  return {
    read: async () => storage.get(key),
    write: async (text) => storage.store(key, text),
    clear: async () => storage.delete(key),
  };
}

/**
 * A session that lives as long as this window: the sandbox ends with the window, so a stored token of its would only be
 * a dead secret at rest.
 */
export function windowSessionStore(): SessionStore {
  let kept: string | undefined;
  return {
    read: async () => kept,
    write: async (text) => {
      kept = text;
    },
    clear: async () => {
      kept = undefined;
    },
  };
}
