import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { commands } from '../../../src/ids.ts';
import { until } from '../support/wait.ts';
import { userSettings } from '../support/workspace.ts';

describe('Show Effective Parameters of the running extension', () => {
  const user = userSettings();
  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('opens what would be sent, read-only, and follows the settings', async () => {
    await vscode.commands.executeCommand(commands.showEffectiveParameters);
    const document = vscode.window.activeTextEditor?.document ?? assert.fail('nothing was opened');
    assert.equal(document.uri.scheme, 'rolecall-parameters');
    assert.match(document.getText(), /\| temperature +\| — +\| the service’s default/);
    await user.write({ 'chat.parameters': { temperature: 0.25 } });
    await until('the new value', () => /\| temperature +\| 0\.25 +\| user settings/.test(document.getText()));
    await vscode.commands.executeCommand('type', { text: 'not theirs ' });
    assert.equal(document.isDirty, false);
  });
});
