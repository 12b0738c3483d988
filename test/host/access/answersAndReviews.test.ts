import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { registerAccessCommands } from '../../../src/host/access/register.ts';
import { MAX_SNAPSHOTS, SnapshotStore } from '../../../src/host/access/snapshotStore.ts';
import { type AccessTarget, targetOf } from '../../../src/host/accessTarget.ts';
import { ChangeMarks } from '../../../src/host/changeMarks.ts';
import { VirtualDocuments } from '../../../src/host/virtualDocuments.ts';
import { commands } from '../../../src/ids.ts';
import { Commands } from '../support/commands.ts';
import { pagesFor, usePanels } from '../support/pages.ts';
import { usePatches } from '../support/patches.ts';
import { addFault, clearFaults, person } from '../support/sandbox.ts';
import { signInAs, useScene } from '../support/scene.ts';
import { useTree } from '../support/tree.ts';
import { until } from '../support/wait.ts';

interface Sent {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly userIDs?: string[] };
}

describe('insight', () => {
  const scene = useScene();
  const tree = useTree(scene);
  const patches = usePatches();
  const panels = usePanels(patches);
  let given: Commands;
  let folder: string;
  let store: SnapshotStore;
  let marks: ChangeMarks;
  let revealed: AccessTarget[];

  beforeEach(async () => {
    folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rolecall-host-'));
    given = new Commands(patches);
    const { data } = tree();
    const { log } = scene();
    const documents = scene().own(new VirtualDocuments(data, 'rolecall-test'));
    marks = scene().own(new ChangeMarks(data));
    const storage = vscode.Uri.file(folder);
    const pages = scene().own(pagesFor(log));
    revealed = [];
    store = new SnapshotStore(storage);
    scene().own(
      given.of(() =>
        registerAccessCommands(
          {
            data,
            storage,
            documents,
            marks,
            answered: new Set(),
            pages,
            reveal: async (target) => void revealed.push(target),
          },
          log,
        ),
      ),
    );
  });
  afterEach(async () => {
    await clearFaults();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await fs.rm(folder, { recursive: true, force: true });
  });

  /** The lines of the page that was opened last, once it has this heading. */
  const shown = async (heading: RegExp) =>
    (await until('the page', () => [panels.at(-1)?.text ?? ''].find((text) => heading.test(text)))).split('\n');
  const call = (id: string, ...args: unknown[]) => given.call(id, ...args);
  /** VS Code tells of the active editor a moment after it shows one. */
  const opened = () => until('a document is open', () => vscode.window.activeTextEditor?.document);
  const loseRoles = () => addFault({ service: 'identity', path: '/roles$', kind: 'status', status: 403, times: null });

  /** Groups of meridian as the service would send them later. */
  function later(change: (groups: Sent[]) => void) {
    scene().network = async (address, init) => {
      const answer = await fetch(address, init);
      if (!String(address).endsWith('/meridian/groups')) return answer;
      const groups = (await answer.json()) as Sent[];
      change(groups);
      return Response.json(groups);
    };
  }

  describe('answers', () => {
    it('who has a role: everybody, with the groups that give it, when and by whom it was read', async () => {
      await tree().serviceOf('administrator', 'meridian');
      await call(commands.whoHasRole, await tree().node('meridian', 'Roles', 'administrator'));
      const lines = await shown(/Who has administrator/);
      assert.ok(lines[1]?.startsWith(`meridian · Read from 127.0.0.1 by ${person('administrator').email}, `), lines[1]);
      assert.match(lines[2] ?? '', /^administrator: \d+ subjects?, \d+ user IDs? through 1 group\.$/);
      assert.ok(
        lines.some((line) => /^ada\..* \| subject \| administrators \| /.test(line)),
        lines.join('\n'),
      );
      assert.match(lines.join('\n'), /The same person may have both\./);
    });

    it('and every page name an organization by its label and its ID, also when that changes', async () => {
      await tree().serviceOf('administrator', 'meridian');
      await tree().data.setLabel('meridian', 'Main');
      await call(commands.whoHasRole, await tree().node('Main', 'Roles', 'administrator'));
      assert.match((await shown(/Who has administrator/))[1] ?? '', /^Main \(meridian\) · /);
      await call(commands.showReview, await tree().node('Main'));
      await shown(/Access review of Main \(meridian\)/);
      assert.equal(panels.at(-1)?.title, 'Access review of Main (meridian)');
      await tree().data.setLabel('meridian', 'Prime');
      await shown(/Access review of Prime \(meridian\)/);
    });

    it('what a service account can reach, called on it in a group', async () => {
      await tree().serviceOf('administrator', 'meridian');
      const [account] = await tree().open('meridian', 'Groups', 'automation', 'Service accounts');
      await call(commands.showEffectiveAccess, account);
      const text = (await shown(/Effective access of/)).join('\n');
      assert.match(text, /^\S+ \(service account\): \d+ roles through \d+ groups\./m);
      assert.match(text, /^user \| .*automation/m);
    });

    it('have a tab for each role, also where two have one name', async () => {
      scene().network = async (address, init) => {
        const answer = await fetch(address, init);
        if (!String(address).endsWith('/meridian/roles')) return answer;
        const roles = (await answer.json()) as { metadata: { id: string; name: string } }[];
        for (const { metadata } of roles.slice(0, 2)) metadata.name = 'twin';
        return Response.json(roles);
      };
      await tree().serviceOf('administrator', 'meridian');
      const twins = (await tree().open('meridian', 'Roles')).filter((node) => tree().text(node) === 'twin');
      for (const twin of [...twins, ...twins]) await call(commands.whoHasRole, twin);
      assert.equal(panels.length, 2);
      const titles = panels.map(({ title }) => title);
      assert.notEqual(titles[0], titles[1]);
      for (const title of titles) assert.match(String(title), /^Who has twin \(\w+…\w+\)$/);
    });

    it('ask who or which role where they are called on nothing', async () => {
      await tree().serviceOf('administrator', 'meridian');
      given.choices.push(/^ada\./);
      await call(commands.showEffectiveAccess);
      await shown(/^Effective access of ada\./);
      given.choices.push(/^reader/);
      await call(commands.whoHasRole);
      await shown(/^Who has reader/);
      assert.deepEqual(given.errors, []);
    });

    it('lead into the tree: to the organization, a group, a role; and to the access of a person', async () => {
      await tree().serviceOf('administrator', 'meridian');
      await call(commands.whoHasRole, await tree().node('meridian', 'Roles', 'administrator'));
      await shown(/Who has administrator/);
      const panel = panels.at(-1) ?? assert.fail();
      const { email } = person('administrator');
      const followed: unknown[] = [];
      patches.set(vscode.commands, 'executeCommand', async (...call: unknown[]) => void followed.push(...call));
      for (const words of ['meridian', 'administrator', email, 'administrators']) panel.follow(words);
      await until('all four', () => revealed.length === 3 && followed.length === 2);
      assert.deepEqual(
        revealed.map(({ kind, organization }) => [kind, organization]),
        ['organization', 'role', 'group'].map((kind) => [kind, 'meridian']),
      );
      const { model } = tree().data.last('meridian') ?? assert.fail();
      const keyOf = (target: AccessTarget | undefined) => (target && 'key' in target ? target.key : '');
      assert.equal(model.group(keyOf(revealed[2]))?.group.metadata.name, 'administrators');
      // The tree has people only below their groups.
      assert.equal(followed[0], commands.showEffectiveAccess);
      assert.equal(model.principal(keyOf(targetOf(followed[1])))?.email, email);
    });

    it('follow what is read, and close with the session', async () => {
      const cloud = await tree().serviceOf('administrator', 'meridian');
      await call(commands.showReview, await tree().node('meridian'));
      assert.ok((await shown(/^Access review/)).includes('- Groups: 12'));
      later((groups) => groups.splice(1));
      tree().data.refresh();
      await until('the new review', () => panels.at(-1)?.text.includes('- Groups: 1\n'));
      assert.equal(panels.length, 1);
      await cloud.tokenManager.signOut();
      await until('it is closed', () => panels.at(-1)?.isDisposed);
      assert.equal(panels.at(-1)?.webview.html, '');
    });

    it('close with their organization when it is removed, and those of another stay', async () => {
      await tree().serviceOf('administrator', 'meridian', 'big-sky');
      await call(commands.showReview, await tree().node('meridian'));
      await shown(/^Access review of meridian/);
      await call(commands.showReview, await tree().node('big-sky'));
      await shown(/^Access review of big-sky/);
      await scene().settings.removeOrganization('meridian');
      await until('it is closed', () => panels[0]?.isDisposed);
      assert.notEqual(panels[1]?.isDisposed, true);
    });

    it('are read again when they are seen, not while they are hidden', async () => {
      await tree().serviceOf('administrator', 'meridian');
      await call(commands.showReview, await tree().node('meridian'));
      await shown(/^Access review/);
      const panel = panels.at(-1) ?? assert.fail();
      const reads = () => scene().asked.filter((address) => address.endsWith('/meridian/groups')).length;
      const before = reads();
      panel.visible = false;
      panel.viewState.fire();
      tree().data.refresh('meridian');
      panel.visible = true;
      assert.equal(reads(), before);
      panel.viewState.fire();
      await until('it is read', () => reads() === before + 1);
    });

    it('say what they may lack', async () => {
      await tree().serviceOf('administrator', 'meridian');
      await loseRoles();
      given.choices.push(/^ada\./);
      await call(commands.showEffectiveAccess);
      const lines = await shown(/^Effective access of ada\./);
      assert.match(
        lines[2] ?? '',
        /^! Incomplete: The roles could not be read\. You don’t have permission to view "meridian"/,
      );
    });

    it('are errors, not empty documents, where nothing could be read', async () => {
      await tree().serviceOf('ordinaryUser', 'meridian');
      await call(commands.whoHasRole);
      assert.match(given.errors[0] ?? '', /You don’t have permission to view "meridian"/);
      assert.deepEqual(panels, []);
    });
  });

  describe('a review', () => {
    const target = (extension: string) => vscode.Uri.file(path.join(folder, `review.${extension}`));
    const written = async (extension: string) => {
      try {
        return await fs.readFile(target(extension).fsPath, 'utf8');
      } catch {
        return undefined;
      }
    };
    const saveAs = (extension: string) => patches.set(vscode.window, 'showSaveDialog', async () => target(extension));

    for (const [extension, begins] of [
      ['md', /^# Access review of meridian\n/],
      ['csv', /^"section","finding",/],
      ['json', /^\{\n {2}"format": "rolecall\.review"/],
    ] as const) {
      it(`is written as ${extension}`, async () => {
        await tree().serviceOf('administrator', 'meridian');
        given.choices.push(new RegExp(`\\.${extension}$`));
        saveAs(extension);
        await call(commands.exportReview);
        const text = (await written(extension)) ?? assert.fail('nothing was written');
        assert.match(text, begins);
        assert.ok(text.includes(person('administrator').email));
        assert.deepEqual(given.errors, []);
      });
    }

    it('of a partial reading is not written unless the user says so, and then says so itself', async () => {
      await tree().serviceOf('administrator', 'meridian');
      await loseRoles();
      saveAs('md');
      given.choices.push(/\.md$/);
      await call(commands.exportReview);
      assert.match(given.told[0] ?? '', /could not be read\.\nThe roles could not be read/);
      assert.equal(await written('md'), undefined);
      given.press = /Marked as Incomplete/;
      await call(commands.exportReview);
      assert.match((await written('md')) ?? '', /\*\*Note:\*\* Incomplete: The roles could not be read/);
    });

    it('is not written when one group could not be understood, without a word', async () => {
      await tree().serviceOf('administrator', 'meridian');
      await addFault({ service: 'identity', path: '/groups$', kind: 'malformedItem', body: 42, times: null });
      saveAs('csv');
      await call(commands.exportReview);
      assert.match(given.told[0] ?? '', /1 group could not be understood/);
      assert.equal(await written('csv'), undefined);
    });

    it('is not written after a sign-out', async () => {
      const cloud = await tree().serviceOf('administrator', 'meridian');
      given.choices.push(/\.md$/);
      patches.set(vscode.window, 'showSaveDialog', async () => {
        await cloud.tokenManager.signOut();
        return target('md');
      });
      await call(commands.exportReview);
      assert.equal(await written('md'), undefined);
    });
  });

  describe('snapshots', () => {
    it('show what has changed since, in words, side by side and in the tree', async () => {
      await tree().serviceOf('administrator', 'meridian');
      await tree().data.setLabel('meridian', 'Main');
      await call(commands.saveSnapshot, await tree().node('Main'));
      later((groups) => {
        groups.find(({ metadata }) => metadata.name === 'finance')?.spec.userIDs?.push('u-new');
      });
      given.choices.push(/^Main \(meridian\) · .*12 groups, 10 roles/);
      await call(commands.compareSnapshot);
      assert.deepEqual(given.errors, []);
      const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
      const lines = await shown(/^What changed in Main \(meridian\)/);
      assert.deepEqual(lines.slice(2), [
        'Members added: 1',
        '## Members added (1)',
        '- u-new (user ID) joined finance',
      ]);
      const comparison = tabs.find(({ input }) => input instanceof vscode.TabInputTextDiff);
      assert.match(comparison?.label ?? '', /^Main \(meridian\): /);
      const node = await tree().node('Main', 'Groups', 'finance');
      const isMarked = () => marks.of(tree().item(node).resourceUri ?? assert.fail());
      assert.equal(isMarked(), 'changed');
      await call(commands.acknowledgeChanges);
      assert.equal(isMarked(), undefined);
    });

    it('are no longer marked when their organization is removed', async () => {
      await tree().serviceOf('administrator', 'meridian', 'big-sky');
      await call(commands.saveSnapshot, await tree().node('meridian'));
      later((groups) => {
        groups.find(({ metadata }) => metadata.name === 'finance')?.spec.userIDs?.push('u-new');
      });
      given.choices.push(/12 groups/);
      await call(commands.compareSnapshot, await tree().node('meridian'));
      const { resourceUri } = tree().item(await tree().node('meridian', 'Groups', 'finance'));
      const isMarked = () => marks.of(resourceUri ?? assert.fail());
      await tree().open('big-sky');
      await scene().settings.removeOrganization('big-sky');
      assert.equal(isMarked(), 'changed');
      await scene().settings.removeOrganization('meridian');
      assert.equal(isMarked(), undefined);
    });

    it('say so when nothing has changed', async () => {
      await tree().serviceOf('administrator', 'meridian');
      await call(commands.saveSnapshot);
      given.choices.push(/12 groups/);
      await call(commands.compareSnapshot);
      assert.match(given.told.at(-1) ?? '', /^No changes since \d[^(]*\.$/);
      assert.equal(vscode.window.tabGroups.all.flatMap((group) => group.tabs).length, 0);
    });

    it('read the organization again, to be kept and to be compared', async () => {
      await tree().serviceOf('administrator', 'meridian');
      await tree().open('meridian');
      later((groups) => groups.splice(1));
      await call(commands.saveSnapshot);
      given.choices.push(/· .*1 group, /);
      later(() => {});
      await call(commands.compareSnapshot);
      assert.ok((await shown(/^What changed in meridian/)).includes('## Groups added (11)'));
    });

    it('do not claim that nothing has changed where something could not be read', async () => {
      await tree().serviceOf('administrator', 'meridian');
      await call(commands.saveSnapshot);
      await addFault({ service: 'identity', path: '/roles$', kind: 'status', status: 500, times: null });
      given.choices.push(/12 groups/);
      await call(commands.compareSnapshot);
      assert.match(given.told.at(-1) ?? '', /data is incomplete/);
    });

    it('can be compared from an exported review, of the same organization only', async () => {
      await tree().serviceOf('administrator', 'meridian', 'empty-nest');
      const file = vscode.Uri.file(path.join(folder, 'r.json'));
      patches.set(vscode.window, 'showSaveDialog', async () => file);
      patches.set(vscode.window, 'showOpenDialog', async () => [file]);
      given.choices.push(/^meridian/, /\.json$/, /^meridian/, /exported JSON review/);
      await call(commands.exportReview);
      await call(commands.compareSnapshot);
      assert.match(given.told.at(-1) ?? '', /^No changes since \d[^(]*\.$/);
      given.choices.push(/exported JSON review/);
      await call(commands.compareSnapshot, await tree().node('meridian'));
      await fs.writeFile(file.fsPath, (await fs.readFile(file.fsPath, 'utf8')).replace('"meridian"', '"other"'));
      given.choices.push(/exported JSON review/);
      await call(commands.compareSnapshot, await tree().node('meridian'));
      assert.match(given.errors[0] ?? '', /This review is for other, not for meridian/);
      await fs.writeFile(file.fsPath, '{"a":1}');
      given.choices.push(/exported JSON review/);
      await call(commands.compareSnapshot, await tree().node('meridian'));
      assert.match(given.errors[1] ?? '', /not an access review/);
    });

    it('are of one account, listed, removed one by one, and all cleared by one command', async () => {
      const cloud = await tree().serviceOf('administrator', 'meridian');
      await call(commands.saveSnapshot);
      await call(commands.saveSnapshot);
      given.choices.push(/12 groups/, /Delete/);
      await call(commands.manageSnapshots);
      assert.deepEqual(
        given.offered.map((labels) => labels.length),
        [2, 3, 1],
        'the list is there again after one was deleted',
      );
      const session = tree().data.requireSession();
      assert.equal((await store.list(session)).length, 1);
      await signInAs(cloud, 'ordinaryUser');
      assert.deepEqual(await store.list(tree().data.requireSession()), []);
      await call(commands.manageSnapshots);
      assert.match(given.told.at(-1) ?? '', /No snapshots are kept for this account/);
      await call(commands.clearSnapshots); // Not without a yes.
      assert.equal((await store.list(session)).length, 1);
      given.press = /Delete All/;
      await call(commands.clearSnapshots);
      assert.deepEqual(await store.list(session), []);
      assert.deepEqual(await fs.readdir(folder), []);
    });

    it('are opened, and compared with what is now, from the list', async () => {
      await tree().serviceOf('administrator', 'meridian', 'empty-nest');
      await call(commands.saveSnapshot, await tree().node('meridian'));
      given.choices.push(/12 groups/, /Open/);
      await call(commands.manageSnapshots);
      assert.match((await opened()).uri.path, /^\/meridian\/Snapshot 2/);
      assert.match((await opened()).getText(), /^group administrators \(id /);
      given.choices.push(/12 groups/, /Compare with Current Access/);
      await call(commands.manageSnapshots);
      assert.match(given.told.at(-1) ?? '', /^No changes since \d[^(]*\.$/);
      assert.deepEqual(given.errors, []);
    });

    it('are bounded: the oldest go first', async () => {
      await tree().serviceOf('administrator', 'meridian', 'empty-nest');
      const session = tree().data.requireSession();
      const empty = (organization: string, account: string) => {
        return {
          format: 'rolecall.review' as const,
          version: 1 as const,
          organization,
          service: 's',
          account,
          gaps: [],
          groups: [],
          roles: [],
        };
      };
      let now = Date.UTC(2026, 0, 1);
      const clocked = new SnapshotStore(vscode.Uri.file(folder), () => now);
      await clocked.save(session, empty('another', 'kept'));
      for (let count = 0; count < MAX_SNAPSHOTS + 3; count += 1) {
        now += 60_000;
        await clocked.save(session, empty('meridian', `a${count}`));
      }
      const kept = await clocked.list(session, 'meridian');
      assert.deepEqual(
        kept.map(({ head }) => head.account),
        Array.from({ length: MAX_SNAPSHOTS }, (_, index) => `a${MAX_SNAPSHOTS + 2 - index}`),
      );
      assert.equal((await clocked.list(session)).length, MAX_SNAPSHOTS + 1);
      const files = await fs.readdir(folder, { recursive: true });
      assert.equal(files.filter((name) => name.endsWith('.json')).length, 2 * (MAX_SNAPSHOTS + 1));
    });

    it('that are gone or broken are told as that', async () => {
      await tree().serviceOf('administrator', 'meridian');
      await call(commands.saveSnapshot);
      const [file] = (await fs.readdir(folder, { recursive: true })).filter((name) => name.endsWith('.review.json'));
      await fs.writeFile(path.join(folder, file ?? ''), '{"format":"rolecall.review","version":2}');
      given.choices.push(/12 groups/);
      await call(commands.compareSnapshot);
      assert.match(given.errors[0] ?? '', /missing or cannot be read/);
    });

    it('of a partial reading are not kept without a word', async () => {
      await tree().serviceOf('administrator', 'meridian');
      await loseRoles();
      await call(commands.saveSnapshot);
      assert.match(given.told[0] ?? '', /Some of the data could not be read/);
      assert.deepEqual(await store.list(tree().data.requireSession()), []);
    });
  });
});
