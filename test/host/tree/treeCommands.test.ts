import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { readGroups } from '../../../src/core/identity/schemas.ts';
import type { Node } from '../../../src/host/tree/nodes.ts';
import type { OrganizationsView } from '../../../src/host/tree/organizationsView.ts';
import { registerTreeCommands } from '../../../src/host/tree/treeCommands.ts';
import { commands } from '../../../src/ids.ts';
import { usePatches } from '../support/patches.ts';
import { addFault, clearFaults } from '../support/sandbox.ts';
import { memoryStore, signInAs, useScene } from '../support/scene.ts';

describe('commands of the tree', () => {
  const scene = useScene();
  const patches = usePatches();
  /** The commands by id: their names are the running extension's, so they are not registered. */
  let run: Map<string, (...args: unknown[]) => Promise<unknown>>;
  let refreshed: (Node | undefined)[];
  let errors: string[];

  beforeEach(() => {
    run = new Map();
    refreshed = [];
    errors = [];
    patches.set(vscode.commands, 'registerCommand', (id: string, command: (...args: unknown[]) => Promise<unknown>) => {
      run.set(id, command);
      return new vscode.Disposable(() => {});
    });
    patches.set(vscode.window, 'showErrorMessage', async (message: string) => void errors.push(message));
    const view = { refresh: (node?: Node) => void refreshed.push(node) } as unknown as OrganizationsView;
    const { clouds, settings, log } = scene();
    scene().own(registerTreeCommands({ clouds, settings, view, log }));
  });
  afterEach(clearFaults);

  const call = (id: string, ...args: unknown[]) => (run.get(id) ?? assert.fail(`${id} is not registered`))(...args);

  it('refresh all, or the organization it is pressed on', async () => {
    const node: Node = { kind: 'organization', id: 'n', organization: 'm' };
    await call(commands.refresh);
    await call(commands.refresh, node);
    assert.deepEqual(refreshed, [undefined, node]);
  });

  it('refresh looks into the keyring again, which may be unlocked by now', async () => {
    let locked = true;
    const store = memoryStore();
    const read = () => (locked ? Promise.reject(new Error('locked')) : store.read());
    scene().stores.set('service', { ...store, read });
    const cloud = await scene().startService();
    await cloud.load();
    assert.equal(cloud.keeper.state.kind, 'storeUnavailable');
    await call(commands.refresh);
    assert.match(errors.join(), /secret store/);
    locked = false;
    await call(commands.refresh);
    assert.equal(cloud.keeper.state.kind, 'signedOut');
  });

  const group =
    readGroups([
      {
        metadata: { id: 'g-1', name: 'x', creationTime: '', provisioningStatus: '', healthStatus: '' },
        spec: { roleIDs: [], serviceAccountIDs: [] },
      },
    ])?.items[0] ?? assert.fail();
  const copied: readonly (readonly [Node | undefined, string])[] = [
    [{ kind: 'organization', id: 'n', organization: 'meridian' }, 'meridian'],
    [{ kind: 'group', id: 'n', organization: 'm', group, roles: undefined }, 'g-1'],
    [{ kind: 'grantedBy', id: 'n', group }, 'g-1'],
    [{ kind: 'grant', id: 'n', roleId: 'r-1', role: undefined, rolesKnown: true }, 'r-1'],
    [{ kind: 'subject', id: 'n', subject: { id: 's-1', email: 'a@b', issuer: 'i' } }, 's-1'],
    [{ kind: 'user', id: 'n', memberId: 'u-1' }, 'u-1'],
    [{ kind: 'serviceAccount', id: 'n', memberId: 'sa-1' }, 'sa-1'],
    [{ kind: 'tag', id: 'n', tag: { name: 'a', value: 'b' } }, 'as before'],
    [undefined, 'as before'],
  ];
  for (const [node, expected] of copied) {
    it(`copy ${expected} of ${node?.kind ?? 'nothing'}`, async () => {
      await vscode.env.clipboard.writeText('as before');
      await call(commands.copyId, node);
      assert.equal(await vscode.env.clipboard.readText(), expected);
    });
  }

  describe('that add an organization', () => {
    let offered: string[] | undefined;
    let validate: ((text: string) => unknown) | undefined;

    function answer({ pick, type }: { pick?: RegExp; type?: string | undefined }): void {
      offered = undefined;
      validate = undefined;
      patches.set(vscode.window, 'showQuickPick', async (items: vscode.QuickPickItem[]) => {
        offered = items.map(({ label }) => label);
        return items.find(({ label }) => pick?.test(label));
      });
      patches.set(vscode.window, 'showInputBox', async (options: vscode.InputBoxOptions) => {
        validate = options.validateInput?.bind(options);
        return type;
      });
    }

    it('offer those that the service lists, and always that an id is typed', async () => {
      await signInAs(await scene().startService(), 'administrator');
      answer({ pick: /^big-sky$/ });
      await call(commands.addOrganization);
      assert.deepEqual(offered, ['meridian', 'big-sky', '$(edit) Type an id…']);
      assert.equal(validate, undefined);
      answer({ pick: /Type an id/, type: '  typed ' });
      await call(commands.addOrganization);
      assert.deepEqual(scene().settings.ids, ['big-sky', 'typed']);
    });

    it('ask for an id alone where there is no list, or nobody is signed in', async () => {
      const cloud = await scene().startService();
      answer({ type: 'one' });
      await call(commands.addOrganization);
      assert.deepEqual([offered, scene().asked], [undefined, []]);
      await signInAs(cloud, 'administrator');
      await addFault({ service: 'identity', path: '/organizations$', kind: 'status', status: 404, times: 1 });
      answer({ type: 'two' });
      await call(commands.addOrganization);
      assert.equal(offered, undefined);
      assert.deepEqual(scene().settings.ids, ['one', 'two']);
    });

    it('ask for an id when the list takes too long', async () => {
      await signInAs(await scene().startService(), 'administrator');
      const timeout = AbortSignal.timeout;
      patches.set(AbortSignal, 'timeout', (ms: number) => timeout(ms === 10_000 ? 30 : ms));
      await addFault({ service: 'identity', path: '/organizations$', kind: 'latency', ms: 500, times: 1 });
      answer({ type: 'typed' });
      await call(commands.addOrganization);
      assert.deepEqual(scene().settings.ids, ['typed']);
    });

    it('refuse what cannot be an id while it is typed', async () => {
      await scene().startService();
      answer({ type: undefined });
      await call(commands.addOrganization);
      for (const wrong of ['', '  ', '.', '..']) assert.match(String(validate?.(wrong)), /Type the id/);
      for (const right of ['meridian', 'a/b', '...']) assert.equal(validate?.(right), undefined);
    });

    it('change nothing and say nothing when the user leaves', async () => {
      await signInAs(await scene().startService(), 'administrator');
      answer({});
      await call(commands.addOrganization);
      answer({ pick: /Type an id/ });
      await call(commands.addOrganization);
      assert.deepEqual([scene().settings.ids, errors], [[], []]);
    });

    it('do not while the sandbox is on the stage, which brings its own', async () => {
      await scene().startService();
      scene().enterSandbox();
      answer({ type: 'typed' });
      await call(commands.addOrganization);
      assert.match(errors[0] ?? '', /brings its own organizations/);
      assert.deepEqual(scene().settings.ids, []);
    });

    it('say what to set first where nothing is configured', async () => {
      await scene().clouds.start();
      answer({ type: 'typed' });
      await call(commands.addOrganization);
      assert.match(errors[0] ?? '', /Set rolecall\.identity\.url/);
      assert.deepEqual(scene().settings.ids, []);
    });
  });
});
