import * as vscode from 'vscode';
import { truncate } from '../../core/base/text.ts';
import type { SessionState } from '../../core/oauth/rotation/windowSession.ts';
import { commands } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import { plainText, showQuickPick } from '../dialogs.ts';
import type { TokenUsage } from '../tokenUsage.ts';

/** The presentation of a session's state in the status bar. */
export interface StatusBarContent {
  readonly text: string;
  readonly tooltip: string;
  readonly command: string;
  readonly colour?: 'warning' | 'error';
}

/** @returns `undefined` when there is nothing to show: no cloud is configured, or nothing is known yet. */
export function statusBarContent(clouds: Pick<Clouds, 'active' | 'problem'>): StatusBarContent | undefined {
  const { active, problem } = clouds;
  if (problem) {
    return {
      text: vscode.l10n.t('$(warning) Rolecall: check settings'),
      tooltip: problem.message,
      command: commands.signIn,
      colour: 'warning',
    };
  }
  return active && stateWords(active.tokenManager.state, active);
}

function stateWords(state: SessionState, { connection }: Cloud): StatusBarContent | undefined {
  const { label } = connection;
  const isSandbox = connection.id === 'sandbox';
  const nameOf = ({ label: name }: { readonly label: string }) =>
    isSandbox ? vscode.l10n.t('{0} (sandbox)', plain(name)) : plain(name);
  switch (state.kind) {
    case 'starting':
      return undefined;
    case 'signedOut':
      return {
        text: isSandbox ? vscode.l10n.t('$(sign-in) Sandbox: sign in') : vscode.l10n.t('$(sign-in) Rolecall: sign in'),
        tooltip: vscode.l10n.t('Not signed in to {0}.', label),
        command: isSandbox ? commands.trySandbox : commands.signIn,
      };
    case 'signingIn':
      return {
        text: vscode.l10n.t('$(loading~spin) Rolecall: waiting for the browser'),
        tooltip: vscode.l10n.t('Finish signing in to {0} in your browser. Select for more options.', label),
        command: commands.showSession,
      };
    case 'signedIn':
      return {
        text: `$(account) ${nameOf(state.account)}`,
        tooltip: vscode.l10n.t('Rolecall: signed in to {0} as {1}.', label, state.account.label),
        command: commands.showSession,
      };
    case 'refreshing':
      return {
        text: `$(sync~spin) ${nameOf(state.account)}`,
        tooltip: vscode.l10n.t('Rolecall: refreshing the session for {0}.', label),
        command: commands.showSession,
      };
    case 'offline':
      return {
        text: vscode.l10n.t('$(debug-disconnect) {0} (offline)', nameOf(state.account)),
        tooltip: vscode.l10n.t(
          'Rolecall: still signed in to {0}, but the session could not be refreshed. Rolecall keeps trying. {1}',
          label,
          state.error.message,
        ),
        command: commands.showSession,
        colour: 'warning',
      };
    case 'ended':
      return {
        text: vscode.l10n.t('$(warning) Rolecall: sign in again'),
        tooltip: state.error.message,
        command: commands.signIn,
        colour: 'warning',
      };
    case 'storeUnavailable':
      return {
        text: vscode.l10n.t('$(lock) Rolecall: keyring'),
        tooltip: state.error.message,
        command: commands.showSession,
        colour: 'error',
      };
  }
}

/** A name from a service must not show icons. */
function plain(label: string): string {
  return truncate(plainText(label), 60);
}

/** Shows the account and the state of its session in the status bar, and the tokens used in the tooltip. */
export function registerStatusBar(clouds: Clouds, usage: TokenUsage): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('rolecall.session', vscode.StatusBarAlignment.Right, 50);
  item.name = vscode.l10n.t('Rolecall sign-in');
  const show = () => {
    const words = statusBarContent(clouds);
    if (!words) {
      item.hide();
      return;
    }
    item.text = words.text;
    item.tooltip = [words.tooltip, ...usedTokens(usage)].join('\n');
    item.command = words.command;
    item.backgroundColor = words.colour && new vscode.ThemeColor(`statusBarItem.${words.colour}Background`);
    item.accessibilityInformation = { label: words.tooltip };
    item.show();
  };
  show();
  return vscode.Disposable.from(item, clouds.onDidChange(show), usage.onDidChange(show));
}

function usedTokens({ lines }: TokenUsage): string[] {
  return lines.length === 0 ? [] : ['', vscode.l10n.t('Tokens used in this window:'), ...lines];
}

type Item = vscode.QuickPickItem & { readonly command: string };

/** The actions for the session's state, from the status bar. */
export async function showSessionMenu(clouds: Clouds, isSigningIn: boolean): Promise<void> {
  const kind = isSigningIn ? 'signingIn' : clouds.active?.tokenManager.state.kind;
  const words = statusBarContent(clouds);
  const chosen = await showQuickPick(itemsFor(kind, clouds.sandbox !== undefined), {
    title: words?.tooltip ?? vscode.l10n.t('Rolecall: no cloud configured'),
    placeHolder: vscode.l10n.t('What do you want to do?'),
  });
  if (chosen) await vscode.commands.executeCommand(chosen.command);
}

function itemsFor(kind: SessionState['kind'] | undefined, isSandbox: boolean): Item[] {
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
    ...(isSandbox ? [item('close-all', vscode.l10n.t('Leave the Sandbox'), commands.leaveSandbox)] : []),
  ];
  if (kind === 'signingIn') {
    return [
      item('clippy', vscode.l10n.t('Paste Redirect Address…'), commands.pasteSignInAddress),
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
