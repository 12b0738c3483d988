import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { readToolQuestion } from '../../../src/host/access/accessTools.ts';
import { AccessData } from '../../../src/host/accessData.ts';
import { registerOrganizationCommands } from '../../../src/host/tree/register.ts';
import { commands } from '../../../src/ids.ts';
import { Commands } from '../support/commands.ts';
import { usePatches } from '../support/patches.ts';
import { addFault, clearFaults } from '../support/sandbox.ts';
import { signInAs, useScene } from '../support/scene.ts';
import { useTree } from '../support/tree.ts';
import { until } from '../support/wait.ts';

describe('commands of organizations', () => {
  const scene = useScene();
  const tree = useTree(scene);
  const patches = usePatches();
  let given: Commands;

  beforeEach(() => {
    given = new Commands(patches);
    const { clouds, settings, log } = scene();
    scene().own(given.of(() => registerOrganizationCommands({ clouds, settings, data: tree().data }, log)));
  });
  afterEach(clearFaults);

  const call = (id: string, ...args: unknown[]) => given.call(id, ...args);

  it('remove the organization they are called on', async () => {
    await tree().serviceOf('administrator', 'meridian', 'big-sky');
    await call(commands.removeOrganization, await tree().node('big-sky'));
    assert.deepEqual(scene().settings.ids, ['meridian']);
  });

  it('ask which one where they are called on nothing, and change nothing when the user leaves', async () => {
    await tree().serviceOf('administrator', 'meridian', 'big-sky');
    await tree().data.setLabel('meridian', 'Main');
    await call(commands.removeOrganization);
    assert.deepEqual([scene().settings.ids, given.offered], [['meridian', 'big-sky'], [['Main', 'big-sky']]]);
    given.choices.push(/^Main/);
    await call(commands.removeOrganization);
    assert.deepEqual([scene().settings.ids, given.errors], [['big-sky'], []]);
  });

  it('give an organization a label, under which the tree shows it, and take it away', async () => {
    await tree().serviceOf('administrator', 'meridian');
    const type = (text: string | undefined) => patches.set(vscode.window, 'showInputBox', async () => text);
    type('Production');
    await call(commands.renameOrganization, await tree().node('meridian'));
    const [node] = await tree().view.getChildren();
    assert.deepEqual([tree().text(node), tree().description(node)], ['Production', 'meridian']);
    type(undefined);
    await call(commands.renameOrganization, node);
    assert.deepEqual(await tree().texts(), ['Production']);
  });

  it('keep a label that is given in the sandbox there', async () => {
    await signInAs(scene().enterSandbox(), 'administrator');
    patches.set(vscode.window, 'showInputBox', async () => 'Mine');
    await call(commands.renameOrganization, await tree().node('meridian'));
    assert.deepEqual(await tree().texts(), ['Mine', 'big-sky']);
    await call(commands.renameOrganization);
    assert.deepEqual(given.offered, [['Mine', 'Big Sky']]);
    const asked = await readToolQuestion(tree().data, 'list_groups', { organization: 'Mine' }, 'ourselves');
    assert.equal(asked.organization, 'meridian');
    assert.equal(scene().settings.labels.size, 0);
    const { clouds, settings, log } = scene();
    const reloaded = scene().own(new AccessData(clouds, settings, tree().memento, log));
    await signInAs(clouds.sandbox ?? assert.fail('the sandbox was left'), 'ordinaryUser');
    assert.equal(reloaded.labelOf('meridian'), 'Mine');
    patches.set(vscode.window, 'showInputBox', async () => ' ');
    await call(commands.renameOrganization, await tree().node('Mine'));
    assert.deepEqual(await tree().texts(), ['meridian']);
  });

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

    it('offer those that the service lists and that are not shown, and always that an id is typed', async () => {
      await signInAs(await scene().startService(), 'administrator');
      answer({ pick: /^big-sky$/ });
      await call(commands.addOrganization);
      assert.deepEqual(offered, ['meridian', 'big-sky', 'Enter an ID…']);
      assert.equal(validate, undefined);
      answer({ pick: /Enter an ID/, type: '  typed ' });
      await call(commands.addOrganization);
      assert.deepEqual(scene().settings.ids, ['big-sky', 'typed']);
      assert.deepEqual(offered, ['meridian', 'Enter an ID…'], 'not what is shown already');
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
      for (const wrong of ['', '  ', '.', '..']) assert.match(String(validate?.(wrong)), /Enter the ID/);
      for (const right of ['meridian', 'a/b', '...']) assert.equal(validate?.(right), undefined);
    });

    it('change nothing and say nothing when the user leaves', async () => {
      await signInAs(await scene().startService(), 'administrator');
      answer({});
      await call(commands.addOrganization);
      answer({ pick: /Enter an ID/ });
      await call(commands.addOrganization);
      assert.deepEqual([scene().settings.ids, given.errors], [[], []]);
    });

    it('do not while the sandbox is active, which brings its own', async () => {
      await scene().startService();
      scene().enterSandbox();
      answer({ type: 'typed' });
      await call(commands.addOrganization);
      assert.match(given.errors[0] ?? '', /has its own organizations/);
      assert.deepEqual(scene().settings.ids, []);
    });

    it('lead to configuring or the sandbox where nothing is configured', async () => {
      const executed: unknown[][] = [];
      patches.set(vscode.commands, 'executeCommand', async (...values: unknown[]) => {
        if (values[0] !== 'setContext') executed.push(values);
      });
      await scene().clouds.start();
      for (const press of [/Configure Your Cloud/, /Try the Sandbox/]) {
        given.press = press;
        answer({ type: 'typed' });
        await call(commands.addOrganization);
      }
      await until('both lead somewhere', () => executed.length === 2);
      assert.deepEqual(executed, [['workbench.action.openSettings', '@ext:rolecall.rolecall'], [commands.trySandbox]]);
      assert.match(given.told[0] ?? '', /^No cloud configured yet\. Set rolecall\.identity\.url/);
      assert.deepEqual([given.errors, scene().settings.ids], [[], []]);
    });
  });
});
