import * as vscode from 'vscode';
import type { Connection } from '../../core/base/connection.ts';
import type { Fetch } from '../../core/base/http.ts';
import type { Log } from '../../core/base/log.ts';
import type { Session } from '../../core/oauth/session.ts';
import { commands } from '../../ids.ts';
import { Cloud } from '../cloud.ts';
import { Clouds } from '../clouds.ts';
import { onFirstUse, registerCommands } from '../commands.ts';
import type { Settings } from '../settings.ts';
import { showError } from '../showError.ts';
import type { TokenUsage } from '../tokenUsage.ts';
import { RolecallAuthenticationProvider } from './authenticationProvider.ts';
import { ClientSecrets } from './clientSecret.ts';
import { InferenceTokens } from './inferenceTokens.ts';
import { SessionEndedNotification, SettingsNotification } from './notifications.ts';
import type { SessionFlowDeps } from './sessionCommands.ts';
import { editorSessionStorage, sandboxSessionStorage, watchSecrets } from './sessionStorage.ts';
import { registerStatusBar } from './statusBar.ts';

export interface CreateCloudsDeps {
  readonly context: Pick<vscode.ExtensionContext, 'secrets' | 'globalState' | 'globalStorageUri' | 'extensionMode'>;
  readonly settings: Settings;
  readonly fetch: Fetch;
  readonly addSecret: (secret: string | undefined) => void;
  readonly log: Log;
}

/** Creates the connections, with their secrets from the secret store or the sandbox itself. */
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
    /** The folder of this user's shared state; the usual one unless given. */
    state,
    addSandboxSecret: (clientId: string, secret: string) => {
      addSecret(secret);
      sandboxSecrets.set(clientId, secret);
    },
  };
}

const sessionCommands = [
  commands.signIn,
  commands.signInWith,
  commands.pasteSignInAddress,
  commands.copySignInAddress,
  commands.cancelSignIn,
  commands.showSession,
  commands.signOut,
  commands.setClientSecret,
  commands.forgetClientSecret,
  commands.setInferenceToken,
  commands.forgetInferenceToken,
];

/** The session, and how to sign in, for all parts of the extension. */
export interface RegisteredSession extends vscode.Disposable {
  /** See `SignIn.run`. */
  signIn(cloud: Cloud): Promise<Session>;
}

/** Registers accounts, status bar, notifications, links and commands. Does not sign in or out. */
export function registerSession({
  usage,
  ...deps
}: SessionFlowDeps & { readonly usage: TokenUsage }): RegisteredSession {
  const { clouds, secrets, clientSecrets, inferenceTokens, log } = deps;
  const flow = onFirstUse(async () => {
    const { SessionFlow } = await import('./sessionCommands.ts');
    return new SessionFlow(deps);
  });
  const signIn = async (cloud: Cloud) => (await flow()).signIn.run(cloud);
  const runAndNotify = async (cloud: Cloud) => (await flow()).signOut.runAndNotify(cloud);
  const handleUri = async (uri: vscode.Uri) => {
    try {
      await (await flow()).links.handleUri(uri);
    } catch (error) {
      await showError(error, log);
    }
  };
  const disposables = vscode.Disposable.from(
    RolecallAuthenticationProvider.register(clouds, { run: signIn }, { runAndNotify }, log),
    registerCommands(sessionCommands, log, async () => (await flow()).commands),
    registerStatusBar(clouds, usage),
    flow,
    new SessionEndedNotification(clouds, log),
    new SettingsNotification(clouds, log),
    watchSecrets(secrets, clouds, clientSecrets, inferenceTokens),
    vscode.window.registerUriHandler({ handleUri }),
  );
  return { signIn, dispose: () => disposables.dispose() };
}
