import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Node } from '../../../src/host/tree/nodes.ts';
import { registerTreeCommands } from '../../../src/host/tree/register.ts';
import { VirtualDocuments } from '../../../src/host/virtualDocuments.ts';
import { commands } from '../../../src/ids.ts';
import { Commands } from '../support/commands.ts';
import { usePatches } from '../support/patches.ts';
import { addFault, clearFaults } from '../support/sandbox.ts';
import { memoryStore, useScene } from '../support/scene.ts';
import { useTree } from '../support/tree.ts';
import { until } from '../support/wait.ts';

describe('commands of the tree', () => {
  const scene = useScene();
  const tree = useTree(scene);
  const patches = usePatches();
  let given: Commands;

  beforeEach(() => {
    given = new Commands(patches);
    const { clouds, log } = scene();
    const { data, view } = tree();
    const documents = scene().own(new VirtualDocuments(data, 'rolecall-test'));
    scene().own(given.of(() => registerTreeCommands({ clouds, data, view, documents }, log)));
  });
  afterEach(async () => {
    await clearFaults();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  const call = (id: string, ...args: unknown[]) => given.call(id, ...args);
  const labelsOfTabs = () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ label }) => label));
  /** VS Code tells of the active editor a moment after it shows one. */
  const opened = () => until('a document is open', () => vscode.window.activeTextEditor?.document);

  it('refresh all, or the organization it is pressed on', async () => {
    await tree().serviceOf('administrator', 'meridian', 'big-sky');
    const requests = async (refresh: () => Promise<unknown>) => {
      scene().asked.length = 0;
      await refresh();
      await tree().open('meridian');
      await tree().open('big-sky');
      return scene().asked.length;
    };
    assert.equal(await requests(async () => {}), 4);
    const meridian = await tree().node('meridian');
    assert.equal(await requests(() => call(commands.refresh, meridian)), 2);
    assert.equal(await requests(() => call(commands.refresh)), 4);
  });

  it('refresh does not wait for the pause after a renewal that failed', async () => {
    await tree().serviceOf('administrator', 'meridian');
    const { tokenManager } = scene().clouds.require();
    let retries = 0;
    tokenManager.retryNow = () => {
      retries += 1;
    };
    await call(commands.refresh);
    assert.equal(retries, 1);
  });

  it('refresh looks into the keyring again, which may be unlocked by now', async () => {
    let locked = true;
    const store = memoryStore();
    const read = () => (locked ? Promise.reject(new Error('locked')) : store.read());
    scene().stores.set('service', { ...store, read });
    const cloud = await scene().startService();
    await cloud.load();
    assert.equal(cloud.tokenManager.state.kind, 'storeUnavailable');
    await call(commands.refresh);
    assert.match(given.errors.join(), /secret store/);
    locked = false;
    await call(commands.refresh);
    assert.equal(cloud.tokenManager.state.kind, 'signedOut');
  });

  const GROUP = ['meridian', 'Groups', 'platform-engineers'] as const;
  const copied: readonly (readonly [path: readonly string[], id: RegExp, name: string])[] = [
    [['meridian'], /^meridian$/, 'meridian'],
    [GROUP, /^[\da-f-]{36}$/, 'platform-engineers'],
    [[...GROUP, 'Roles granted', 'user'], /^[\da-f-]{36}$/, 'user'],
    [['meridian', 'Roles', 'administrator'], /^[\da-f-]{36}$/, 'administrator'],
    [['meridian', 'Roles', 'administrator', 'administrators'], /^[\da-f-]{36}$/, 'administrators'],
  ];
  for (const [path, id, name] of copied) {
    it(`copy id and name of ${path.join(' › ')}`, async () => {
      await tree().serviceOf('administrator', 'meridian');
      const node = await tree().node(...path);
      await call(commands.copyId, node);
      assert.match(await vscode.env.clipboard.readText(), id);
      await call(commands.copyName, node);
      assert.equal(await vscode.env.clipboard.readText(), name);
    });
  }

  it('copy of members the id, and as the name the address people know', async () => {
    await tree().serviceOf('administrator', 'meridian');
    const subjects = await tree().open(...GROUP, 'Subjects');
    const withAddress = subjects.find((node) => node.kind === 'subject' && node.principal.email);
    assert.ok(withAddress?.kind === 'subject');
    await call(commands.copyName, withAddress);
    assert.equal(await vscode.env.clipboard.readText(), withAddress.principal.email);
    await call(commands.copyId, withAddress);
    assert.equal(await vscode.env.clipboard.readText(), withAddress.principal.id);
  });

  it('copy from the palette asks which group or role', async () => {
    await tree().serviceOf('administrator', 'meridian');
    given.choices.push(/^finance group/);
    await call(commands.copyName);
    assert.equal(await vscode.env.clipboard.readText(), 'finance');
    assert.ok(given.offered[0]?.includes('administrator') && given.offered[0].includes('finance'));
  });

  it('open as JSON shows what the service sent, unknown members included, coloured and read-only', async () => {
    await tree().serviceOf('administrator', 'meridian');
    const sent = {
      metadata: { id: 'g', name: 'sent', creationTime: '', provisioningStatus: '', healthStatus: '', x: 1 },
      spec: { roleIDs: null },
      y: [2],
    };
    scene().network = async (address) => Response.json(String(address).endsWith('/groups') ? [sent] : null);
    await call(commands.openAsJson, await tree().node('meridian', 'Groups', 'sent'));
    assert.deepEqual(JSON.parse((await opened()).getText()), sent);
    assert.deepEqual([(await opened()).languageId, (await opened()).uri.path], ['json', '/meridian/sent.json']);
    await call(commands.openAsJson, await tree().node('meridian'));
    assert.deepEqual(JSON.parse((await opened()).getText()), { groups: [sent], roles: [] });
  });

  it('open as JSON shows what could not be read, too', async () => {
    await tree().serviceOf('administrator', 'meridian');
    await addFault({ service: 'identity', path: '/groups$', kind: 'malformedItem', body: { half: 1 }, times: 1 });
    const nodes = await tree().open('meridian', 'Groups');
    await call(
      commands.openAsJson,
      nodes.find(({ kind }) => kind === 'malformed'),
    );
    assert.deepEqual(JSON.parse((await opened()).getText()), { half: 1 });
  });

  it('documents go with the organization they are about', async () => {
    await tree().serviceOf('administrator', 'meridian', 'big-sky');
    await call(commands.openAsJson, (await tree().open('big-sky', 'Roles'))[0]);
    await call(commands.openAsJson, await tree().node('meridian', 'Groups', 'finance'));
    const [ofOther, removed] = labelsOfTabs();
    assert.equal(removed, 'finance.json');
    await scene().settings.removeOrganization('meridian');
    await until('it is closed', () => labelsOfTabs().join() === ofOther);
  });

  it('documents go with the session they were made of', async () => {
    const cloud = await tree().serviceOf('administrator', 'meridian');
    await call(commands.openAsJson, await tree().node(...GROUP));
    const document = await opened();
    assert.match(document.getText(), /platform-engineers/);
    const gone = new Promise<string>((resolve) => {
      scene().own(
        vscode.workspace.onDidChangeTextDocument(({ document: changed }) => {
          if (changed.uri.toString() === document.uri.toString()) resolve(changed.getText());
        }),
      );
      scene().own(
        vscode.workspace.onDidCloseTextDocument(
          (closed) => closed.uri.toString() === document.uri.toString() && resolve('closed'),
        ),
      );
    });
    await cloud.tokenManager.signOut();
    assert.doesNotMatch(await gone, /platform-engineers/);
    assert.ok(!labelsOfTabs().includes('platform-engineers.json'), labelsOfTabs().join());
  });

  it('a node of another sign-in is refused', async () => {
    const cloud = await tree().serviceOf('administrator', 'meridian');
    const node = await tree().node(...GROUP);
    const other = { ...node, target: { ...node.target, connection: 'another' } } as Node;
    await call(commands.openAsJson, other);
    assert.match(given.errors[0] ?? '', /another account/);
    await cloud.tokenManager.signOut();
    await call(commands.openAsJson, node);
    assert.match(given.errors[1] ?? '', /Sign in to/);
  });

  it('reveal shows and selects a group in its bucket, and takes away a filter that hides it', async () => {
    await tree().serviceOf('administrator', 'big-sky');
    const [, , bucket] = await tree().open('big-sky', 'Groups');
    const [hidden] = await tree().view.getChildren(bucket);
    await tree().state.setFilter(tree().data.session?.cloud.key ?? '', 'big-sky', 'no such thing');
    await call(commands.reveal, hidden);
    assert.deepEqual([tree().shown.revealed.map(({ id }) => id), given.errors], [[hidden?.id], []]);
    const parents: string[] = [];
    for (let at = tree().shown.revealed[0]; at; at = tree().view.getParent(at)) parents.push(at.kind);
    assert.deepEqual(parents, ['group', 'bucket', 'groups', 'organization']);
    assert.equal(tree().shown.message, '');
  });

  it('ask @rolecall types a question that names what it is about, and the organization', async () => {
    const typed: unknown[] = [];
    await tree().serviceOf('administrator', 'meridian');
    const execute = vscode.commands.executeCommand;
    patches.set(vscode.commands, 'executeCommand', async (id: string, ...args: unknown[]) => {
      if (id !== commands.openChat) return execute(id, ...args);
      return typed.push(...args);
    });
    await call(commands.askAboutThis, await tree().node('meridian', 'Roles', 'administrator'));
    await call(commands.askAboutThis, await tree().node('meridian', 'Groups', 'finance'));
    await call(commands.askAboutThis, await tree().node('meridian'));
    assert.deepEqual(typed, [
      '/access Who has the role "administrator", and through which groups? Organization: "meridian"',
      '/access Who is in the group "finance", and which roles does it give them? Organization: "meridian"',
      '/access Which groups need attention, and why? Organization: "meridian"',
    ]);
  });
});
