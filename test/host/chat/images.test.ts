import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { chatRequest, requestTurn, responseTurn } from '../support/chat.ts';
import { useChat } from '../support/participant.ts';
import { useScene } from '../support/scene.ts';
import { folder } from '../support/workspace.ts';

/** What VS Code hands over for a pasted image; its class is not declared. */
const pasted = (bytes: Uint8Array | Error, mimeType = 'image/png') => ({
  mimeType,
  data: async () => {
    if (bytes instanceof Error) throw bytes;
    return bytes;
  },
});
const attach = (...values: unknown[]) => values.map((value, at) => ({ id: `attached-${at}`, value }));
const looking = (model: string, ...values: unknown[]) =>
  chatRequest('say: seen', { model: { vendor: 'rolecall', id: model } as never, references: attach(...values) });

describe('images attached to @rolecall', () => {
  const scene = useScene();
  const chat = useChat(scene);
  const file = vscode.Uri.joinPath(folder().uri, 'drawn.JPG');
  const asked = () => chat().sent().messages.at(-1)?.content;

  beforeEach(async () => {
    await vscode.workspace.fs.writeFile(file, new Uint8Array([7, 8, 9]));
    await chat().signedIn();
    scene().settings.described = [{ id: 'sandbox/vision', vision: true }];
  });
  afterEach(() => vscode.workspace.fs.delete(file));

  it('are sent to a model that takes them, pasted or as files, in their order', async () => {
    await chat().ask(looking('sandbox/vision', pasted(new Uint8Array([1, 2, 3])), file));
    assert.match(chat().stream.answer, /^seen/);
    assert.deepEqual(asked(), [
      { type: 'text', text: 'say: seen\n\nAttached image: attached-0\n\nAttached image: drawn.JPG' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } },
      { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,BwgJ' } },
    ]);
  });

  it('are part of a window of a larger buffer only', async () => {
    const window = new Uint8Array([9, 9, 1, 2, 3, 9]).subarray(2, 5);
    await chat().ask(looking('sandbox/vision', pasted(window)));
    assert.deepEqual(asked()?.[1], { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } });
  });

  it('are not sent to a model that is not said to take them, and that is told', async () => {
    await chat().ask(looking('sandbox/guide', file));
    assert.equal(typeof asked(), 'string');
    // Behind the answer, as a part of it: the editor folds away what stands before, where tools were called.
    assert.match(
      chat().read(),
      /^seen[\s\S]*\n\n\*Not sent: drawn\.JPG\. sandbox\/guide doesn’t support images[^\n]*\*\n\n[\s\S]*\*sandbox\/guide · [^\n]*\*\s*$/,
    );
  });

  it('that cannot be read, are empty or too large are named, and the others are sent', async () => {
    const gone = vscode.Uri.joinPath(folder().uri, 'gone.png');
    const large = pasted(new Uint8Array(10 * 1024 * 1024 + 1));
    const broken = pasted(new Error('no bytes'));
    await chat().ask(looking('sandbox/vision', gone, large, pasted(new Uint8Array()), broken, file));
    assert.match(chat().read(), /too large or cannot be read: gone\.png, attached-1, attached-2, attached-3\./);
    assert.deepEqual((asked() as unknown[]).slice(1), [
      { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,BwgJ' } },
    ]);
  });

  it('are still there when the conversation goes on', async () => {
    const turn = requestTurn(vscode, 'What is it?', attach(pasted(new Uint8Array([1, 2, 3]))));
    await chat().ask(looking('sandbox/vision', file));
    const { metadata } = await chat().ask(looking('sandbox/vision'));
    await chat().ask(looking('sandbox/vision'), [turn, responseTurn(vscode, [], metadata)]);
    assert.deepEqual(chat().sent().messages[0]?.content, [
      { type: 'text', text: 'What is it?\n\nAttached image: attached-0' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } },
    ]);
    await chat().ask(looking('sandbox/guide'), [turn, responseTurn(vscode, [], metadata)]);
    assert.equal(chat().sent().messages[0]?.content, 'What is it?\n\nAttached image: attached-0');
    assert.match(chat().read(), /Not sent: attached-0\./);
  });
});
