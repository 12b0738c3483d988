import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { promptWithReferences } from '../../../src/host/chat/history.ts';
import { chatRequest, requestTurn, responseTurn } from '../support/chat.ts';
import { useChat } from '../support/participant.ts';
import { useScene } from '../support/scene.ts';
import { folder, workspaceFile } from '../support/workspace.ts';

const written = (...values: unknown[]) =>
  promptWithReferences({ prompt: 'Look.', references: values.map((value, index) => ({ id: `r${index}`, value })) });
const prompt = async (...values: unknown[]) => (await written(...values)).text;

describe('what is attached to a question', () => {
  const scene = useScene();
  const chat = useChat(scene);
  const file = workspaceFile('attached.py');
  beforeEach(() => file.write('one\ntwo\nthree\n'));

  it('is nothing where nothing is attached', async () => {
    assert.equal(await prompt(), 'Look.');
  });

  it('is a file with its path', async () => {
    assert.match(await prompt(file.uri()), /^Look\.\n\nattached\.py:\n```\w+\none\ntwo\nthree\n\n```$/);
  });

  it('is a part of a file with its lines', async () => {
    const part = new vscode.Location(file.uri(), new vscode.Range(1, 0, 2, 5));
    assert.match(await prompt(part), /attached\.py \(2–3\):\n```\w+\ntwo\nthree\n```$/);
    const line = new vscode.Location(file.uri(), new vscode.Range(1, 0, 2, 0));
    assert.match(await prompt(line), /attached\.py \(2\):\n```\w+\ntwo\n\n```$/);
  });

  it('is text as it is, named as VS Code names it', async () => {
    assert.match(await prompt('some words'), /Attachment:\n```\nsome words\n```$/);
    const references = [{ id: 'r', value: 'some words', modelDescription: 'Terminal selection' }];
    assert.match(
      (await promptWithReferences({ prompt: 'Look.', references })).text,
      /Terminal selection:\n```\nsome words/,
    );
  });

  it('cannot end its fence', async () => {
    assert.match(await prompt('````\n```'), /Attachment:\n`````\n````\n```\n`````$/);
  });

  it('is named when it cannot be read, and never left out silently', async () => {
    const gone = vscode.Uri.joinPath(folder().uri, 'gone.txt');
    assert.match(await prompt(gone), /gone\.txt was attached but cannot be read as text/);
    assert.match(await prompt(folder().uri), /was attached but cannot be read as text/);
    assert.match(await prompt({ mimeType: 'video/mp4' }), /r0 was attached but cannot be read as text/);
  });

  it('is sent again as it was, also when the file has changed since', async () => {
    await chat().signedIn();
    const references = [{ id: 'r', value: file.uri() }];
    const { metadata } = await chat().ask(chatRequest('say: read', { references }));
    await file.write('changed\n');
    const turn = requestTurn(vscode, 'say: read', references);
    await chat().ask(chatRequest('say: more'), [turn, responseTurn(vscode, [], metadata)]);
    assert.match(String(chat().sent().messages[0]?.content), /attached\.py:\n```\w+\none\ntwo\nthree/);
  });

  it('keeps its order', async () => {
    assert.match(await prompt('first', 'second'), /first[\s\S]*second/);
  });

  it('is cut where it is longer than any model takes, and says so', async () => {
    const { text, cut } = await written('short', 'x'.repeat(70_000));
    assert.ok(text.length < 61_000);
    assert.match(text, /\[…cut\]/);
    assert.deepEqual(cut, ['Attachment']);
    await chat().signedIn();
    await chat().ask(chatRequest('say: read', { references: [{ id: 'r', value: 'x'.repeat(70_000) }] }));
    assert.match(chat().read(), /Only the first 60,000 characters of Attachment were sent\./);
  });
});
