import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { cancelled, isCancelled } from '../../src/core/base/errors.ts';
import type { ToolRegistryOptions } from '../../src/host/conversation.ts';
import type { Answers } from '../../src/host/editor/answer.ts';
import { askCommands } from '../../src/host/editor/askAboutSelection.ts';
import { type Repository, writeMessage } from '../../src/host/editor/commitMessage.ts';
import { Rewrites } from '../../src/host/editor/rewrite.ts';
import { commands } from '../../src/ids.ts';
import { usePanels } from './support/pages.ts';
import { usePatches } from './support/patches.ts';
import { offeredModel, servicesOfTheSandbox, signInRunning, signOutRunning } from './support/running.ts';
import { signInAs, useScene } from './support/scene.ts';
import { until } from './support/wait.ts';
import { userSettings, workspaceFile } from './support/workspace.ts';

describe('the commands of an editor', () => {
  const patches = usePatches();
  const panels = usePanels(patches);
  const user = userSettings({ keep: true });
  // Before the file is taken away: what is unsaved then stays in the editor, and is found by the next test.
  afterEach(async () => {
    const unsaved = vscode.workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && uri.scheme === 'file');
    for (const document of unsaved) {
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand('workbench.action.files.revert');
    }
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });
  const file = workspaceFile('rewritten.txt');
  let errors: string[];

  before(async () => {
    await user.write(servicesOfTheSandbox);
    await signInRunning('administrator');
    await offeredModel('sandbox/guide');
  });
  after(async () => {
    await signOutRunning();
    await user.clear();
  });
  beforeEach(() => {
    errors = [];
    patches.set(vscode.window, 'showErrorMessage', async (message: string) => void errors.push(message));
  });

  async function select(text: string, from: [number, number], to: [number, number]): Promise<vscode.TextDocument> {
    await file.write(text);
    const editor = await vscode.window.showTextDocument(file.uri());
    await until('the file as it was written', () => editor.document.getText() === text);
    editor.selection = new vscode.Selection(...from, ...to);
    return editor.document;
  }
  const answers = () => panels.map(({ text }) => text);
  const diff = () =>
    vscode.window.tabGroups.all
      .flatMap(({ tabs }) => tabs)
      .map(({ input }) => input)
      .find((input) => input instanceof vscode.TabInputTextDiff);

  it('explain a selection, in a page beside', async () => {
    await select('one\ntwo\nthree\n', [1, 0], [2, 0]);
    await vscode.commands.executeCommand(commands.explainSelection);
    await until('the answer', () => answers().find((each) => /rewritten\.txt \(2\)/.test(each)));
    await until('its last line', () => answers().some((each) => /input, .* output tokens · \d+\.\d s$/.test(each)));
    assert.deepEqual(errors, []);
  });

  it('say where @rolecall is, when chat is switched off', async () => {
    await user.writeElsewhere('chat.disableAIFeatures', true);
    try {
      await select('one\n', [0, 0], [0, 3]);
      await vscode.commands.executeCommand(commands.explainSelection);
      await until('the line', () =>
        answers().some((each) => /Chat is turned off in this editor \(chat\.disableAIFeatures\)/.test(each)),
      );
      assert.deepEqual(errors, []);
    } finally {
      await user.writeElsewhere('chat.disableAIFeatures', undefined);
    }
  });

  it('explain a problem, which the lightbulb offers only where there is one', async () => {
    const document = await select('one\ntwo\n', [0, 0], [0, 0]);
    const reported = vscode.languages.createDiagnosticCollection('test');
    reported.set(document.uri, [new vscode.Diagnostic(new vscode.Range(1, 0, 1, 3), 'two is wrong')]);
    const offered = async (line: number) => {
      const range = new vscode.Range(line, 0, line, 1);
      const run = 'vscode.executeCodeActionProvider';
      const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(run, document.uri, range);
      return actions.map(({ command }) => command).filter((command) => command?.command === commands.explainProblem);
    };
    try {
      assert.deepEqual(await offered(0), []);
      const [action] = await offered(1);
      assert.ok(action);
      await vscode.commands.executeCommand(action.command, ...(action.arguments ?? []));
      await until('the answer', () => answers().some((each) => /^two is wrong/.test(each)));
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand(commands.explainProblem);
      assert.match(errors[0] ?? '', /no problem at the cursor/);
    } finally {
      reported.dispose();
    }
  });

  describe('rewrite a selection', () => {
    const text = 'keep\nbeta\nalpha\nkeep too\n';

    async function rewrite(
      choice: 'Apply' | 'Discard' | undefined,
      wish = 'sort the lines',
    ): Promise<vscode.TextDocument> {
      const document = await select(text, [1, 0], [3, 0]);
      patches.set(vscode.window, 'showInputBox', async () => wish);
      patches.set(vscode.window, 'showInformationMessage', async () => choice);
      await vscode.commands.executeCommand(commands.rewriteSelection);
      return document;
    }

    it('with a difference, applied as one step of undo, and not saved', async () => {
      const document = await rewrite('Apply');
      assert.deepEqual(errors, []);
      assert.equal(document.getText(), 'keep\nalpha\nbeta\nkeep too\n');
      assert.equal(document.isDirty, true);
      assert.equal(diff(), undefined);
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand('undo');
      assert.equal(document.getText(), text);
    });

    it('and leave it as it was when the rewrite is discarded', async () => {
      const document = await rewrite('Discard');
      assert.equal(document.getText(), text);
      assert.equal(document.isDirty, false);
      await until('the difference is closed', () => diff() === undefined);
    });

    it('later too, from the difference, which shows the whole file', async () => {
      const document = await rewrite(undefined);
      const input = diff() ?? assert.fail('no difference is shown');
      const proposed = await vscode.workspace.openTextDocument(input.modified);
      await until('the rewrite', () => proposed.getText() === 'keep\nalpha\nbeta\nkeep too\n');
      assert.equal(document.getText(), text);
      await vscode.commands.executeCommand(commands.applyRewrite, input.modified);
      assert.equal(document.getText(), 'keep\nalpha\nbeta\nkeep too\n');
    });

    it('but not one that was discarded before the notification was answered', async () => {
      const document = await select(text, [1, 0], [3, 0]);
      patches.set(vscode.window, 'showInputBox', async () => 'sort the lines');
      patches.set(vscode.window, 'showInformationMessage', async () => {
        await vscode.commands.executeCommand(commands.discardRewrite, diff()?.modified);
        return 'Apply';
      });
      await vscode.commands.executeCommand(commands.rewriteSelection);
      assert.match(errors[0] ?? '', /was discarded, so it was not applied/);
      assert.equal(document.getText(), text);
    });

    it('but not a file that was changed meanwhile', async () => {
      const document = await rewrite(undefined);
      const input = diff() ?? assert.fail('no difference is shown');
      const edit = new vscode.WorkspaceEdit();
      edit.insert(document.uri, new vscode.Position(0, 0), 'new\n');
      await vscode.workspace.applyEdit(edit);
      await vscode.commands.executeCommand(commands.applyRewrite, input.modified);
      assert.match(errors[0] ?? '', /changed since you requested the rewrite/);
      assert.equal(document.getText(), `new\n${text}`);
    });

    it('but not with half an answer, or none', async () => {
      const document = await rewrite('Apply', 'say nothing');
      assert.match(errors[0] ?? '', /no rewrite to apply/);
      assert.equal(document.getText(), text);
      assert.equal(diff(), undefined);
    });

    it('nor more than can be sent in one piece', async () => {
      await select('x'.repeat(60_001), [0, 0], [0, 0]);
      await vscode.commands.executeCommand(commands.rewriteSelection);
      assert.match(errors[0] ?? '', /rewritten\.txt is too long to rewrite at once/);
      assert.equal(diff(), undefined);
    });

    it('until another account is there, or none', async () => {
      const document = await rewrite(undefined);
      await until('the difference', diff);
      await signOutRunning();
      try {
        await until('the difference is closed', () => diff() === undefined);
        assert.equal(document.getText(), text);
      } finally {
        await signInRunning('administrator');
        await offeredModel('sandbox/guide');
      }
    });

    it('only where there is one to decide about', async () => {
      await select(text, [0, 0], [0, 0]);
      await vscode.commands.executeCommand(commands.applyRewrite);
      assert.match(errors[0] ?? '', /no rewrite here/);
    });
  });
});

describe('a commit message', () => {
  const scene = useScene();

  async function write(value: string, diff: string, meanwhile?: string): Promise<{ box: string; sent: string }> {
    let sent = '';
    const inputBox = { value };
    scene().network = (address, init) => {
      if (String(address).endsWith('completions')) {
        sent = JSON.parse(String(init?.body)).messages[0].content;
        if (meanwhile !== undefined) inputBox.value = meanwhile;
      }
      return fetch(address, init);
    };
    await signInAs(await scene().startService(), 'administrator');
    const { clouds } = scene();
    const openTools = async () => assert.fail('no tool is needed');
    const deps = { ...scene().request(), clouds, catalog: scene().catalog(), openTools };
    const repository: Repository = {
      rootUri: vscode.Uri.file('/r'),
      inputBox,
      ui: { selected: true },
      diff: async () => diff,
    };
    await writeMessage(deps, repository, diff);
    return { box: inputBox.value, sent };
  }

  it('is written into the box, from the change alone', async () => {
    const { box, sent } = await write('', 'diff --git a/x b/x\n+one');
    assert.match(sent, /```diff\ndiff --git a\/x b\/x\n\+one\n```/);
    assert.doesNotMatch(sent, /written so far/);
    assert.ok(box.trim().length > 0);
  });

  it('builds on what its author wrote, and keeps what is typed meanwhile', async () => {
    assert.match((await write('Fix the', 'x')).sent, /written so far:\n```\nFix the\n```/);
    assert.match((await write('', 'x', 'typed')).box, /\n\ntyped$/);
  });
});

describe('a question about the text of an editor', () => {
  const scene = useScene();
  const patches = usePatches();

  it('is asked with the workspace’s tools, never with those that tell who has access', async () => {
    const opened: ToolRegistryOptions[] = [];
    const openTools = async (opening: ToolRegistryOptions = {}) => {
      opened.push(opening);
      throw cancelled();
    };
    await signInAs(await scene().startService(), 'administrator');
    const { clouds } = scene();
    const deps = { ...scene().request(), clouds, catalog: scene().catalog(), openTools };
    const answers = { open: async () => ({ write: () => {}, end: () => {}, closed: new AbortController().signal }) };
    const rewrites = scene().own(new Rewrites(deps));
    patches.set(vscode.window, 'showInputBox', async () => 'sort the lines');
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: 'one\n' }));
    const ask = askCommands({ ...deps, answers: answers as unknown as Answers });
    for (const run of [ask[commands.askAboutSelection], rewrites.commands[commands.rewriteSelection]]) {
      await assert.rejects(run(), isCancelled);
    }
    assert.deepEqual(
      opened.map(({ access = new Set() }) => [...access]),
      [[], []],
    );
  });
});
