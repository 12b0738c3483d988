import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ChosenToken } from '../../../src/core/completions/completion.ts';
import { AnswerChoice } from '../../../src/host/prompts/modelAnswer.ts';
import type { AnswerPlace } from '../../../src/host/prompts/resultText.ts';
import { ColoredAnswer } from '../../../src/host/prompts/tokenColors.ts';

const unlikely: ChosenToken = { token: ' ab', logprob: Math.log(0.1), bytes: [...Buffer.from(' ab')], topLogprobs: [] };

describe('the colors of an answer', () => {
  let choice: AnswerChoice;
  let colored: ColoredAnswer;
  /** What the editor was given, one entry for each call: how many ranges, and the first. */
  let calls: { readonly count: number; readonly first: string }[];
  const editor = {
    setDecorations: (_type: unknown, ranges: readonly vscode.Range[]) => {
      const [first] = ranges;
      calls.push({ count: ranges.length, first: `${first?.start.line}:${first?.start.character}` });
    },
  } as unknown as vscode.TextEditor;

  beforeEach(() => {
    choice = new AnswerChoice(0);
    colored = new ColoredAnswer(choice.places);
    calls = [];
  });

  afterEach(() => colored.dispose());

  function arrive(tokens: number): void {
    choice.accept({ kind: 'text', choice: 0, text: ' ab'.repeat(tokens) });
    choice.accept({ kind: 'logprobs', choice: 0, logprobs: Array.from({ length: tokens }, () => unlikely) });
  }

  function paint(line = 3): void {
    colored.paint({ choice, line, length: choice.text.length } as AnswerPlace, [editor]);
  }

  it('cost no more for the last tokens than for the first', () => {
    arrive(250);
    paint();
    assert.deepEqual(
      calls.map(({ count }) => count),
      [100, 100, 50],
    );
    calls = [];
    arrive(1);
    paint();
    assert.deepEqual(calls, [{ count: 51, first: '3:601' }]);
    calls = [];
    paint();
    assert.deepEqual(calls, []);
  });

  const change = (range: vscode.Range, text: string) =>
    ({ range, text }) as unknown as vscode.TextDocumentContentChangeEvent;

  it('move with the text above them, and are drawn again where text was replaced', () => {
    arrive(150);
    paint();
    calls = [];
    colored.follow([change(new vscode.Range(1, 0, 1, 0), 'one\ntwo\n')]);
    paint(5);
    assert.deepEqual(calls, []);
    // Behind the last one, as when more arrives.
    colored.follow([change(new vscode.Range(5, 450, 5, 450), ' ab')]);
    paint(5);
    assert.deepEqual(calls, []);
    colored.follow([change(new vscode.Range(0, 0, 9, 0), 'all of it')]);
    paint(5);
    assert.deepEqual(
      calls.map(({ count, first }) => [count, first]),
      [
        [100, '5:1'],
        [50, '5:301'],
      ],
    );
  });
});
