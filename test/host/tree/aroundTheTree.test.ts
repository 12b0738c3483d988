import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ChangeMarks } from '../../../src/host/changeMarks.ts';
import { TreeDecorations } from '../../../src/host/tree/decorations.ts';
import type { Node } from '../../../src/host/tree/nodes.ts';
import { refreshAtIntervals } from '../../../src/host/tree/register.ts';
import { commands, contextKeys } from '../../../src/ids.ts';
import { usePatches } from '../support/patches.ts';
import { addFault, clearFaults } from '../support/sandbox.ts';
import { signInAs, useScene } from '../support/scene.ts';
import { useTree } from '../support/tree.ts';
import { until } from '../support/wait.ts';

describe('around the tree', () => {
  const scene = useScene();
  const tree = useTree(scene);
  const patches = usePatches();
  let contexts: Map<string, unknown>;

  beforeEach(() => {
    contexts = new Map();
    const execute = vscode.commands.executeCommand;
    patches.set(vscode.commands, 'executeCommand', async (id: string, ...args: unknown[]) => {
      if (id === 'setContext') contexts.set(String(args[0]), args[1]);
      return execute(id, ...args);
    });
  });
  afterEach(clearFaults);

  const failing = (kind: Record<string, unknown>) =>
    addFault({ service: 'identity', path: '/(groups|roles)$', headers: { 'Retry-After': '0' }, times: null, ...kind });

  it('what was read before stays when it cannot be read again, with a warning and its age', async () => {
    await tree().serviceOf('administrator', 'meridian');
    await tree().open('meridian');
    await failing({ kind: 'status', status: 500 });
    tree().data.refresh();
    const [stale, groups, roles] = await tree().open('meridian');
    assert.equal(stale?.kind, 'stale');
    assert.match(tree().text(stale), /Could not be refreshed; shown as of/);
    assert.deepEqual([groups, roles].map(tree().description), ['12', '9']);
    assert.equal((await tree().open('meridian', 'Groups')).length, 12);
    assert.match(tree().description(await tree().node('meridian')), /out of date/);
    await clearFaults();
    tree().data.refresh();
    assert.deepEqual(await tree().texts('meridian'), ['Groups', 'Roles']);
    assert.doesNotMatch(tree().description(await tree().node('meridian')), /out of date/);
  });

  it('what somebody may no longer read does not stay', async () => {
    const cloud = await tree().serviceOf('administrator', 'meridian');
    await tree().open('meridian');
    await failing({ kind: 'status', status: 403, body: { error: 'forbidden', error_description: 'no' } });
    tree().data.refresh();
    const nodes = await tree().open('meridian');
    assert.deepEqual([...new Set(nodes.map(({ kind }) => kind))], ['problem', 'step']);
    assert.equal(cloud.tokenManager.state.kind, 'signedIn');
  });

  it('menus are told whether there is an organization, before anybody looks at the view and when the session is over', async () => {
    const cloud = await tree().serviceOf('administrator', 'meridian');
    await until('there is one', () => contexts.get(contextKeys.hasOrganizations) === true);
    await cloud.tokenManager.signOut();
    await until('it is gone', () => contexts.get(contextKeys.hasOrganizations) === false);
  });

  it('the walkthrough is told that somebody has browsed once an organization is unfolded', async () => {
    await tree().serviceOf('administrator', 'meridian');
    await tree().open();
    assert.equal(contexts.has(contextKeys.hasBrowsed), false);
    await tree().open('meridian');
    assert.equal(contexts.get(contextKeys.hasBrowsed), true);
  });

  it('the badge counts groups and roles in error or degraded, and goes with the session', async () => {
    const cloud = await tree().serviceOf('administrator', 'meridian');
    assert.equal(tree().shown.badge, undefined);
    await tree().open('meridian');
    const groups = await tree().open('meridian', 'Groups');
    const listed = (await tree().open('meridian', 'Roles')).filter(({ kind }) => kind === 'role');
    const marked = [...groups, ...listed].filter((node) => {
      return ['error', 'warning'].includes((tree().item(node).iconPath as vscode.ThemeIcon).id);
    });
    assert.ok(marked.length >= 2);
    assert.equal(tree().shown.badge?.value, marked.length);
    await cloud.tokenManager.signOut();
    assert.equal(tree().shown.badge, undefined);
  });

  it('the badge counts nothing of an organization that was removed', async () => {
    await tree().serviceOf('administrator', 'meridian', 'empty-nest');
    await tree().open('meridian');
    assert.ok(tree().shown.badge);
    await scene().settings.removeOrganization('meridian');
    await tree().open();
    assert.equal(tree().shown.badge, undefined);
  });

  describe('an organization of which nothing can be read', () => {
    it('says why in the words of the service, and what can be done about it', async () => {
      await tree().serviceOf('ordinaryUser', 'meridian');
      const [problem, ...steps] = await tree().open('meridian');
      assert.match(tree().text(problem), /You don’t have permission to view "meridian"/);
      assert.deepEqual(steps.map(tree().text), ['Try Again', 'Sign In with Another Account']);
      const [again, other] = steps.map((step) => tree().item(step).command);
      const target = (await tree().node('meridian')).target;
      assert.deepEqual([again?.command, again?.arguments], [commands.refresh, [{ target }]]);
      assert.equal(other?.command, commands.signIn);
    });

    it('can be tried again where nobody answers', async () => {
      await tree().serviceOf('administrator', 'meridian');
      scene().network = async () => {
        throw Object.assign(new TypeError('fetch failed'), {
          cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }),
        });
      };
      const [problem, ...steps] = await tree().open('meridian');
      assert.match(tree().text(problem), /nothing is listening there/);
      assert.deepEqual(steps.map(tree().text), ['Try Again']);
    });

    it('stands beside those that can be', async () => {
      await tree().serviceOf('administrator', 'meridian', 'empty-nest');
      await tree().open('meridian');
      await tree().open('empty-nest');
      assert.deepEqual(await tree().texts(), ['meridian', 'empty-nest']);
    });
  });

  it('refreshes that come close together are one', async () => {
    await tree().serviceOf('administrator', 'meridian');
    await tree().open('meridian');
    await failing({ kind: 'latency', ms: 100 });
    scene().asked.length = 0;
    const readings: Promise<unknown>[] = [];
    for (let presses = 0; presses < 5; presses += 1) {
      tree().data.refresh('meridian');
      readings.push(tree().open('meridian', 'Groups'));
      await Promise.resolve();
    }
    await Promise.all(readings);
    assert.equal(scene().asked.length, 2);
    tree().now += 5_000;
    tree().data.refresh('meridian');
    await tree().open('meridian');
    assert.equal(scene().asked.length, 4);
  });

  it('what is shown is read again at intervals, while somebody looks at it and as long as the setting says', async () => {
    const ticks: (readonly [() => void, number])[] = [];
    let looked = true;
    patches.set(globalThis, 'setInterval', (tick: () => void, ms: number) => {
      ticks.push([tick, ms]);
      return undefined;
    });
    await tree().serviceOf('administrator', 'meridian', 'big-sky');
    scene().own(refreshAtIntervals(tree().data, scene().settings, () => looked));
    assert.equal(ticks.length, 0);
    scene().settings.minutes = 5;
    scene().settings.change();
    assert.deepEqual(
      ticks.map(([, ms]) => ms),
      [300_000],
    );
    await tree().open('meridian');
    const asked = async () => {
      scene().asked.length = 0;
      // Requests have a clock of their own.
      ticks.find(([, ms]) => ms === 300_000)?.[0]();
      await tree().open('meridian');
      return scene().asked.filter((address) => address.includes('/meridian/')).length;
    };
    assert.equal(await asked(), 2);
    looked = false;
    assert.equal(await asked(), 0);
    assert.ok(
      scene().asked.every((address) => !address.includes('big-sky')),
      'what was never read is not read',
    );
  });

  describe('decorations', () => {
    let decorations: TreeDecorations;
    let marks: ChangeMarks;
    const decorationOf = (node: Node) =>
      decorations.provideFileDecoration(tree().item(node).resourceUri ?? assert.fail('it has no address'));

    beforeEach(() => {
      marks = scene().own(new ChangeMarks(tree().data));
      decorations = scene().own(new TreeDecorations(tree().data, marks));
    });

    it('mark what needs attention, and nothing else', async () => {
      await tree().serviceOf('administrator', 'meridian');
      const node = async (name: string) => decorationOf(await tree().node('meridian', 'Groups', name));
      assert.deepEqual([(await node('data-science'))?.badge, (await node('data-science'))?.tooltip], ['!', 'In error']);
      assert.equal((await node('site-reliability'))?.tooltip, 'Degraded');
      assert.equal(await node('finance'), undefined);
      const other = vscode.Uri.from({ scheme: 'file', path: '/meridian/group/x' });
      assert.equal(decorations.provideFileDecoration(other), undefined);
    });

    it('mark what has changed until somebody has seen it, or the session is another', async () => {
      const cloud = await tree().serviceOf('administrator', 'meridian');
      const node = await tree().node('meridian', 'Groups', 'data-science');
      assert.equal(decorationOf(node)?.badge, '!');
      const told: unknown[] = [];
      scene().own(decorations.onDidChangeFileDecorations((what) => told.push(what)));
      marks.show([[node.target ?? assert.fail(), 'changed']]);
      assert.deepEqual([decorationOf(node)?.badge, contexts.get(contextKeys.hasChanges)], ['M!', true]);
      assert.equal(told.length, 1);
      marks.acknowledge();
      assert.deepEqual([decorationOf(node)?.badge, contexts.get(contextKeys.hasChanges)], ['!', false]);
      marks.show([[node.target ?? assert.fail(), 'added']]);
      assert.equal(decorationOf(node)?.badge, 'A!');
      await signInAs(cloud, 'ordinaryUser');
      await until('the marks are gone', () => decorationOf(node) === undefined);
    });
  });
});
