import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { useInNativeChat, utilityModelNote } from '../../../src/host/chat/nativeChat.ts';
import { FakeLog, FakeMemento } from '../support/fakes.ts';
import { usePatches } from '../support/patches.ts';
import { userSettings } from '../support/workspace.ts';

const SETTING = 'chat.byokUtilityModelDefault';

describe('Use My Cloud’s Models in VS Code’s Chat', () => {
  const patches = usePatches();
  const user = userSettings();
  const setting = () => vscode.workspace.getConfiguration().inspect(SETTING)?.globalValue;

  function scene(answer: boolean, commands = ['lm.addLanguageModelsProviderGroup', 'workbench.action.chat.manage']) {
    const executed: unknown[][] = [];
    const asked: string[] = [];
    const state = new FakeMemento();
    patches.set(vscode.commands, 'getCommands', async () => commands);
    patches.set(vscode.commands, 'executeCommand', async (...values: unknown[]) => {
      if (values[0] !== 'setContext') executed.push(values); // Of the extension that runs beside.
    });
    patches.set(vscode.window, 'showInformationMessage', async (message: string, options: object, button: string) => {
      asked.push(message + JSON.stringify(options));
      return answer ? button : undefined;
    });
    return { executed, asked, state, run: () => useInNativeChat(state, new FakeLog()) };
  }

  it('shows what it changes, changes it after a yes, and puts it back', async () => {
    await user.writeElsewhere(SETTING, 'none');
    const { executed, asked, run } = scene(true);
    await run();
    for (const shown of ['chatLanguageModels.json', 'Copilot extension', SETTING]) assert.ok(asked[0]?.includes(shown));
    assert.deepEqual(executed, [
      ['lm.addLanguageModelsProviderGroup', { name: 'Rolecall', vendor: 'rolecall' }],
      ['workbench.action.chat.manage'],
    ]);
    assert.equal(setting(), 'mainAgent');
    assert.equal(utilityModelNote(), undefined);
    await run();
    assert.equal(asked.length, 2);
    assert.equal(setting(), 'none');
    assert.deepEqual(executed.at(-1), ['workbench.action.openLanguageModelsJson']);
    await run();
    assert.match(asked[2] ?? '', /^Use your cloud/);
  });

  it('leaves what the user has changed since', async () => {
    const { run } = scene(true);
    await run();
    await user.writeElsewhere(SETTING, 'none');
    await run();
    assert.equal(setting(), 'none');
  });

  it('changes nothing without a yes', async () => {
    const { executed, state, run } = scene(false);
    await run();
    assert.deepEqual([executed, setting(), state.keys()], [[], undefined, []]);
  });

  it('says so where the editor has no such chat', async () => {
    const { executed, run } = scene(true, []);
    await assert.rejects(run(), /can’t use your cloud’s models in its own chat/);
    assert.deepEqual(executed, []);
  });

  it('is needed for titles to be written by the cloud’s own models, which the picker says until then', async () => {
    assert.match(utilityModelNote() ?? '', /Copilot’s models write titles/);
    await user.writeElsewhere(SETTING, 'mainAgent');
    assert.equal(utilityModelNote(), undefined);
  });
});
