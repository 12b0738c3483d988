import * as vscode from 'vscode';
import { commands } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import type { Handlers } from '../commands.ts';
import { showInformationMessage } from '../dialogs.ts';
import type { ClientSecrets } from './clientSecret.ts';
import type { InferenceTokens } from './inferenceTokens.ts';
import { showSessionMenu } from './sessionMenu.ts';
import type { SignIn } from './signIn.ts';
import type { SignOut } from './signOut.ts';

export interface SessionCommandsDeps {
  readonly clouds: Clouds;
  readonly signIn: Pick<SignIn, 'run' | 'choose' | 'paste' | 'copyAddress' | 'cancel' | 'isWaiting'>;
  readonly signOut: Pick<SignOut, 'ask'>;
  readonly clientSecrets: ClientSecrets;
  readonly inferenceTokens: InferenceTokens;
  /** Called after a sign-in to the configured services by a command. */
  readonly signedIn: () => Promise<unknown>;
}

/** The commands for the session. */
export function sessionCommands(deps: SessionCommandsDeps) {
  const { clouds, signIn, signOut, clientSecrets, inferenceTokens } = deps;
  const begin = async (how: (cloud: Cloud) => Promise<unknown>): Promise<void> => {
    const cloud = clouds.require();
    await cloud.load();
    await how(cloud);
    if (cloud.connection.id !== 'sandbox') await deps.signedIn();
  };
  /** The configured services; the sandbox brings what it needs. */
  const configured = (cloud: Cloud): Cloud | undefined => {
    if (cloud.connection.id !== 'sandbox') return cloud;
    void showInformationMessage(vscode.l10n.t('The sandbox has its own client secret and tokens.')); // No buttons, so nothing to wait for.
    return undefined;
  };
  return {
    [commands.signIn]: () => begin((cloud) => signIn.run(cloud)),
    [commands.signInWith]: () => begin((cloud) => signIn.choose(cloud)),
    [commands.pasteSignInAddress]: () => signIn.paste(),
    [commands.copySignInAddress]: () => signIn.copyAddress(),
    [commands.cancelSignIn]: () => signIn.cancel(),
    [commands.showSession]: () => showSessionMenu(clouds, signIn.isWaiting),
    [commands.signOut]: () => signOut.ask(clouds.require()),
    [commands.setClientSecret]: async () => {
      const cloud = configured(clouds.require());
      if (!cloud) return;
      await clientSecrets.ask(cloud.connection);
      await cloud.readClientSecret();
      await cloud.load();
      if (cloud.tokenManager.session || signIn.isWaiting) return;
      const now = vscode.l10n.t('Sign In');
      const chosen = await showInformationMessage(vscode.l10n.t('Client secret stored.'), now);
      if (chosen === now) await begin((current) => signIn.run(current));
    },
    [commands.forgetClientSecret]: async () => {
      const cloud = configured(clouds.require());
      if (!cloud) return;
      await clientSecrets.forget(cloud.connection);
      await cloud.readClientSecret();
      void showInformationMessage(
        vscode.l10n.t('Client secret forgotten. You will be asked for it when it is next needed.'),
      ); // No buttons, so nothing to wait for.
    },
    [commands.setInferenceToken]: async () => {
      const cloud = configured(clouds.require());
      if (!cloud) return;
      await inferenceTokens.ask(cloud.connection);
      await cloud.readInferenceToken();
    },
    [commands.forgetInferenceToken]: async () => {
      const cloud = configured(clouds.require());
      if (!cloud) return;
      await inferenceTokens.forget(cloud.connection);
      await cloud.readInferenceToken();
      void showInformationMessage(
        vscode.l10n.t('Inference token forgotten. The inference service uses your sign-in again.'),
      ); // No buttons, so nothing to wait for.
    },
  } satisfies Partial<Handlers>;
}
