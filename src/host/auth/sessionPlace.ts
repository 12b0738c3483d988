import os from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { type Connection, connectionKey } from '../../core/base/connection.ts';
import { secrets } from '../../ids.ts';
import type { SessionPlace } from '../cloud.ts';

/** SecretStorage (the system keyring, or its substitute), shared by all windows of this editor. */
export function sharedPlace(storage: vscode.SecretStorage, connection: Connection, state?: string): SessionPlace {
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

/**
 * A session that lives as long as this window: the sandbox ends with the window, so a stored token of its would only be
 * a dead secret at rest. What is left when the window is killed is sealed with a key that died with it.
 */
export function windowPlace(): SessionPlace {
  let kept: string | undefined;
  const state = path.join(os.tmpdir(), `rolecall-window-${crypto.randomUUID()}`);
  return {
    store: {
      read: async () => kept,
      write: async (text) => {
        kept = text;
      },
    },
    state,
    dispose: () => {
      kept = undefined;
      void remove(state).catch(() => {}); // Nobody can read it any more.
    },
  };
}

async function remove(folder: string): Promise<void> {
  const { rm } = await import('node:fs/promises');
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
