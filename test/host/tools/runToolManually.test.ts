// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { isCancelled } from '../../../src/core/base/errors.ts';
import { ToolLenses } from '../../../src/host/tools/register.ts';
import { runToolManually } from '../../../src/host/tools/runToolManually.ts';
import { ToolConsent } from '../../../src/host/tools/toolConsent.ts';
import { ToolFiles } from '../../../src/host/tools/toolFiles.ts';
import { WorkspaceTools } from '../../../src/host/tools/workspaceTools.ts';
import { commands, TOOL_FILE } from '../../../src/ids.ts';
import { notContaining } from '../support/containment.ts';
import { FakeLog, FakeMemento } from '../support/fakes.ts';
import { usePatches } from '../support/patches.ts';
import { until } from '../support/wait.ts';
import { folder, workspaceFile } from '../support/workspace.ts';

const text = JSON.stringify(
  {
    tools: [
      {
        name: 'say',
        description: 'Says it.',
        parameters: {
          type: 'object',
          properties: {
            what: { type: 'string', description: 'What to say.', minLength: 2 },
            times: { type: 'integer', description: 'How often.', maximum: 3 },
            loud: { type: 'boolean', description: 'Loudly.' },
            tone: { enum: ['kind', 'plain'], description: 'How.' },
          },
          required: ['what', 'tone'],
        },
        run: { kind: 'process', command: ['echo', '--', '${what}', '${times}', '${loud}', '${tone}'] },
      },
      { name: 'now', description: 'Time.', run: { kind: 'process', command: ['echo', 'now'] } },
      { name: 'wrong', description: 'Is not offered.', run: { kind: 'nothing' } },
    ],
  },
  undefined,
  2,
);

describe('a workspace tool that is run by hand', () => {
  const patches = usePatches();
  const file = workspaceFile(TOOL_FILE);
  let files: ToolFiles;
  let shown: string;
  let consents: (string | undefined)[];
  let typed: (string | undefined)[];
  let picked: (string | undefined)[];
  let boxes: vscode.InputBoxOptions[];
  let picks: { labels: string[]; title: string | undefined }[];
  const deps = () => ({
    files,
    tools: new WorkspaceTools({
      files,
      consent: new ToolConsent(new FakeMemento()),
      settings: { allowedToolHosts: () => [] },
      containment: async () => notContaining,
      fetch,
      log: new FakeLog(),
    }),
    output: () =>
      ({
        appendLine: (line: string) => {
          shown += line;
        },
        show: () => {},
      }) as unknown as vscode.OutputChannel,
  });

  beforeEach(async () => {
    files = new ToolFiles(new FakeLog());
    shown = '';
    [consents, typed, picked, boxes, picks] = [['Allow Once'], [], [], [], []];
    patches.set(vscode.window, 'showWarningMessage', async () => consents.shift());
    patches.set(vscode.window, 'showInputBox', async (options: vscode.InputBoxOptions) => {
      boxes.push(options);
      return typed.shift();
    });
    patches.set(
      vscode.window,
      'showQuickPick',
      async (items: { label: string }[], options: vscode.QuickPickOptions) => {
        picks.push({ labels: items.map(({ label }) => label), title: options.title });
        const label = picked.shift();
        return items.find((item) => item.label === label);
      },
    );
    await file.write(text);
  });
  afterEach(() => files.dispose());

  it('is said to run when it was allowed, not while the user is asked', async () => {
    const events: string[] = [];
    const progress = vscode.window.withProgress;
    patches.set(vscode.window, 'withProgress', (options: vscode.ProgressOptions, ...task: [never]) => {
      events.push(String(options.title));
      return progress(options, ...task);
    });
    patches.set(vscode.window, 'showWarningMessage', async () => {
      events.push('asked');
      return consents.shift();
    });
    await runToolManually(deps(), file.uri(), 'now');
    assert.deepEqual(events, ['asked', 'Running now…']);
    await assert.rejects(runToolManually(deps(), file.uri(), 'now'), isCancelled);
    assert.deepEqual(events, ['asked', 'Running now…', 'asked']);
  });

  it('has a link above it, and one that is not offered has none', async () => {
    const document = await vscode.workspace.openTextDocument(file.uri());
    await until('the editor has read the file', () => document.getText() === text);
    const lenses = await new ToolLenses().provideCodeLenses(document);
    assert.deepEqual(
      lenses.map(({ command, range }) => [command?.command, command?.arguments?.[1], range.start.line]),
      [
        [commands.runWorkspaceTool, 'say', 2],
        [commands.runWorkspaceTool, 'now', text.slice(0, text.indexOf('"now"')).split('\n').length - 2],
      ],
    );
    const fromEditor = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      file.uri(),
      9,
    );
    assert.equal(fromEditor.filter(({ command }) => command?.command === commands.runWorkspaceTool).length, 2);
    patches.set(vscode.workspace, 'isTrusted', false);
    assert.deepEqual(await new ToolLenses().provideCodeLenses(document), []);
  });

  it('is asked for its arguments by their types, runs after a yes and shows the result', async () => {
    typed = ['a b', '2'];
    picked = ['true', 'kind'];
    await runToolManually(deps(), file.uri(), 'say');
    assert.match(shown, /a b 2 true kind/);
    assert.deepEqual(
      picks.map(({ labels }) => labels),
      [
        ['true', 'false', '(omit)'],
        ['kind', 'plain'],
      ],
    );
    assert.deepEqual([boxes[0]?.title, boxes[0]?.prompt], ['say: what (1 of 4)', 'What to say.']);
    const validate = (at: number, value: string) => boxes[at]?.validateInput?.(value);
    assert.equal(validate(0, 'ab'), undefined);
    assert.match(String(validate(0, 'a')), /what must NOT have fewer than 2 characters/);
    assert.match(String(validate(1, 'x')), /valid JSON/);
    assert.match(String(validate(1, '4')), /times must be <= 3/);
    assert.equal(validate(1, ''), undefined);
  });

  it('leaves out what is left out', async () => {
    typed = ['ab', ''];
    picked = ['(omit)', 'plain'];
    await runToolManually(deps(), file.uri(), 'say');
    assert.match(shown, /^say \{"what":"ab","tone":"plain"\}\nResult of tool say of \w+:\n-- ab plain\n/);
  });

  it('does not run when the user leaves, refuses, or says what does not fit', async () => {
    await assert.rejects(runToolManually(deps(), file.uri(), 'say'), isCancelled);
    consents = [undefined];
    await assert.rejects(runToolManually(deps(), file.uri(), 'now'), isCancelled);
    typed = ['ab', '9'];
    picked = ['(omit)', 'plain'];
    await assert.rejects(runToolManually(deps(), file.uri(), 'say'), /times must be <= 3/);
    await assert.rejects(runToolManually(deps(), file.uri(), 'gone'), /no longer in this file/);
    assert.equal(shown, '');
  });

  it('is chosen from all folders when nobody says which; an earlier folder’s name does not hide it', async () => {
    const second = { uri: vscode.Uri.joinPath(folder().uri, 'second'), name: 'second', index: 1 };
    const other = vscode.Uri.joinPath(second.uri, TOOL_FILE);
    const run = { kind: 'process', command: ['echo', 'the second'] };
    const also = JSON.stringify({ tools: [{ name: 'now', description: 'Also.', run }] });
    await vscode.workspace.fs.writeFile(other, new TextEncoder().encode(also));
    try {
      patches.set(vscode.workspace, 'workspaceFolders', [folder(), second]);
      picked = ['now'];
      await runToolManually(deps(), undefined, undefined);
      assert.deepEqual(picks[0]?.labels, ['say', 'now', 'now']);
      assert.match(shown, /\nnow\n/);
      consents = ['Allow Once'];
      await runToolManually(deps(), other, 'now');
      assert.match(shown, /now of second:.*\nthe second/);
    } finally {
      await vscode.workspace.fs.delete(second.uri, { recursive: true });
    }
  });

  it('is run as it stands in the editor: what is unsaved is saved first', async () => {
    // Another text than that of the test before, which the editor may hold: what it reads while it is edited undoes the edit.
    await file.write(`${text}\n`);
    const document = await vscode.workspace.openTextDocument(file.uri());
    await until('the editor has read the file', () => document.getText() === `${text}\n`);
    const edit = new vscode.WorkspaceEdit();
    const at = document.positionAt(text.indexOf('"now"', text.indexOf('"command"', text.indexOf('"now"'))) + 1);
    edit.insert(file.uri(), at, 'just ');
    await vscode.workspace.applyEdit(edit);
    await runToolManually(deps(), file.uri(), 'now');
    assert.match(shown, /\njust now\n/);
    assert.equal(document.isDirty, false);
  });
});
