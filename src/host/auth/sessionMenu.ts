import * as vscode from 'vscode';
import type { SessionState } from '../../core/oauth/rotation/windowSession.ts';
import { commands } from '../../ids.ts';
import type { Clouds } from '../clouds.ts';
import { showQuickPick } from '../dialogs.ts';
import { statusBarContent } from './statusBar.ts';

type Item = vscode.QuickPickItem & { readonly command: string };

/** What can be done about the session now, from the status bar. */
export async function showSessionMenu(clouds: Clouds, isSigningIn: boolean): Promise<void> {
  const kind = isSigningIn ? 'signingIn' : clouds.active?.tokenManager.state.kind;
  const words = statusBarContent(clouds);
  const chosen = await showQuickPick(itemsFor(kind), {
    title: words?.tooltip ?? vscode.l10n.t('Rolecall: no cloud configured'),
    placeHolder: vscode.l10n.t('What do you want to do?'),
  });
  if (chosen) await vscode.commands.executeCommand(chosen.command);
}

function itemsFor(kind: SessionState['kind'] | undefined): Item[] {
  const item = (icon: string, label: string, command: string): Item => ({
    label,
    iconPath: new vscode.ThemeIcon(icon),
    command,
  });
  const signIn = item('sign-in', vscode.l10n.t('Sign In'), commands.signIn);
  const others = item('key', vscode.l10n.t('Sign In With…'), commands.signInWith);
  const signOut = item('sign-out', vscode.l10n.t('Sign Out'), commands.signOut);
  const always = [
    item('pulse', vscode.l10n.t('Diagnose Sign-In'), commands.diagnoseSignIn),
    item('output', vscode.l10n.t('Show Log'), commands.showLog),
  ];
  if (kind === 'signingIn') {
    return [
      item('clippy', vscode.l10n.t('Paste Sign-In Address…'), commands.pasteSignInAddress),
      item('link', vscode.l10n.t('Copy Sign-In Address'), commands.copySignInAddress),
      item('close', vscode.l10n.t('Cancel Sign-In'), commands.cancelSignIn),
      ...always,
    ];
  }
  if (kind === undefined || kind === 'signedOut' || kind === 'starting') return [signIn, others, ...always];
  if (kind === 'ended') return [signIn, others, signOut, ...always];
  if (kind === 'storeUnavailable') {
    return [
      item('refresh', vscode.l10n.t('Try Again'), commands.refresh),
      item('debug-restart', vscode.l10n.t('Reload Window'), 'workbench.action.reloadWindow'),
      signIn,
      signOut,
      ...always,
    ];
  }
  return [signOut, others, ...always];
}
