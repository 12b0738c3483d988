import * as vscode from 'vscode';
import type { Connection } from '../../core/base/connection.ts';
import type { Fetch } from '../../core/base/http.ts';
import type { Log } from '../../core/base/log.ts';
import { Cloud } from '../cloud.ts';
import { Clouds } from '../clouds.ts';
import type { Settings } from '../settings.ts';
import { ClientSecrets } from './clientSecret.ts';
import { InferenceTokens } from './inferenceTokens.ts';
import { editorSessionStorage, sandboxSessionStorage } from './sessionStorage.ts';

export interface CreateCloudsDeps {
  readonly context: Pick<vscode.ExtensionContext, 'secrets' | 'globalState' | 'globalStorageUri' | 'extensionMode'>;
  readonly settings: Settings;
  readonly fetch: Fetch;
  readonly addSecret: (secret: string | undefined) => void;
  readonly log: Log;
}

/** The connections, and where their secrets come from: the secret store, or the sandbox itself. */
export function createClouds({ context, settings, fetch, addSecret, log }: CreateCloudsDeps) {
  const { secrets, globalState, globalStorageUri } = context;
  const sandboxFolder = vscode.Uri.joinPath(globalStorageUri, 'sandbox').fsPath;
  // Tests of the extension host leave nothing in the user's home.
  const isTest = context.extensionMode === vscode.ExtensionMode.Test;
  const state = isTest ? vscode.Uri.joinPath(globalStorageUri, 'state').fsPath : undefined;
  const clientSecrets = new ClientSecrets(secrets);
  const inferenceTokens = new InferenceTokens(secrets, { settings, fetch, addSecret, log });
  // Kept by this window only: the sandbox gives them to each window.
  const sandboxSecrets = new Map<string, string>();
  const clientSecret = async (of: Connection, interactive: boolean) =>
    of.id === 'sandbox' ? sandboxSecrets.get(of.clientId) : clientSecrets.get(of, interactive);
  const createCloud = (connection: Connection) =>
    new Cloud({
      connection,
      storage:
        connection.id === 'sandbox'
          ? sandboxSessionStorage(secrets, globalState, connection, sandboxFolder)
          : editorSessionStorage(secrets, connection, state),
      inferenceToken: async (of) => (of.id === 'sandbox' ? undefined : inferenceTokens.get(of)),
      clientSecret,
      fetch,
      log,
      addSecret,
    });
  return {
    clouds: new Clouds(settings, createCloud),
    clientSecrets,
    inferenceTokens,
    /** The client secret of one connection; never asks for it. */
    clientSecret: (of: Connection) => clientSecret(of, false),
    sandboxFolder,
    /** Where the windows of this user agree, where that is not the usual place. */
    state,
    addSandboxSecret: (clientId: string, secret: string) => {
      addSecret(secret);
      sandboxSecrets.set(clientId, secret);
    },
  };
}
