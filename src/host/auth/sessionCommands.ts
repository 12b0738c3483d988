import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import { commands } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import { registerCommand } from '../commands.ts';
import type { ClientSecrets } from './clientSecret.ts';
import type { InferenceTokens } from './inferenceTokens.ts';
import { showSessionMenu } from './sessionMenu.ts';
import type { SignIn } from './signIn.ts';
import type { SignOut } from './signOut.ts';

export interface SessionCommandsDeps {
  readonly clouds: Clouds;
  readonly signIn: SignIn;
  readonly signOut: SignOut;
  readonly clientSecrets: ClientSecrets;
  readonly inferenceTokens: InferenceTokens;
  readonly log: Log;
}

/** Everything about the session that can be asked for by name. */
export function registerSessionCommands(deps: SessionCommandsDeps): vscode.Disposable {
  const { clouds, signIn, signOut, clientSecrets, inferenceTokens, log } = deps;
  /** The configured services; the sandbox brings what it needs. */
  const configured = (cloud: Cloud): Cloud | undefined => {
    if (cloud.connection.id !== 'sandbox') return cloud;
    void vscode.window.showInformationMessage(vscode.l10n.t('The sandbox brings its own client secret and tokens.')); // Says all.
    return undefined;
  };
  return vscode.Disposable.from(
    registerCommand(commands.signIn, log, async () => {
      const cloud = clouds.require();
      await cloud.load();
      await signIn.run(cloud);
    }),
    registerCommand(commands.signInWith, log, async () => {
      const cloud = clouds.require();
      await cloud.load();
      await signIn.choose(cloud);
    }),
    registerCommand(commands.pasteSignInAddress, log, () => signIn.paste()),
    registerCommand(commands.copySignInAddress, log, () => signIn.copyAddress()),
    registerCommand(commands.cancelSignIn, log, () => signIn.cancel()),
    registerCommand(commands.showSession, log, () => showSessionMenu(clouds, signIn.isWaiting)),
    registerCommand(commands.signOut, log, () => signOut.ask(clouds.require())),
    registerCommand(commands.setClientSecret, log, async () => {
      const cloud = configured(clouds.require());
      if (cloud) await clientSecrets.ask(cloud.connection);
    }),
    registerCommand(commands.forgetClientSecret, log, async () => {
      const cloud = configured(clouds.require());
      if (!cloud) return;
      await clientSecrets.forget(cloud.connection);
      void vscode.window.showInformationMessage(
        vscode.l10n.t('The client secret is forgotten. It is asked for at the next sign-in or renewal.'),
      ); // Says all.
    }),
    registerCommand(commands.setInferenceToken, log, async () => {
      const cloud = configured(clouds.require());
      if (!cloud) return;
      await inferenceTokens.ask(cloud.connection);
      await cloud.readInferenceToken();
    }),
    registerCommand(commands.forgetInferenceToken, log, async () => {
      const cloud = configured(clouds.require());
      if (!cloud) return;
      await inferenceTokens.forget(cloud.connection);
      await cloud.readInferenceToken();
      void vscode.window.showInformationMessage(
        vscode.l10n.t('The inference service gets the token of your sign-in again.'),
      ); // Says all.
    }),
  );
}
