import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { Reviews } from '../../../src/host/rules/reviews.ts';
import { ruleCommands } from '../../../src/host/rules/ruleCommands.ts';
import type { RulesDeps } from '../../../src/host/rules/rules.ts';
import { commands } from '../../../src/ids.ts';
import { FakeLog } from '../support/fakes.ts';
import { usePatches } from '../support/patches.ts';
import { until } from '../support/wait.ts';
import { folder, workspaceFile } from '../support/workspace.ts';
import { FakeAccess, MERIDIAN, ROLES, shownProblems } from './scene.ts';

const today = new Date().toISOString().slice(0, 10);
/** An earlier review, with one decision. */
const taken =
  'format: rolecall.campaign\nversion: 1\norganization: m\nitems:\n\n  - group: g-2\n    who: subject sub-ada|https://id\n    gives: [r-2]\n    decision: keep\n    by: ines@m.example\n    date: 2020-01-01\n';

describe('reviews with decisions', () => {
  const patches = usePatches();
  const review = workspaceFile(`m.${today}.review.yaml`);
  const earlier = workspaceFile('m.2020-01-01.review.yaml');
  let access: FakeAccess;
  let reviews: Reviews;
  let shown: Map<string, readonly vscode.Diagnostic[]>;
  let said: string[];

  beforeEach(() => {
    shown = shownProblems(patches);
    said = [];
    patches.set(vscode.window, 'showInformationMessage', async (message: string) => void said.push(message));
    access = new FakeAccess();
    reviews = new Reviews({ data: access.data } as RulesDeps, new FakeLog());
    access.arrive();
  });
  afterEach(async () => {
    reviews.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  const run = (command: keyof Reviews['commands'], ...args: unknown[]) =>
    (reviews.commands[command] as (...args: unknown[]) => Promise<void>)(...args);
  const document = () => vscode.workspace.openTextDocument(review.uri());
  const titles = async () => reviews.provideCodeLenses(await document()).map(({ command }) => command?.title);
  /** Presses a link above a membership. */
  const press = async (title: string, at: number) => {
    const lenses = reviews.provideCodeLenses(await document()).filter(({ command }) => command?.title === title);
    const { command } = lenses[at] ?? assert.fail(`no ${title}`);
    await run(command?.command as typeof commands.decideAccess, ...(command?.arguments ?? []));
  };

  it('begin with every membership, and go from one undecided to the next', async () => {
    await run(commands.startReview, undefined);
    assert.deepEqual((await titles()).slice(0, 7), [
      '0 of 3 decided',
      'Next Undecided Membership',
      'Undecided',
      'Keep',
      'Revoke…',
      'Ask…',
      'ada@m.example in ops: admin',
    ]);
    const editor = vscode.window.activeTextEditor;
    assert.equal(editor?.document.uri.toString(), review.uri().toString());
    await press('Keep', 0);
    await run(commands.nextUndecided, review.uri());
    const line = editor.document.lineAt(editor.selection.active.line + 1).text;
    assert.match(line, /who: subject sub-ben/);
    await (await document()).save();
  });

  it('keep what was decided, with note, reviewer and day, and show what is revoked and still there', async () => {
    await run(commands.startReview, undefined);
    patches.set(vscode.window, 'showInputBox', async () => 'Left');
    await press('Revoke…', 1);
    const text = (await document()).getText();
    assert.match(text, new RegExp(`decision: revoke\\n {4}by: .*\\n {4}date: ${today}\\n {4}note: Left`));
    const after = await titles();
    assert.equal(after[0], '1 of 3 decided');
    const line = after.indexOf(`To be revoked: decided by ines@m.example on ${today}`);
    assert.deepEqual(after.slice(line + 1, line + 5), [
      'Keep',
      'Ask…',
      'Clear Decision',
      'ben@m.example in ops: admin',
    ]);
    await (await document()).save();
    await reviews.check();
    const [problem] = shown.get(review.uri().toString()) ?? [];
    assert.equal(problem?.message, 'ben@m.example is still in ops, although this membership was revoked.');
    access.arrive(
      [{ ...MERIDIAN[0], spec: { ...MERIDIAN[0].spec, subjects: [MERIDIAN[0].spec.subjects[0]] } }, MERIDIAN[1]],
      ROLES,
    );
    await until('the problem is gone', () => shown.get(review.uri().toString())?.length === 0);
  });

  it('take a decision back', async () => {
    await run(commands.startReview, undefined);
    const before = (await document()).getText();
    await press('Keep', 0);
    assert.notEqual((await document()).getText(), before);
    await press('Clear Decision', 0);
    assert.equal((await document()).getText(), before);
  });

  it('tell the views how far the newest one is, and nothing once there is none', async () => {
    const announced: string[] = [];
    const subscription = access.data.onDidChange(({ kind }) => announced.push(kind));
    const progress = () => access.current?.model.review;
    await earlier.write(taken);
    await run(commands.startReview, undefined);
    await press('Keep', 0);
    await (await document()).save();
    await until('the progress is known', () => progress()?.decided === 2);
    assert.deepEqual([progress()?.name, progress()?.all], [`m.${today}.review.yaml`, 3]);
    const changes = announced.length;
    await reviews.check();
    assert.equal(announced.length, changes, 'nothing has changed');
    await run(commands.nextUndecided, { target: { kind: 'organization', organization: 'm', connection: 'c' } });
    assert.equal(vscode.window.activeTextEditor?.document.uri.toString(), review.uri().toString());
    await review.remove();
    await earlier.remove();
    await until('there is none', () => progress() === undefined);
    subscription.dispose();
  });

  it('are checked though one of them cannot be read, which is a problem of its own', async () => {
    await earlier.write(taken.replace('    gives: [r-2]\n', ''));
    const broken = vscode.Uri.joinPath(folder().uri, 'm.2019-01-01.review.yaml');
    const read = vscode.workspace.fs.readFile;
    patches.set(vscode.workspace, 'fs', {
      ...vscode.workspace.fs,
      readFile: async (uri: vscode.Uri) => {
        if (uri.path === broken.path) throw vscode.FileSystemError.NoPermissions(uri);
        return read(uri);
      },
    });
    patches.set(vscode.workspace, 'findFiles', async () => [broken, earlier.uri()]);
    await reviews.check();
    assert.match(shown.get(broken.toString())?.[0]?.message ?? '', /^This file cannot be read: /);
    assert.equal(shown.get(earlier.uri().toString())?.[0]?.code, 'incomplete-decision');
  });

  it('decide nothing where the question is cancelled', async () => {
    await run(commands.startReview, undefined);
    const before = (await document()).getText();
    patches.set(vscode.window, 'showInputBox', async () => undefined);
    await assert.rejects(press('Ask…', 0), { kind: 'cancelled' });
    assert.equal((await document()).getText(), before);
  });

  it('keep what is typed while the question is open', async () => {
    await run(commands.startReview, undefined);
    patches.set(vscode.window, 'showInputBox', async () => {
      const edit = new vscode.WorkspaceEdit();
      edit.insert(review.uri(), new vscode.Position(0, 0), '# Typed meanwhile\n');
      await vscode.workspace.applyEdit(edit);
      return 'Left';
    });
    await press('Revoke…', 0);
    const text = (await document()).getText();
    assert.match(text, /^# Typed meanwhile\nformat:/);
    assert.match(text, /note: Left/);
  });

  it('take over the decisions of an earlier one', async () => {
    await earlier.write(taken);
    await run(commands.startReview, undefined);
    const now = await titles();
    assert.equal(now[0], '1 of 3 decided (1 in an earlier review)');
    assert.ok(now.includes('Kept by ines@m.example on 2020-01-01, in an earlier review'));
    assert.deepEqual(said, ['Decisions carried over from m.2020-01-01.review.yaml: 1. Memberships to decide: 2.']);
  });
});

describe('the access graph', () => {
  it('is shown in the preview of Markdown', async () => {
    const access = new FakeAccess();
    access.arrive();
    const shown: unknown[] = [];
    const documents = { put: (_read: unknown, name: string, text: string) => ({ name, text }) };
    const deps = { data: access.data, documents } as unknown as Parameters<typeof ruleCommands>[0];
    const execute = vscode.commands.executeCommand;
    Object.assign(vscode.commands, { executeCommand: async (...args: unknown[]) => void shown.push(args) });
    try {
      const target = { kind: 'role', key: 'r-2', organization: 'm', connection: 'c' };
      await ruleCommands(deps)[commands.showAccessGraph]({ target });
    } finally {
      Object.assign(vscode.commands, { executeCommand: execute });
    }
    const [[command, { name, text }]] = shown as [[string, { name: string; text: string }]];
    assert.deepEqual([command, name], ['markdown.showPreview', 'Access graph of auditor.md']);
    assert.match(text, /```mermaid\nflowchart LR\n {2}n0\{\{"auditor"\}\}\n/);
  });
});
