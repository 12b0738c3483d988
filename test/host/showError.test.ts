import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { cancelled, type ErrorKind, RolecallError } from '../../src/core/base/errors.ts';
import { registerCommand } from '../../src/host/commands.ts';
import { describeError, nextStep, showError } from '../../src/host/showError.ts';
import { commands } from '../../src/ids.ts';
import { FakeLog } from './support/fakes.ts';
import { usePatches } from './support/patches.ts';
import { until } from './support/wait.ts';

describe('an error', () => {
  const patches = usePatches();
  let shown: string[][];
  let executed: unknown[][];
  let log: FakeLog;

  function answer(chosen: string | undefined): void {
    shown = [];
    executed = [];
    log = new FakeLog();
    patches.set(vscode.window, 'showErrorMessage', async (...values: string[]) => {
      shown.push(values);
      return chosen;
    });
    patches.set(vscode.commands, 'executeCommand', async (...values: unknown[]) => void executed.push(values));
  }

  const steps: readonly (readonly [ErrorKind, string | undefined, string | undefined])[] = [
    ['signedOut', 'Sign In', commands.signIn],
    ['sessionEnded', 'Sign In', commands.signIn],
    ['configuration', 'Open Settings', 'workbench.action.openSettings'],
    ['unexpected', 'Show Log', commands.showLog],
    ['protocol', 'Show Log', commands.showLog],
    ['storage', 'Show Log', commands.showLog],
    ['offline', undefined, undefined],
    ['forbidden', undefined, undefined],
    ['rateLimited', undefined, undefined],
    ['contextOverflow', undefined, undefined],
  ];
  for (const [kind, title, command] of steps) {
    it(`of the kind ${kind} is shown once, with ${title ?? 'no step'}`, async () => {
      answer(title);
      assert.equal(nextStep(new RolecallError(kind, ''))?.command, command);
      await showError(new RolecallError(kind, 'A sentence.'), log);
      assert.deepEqual(shown, [['A sentence.', ...(title ? [title] : [])]]);
      assert.deepEqual(
        executed.map(([id]) => id),
        command ? [command] : [],
      );
      assert.deepEqual(log.lines, [`error [${kind}] A sentence.`]);
    });
  }

  it('about the client that the token endpoint refused leads to its secret and not to the settings', () => {
    const refused = new RolecallError('configuration', 'Refused.', { remedy: { kind: 'setClientSecret' } });
    assert.equal(nextStep(refused)?.command, commands.setClientSecret);
  });

  it('about a sign-in that failed offers to try it again', () => {
    const failed = new RolecallError('offline', 'Could not reach it.', { remedy: { kind: 'signInAgain' } });
    assert.deepEqual(nextStep(failed), { title: 'Try Again', command: commands.signIn });
  });

  it('makes no link of what a service says: VS Code would run its command', async () => {
    answer(undefined);
    await showError(new RolecallError('protocol', 'It said: [retry](command:workbench.action.quit)'), log);
    assert.doesNotMatch(shown[0]?.[0] ?? '', /\]\(/);
    assert.match(shown[0]?.[0] ?? '', /\[retry\].\(command:workbench\.action\.quit\)/);
  });

  it('offers what was most likely meant, and writes it for the user alone', async () => {
    answer('Use https://a.example');
    const written: unknown[][] = [];
    patches.set(vscode.workspace, 'getConfiguration', () => ({
      update: async (...values: unknown[]) => void written.push(values),
    }));
    const remedy = { kind: 'changeSetting', setting: 'inference.url', value: 'https://a.example' } as const;
    await showError(new RolecallError('configuration', 'No slash.', { remedy }), log);
    assert.deepEqual(shown, [['No slash.', 'Use https://a.example', 'Open Settings']]);
    assert.deepEqual(written, [['inference.url', 'https://a.example', vscode.ConfigurationTarget.Global]]);
    assert.deepEqual(executed, []);
  });

  it('takes no step that the user did not choose', async () => {
    answer(undefined);
    await showError(new RolecallError('signedOut', 'A sentence.'), log);
    assert.deepEqual(executed, []);
  });

  it('that means "stopped" is shown nowhere', async () => {
    answer(undefined);
    await showError(cancelled(), log);
    await showError(new DOMException('Aborted', 'AbortError'), log);
    assert.deepEqual([shown, log.lines], [[], []]);
  });

  it('that should not happen is logged with where it happened', () => {
    const line = describeError(new TypeError('x is not a function'));
    assert.match(line, /^\[unexpected\] An unexpected error occurred: x is not a function/);
    assert.match(line, /\n\s+at /);
  });

  it('of a command is shown and not thrown at VS Code', async () => {
    answer(undefined);
    let run: (...values: unknown[]) => Promise<unknown> = async () => {};
    patches.set(vscode.commands, 'registerCommand', (_: string, given: typeof run) => {
      run = given;
      return { dispose: () => {} };
    });
    registerCommand(commands.refresh, log, (...values) => {
      if (values.length === 0) throw new RolecallError('offline', 'Nobody answers.');
      return values;
    });
    assert.deepEqual(await run(1, 2), [1, 2]);
    assert.equal(await run(), undefined);
    await until('the message', () => shown.length > 0);
    assert.deepEqual(shown, [['Nobody answers.']]);
  });
});
