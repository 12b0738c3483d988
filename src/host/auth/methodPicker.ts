import * as vscode from 'vscode';
import { cancelled } from '../../core/base/errors.ts';
import {
  editorLinkUri,
  SIGN_IN_METHODS,
  type SignInContext,
  type SignInMethodId,
  type UnavailableReason,
  unavailableReason,
} from '../../core/oauth/signInMethods.ts';
import { showQuickPick } from '../dialogs.ts';

/** Lets the user choose a method; an unavailable one is shown with what it needs. @throws RolecallError `cancelled` */
export async function askForMethod(context: SignInContext): Promise<SignInMethodId> {
  const items = SIGN_IN_METHODS.map((method) => {
    const refusal = unavailableReason(method, context);
    const { label, detail } = wordsOf(method.id, context);
    return refusal
      ? { method: undefined, label, iconPath: new vscode.ThemeIcon('circle-slash'), detail: reasonOf(refusal, context) }
      : { method: method.id, label, detail };
  });
  const chosen = await showQuickPick(items, {
    title: vscode.l10n.t('Sign In With…'),
    placeHolder: vscode.l10n.t('Choose a way to sign in'),
    matchOnDetail: true,
  });
  if (!chosen) throw cancelled();
  if (chosen.method) return chosen.method;
  await vscode.commands.executeCommand('workbench.action.openSettings', '@ext:rolecall.rolecall identity');
  throw cancelled();
}

function wordsOf(id: SignInMethodId, { connection }: SignInContext): { label: string; detail: string } {
  switch (id) {
    case 'loopback':
      return {
        label: vscode.l10n.t('Browser'),
        detail: vscode.l10n.t('Sign in on the provider’s page, which returns to {0}.', connection.redirectUri),
      };
    case 'editorLink':
      return {
        label: vscode.l10n.t('Browser, returning through an editor link'),
        detail: vscode.l10n.t('Sign in on the provider’s page, which opens {0}.', connection.redirectUri),
      };
    case 'paste':
      return {
        label: vscode.l10n.t('Browser, then paste the address'),
        detail: vscode.l10n.t(
          'For SSH, containers and editors in a browser, where the page cannot return to the editor.',
        ),
      };
    case 'serviceToken':
      return {
        label: vscode.l10n.t('Service token'),
        detail: vscode.l10n.t(
          'Paste a long-lived token. It is stored in the editor’s secret store and cannot be refreshed.',
        ),
      };
  }
}

function reasonOf(refusal: UnavailableReason, { uriScheme }: SignInContext): string {
  switch (refusal) {
    case 'noClient':
      return vscode.l10n.t('Needs the ID of a registered client: set rolecall.identity.clientId.');
    case 'redirectUriIsNoLoopback':
      return vscode.l10n.t(
        'Needs a registered redirect URI on this machine, such as http://127.0.0.1:18155/callback (rolecall.identity.redirectUri).',
      );
    case 'redirectUriIsNoLink':
      return vscode.l10n.t('Needs the registered redirect URI {0}.', editorLinkUri(uriScheme));
    case 'linksDoNotArrive':
      return vscode.l10n.t('Links do not reach an editor that runs in a browser.');
  }
}
