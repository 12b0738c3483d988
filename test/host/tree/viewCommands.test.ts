import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { registerViewCommands } from '../../../src/host/tree/register.ts';
import { commands, contextKeys } from '../../../src/ids.ts';
import { Commands } from '../support/commands.ts';
import { usePatches } from '../support/patches.ts';
import { useScene } from '../support/scene.ts';
import { useTree } from '../support/tree.ts';
import { until } from '../support/wait.ts';

/** An input box that a test types into. */
class FakeInput {
  value = '';
  prompt = '';
  title = '';
  validationMessage: vscode.InputBoxValidationMessage | undefined;
  #change: (text: string) => void = () => {};
  #accept: () => void = () => {};
  #hide: () => void = () => {};
  isShown = false;
  onDidChangeValue = (listener: (text: string) => void) => {
    this.#change = listener;
  };
  onDidAccept = (listener: () => void) => {
    this.#accept = listener;
  };
  onDidHide = (listener: () => void) => {
    this.#hide = listener;
  };
  show = () => {
    this.isShown = true;
  };
  hide = () => this.#hide();
  dispose = () => {};

  type(text: string): void {
    this.value = text;
    this.#change(text);
  }

  enter(): void {
    this.#accept();
  }
}

describe('filter, order and favorites', () => {
  const scene = useScene();
  const tree = useTree(scene);
  const patches = usePatches();
  let given: Commands;
  let input: FakeInput;
  let contexts: Map<string, unknown>;

  beforeEach(() => {
    given = new Commands(patches);
    input = new FakeInput();
    contexts = new Map();
    patches.set(vscode.window, 'createInputBox', () => {
      input = new FakeInput();
      return input;
    });
    const execute = vscode.commands.executeCommand;
    patches.set(vscode.commands, 'executeCommand', async (id: string, ...args: unknown[]) => {
      if (id === 'setContext') contexts.set(String(args[0]), args[1]);
      return execute(id, ...args);
    });
    scene().own(given.of(() => registerViewCommands(tree().data, tree().state, scene().log)));
  });

  const groups = () => tree().texts('meridian', 'Groups');
  /** Presses Filter, and waits for its own box: not that of the time before. */
  async function ask(command: string, node?: unknown): Promise<{ done: Promise<unknown> }> {
    const before = input;
    const done = given.call(command, node);
    await until('the box is there', () => input !== before && input.isShown);
    return { done };
  }
  /** Presses Filter, types, and ends as told. */
  async function filter(text: string, end: 'enter' | 'escape'): Promise<void> {
    const { done } = await ask(commands.filter, await tree().node('meridian'));
    input.type(text);
    if (end === 'enter') input.enter();
    else input.hide();
    await done;
  }

  it('a filter works over all that was read, is shown above the tree and cleared with one click', async () => {
    await tree().serviceOf('administrator', 'meridian');
    await filter('role:administrator', 'enter');
    assert.deepEqual(await groups(), ['administrators']);
    const [section, roles] = await tree().open('meridian');
    assert.deepEqual([section, roles].map(tree().description), ['1 of 12', '1 of 9']);
    assert.equal(tree().shown.message, 'meridian filtered by "role:administrator"');
    assert.equal(contexts.get(contextKeys.isFiltered), true);
    assert.equal(tree().item(await tree().node('meridian')).contextValue, 'organization filtered');
    await given.call(commands.clearFilter);
    assert.deepEqual([(await groups()).length, tree().shown.message], [12, '']);
    assert.equal(contexts.get(contextKeys.isFiltered), false);
  });

  it('above the tree stands what a workspace lacks that is not trusted, and the step', async () => {
    patches.set(vscode.workspace, 'isTrusted', false);
    await tree().serviceOf('administrator', 'meridian');
    await groups();
    assert.match(tree().shown.message, /^Restricted Mode: .* run "Manage Workspace Trust"\.$/);
  });

  it('the tree follows what is typed, and is as before when the user leaves', async () => {
    await tree().serviceOf('administrator', 'meridian');
    const { done } = await ask(commands.filter, await tree().node('meridian'));
    input.type('finance');
    await until('the tree follows', async () => (await groups()).length === 1);
    assert.match(input.prompt, /^1 group, 0 roles\. Type words or key:value \(name, .*\); prefix with - to exclude\.$/);
    input.hide();
    await done;
    assert.equal((await groups()).length, 12);
  });

  it('the box for all organizations is there at once, whatever is selected, and its filter goes to each', async () => {
    await tree().serviceOf('administrator', 'meridian', 'big-sky');
    const [selected] = await tree().view.getChildren();
    scene().network = () => new Promise(() => {}); // The box waits for nobody's answer.
    const { done } = await ask(commands.filterAll, selected);
    assert.deepEqual([given.offered, input.title], [[], 'Filter']);
    input.type('finance');
    input.enter();
    await done;
    scene().network = (...request) => fetch(...request);
    assert.deepEqual(await groups(), ['finance']);
    assert.equal(tree().shown.message, 'Filtered by "finance"');
    const { done: again } = await ask(commands.filterAll);
    assert.equal(input.value, 'finance');
    input.type('nobody is called so');
    await until('the tree follows', () => /nobody/.test(tree().shown.message));
    input.hide();
    await again;
    assert.equal(tree().shown.message, 'Filtered by "finance"');
  });

  it('a key that there is not is said, in the box and above the tree', async () => {
    await tree().serviceOf('administrator', 'meridian');
    const { done } = await ask(commands.filter, await tree().node('meridian'));
    input.type('helth:error');
    const said = /"helth:" is not a filter key, so it is searched for as text\. Did you mean "health:"\?/;
    const message = await until('it is said', () => input.validationMessage);
    assert.match(message.message, said);
    input.enter();
    await done;
    assert.match(tree().shown.message, said);
    const { done: mended } = await ask(commands.filter, await tree().node('meridian'));
    input.type('health:error');
    await until('it is no longer said', () => input.validationMessage === undefined);
    input.enter();
    await mended;
    assert.equal(tree().shown.message, 'meridian filtered by "health:error"');
  });

  it('a filter is kept for each organization, also when the sign-in is another', async () => {
    const cloud = await tree().serviceOf('administrator', 'meridian', 'big-sky');
    await filter('finance', 'enter');
    assert.equal((await tree().open('big-sky', 'Groups')).length, 4);
    await cloud.tokenManager.signOut();
    assert.equal(tree().shown.message, '');
    await tree().serviceOf('administrator', 'meridian', 'big-sky');
    assert.deepEqual(await groups(), ['finance']);
    assert.equal(tree().shown.message, 'meridian filtered by "finance"');
    await tree().data.setLabel('meridian', 'Main');
    await tree().texts();
    assert.equal(tree().shown.message, 'Main filtered by "finance"');
  });

  it('2,000 groups are filtered across their buckets', async () => {
    await tree().serviceOf('administrator', 'big-sky');
    await tree().state.setFilter(tree().data.session?.cloud.key ?? '', 'big-sky', 'name:01999');
    const nodes = await tree().open('big-sky', 'Groups');
    assert.deepEqual(
      nodes.map(({ kind }) => kind),
      ['group'],
    );
  });

  it('the order is picked from a list, and kept', async () => {
    await tree().serviceOf('administrator', 'meridian');
    const before = await groups();
    given.choices.push(/By name/);
    await given.call(commands.sort);
    const sorted = await groups();
    assert.deepEqual(sorted, before.toSorted(new Intl.Collator('en', { numeric: true, sensitivity: 'base' }).compare));
    assert.notDeepEqual(sorted, before);
    await given.call(commands.sort); // Nothing is picked.
    assert.deepEqual(await groups(), sorted);
  });

  it('favorites stand first, wherever the filter leads, until they are taken away', async () => {
    await tree().serviceOf('administrator', 'meridian');
    await given.call(commands.addFavorite, await tree().node('meridian', 'Groups', 'finance'));
    given.choices.push(/^administrator role/);
    await given.call(commands.addFavorite); // From the palette.
    await filter('nothing has this', 'enter');
    assert.deepEqual(await tree().texts('meridian', 'Favorites'), ['finance', 'administrator']);
    const favorite = await tree().node('meridian', 'Favorites', 'finance');
    assert.equal(tree().item(favorite).contextValue, 'group favorite');
    assert.deepEqual((await tree().texts('meridian', 'Favorites', 'finance')).slice(0, 1), ['Roles granted']);
    await given.call(commands.removeFavorite, favorite);
    assert.deepEqual(await tree().texts('meridian', 'Favorites'), ['administrator']);
  });
});
