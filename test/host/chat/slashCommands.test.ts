import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { questionOf } from '../../../src/host/chat/composeRequest.ts';
import { ToolConsent } from '../../../src/host/tools/toolConsent.ts';
import { ToolFiles } from '../../../src/host/tools/toolFiles.ts';
import { WorkspaceTools } from '../../../src/host/tools/workspaceTools.ts';
import { commands } from '../../../src/ids.ts';
import { chatRequest, requestTurn, responseTurn } from '../support/chat.ts';
import { notContaining } from '../support/containment.ts';
import { FakeLog, FakeMemento } from '../support/fakes.ts';
import { usePanels } from '../support/pages.ts';
import { useChat } from '../support/participant.ts';
import { usePatches } from '../support/patches.ts';
import { useScene } from '../support/scene.ts';
import { until } from '../support/wait.ts';
import { workspaceFile } from '../support/workspace.ts';

describe('slash commands of @rolecall', () => {
  const scene = useScene();
  const chat = useChat(scene);
  const patches = usePatches();
  const panels = usePanels(patches);
  const file = workspaceFile('looked.py');
  const other = workspaceFile('other.py');
  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  async function open(...selected: [number, number, number, number] | []) {
    await file.write('one\ntwo\nthree\n');
    const editor = await vscode.window.showTextDocument(file.uri());
    const [fromLine = 0, from = 0, toLine = 0, to = 0] = selected;
    editor.selection = new vscode.Selection(fromLine, from, toLine, to);
    return editor;
  }

  for (const [command, wish] of [
    ['explain', /^Explain this/],
    ['fix', /^Find what is wrong/],
    ['tests', /^Write tests/],
  ] as const) {
    it(`/${command} is about the selection, and what was typed`, async () => {
      await open(1, 0, 2, 0);
      const { text: question } = await questionOf({ command, prompt: 'In German.', references: [] });
      assert.match(question, wish);
      assert.match(question, /\n\nIn German\.\n\nlooked\.py \(2\):\n```\w+\ntwo\n\n```$/);
    });
  }

  it('are about the whole file where nothing is selected, and about what is attached instead of either', async () => {
    await open();
    const { text: whole, passage } = await questionOf({ command: 'explain', prompt: '', references: [] });
    assert.match(whole, /looked\.py:\n```\w+\none\ntwo\nthree\n\n```$/);
    const { text: attached, ...rest } = await questionOf({
      command: 'explain',
      prompt: '',
      references: [{ id: 'r', value: 'words' }],
    });
    assert.equal(passage?.title, 'looked.py');
    assert.match(attached, /words/);
    assert.deepEqual(rest, { cut: [] });
    assert.doesNotMatch(attached, /looked\.py/);
  });

  it('are about the file, too, where VS Code has attached its index of skills and agents, which is not sent', async () => {
    await open();
    const index = { id: 'vscode.customizations.index', value: '<skills>/home/ada', modelDescription: 'Index' };
    const { text, passage } = await questionOf({ command: 'explain', prompt: '', references: [index] });
    assert.equal(passage?.title, 'looked.py');
    assert.doesNotMatch(text, /skills|Index/);
    assert.equal((await questionOf({ command: undefined, prompt: 'Hi.', references: [index] })).text, 'Hi.');
  });

  it('/fix tells what the editor reports there', async () => {
    const editor = await open(1, 0, 1, 3);
    const reported = vscode.languages.createDiagnosticCollection('test');
    const problem = (line: number, text: string) => new vscode.Diagnostic(new vscode.Range(line, 0, line, 2), text);
    reported.set(editor.document.uri, [problem(0, 'elsewhere'), problem(1, 'two is\nwrong')]);
    try {
      const { text: question } = await questionOf({ command: 'fix', prompt: '', references: [] });
      assert.match(question, /The editor reports:\n- \(2\) two is wrong$/);
    } finally {
      reported.dispose();
    }
  });

  it('say what to do where there is no code', async () => {
    await chat().signedIn();
    await chat().ask(chatRequest('', { command: 'explain' }));
    assert.match(chat().stream.text, /Open a file, or attach one/);
    assert.deepEqual(
      scene().asked.filter((address) => address.endsWith('completions')),
      [],
    );
  });

  it('are answered, and sent again as they were', async () => {
    await open(1, 0, 1, 3);
    await chat().signedIn();
    const { metadata } = await chat().ask(chatRequest('', { command: 'explain' }));
    assert.match(String(metadata?.question), /looked\.py \(2\)/);
    assert.equal(chat().sent().messages[0]?.content, metadata?.question);
    assert.equal(metadata?.followUp, 'explain');
  });

  it('suggested by an answer are about its code, whatever is open by now', async () => {
    await open(1, 0, 1, 3);
    await chat().signedIn();
    const { metadata } = await chat().ask(chatRequest('', { command: 'explain' }));
    await other.write('something else');
    await vscode.window.showTextDocument(other.uri());
    const answered = [requestTurn(vscode, ''), responseTurn(vscode, [], metadata)];
    const suggested = chatRequest('Look for mistakes in it', { command: 'fix' });
    await chat().ask(suggested, answered);
    assert.match(String(chat().sent().messages[0]?.content), /looked\.py \(2\)/);
    assert.match(String(chat().sent().messages.at(-1)?.content), /^Find what is wrong.*\n\nLook for mistakes in it$/);
    await chat().ask(chatRequest('Look for typos', { command: 'fix' }), answered);
    assert.match(String(chat().sent().messages.at(-1)?.content), /something else/);
  });

  it('name the passage they are about among the references, as what is attached', async () => {
    const { document } = await open(1, 0, 1, 3);
    await chat().signedIn();
    await chat().ask(chatRequest('', { command: 'explain' }));
    const passage = new vscode.Location(document.uri, new vscode.Range(1, 0, 1, 3));
    assert.deepEqual(chat().stream.references, [passage]);
  });

  it('/access instructs the model first, and leaves the question as it is', async () => {
    await chat().signedIn();
    chat().briefing = { instructions: 'Use the tools.', notice: 'Some of it cannot be read.' };
    await chat().ask(chatRequest('say: hello', { command: 'access' }));
    assert.deepEqual(chat().sent().messages, [
      { role: 'system', content: 'Use the tools.' },
      { role: 'user', content: 'say: hello' },
    ]);
    assert.match(chat().read(), /Some of it cannot be read\./);
    scene().settings.described = [{ id: 'sandbox/guide', tools: false }];
    await chat().ask(chatRequest('say: hello', { command: 'access' }));
    assert.deepEqual(chat().briefed, [true, false]);
  });

  it('/tools lists what is defined, without asking anybody, and nothing in it is markup', async () => {
    const described = { name: 'f', description: 'Does *things* [x](command:y).', parameters: { type: 'object' } };
    chat().toolRegistry = {
      tools: [{ name: 'f', definition: { type: 'function', function: described }, check: () => [] }],
      reach: async (name) => `Reads *${name}*.`,
      invoke: async () => assert.fail(),
    };
    const { metadata } = await chat().ask(chatRequest('', { command: 'tools' }));
    assert.match(chat().stream.text, /^- `f`: Does.*\\\n {2}\*Reads \\\*f\\\*\.\*\n/);
    assert.doesNotMatch(chat().stream.text, /(?<!\\)\[x\]/);
    assert.equal(metadata?.isLocal, true);
    assert.deepEqual(scene().asked, []);
  });

  it('/tools says that there are none, and that nothing is read without trust', async () => {
    await chat().ask(chatRequest('', { command: 'tools' }));
    assert.match(chat().read(), /defines no tools/);
    patches.set(vscode.workspace, 'isTrusted', false);
    await chat().ask(chatRequest('', { command: 'tools' }));
    assert.match(chat().read(), /Restricted Mode: .* run "Manage Workspace Trust"/);
    await chat().ask(chatRequest('', { command: 'tools' }));
    assert.deepEqual(chat().steps(), ['workbench.trust.manage', 'workbench.trust.manage']);
  });

  describe('with a tool file that has mistakes', () => {
    const tools = workspaceFile('.vscode/rolecall.tools.json');

    let editorsOwn: vscode.DiagnosticCollection;
    let files: ToolFiles;
    beforeEach(() => {
      // As the editor's JSON support says it while the file is open; Problems shows one slip once.
      editorsOwn = vscode.languages.createDiagnosticCollection('json');
      files = new ToolFiles(new FakeLog());
    });
    afterEach(() => {
      editorsOwn.dispose();
      files.dispose();
    });

    const write = async (text: string) => {
      await tools.write(text);
      const said = new vscode.Diagnostic(new vscode.Range(0, 0, 0, text.length), 'Incorrect type.');
      said.source = 'jsonc';
      editorsOwn.set(tools.uri(), [said]);
      const settings = { allowedToolHosts: () => [], maxToolRounds: () => 10 };
      const consent = new ToolConsent(new FakeMemento());
      const containment = async () => notContaining;
      const deps = { files, consent, settings, fetch, containment, log: new FakeLog() };
      chat().toolRegistry = await new WorkspaceTools(deps).open();
    };

    it('/tools says that programs are not contained here, and what mends it', async () => {
      await chat().signedIn();
      await write(
        '{ "tools": [{ "name": "a", "description": "d", "run": { "kind": "process", "command": ["ls"] } }] }',
      );
      await chat().ask(chatRequest('', { command: 'tools' }));
      assert.match(chat().read(), /Not contained: it can read, change and send anything you can\./);
      assert.match(
        chat().read(),
        /Programs cannot be contained here: bubblewrap is not installed.*sudo apt install bubblewrap/,
      );
      chat().stream.markdowns.length = 0;
      await write('{ "tools": [{ "name": "a", "description": "d", "run": { "kind": "http", "url": "https://a/" } }] }');
      await chat().ask(chatRequest('', { command: 'tools' }));
      assert.doesNotMatch(chat().read(), /contained/);
    });

    it('the answer mentions it, and /tools shows the mistakes, whoever else says them', async () => {
      await chat().signedIn();
      await write('{ "tools": [ { "name": 7 } ] }');
      await chat().ask('say: hello');
      assert.match(chat().read(), /Some tools are unavailable because of errors in \.vscode\/rolecall\.tools\.json\./);
      chat().stream.markdowns.length = 0;
      await chat().ask(chatRequest('', { command: 'tools' }));
      assert.match(
        chat().read(),
        /^\s*Problems in \.vscode\/rolecall\.tools\.json:\s*- Line 1: A tool must have a "description"/,
      );
    });

    it('/tools shows warnings as such, and an answer is silent about them', async () => {
      await chat().signedIn();
      await write('{ "tools": [],\n "colour": 1 }');
      await chat().ask('say: hello');
      assert.doesNotMatch(chat().read(), /left out/);
      chat().stream.markdowns.length = 0;
      await chat().ask(chatRequest('', { command: 'tools' }));
      assert.match(
        chat().read(),
        /Problems in \.vscode\/rolecall\.tools\.json:\s*- Line 2 \(warning\): Unknown property "colour"/,
      );
    });
  });

  it('the reasoning of an answer opens beside', async () => {
    await vscode.commands.executeCommand(commands.showReasoning, 'First this, then that.');
    await until('it is shown', () => panels.at(-1)?.text.includes('First this, then that.'));
    assert.equal(panels.at(-1)?.title, 'Reasoning');
  });
});
