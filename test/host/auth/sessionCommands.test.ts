import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { sessionCommands } from '../../../src/host/auth/sessionCommands.ts';
import { commands } from '../../../src/ids.ts';
import { usePatches } from '../support/patches.ts';
import { signInAs, useScene } from '../support/scene.ts';

describe('the commands that sign in', () => {
  const scene = useScene();
  const patches = usePatches();

  function commandsThat(signIn: () => Promise<never>) {
    const told: string[] = [];
    const given = sessionCommands({
      clouds: scene().clouds,
      signIn: { run: signIn, choose: signIn } as never,
      signOut: { ask: async () => {} },
      clientSecrets: { ask: async () => 'secret' } as never,
      inferenceTokens: {} as never,
      signedIn: async () => void told.push('signed in'),
    });
    return { given, told };
  }

  it('Set Client Secret offers to go on with the sign-in that needed it', async () => {
    const cloud = await scene().startService();
    const offered: string[][] = [];
    patches.set(vscode.window, 'showInformationMessage', async (_: string, ...buttons: string[]) => {
      offered.push(buttons);
      return buttons[0];
    });
    let signedIn = 0;
    const { given } = commandsThat(async () => {
      signedIn++;
      return undefined as never;
    });
    await given[commands.setClientSecret]();
    assert.deepEqual([offered, signedIn], [[['Sign In']], 1]);
    await signInAs(cloud, 'administrator');
    await given[commands.setClientSecret]();
    assert.deepEqual([offered.length, signedIn], [1, 1], 'nothing to offer to somebody who is signed in');
  });

  for (const id of [commands.signIn, commands.signInWith] as const) {
    it(`${id} tells when somebody has signed in to their own cloud, and only then`, async () => {
      await scene().startService();
      const failing = commandsThat(() => Promise.reject(new Error('refused')));
      await assert.rejects(failing.given[id](), /refused/);
      const { given, told } = commandsThat(async () => undefined as never);
      await given[id]();
      assert.deepEqual([failing.told, told], [[], ['signed in']]);
      scene().enterSandbox();
      await given[id]();
      assert.deepEqual(told, ['signed in'], 'the sandbox opens the chat with a prompt of its own');
    });
  }
});
