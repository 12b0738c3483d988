import type * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import type { Clouds } from '../clouds.ts';
import { showError } from '../showError.ts';

/** Says at once what is wrong with an address that was just typed, and offers what was most likely meant. */
export class SettingsNotification implements vscode.Disposable {
  readonly #subscription: vscode.Disposable;
  #told: string | undefined;
  /** What is wrong at the start was wrong before: the welcome view says so. */
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
