import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { Answer } from '../../../src/host/editor/answer.ts';
import { AnswerDocuments } from '../../../src/host/editor/answerDocuments.ts';
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

  async function open(title: string): Promise<Answer & { readonly uri: vscode.Uri }> {
    const place = await documents.open(title);
    return Object.assign(new Answer(place), { uri: place.uri });
  }

  const documentOf = ({ uri }: { readonly uri: vscode.Uri }) =>
    vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());

  it('opens empty beside the editor, leaves the cursor where it is, and is Markdown', async () => {
    const before = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: 'mine' }));
    const answer = await open('Answer');
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
    const answer = await open('Answer');
    answer.append('One');
    await until('the first words are shown', () => documentOf(answer)?.getText() === 'One');
    answer.append(', two');
    answer.append(', three.');
    answer.end();
    await until('all of it is shown', () => documentOf(answer)?.getText() === 'One, two, three.');
  });

  it('marks Rolecall’s own lines beside the text, where a model cannot write', async () => {
    const answer = await open('Answer');
    const marked: number[][] = [];
    const shown = vscode.window.visibleTextEditors.find(({ document }) => document === documentOf(answer));
    const editor = {
      document: shown?.document,
      setDecorations: (_: unknown, ranges: vscode.Range[]) => marked.push(ranges.map(({ start }) => start.line)),
    };
    patches.set(vscode.window, 'visibleTextEditors', [editor]);
    answer.write({ kind: 'text', text: '*Used f.*' });
    answer.write({ kind: 'line', text: 'Used f.' });
    answer.end();
    await until('the mark', () => marked.at(-1)?.join() === '2');
    assert.deepEqual(documentOf(answer)?.getText().split('\n'), ['*Used f.*', '', '*Used f.*', '', '']);
  });

  it('cannot be edited and has nothing to save', async () => {
    const answer = await open('Answer');
    answer.append('One');
    answer.end();
    await until('the words are shown', () => documentOf(answer)?.getText() === 'One');
    const editor = await vscode.window.showTextDocument(answer.uri);
    await vscode.commands.executeCommand('type', { text: 'not theirs ' });
    assert.equal(vscode.window.activeTextEditor, editor);
    const document = documentOf(answer);
    assert.deepEqual([document?.getText(), document?.isDirty], ['One', false]);
  });

  it('is one of its own for each question', async () => {
    const [first, second] = [await open('Answer'), await open('Answer')];
    first.append('first');
    second.append('second');
    first.end();
    second.end();
    await until(
      'both are shown',
      () => documentOf(second)?.getText() === 'second' && documentOf(first)?.getText() === 'first',
    );
  });

  it('is kept while it is open, whatever comes after it', async () => {
    const answer = await open('Answer');
    answer.append('kept');
    answer.end();
    patches.set(vscode.workspace, 'openTextDocument', async (uri: unknown) => uri);
    patches.set(vscode.window, 'showTextDocument', async () => undefined);
    for (let count = 0; count < 60; count += 1) await open('Answer');
    assert.equal(documents.provideTextDocumentContent(answer.uri), 'kept');
  });

  it('stops when it is closed, and can be opened again', async () => {
    const answer = await open('Answer');
    answer.append('kept');
    answer.end();
    await until('it is shown', () => documentOf(answer)?.getText() === 'kept');
    assert.equal(answer.closed.aborted, false);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await until('it is over', () => answer.closed.aborted);
    assert.equal(documents.provideTextDocumentContent(answer.uri), 'kept');
  });

  it('is emptied when its account leaves the stage, and nothing late gets into it', async () => {
    const answer = await open('Answer');
    answer.append('secret');
    answer.end();
    await until('it is shown', () => documentOf(answer)?.getText() === 'secret');
    changed.fire(); // The same account: a token was renewed, for instance.
    assert.equal(documents.provideTextDocumentContent(answer.uri), 'secret');
    active = { key: 'a', inferenceAccount: undefined };
    changed.fire();
    await until('it is empty', () => documentOf(answer)?.getText() === '');
    assert.equal(answer.closed.aborted, true);
    answer.append(' and late');
    answer.end();
    assert.equal(documents.provideTextDocumentContent(answer.uri), '');
  });
});
