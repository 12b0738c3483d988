import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { AnswerDocument, AnswerDocuments } from '../../../src/host/editor/answerDocuments.ts';
import { usePatches } from '../support/patches.ts';
import { until } from '../support/wait.ts';

/** The running extension has the scheme already, and an address is asked of whoever has it first. */
const SCHEME = 'rolecall-answer-of-test';

describe('a document with an answer', () => {
  const patches = usePatches();
  let documents: AnswerDocuments;
  let active: { key: string; inferenceAccount: string | undefined } | undefined;
  const changed = new vscode.EventEmitter<void>();
  const clouds = {
    get active() {
      return active as never;
    },
    onDidChange: changed.event,
  };

  beforeEach(() => {
    const register = vscode.workspace.registerTextDocumentContentProvider;
    const from = vscode.Uri.from;
    patches.set(vscode.workspace, 'registerTextDocumentContentProvider', (_: string, provider: never) =>
      register(SCHEME, provider),
    );
    patches.set(vscode.Uri, 'from', (parts: { scheme: string }) => from({ ...parts, scheme: SCHEME }));
    active = { key: 'a', inferenceAccount: 'one' };
    documents = new AnswerDocuments(clouds);
  });
  afterEach(async () => {
    documents.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  const documentOf = ({ uri }: AnswerDocument) =>
    vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());

  it('opens empty beside the editor, leaves the cursor where it is, and is Markdown', async () => {
    const before = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: 'mine' }));
    const answer = await documents.open('Answer');
    assert.equal(vscode.window.activeTextEditor?.document, before.document);
    const editor = vscode.window.visibleTextEditors.find(({ document }) => document === documentOf(answer));
    assert.equal(editor?.viewColumn, vscode.ViewColumn.Two);
    assert.equal(editor?.document.getText(), '');
    assert.match(answer.uri.path, /^\/Answer 1\.md$/);
  });

  it('opens where nothing is open, without an empty half beside', async () => {
    const answer = await documents.open('Answer');
    const editor = vscode.window.visibleTextEditors.find(({ document }) => document === documentOf(answer));
    assert.equal(editor?.viewColumn, vscode.ViewColumn.One);
  });

  it('grows while the answer arrives, and is whole when it is flushed', async () => {
    const answer = await documents.open('Answer');
    answer.append('One');
    await until('the first words are shown', () => documentOf(answer)?.getText() === 'One');
    answer.append(', two');
    answer.append(', three.');
    answer.flush();
    await until('all of it is shown', () => documentOf(answer)?.getText() === 'One, two, three.');
  });

  it('cannot be edited and has nothing to save', async () => {
    const answer = await documents.open('Answer');
    answer.append('One');
    answer.flush();
    await until('the words are shown', () => documentOf(answer)?.getText() === 'One');
    const editor = await vscode.window.showTextDocument(answer.uri);
    await vscode.commands.executeCommand('type', { text: 'not theirs ' });
    assert.equal(vscode.window.activeTextEditor, editor);
    const document = documentOf(answer);
    assert.deepEqual([document?.getText(), document?.isDirty], ['One', false]);
  });

  it('is one of its own for each question', async () => {
    const [first, second] = [await documents.open('Answer'), await documents.open('Answer')];
    first.append('first');
    second.append('second');
    first.flush();
    second.flush();
    await until(
      'both are shown',
      () => documentOf(second)?.getText() === 'second' && documentOf(first)?.getText() === 'first',
    );
  });

  it('is kept while it is open, whatever comes after it', async () => {
    const answer = await documents.open('Answer');
    answer.append('kept');
    answer.flush();
    patches.set(vscode.workspace, 'openTextDocument', async (uri: unknown) => uri);
    patches.set(vscode.window, 'showTextDocument', async () => undefined);
    for (let count = 0; count < 60; count += 1) await documents.open('Answer');
    assert.equal(documents.provideTextDocumentContent(answer.uri), 'kept');
  });

  it('stops when it is closed, and can be opened again', async () => {
    const answer = await documents.open('Answer');
    answer.append('kept');
    answer.flush();
    await until('it is shown', () => documentOf(answer)?.getText() === 'kept');
    assert.equal(answer.closed.aborted, false);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await until('it is over', () => answer.closed.aborted);
    assert.equal(documents.provideTextDocumentContent(answer.uri), 'kept');
  });

  it('is emptied when its account leaves the stage, and nothing late gets into it', async () => {
    const answer = await documents.open('Answer');
    answer.append('secret');
    answer.flush();
    await until('it is shown', () => documentOf(answer)?.getText() === 'secret');
    changed.fire(); // The same account: a token was renewed, for instance.
    assert.equal(documents.provideTextDocumentContent(answer.uri), 'secret');
    active = { key: 'a', inferenceAccount: undefined };
    changed.fire();
    await until('it is empty', () => documentOf(answer)?.getText() === '');
    assert.equal(answer.closed.aborted, true);
    answer.append(' and late');
    answer.flush();
    assert.equal(documents.provideTextDocumentContent(answer.uri), '');
  });
});

describe('an answer written into a document', () => {
  function written(...parts: Parameters<AnswerDocument['write']>[0][]): { shown: string[]; text: () => string } {
    const shown: string[] = [];
    const answer = new AnswerDocument(
      vscode.Uri.parse('x:/a.md'),
      (text) => shown.push(text),
      new AbortController().signal,
    );
    for (const part of parts) answer.write(part);
    return {
      shown,
      text: () => {
        answer.flush();
        return shown.at(-1) ?? '';
      },
    };
  }

  const rows: readonly (readonly [string, Parameters<AnswerDocument['write']>[0][], string])[] = [
    [
      'words as they are',
      [
        { kind: 'text', text: 'a' },
        { kind: 'text', text: '**b**' },
      ],
      'a**b**',
    ],
    [
      'reasoning as a quotation of its own',
      [
        { kind: 'reasoning', text: 'x\ny' },
        { kind: 'reasoning', text: 'z' },
        { kind: 'text', text: 'a' },
        { kind: 'text', text: 'b' },
      ],
      '\n\n> x\n> yz\n\nab',
    ],
    [
      'its own lines in italics',
      [
        { kind: 'text', text: 'a' },
        { kind: 'line', text: 'Used f.' },
        { kind: 'text', text: 'b' },
      ],
      'a\n\n*Used f.*\n\nb',
    ],
    [
      'a line behind a quotation apart from it',
      [
        { kind: 'reasoning', text: 'x' },
        { kind: 'line', text: 'Used f.' },
        { kind: 'reasoning', text: 'y' },
      ],
      '\n\n> x\n\n*Used f.*\n\n\n\n> y',
    ],
  ];
  for (const [title, parts, text] of rows) {
    it(`shows ${title}`, () => {
      assert.equal(written(...parts).text(), text);
    });
  }

  it('is laid out anew at most every 80 ms, whatever the number of its pieces', async () => {
    const { shown } = written(...Array.from({ length: 200 }, () => ({ kind: 'text', text: 'x' }) as const));
    assert.deepEqual(shown, []);
    await until('the first look', () => shown.length > 0);
    assert.deepEqual(shown, ['x'.repeat(200)]);
  });
});
