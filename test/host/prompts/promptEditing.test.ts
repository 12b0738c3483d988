import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { promptCommands } from '../../../src/ids.ts';
import { until } from '../support/wait.ts';
import { workspaceFile } from '../support/workspace.ts';

const TEXT = `name: "🙂 Grüße"
modelParameters:
  temperature: 1
  topLogprobs: 3
messages:
  - role: user
    content: "🙂 {{ topic }} and {{tone}}"
testData:
  - topic: Paris
    tone: kind
  - topic: Rome
    tone: calm
`;

describe('the editor of a prompt file', () => {
  const files = [workspaceFile('a b.prompt.yml'), workspaceFile('compose.prompt.yaml'), workspaceFile('.prompt.yml')];
  const [first = assert.fail()] = files;
  const data = workspaceFile('data.jsonl');
  const notes = workspaceFile('notes.md');

  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  async function open(file: (typeof files)[number], text = TEXT): Promise<vscode.TextDocument> {
    await file.write(text);
    const document = await vscode.workspace.openTextDocument(file.uri());
    // VS Code keeps documents for a while after their tabs are closed, and hears of a change a moment later.
    await until('the new text', () => document.getText() === text);
    await vscode.window.showTextDocument(document);
    return document;
  }

  const problemsOf = (document: vscode.TextDocument) =>
    vscode.languages.getDiagnostics(document.uri).filter(({ source }) => source === 'Rolecall');
  const found = (document: vscode.TextDocument) =>
    problemsOf(document).map(({ code, range }) => [code, document.getText(range)]);

  it('says what is wrong at its exact place, whatever the file is called', async () => {
    for (const file of files) {
      const document = await open(file);
      await until('the problems', () => problemsOf(document).length > 0);
      assert.deepEqual(found(document), [
        ['needsLogprobs', 'topLogprobs'],
        ['notPlaceholder', '{{ topic }}'],
        ['unusedVariable', 'topic'],
      ]);
    }
  });

  it('follows what is typed, survives what is no YAML, and forgets a closed file', async () => {
    const document = await open(first, 'messages: [{');
    await until('the problem', () => found(document).some(([code]) => code === 'yaml'));
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, new vscode.Range(0, 0, 0, 99), 'messages:\n  - role: user\n    content: hi');
    await vscode.workspace.applyEdit(edit);
    await until('no problem', () => problemsOf(document).length === 0);
    await document.save();
  });

  it('mends what has one meaning', async () => {
    const document = await open(first);
    await until('the problems', () => problemsOf(document).length > 0);
    for (const [code, wanted] of [
      ['notPlaceholder', '"🙂 {{topic}} and {{tone}}"'],
      ['needsLogprobs', '  logprobs: true\n  topLogprobs: 3'],
    ] as const) {
      const { range } = await until(code, () => problemsOf(document).find((each) => each.code === code));
      const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
        'vscode.executeCodeActionProvider',
        document.uri,
        range,
      );
      const fix = actions.find(({ edit }) => edit !== undefined);
      await vscode.workspace.applyEdit(fix?.edit ?? assert.fail(`nothing mends ${code}`));
      assert.ok(document.getText().includes(wanted), document.getText());
      await until('the problem gone', () => !problemsOf(document).some((each) => each.code === code));
    }
    await document.save();
  });

  it('says at the entry what is wrong with a file or tool that it names, follows their changes, and offers what was meant', async () => {
    await data.write('{"topic":"a"}\n[1]\n');
    const document = await open(
      first,
      'messages: [{role: user, content: "{{topic}} {{file:notes.md}}"}]\nrolecall: {cases: [data.jsonl], tools: [cuont_words]}\n',
    );
    const said = () => problemsOf(document).map(({ message, range }) => [document.getText(range), message]);
    const wrong = {
      file: ['{{file:notes.md}}', 'The file "notes.md" cannot be found.'],
      data: ['data.jsonl', 'data.jsonl:2: This line is not a JSON object.'],
      tool: ['cuont_words', 'This workspace has no tool named "cuont_words". Did you mean "count_words"?'],
    };
    await until('all three', () => said().length === 3);
    assert.deepEqual(said(), [wrong.file, wrong.data, wrong.tool]);
    await notes.write('Note');
    await until('the file', () => said().length === 2);
    await data.write('{"topic":"a"}\n');
    await until('the data', () => said().length === 1);
    await data.write('{');
    await until('the data again', () => said().length === 2);
    await vscode.workspace.fs.delete(notes.uri());
    await until('the deleted file', () => said().length === 3);
    const { range } = problemsOf(document).at(-1) ?? assert.fail();
    const [fix] = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      document.uri,
      range,
      vscode.CodeActionKind.QuickFix.value,
    );
    assert.equal(fix?.title, 'Change to "count_words"');
    await vscode.workspace.applyEdit(fix.edit ?? assert.fail());
    await until('the tool', () => said().length === 2);
    assert.match(document.getText(), /tools: \[count_words\]/);
    await document.save();
  });

  it('completes variables and parameters, and explains them in the words of the settings', async () => {
    const document = await open(first);
    const labels = async (text: string, offset: number) => {
      const position = document.positionAt(document.getText().indexOf(text) + offset);
      const list = await vscode.commands.executeCommand<vscode.CompletionList>(
        'vscode.executeCompletionItemProvider',
        document.uri,
        position,
      );
      return list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
    };
    assert.deepEqual((await labels('{{tone}}', 2)).slice(0, 2).sort(), ['tone', 'topic']);
    assert.ok((await labels('  topLogprobs', 2)).includes('maxTokens'));
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider',
      document.uri,
      document.positionAt(document.getText().indexOf('temperature') + 2),
    );
    const text = hovers.flatMap(({ contents }) => contents.map((each) => (each as vscode.MarkdownString).value)).join();
    assert.match(text, /`temperature` \(/);
  });

  it('has links that run it, and one for each case', async () => {
    const document = await open(first);
    const lenses = await until('the links', async () => {
      const all = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        'vscode.executeCodeLensProvider',
        document.uri,
      );
      return all.length > 0 ? all : undefined;
    });
    assert.deepEqual(
      lenses.map(({ range, command }) => [range.start.line, command?.command]),
      [
        [0, promptCommands.runPrompt],
        [0, promptCommands.runPromptWithModels],
        [0, promptCommands.comparePromptRuns],
        [0, promptCommands.copyPromptAsCurl],
        [8, promptCommands.runPrompt],
        [10, promptCommands.runPrompt],
      ],
    );
  });
});
