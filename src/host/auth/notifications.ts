import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import type { SessionState } from '../../core/oauth/rotation/windowSession.ts';
import { commands } from '../../ids.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import { showWarningMessage } from '../dialogs.ts';
import { describeError, showError } from '../showError.ts';

type Ended = Extract<SessionState, { kind: 'ended' }>;

/**
 * Reports once that a session has ended, in the focused window: one notification for all windows, and no browser. The
 * welcome view and the status bar show it in every window.
 */
export class SessionEndedNotification implements vscode.Disposable {
  readonly #clouds: Clouds;
  readonly #log: Log;
  readonly #subscriptions: vscode.Disposable;
  #noticed: string | undefined;

  constructor(clouds: Clouds, log: Log) {
    this.#clouds = clouds;
    this.#log = log;
    this.#subscriptions = vscode.Disposable.from(
      clouds.onDidChange(() => this.#look()),
      vscode.window.onDidChangeWindowState(() => this.#look()),
    );
  }

  #look(): void {
    const cloud = this.#clouds.active;
    const state = cloud?.tokenManager.state;
    if (!cloud || state?.kind !== 'ended' || !vscode.window.state.focused) return;
    const what = `ended ${cloud.tokenManager.generation}`;
    if (this.#noticed === `${cloud.key} ${what}`) return;
    this.#noticed = `${cloud.key} ${what}`;
    void this.#tell(cloud, state, what).catch((error: unknown) => this.#log.warn(describeError(error)));
  }

  async #tell(cloud: Cloud, { account, reason, error }: Ended, what: string): Promise<void> {
    // A closed tab of a served editor leaves its extension host behind for hours, which still believes that it has the focus. It
    // gets no answer from its page, and so leaves the notification to a window that somebody can see.
    await vscode.commands.getCommands(true);
    if (!(await isFirst(cloud, what))) return;
    const signIn = vscode.l10n.t('Sign In');
    const others = vscode.l10n.t('Other Ways…');
    const diagnose = vscode.l10n.t('Diagnose');
    const sentence =
      reason === 'elsewhere'
        ? vscode.l10n.t(
            'Rolecall: {0} is no longer signed in. The service allows one session per client. To avoid this, use a service token or a separate client for each machine. {1}',
            account.label,
            error.message,
          )
        : vscode.l10n.t('Rolecall: {0} is no longer signed in. {1}', account.label, error.message);
    const chosen = await showWarningMessage(
      sentence,
      signIn,
      ...(reason === 'elsewhere' || reason === 'configuration' ? [others] : [diagnose]),
    );
    const command = { [signIn]: commands.signIn, [others]: commands.signInWith, [diagnose]: commands.diagnoseSignIn };
    if (chosen) await vscode.commands.executeCommand(command[chosen] ?? commands.signIn);
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }
}

/** Where the windows cannot coordinate, two notifications are better than none. */
async function isFirst(cloud: Cloud, what: string): Promise<boolean> {
  try {
    return await (await cloud.tokenManager.claims()).take(what);
  } catch {
    return true;
  }
}

/** Reports a problem with an address as soon as it is entered, and offers the most likely correction. */
export class SettingsNotification implements vscode.Disposable {
  readonly #subscription: vscode.Disposable;
  #lastMessage: string | undefined;
  /** A problem that exists at the start is not new; the welcome view shows it. */
  #isFirst = true;

  constructor(clouds: Clouds, log: Log) {
    this.#subscription = clouds.onDidChange(() => {
      const { problem } = clouds;
      const isNews = problem?.message !== this.#lastMessage && !this.#isFirst;
      this.#lastMessage = problem?.message;
      this.#isFirst = false;
      if (isNews && problem?.remedy?.kind === 'changeSetting' && problem.remedy.value !== undefined)
        void showError(problem, log); // Never rejects.
    });
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}
