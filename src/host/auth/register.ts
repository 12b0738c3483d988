import * as vscode from 'vscode';
import type { Session } from '../../core/oauth/session.ts';
import { commands } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import { onFirstUse, registerCommands } from '../commands.ts';
import { showError } from '../showError.ts';
import type { UsageLedger } from '../usageLedger.ts';
import { RolecallAuthenticationProvider } from './authenticationProvider.ts';
import { EndedNotice } from './endedNotice.ts';
import { followSecrets } from './followSecrets.ts';
import type { SessionFlowDeps } from './sessionFlow.ts';
import { SettingsNotice } from './settingsNotice.ts';
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

/** The session as it is seen everywhere in the editor, and the way to get one. */
export interface RegisteredSession extends vscode.Disposable {
  /** See `SignIn.run`. */
  signIn(cloud: Cloud): Promise<Session>;
}

/** Registers accounts, status bar, notices, links and commands. Nobody is signed in or out by that. */
export function registerSession({
  usage,
  ...deps
}: SessionFlowDeps & { readonly usage: UsageLedger }): RegisteredSession {
  const { clouds, storage, inferenceTokens, log } = deps;
  const flow = onFirstUse(async () => {
    const { SessionFlow } = await import('./sessionFlow.ts');
    return new SessionFlow(deps);
  });
  const signIn = async (cloud: Cloud) => (await flow()).signIn.run(cloud);
  const runAndTell = async (cloud: Cloud) => (await flow()).signOut.runAndTell(cloud);
  const handleUri = async (uri: vscode.Uri) => {
    try {
      await (await flow()).links.handleUri(uri);
    } catch (error) {
      await showError(error, log);
    }
  };
  const disposables = vscode.Disposable.from(
    RolecallAuthenticationProvider.register(clouds, { run: signIn }, { runAndTell }, log),
    registerCommands(sessionCommands, log, async () => (await flow()).commands),
    registerStatusBar(clouds, usage),
    flow,
    new EndedNotice(clouds, log),
    new SettingsNotice(clouds, log),
    followSecrets(storage, clouds, inferenceTokens),
    vscode.window.registerUriHandler({ handleUri }),
  );
  return { signIn, dispose: () => disposables.dispose() };
}
