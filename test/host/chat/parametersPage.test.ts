import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { commands } from '../../../src/ids.ts';
import { usePanels } from '../support/pages.ts';
import { usePatches } from '../support/patches.ts';
import { until } from '../support/wait.ts';
import { userSettings } from '../support/workspace.ts';

describe('Show Effective Parameters of the running extension', () => {
  const patches = usePatches();
  const panels = usePanels(patches);
  const user = userSettings();

  it('opens one page with what would be sent, which follows the settings', async () => {
    await vscode.commands.executeCommand(commands.showEffectiveParameters);
    const [panel] = panels;
    assert.ok(panel);
    await until('the parameters', () => /^temperature \| — \| the service’s default$/m.test(panel.text));
    await user.write({ 'chat.parameters': { temperature: 0.25 } });
    await until('the new value', () => /^temperature \| 0\.25 \| user settings$/m.test(panel.text));
    await vscode.commands.executeCommand(commands.showEffectiveParameters);
    assert.deepEqual([panels.length, panel.revealed], [1, 1]);
  });
});
