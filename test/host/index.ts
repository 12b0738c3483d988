import { format } from 'node:util';
import { loaders } from 'rolecall:host-tests';
import Mocha from 'mocha';
import * as vscode from 'vscode';
import { ResultsReporter } from '../../scripts/mocha/reporter.ts';
import { extensionId } from '../../src/ids.ts';
import { until } from './support/wait.ts';

/**
 * What an extension host calls, on the desktop and in the served editor: runs every *.test.ts of this folder and rejects
 * when one fails. Environment: ROLECALL_RESULTS, ROLECALL_GREP, ROLECALL_MARK.
 */
export async function run(): Promise<void> {
  const grep = process.env.ROLECALL_GREP;
  const mocha = new Mocha({
    ui: 'bdd',
    // For a machine that does much besides: a test that hangs fails a minute later, and none is red for being slow.
    timeout: 60_000,
    color: process.env.ROLECALL_COLOR === '1',
    forbidOnly: process.env.CI !== undefined,
    reporter: ResultsReporter,
    ...(grep === undefined ? {} : { grep }),
  });
  const mark = process.env.ROLECALL_MARK;
  if (mark !== undefined) {
    // The served editor's log carries much besides: marked lines are the report.
    Mocha.reporters.Base.consoleLog = (...values: unknown[]) => {
      for (const line of format(...values).split('\n')) {
        console.log('%s', `${mark}${line}`);
      }
    };
  }
  mocha.suite.emit('pre-require', globalThis, '', mocha);
  for (const load of loaders) {
    await load();
  }
  // Tests replace members that everybody shares, and an activation must not meet them. It is waited for, not asked for: a
  // test is about that.
  const isActive = () => vscode.extensions.getExtension(extensionId)?.isActive === true;
  await until('the activation of the extension', isActive).catch(() => {});
  // What it lists would be drawn anew for every file that a test writes.
  await vscode.commands.executeCommand('workbench.action.closeSidebar');
  const failures = await new Promise<number>((resolve) => {
    mocha.run(resolve);
  });
  if (failures > 0) {
    throw new Error(`${failures} of the tests in the extension host failed.`);
  }
}
