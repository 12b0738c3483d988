import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { openChat } from '../../../src/host/chat/openChat.ts';
import { usePatches } from '../support/patches.ts';
import { useScene } from '../support/scene.ts';
import { userSettings } from '../support/workspace.ts';

describe('opening the chat', () => {
  const scene = useScene();
  const patches = usePatches();
  const record = () => {
    const executed: unknown[][] = [];
    patches.set(vscode.commands, 'executeCommand', async (...values: unknown[]) => {
      if (values[0] !== 'setContext') executed.push(values); // Of the extension that runs beside.
    });
    return executed;
  };

  for (const [title, described, modelSelector] of [
    ['picks the model that answers by default', [{ id: 'a' }, { id: 'b' }], { vendor: 'rolecall', id: 'b' }],
    ['leaves the picker alone while there is none', [], undefined],
  ] as const) {
    it(`types @rolecall and ${title}`, async () => {
      const executed = record();
      scene().settings.described = described;
      scene().settings.preferred = 'b';
      await openChat(scene().catalog());
      const options = { query: '@rolecall ', isPartialQuery: true, ...(modelSelector && { modelSelector }) };
      assert.deepEqual(executed, [['workbench.action.chat.open', options]]);
    });
  }

  describe('where there is none', () => {
    const settings = userSettings();
    const choosing = (title: string | undefined) => {
      const said: string[][] = [];
      const executed = record();
      patches.set(vscode.window, 'showInformationMessage', async (...words: string[]) => {
        said.push(words);
        return title;
      });
      return { said, executed };
    };

    it('says that it is switched off, and where', async () => {
      await settings.writeElsewhere('chat.disableAIFeatures', true);
      const { said, executed } = choosing('Open Settings');
      await openChat(scene().catalog());
      assert.deepEqual(said, [
        [
          'Chat is switched off in this editor (chat.disableAIFeatures), so @rolecall is not there. Questions about a file or a selection are answered in a document beside it.',
          'Ask About Selection…',
          'Open Settings',
        ],
      ]);
      assert.deepEqual(executed, [['workbench.action.openSettings', 'chat.disableAIFeatures']]);
    });

    it('says that the editor hides its models', async () => {
      const { said, executed } = choosing(undefined);
      patches.set(vscode.lm, 'selectChatModels', async () => []);
      await openChat(scene().catalog());
      assert.match(said.flat().join(), /^This editor lists none of the models that Rolecall offers.*A policy may hide/);
      assert.deepEqual(executed, []);
    });

    it('offers what works in an editor that has no chat view', async () => {
      const { said, executed } = choosing('Ask About Selection…');
      patches.set(vscode.commands, 'getCommands', async () => ['workbench.action.files.save']);
      await openChat(scene().catalog());
      assert.match(
        said.flat().join(),
        /^This editor has no chat view[^,]*, so @rolecall is not there\..*,Ask About Selection…$/,
      );
      assert.deepEqual(executed, [['rolecall.askAboutSelection']]);
    });
  });
});
