import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { abilitiesOf, selectModel } from '../../src/host/selectModel.ts';
import { usePatches } from './support/patches.ts';
import { addFault, clearFaults, descriptor } from './support/sandbox.ts';
import { signInAs, useScene } from './support/scene.ts';

interface Item extends vscode.QuickPickItem {
  readonly id: string;
}

describe('Select Model', () => {
  const scene = useScene();
  const patches = usePatches();
  afterEach(clearFaults);

  function run(choose: (items: Item[]) => Item | undefined) {
    patches.set(vscode.window, 'showQuickPick', async (items: Item[]) => choose(items));
    const catalog = scene().catalog();
    const { clouds, settings } = scene();
    return { catalog, done: selectModel({ clouds, catalog, settings }) };
  }

  it('lists what can be asked, marks what is used, and makes the choice the default', async () => {
    scene().settings.described = [
      { id: 'mine/only', label: 'Mine', contextLength: 12_345, vision: true, tools: false },
    ];
    scene().settings.preferred = 'mine/only';
    await signInAs(await scene().startService(), 'administrator');
    let shown: Item[] = [];
    const { catalog, done } = run((items) => {
      shown = items;
      return items.find(({ id }) => id === 'sandbox/vision');
    });
    await done;
    assert.deepEqual(
      shown.map(({ id }) => id),
      ['mine/only', ...descriptor.models.map(({ id }) => id)],
    );
    assert.deepEqual([shown[0]?.label, shown[0]?.description], ['Mine', 'mine/only']);
    assert.deepEqual(
      shown.map(({ iconPath }) => iconPath && (iconPath as vscode.ThemeIcon).id),
      ['check', ...shown.slice(1).map(() => undefined)],
    );
    assert.match(shown[0]?.detail ?? '', /345 tokens · images · no tools/);
    assert.equal(scene().settings.preferred, 'sandbox/vision');
    assert.equal(catalog.picked?.id, 'sandbox/vision');
  });

  it('picks one in the sandbox without making it the default of the user', async () => {
    scene().settings.preferred = 'mine/only';
    await signInAs(scene().enterSandbox(), 'administrator');
    const { catalog, done } = run((items) => items.find(({ id }) => id === 'sandbox/vision'));
    await done;
    assert.deepEqual([catalog.picked?.id, scene().settings.preferred], ['sandbox/vision', 'mine/only']);
  });

  it('changes nothing when nothing is chosen', async () => {
    await signInAs(await scene().startService(), 'administrator');
    const { catalog, done } = run(() => undefined);
    await done;
    assert.equal(scene().settings.preferred, undefined);
    assert.equal(catalog.picked?.id, descriptor.models[0]?.id);
  });

  it('says why there is nothing to choose', async () => {
    await scene().clouds.start();
    await assert.rejects(run(() => assert.fail()).done, /Set rolecall\.identity\.url/);
    const cloud = await scene().startService();
    await assert.rejects(run(() => assert.fail()).done, /not signed in/);
    await addFault({ service: 'inference', path: '/v1/models', kind: 'status', status: 404, times: null });
    await signInAs(cloud, 'administrator');
    await assert.rejects(run(() => assert.fail()).done, /Add one to the setting rolecall\.models/);
  });

  it('says that the list could not be read, and why, instead of that it is empty', async () => {
    const cloud = await scene().startService();
    await signInAs(cloud, 'administrator');
    await addFault({ service: 'inference', path: '/v1/models', kind: 'status', status: 400, times: null });
    await assert.rejects(run(() => assert.fail()).done, { kind: 'invalidRequest', remedy: { kind: 'diagnose' } });
  });

  it('says only what is known about a model', () => {
    const model = { id: 'm', label: 'm', contextLength: 1, maxOutput: 1, isLengthKnown: false, vision: false };
    assert.equal(abilitiesOf(model), '');
    assert.equal(abilitiesOf({ ...model, tools: true, reasoning: true }), 'tools · reasoning');
  });
});
