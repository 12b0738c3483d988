import assert from 'node:assert/strict';
import { sessionCommands } from '../../../src/host/auth/sessionCommands.ts';
import { commands } from '../../../src/ids.ts';
import { useScene } from '../support/scene.ts';

describe('the commands that sign in', () => {
  const scene = useScene();

  function commandsThat(signIn: () => Promise<never>) {
    const told: string[] = [];
    const given = sessionCommands({
      clouds: scene().clouds,
      signIn: { run: signIn, choose: signIn } as never,
      signOut: { ask: async () => {} },
      clientSecrets: {} as never,
      inferenceTokens: {} as never,
      signedIn: async () => void told.push('signed in'),
    });
    return { given, told };
  }

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
