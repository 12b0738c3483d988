import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { promptWithReferences } from '../../../src/host/chat/references.ts';
import { folder, workspaceFile } from '../support/workspace.ts';

const prompt = (...values: unknown[]) =>
  promptWithReferences({ prompt: 'Look.', references: values.map((value, index) => ({ id: `r${index}`, value })) });

describe('what is attached to a question', () => {
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
    assert.match(await promptWithReferences({ prompt: 'Look.', references }), /Terminal selection:\n```\nsome words/);
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

  it('keeps its order', async () => {
    assert.match(await prompt('first', 'second'), /first[\s\S]*second/);
  });

  it('is cut where it is longer than any model takes, and says so', async () => {
    const long = await prompt('x'.repeat(70_000));
    assert.ok(long.length < 61_000);
    assert.match(long, /\[…cut\]/);
  });
});
