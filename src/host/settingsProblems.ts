import * as vscode from 'vscode';
import { RolecallError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import type { Clouds } from './clouds.ts';
import type { Settings } from './settings.ts';
import { describeError, showError } from './showError.ts';

export interface SettingsProblemsDeps {
  readonly settings: Settings;
  readonly clouds: Pick<Clouds, 'onDidChange'>;
  readonly addSecret: (secret: string | undefined) => void;
  readonly log: Log;
}

/**
 * Reports unused parts of the settings as soon as they are entered, and keeps the values of extra headers out of the
 * log. Existing problems are logged when a window starts; Diagnose Sign-In shows them.
 */
export function watchSettings({ settings, clouds, addSecret, log }: SettingsProblemsDeps): vscode.Disposable {
  // The redactor forgets the oldest secrets, and a session's are replaced all day.
  const hideHeaders = () => Object.values(settings.inferenceHeaders().headers).forEach(addSecret);
  let reportedMessages = new Set<string>();
  const look = (report: (error: RolecallError) => void) => {
    hideHeaders();
    const problems = settings.problems();
    const newProblems = problems.filter(({ message }) => !reportedMessages.has(message));
    for (const setting of new Set(newProblems.map((problem) => problem.setting))) {
      const remedy = { kind: 'changeSetting', setting } as const;
      const sentences = newProblems.filter((problem) => problem.setting === setting).map(({ message }) => message);
      report(new RolecallError('configuration', sentences.join(' '), { remedy }));
    }
    reportedMessages = new Set(problems.map(({ message }) => message));
  };
  look((error) => log.warn(describeError(error)));
  return vscode.Disposable.from(
    settings.onDidChange(() => look((error) => void showError(error, log))), // Never rejects.
    clouds.onDidChange(hideHeaders),
  );
}
