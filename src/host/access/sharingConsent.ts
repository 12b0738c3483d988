import * as vscode from 'vscode';
import { oneLine } from '../../core/access/plain.ts';
import { createQueue } from '../../core/base/abort.ts';
import type { AccessData, ActiveSession } from '../accessData.ts';
import { showWarningMessage } from '../dialogs.ts';

/** What is shared with whom: shown to the user before anything is read. */
export interface SharingRequest {
  readonly organization: string;
  /** The model or agent, as far as the editor says; `undefined` where it does not. */
  readonly recipient: string | undefined;
}

/**
 * The user's consent to sharing an organization's groups, roles and people with a model that is not the cloud's own. Rolecall
 * asks itself: the editor's "Allow in this Session" approves every later call of a tool, for every organization and whichever
 * model asks. Consent can last until the window closes, for this account, organization and recipient alone.
 */
export class SharingConsent implements vscode.Disposable {
  readonly #allowed = new Set<string>();
  readonly #inTurn = createQueue();
  readonly #subscription: vscode.Disposable;

  constructor(data: AccessData) {
    this.#subscription = data.onDidChange(({ kind }) => {
      if (kind === 'session') this.#allowed.clear();
    });
  }

  /** Questions wait for each other: one dialog at a time. */
  ask(session: ActiveSession, sharing: SharingRequest, signal: AbortSignal): Promise<boolean> {
    const key = JSON.stringify([session.cloud.key, session.account.id, sharing.organization, sharing.recipient]);
    return this.#inTurn(async () => {
      if (signal.aborted) return false;
      if (sharing.recipient !== undefined && this.#allowed.has(key)) return true;
      return this.#show(key, sharing, signal);
    });
  }

  async #show(key: string, { organization, recipient }: SharingRequest, signal: AbortSignal): Promise<boolean> {
    const once = vscode.l10n.t('Allow Once');
    const session = vscode.l10n.t('Allow Until This Window Closes');
    const who = recipient === undefined ? vscode.l10n.t('another chat agent or model') : oneLine(recipient);
    const chosen = await showWarningMessage(
      vscode.l10n.t('Share who can do what in “{0}” with {1}?', oneLine(organization), who),
      {
        modal: true,
        detail: [
          vscode.l10n.t(
            'The names of groups and roles and people’s e-mail addresses will be sent to that model as part of a prompt. Its vendor can log them.',
          ),
          recipient === undefined
            ? vscode.l10n.t('The editor does not report which one is asking. It is not @rolecall.')
            : vscode.l10n.t('The request does not come from @rolecall.'),
        ].join('\n\n'),
      },
      once,
      // An unnamed recipient cannot be recognized again.
      ...(recipient === undefined ? [] : [session]),
    );
    if (signal.aborted) return false; // The dialog outlives Stop; its answer does not.
    if (chosen === session) this.#allowed.add(key);
    return chosen === once || chosen === session;
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}
