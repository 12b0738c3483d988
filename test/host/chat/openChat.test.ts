import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { openChat } from '../../../src/host/chat/openChat.ts';
import { usePatches } from '../support/patches.ts';
import { useScene } from '../support/scene.ts';

describe('opening the chat', () => {
  const scene = useScene();
  const patches = usePatches();

  for (const [title, described, modelSelector] of [
    ['picks the model that answers by default', [{ id: 'a' }, { id: 'b' }], { vendor: 'rolecall', id: 'b' }],
    ['leaves the picker alone while there is none', [], undefined],
  ] as const) {
    it(`types @rolecall and ${title}`, async () => {
      const executed: unknown[][] = [];
      patches.set(vscode.commands, 'executeCommand', async (...values: unknown[]) => void executed.push(values));
      scene().settings.described = described;
      scene().settings.preferred = 'b';
      await openChat(scene().catalog());
      const options = { query: '@rolecall ', isPartialQuery: true, ...(modelSelector && { modelSelector }) };
      assert.deepEqual(executed, [['workbench.action.chat.open', options]]);
    });
  }
});
