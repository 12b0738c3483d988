import * as vscode from 'vscode';
import type { Session } from '../../core/oauth/session.ts';
import { commands } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import { onFirstUse, registerCommands } from '../commands.ts';
import { showError } from '../showError.ts';
import type { TokenUsage } from '../tokenUsage.ts';
import { RolecallAuthenticationProvider } from './authenticationProvider.ts';
import { SessionEndedNotification } from './sessionEndedNotification.ts';
import type { SessionFlowDeps } from './sessionFlow.ts';
import { watchSecrets } from './sessionStorage.ts';
import { SettingsNotification } from './settingsNotification.ts';
import { registerStatusBar } from './statusBar.ts';

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

/** The session in all parts of the editor, and how to sign in. */
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
    const { SessionFlow } = await import('./sessionFlow.ts');
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
