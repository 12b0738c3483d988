import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { introduceChat, openChat } from '../../../src/host/chat/openChat.ts';
import { FakeMemento } from '../support/fakes.ts';
import { usePatches } from '../support/patches.ts';
import { userSettings } from '../support/workspace.ts';

describe('opening the chat', () => {
  const patches = usePatches();
  const record = () => {
    const executed: unknown[][] = [];
    patches.set(vscode.commands, 'executeCommand', async (...values: unknown[]) => {
      if (values[0] !== 'setContext') executed.push(values); // Of the extension that runs beside.
    });
    return executed;
  };

  for (const [question, query] of [
    [undefined, '@rolecall '],
    ['/access who is in finance?', '@rolecall /access who is in finance?'],
  ] as const) {
    it(`types ${query}, sends nothing and leaves the picked model alone`, async () => {
      const executed = record();
      await openChat(question);
      assert.deepEqual(executed, [['workbench.action.chat.open', { query, isPartialQuery: true }]]);
    });
  }

  it('after the first sign-in to one’s own cloud, and not again', async () => {
    const executed = record();
    const state = new FakeMemento();
    for (const _ of ['first', 'second']) await introduceChat(state);
    assert.deepEqual(executed, [['workbench.action.chat.open', { query: '@rolecall ', isPartialQuery: true }]]);
  });

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
      await openChat();
      assert.deepEqual(said, [
        [
          'Chat is turned off in this editor (chat.disableAIFeatures), so @rolecall is not available. You can still ask about a file or a selection. The answer opens beside the editor.',
          'Ask About Selection…',
          'Open Settings',
        ],
      ]);
      assert.deepEqual(executed, [['workbench.action.openSettings', 'chat.disableAIFeatures']]);
    });

    it('says nothing after a sign-in, and opens it after one once it is there', async () => {
      const { said, executed } = choosing(undefined);
      const state = new FakeMemento();
      await settings.writeElsewhere('chat.disableAIFeatures', true);
      await introduceChat(state);
      assert.deepEqual([said, executed], [[], []]);
      await settings.writeElsewhere('chat.disableAIFeatures', undefined);
      await introduceChat(state);
      assert.equal(executed.length, 1);
    });

    it('says that the editor hides its models', async () => {
      const { said, executed } = choosing(undefined);
      patches.set(vscode.lm, 'selectChatModels', async () => []);
      await openChat();
      assert.match(
        said.flat().join(),
        /^This editor does not list the models that Rolecall provides.*A policy may hide/,
      );
      assert.deepEqual(executed, []);
    });

    it('offers what works in an editor that has no chat view', async () => {
      const { said, executed } = choosing('Ask About Selection…');
      patches.set(vscode.commands, 'getCommands', async () => ['workbench.action.files.save']);
      await openChat();
      assert.match(
        said.flat().join(),
        /^This editor has no chat view[^,]*, so @rolecall is not available\..*,Ask About Selection…$/,
      );
      assert.deepEqual(executed, [['rolecall.askAboutSelection']]);
    });
  });
});
