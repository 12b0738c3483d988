import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { linesOf, passageOf } from '../../src/host/passage.ts';

describe('a passage of a document', () => {
  const rows: readonly (readonly [[number, number, number, number], string])[] = [
    [[0, 0, 0, 0], '(1)'],
    [[2, 3, 2, 9], '(3)'],
    [[2, 0, 4, 1], '(3–5)'],
    [[2, 0, 4, 0], '(3–4)'],
    [[2, 0, 3, 0], '(3)'],
  ];
  for (const [range, shown] of rows) {
    it(`from ${range.slice(0, 2)} to ${range.slice(2)} is called ${shown}`, () => {
      assert.equal(linesOf(new vscode.Range(...(range as [number, number, number, number]))), shown);
    });
  }

  it('is the selection, whichever way it was made, and everything without one', async () => {
    const document = await vscode.workspace.openTextDocument({ content: 'one\ntwo\nthree' });
    const backwards = passageOf({ document, selection: new vscode.Selection(2, 0, 1, 0) });
    assert.deepEqual([backwards.text, backwards.title.endsWith(' (2)')], ['two\n', true]);
    const all = passageOf({ document, selection: new vscode.Selection(1, 1, 1, 1) });
    assert.deepEqual([all.text, /\(/.test(all.title)], ['one\ntwo\nthree', false]);
  });
});
