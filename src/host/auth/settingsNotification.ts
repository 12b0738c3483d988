import type * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import type { Clouds } from '../clouds.ts';
import { showError } from '../showError.ts';

/** Reports a problem with an address as soon as it is entered, and offers the most likely correction. */
export class SettingsNotification implements vscode.Disposable {
  readonly #subscription: vscode.Disposable;
  #told: string | undefined;
  /** A problem that exists at the start is not new; the welcome view shows it. */
  #isFirst = true;

  constructor(clouds: Clouds, log: Log) {
    this.#subscription = clouds.onDidChange(() => {
      const { problem } = clouds;
      const isNews = problem?.message !== this.#told && !this.#isFirst;
      this.#told = problem?.message;
      this.#isFirst = false;
      if (isNews && problem?.remedy?.kind === 'changeSetting' && problem.remedy.value !== undefined)
        void showError(problem, log); // Never rejects.
    });
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}
