import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { watchSettings } from '../../src/host/settingsProblems.ts';
import { usePatches } from './support/patches.ts';
import { useScene } from './support/scene.ts';
import { until } from './support/wait.ts';

describe('what is wrong in settings', () => {
  const scene = useScene();
  const patches = usePatches();

  it('is logged at the start and shown when it is entered, once, with the setting to change', async () => {
    const shown: string[] = [];
    const opened: unknown[] = [];
    patches.set(vscode.window, 'showErrorMessage', async (message: string, ...buttons: string[]) => {
      shown.push(message);
      return buttons[0];
    });
    patches.set(vscode.commands, 'executeCommand', async (...asked: unknown[]) => {
      if (asked[0] !== 'setContext') opened.push(asked);
    });
    const { settings, clouds, addSecret, log } = scene();
    settings.headers = { Host: 'canary-value-1' };
    scene().own(watchSettings({ settings, clouds, addSecret, log }));
    assert.deepEqual(shown, []);
    assert.match(log.lines.join('\n'), /^warn .*The header "Host" is not sent/m);
    settings.headers = { Host: 'canary-value-1', Cookie: 'canary-value-2', Expect: 'canary-value-3' };
    settings.change();
    settings.change();
    assert.equal(shown.length, 1);
    assert.match(shown[0] ?? '', /The header "Cookie" is not sent.* The header "Expect" is not sent/);
    await until('the setting', () => opened.length > 0);
    assert.deepEqual(opened, [['workbench.action.openSettings', '@ext:rolecall.rolecall inference.headers']]);
    assert.doesNotMatch([...shown, ...log.lines].join(), /canary/);
  });

  it('has values that the log hides, also after many refreshes', async () => {
    const { settings, clouds, addSecret, log, learned } = scene();
    settings.headers = { 'X-Api-Key': 'canary-value-1' };
    scene().own(watchSettings({ settings, clouds, addSecret, log }));
    settings.headers = { 'X-Api-Key': 'canary-value-2' };
    settings.change();
    assert.deepEqual([learned[0], learned.at(-1)], ['canary-value-1', 'canary-value-2']);
    const before = learned.length;
    await scene().startService();
    assert.ok(learned.length > before);
    assert.equal(learned.at(-1), 'canary-value-2');
  });
});
