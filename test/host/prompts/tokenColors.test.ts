import assert from 'node:assert/strict';
import type { ChosenToken } from '../../../src/core/completions/completion.ts';
import { TokenLocator } from '../../../src/core/prompts/tokenProbabilities.ts';
import { ColoredAnswer } from '../../../src/host/prompts/tokenColors.ts';

function token(text: string, likely: number): ChosenToken {
  return { token: text, logprob: Math.log(likely), bytes: [...Buffer.from(text)], topLogprobs: [] };
}

describe('the tokens of an answer', () => {
  const rows: readonly [what: string, tokens: readonly (readonly [string, number])[], wanted: readonly string[]][] = [
    ['certain ones stay as they are', [['Paris', 0.95]], []],
    [
      'each by how likely it is',
      [
        ['a', 0.6],
        ['b', 0.4],
        ['c', 0.1],
      ],
      ['0 3:0-3:1', '1 3:1-3:2', '2 3:2-3:3'],
    ],
    [
      'without the blanks around them',
      [
        [' city', 0.1],
        ['\n\n', 0.1],
      ],
      ['2 3:1-3:5'],
    ],
    [
      'behind line breaks of every kind',
      [
        ['a\r\nb\nc\r', 0.99],
        ['🙂d', 0.3],
      ],
      ['1 6:0-6:3'],
    ],
  ];
  for (const [what, tokens, wanted] of rows) {
    it(`are colored: ${what}`, () => {
      const locator = new TokenLocator();
      const colored = new ColoredAnswer({ line: 3, choice: { places: locator.places } });
      let text = '';
      for (const [piece, likely] of tokens) {
        text += piece;
        locator.add([token(piece, likely)]);
        colored.update(text);
      }
      const found = colored.ranges.flatMap((ranges, level) =>
        ranges.map(({ start, end }) => `${level} ${start.line}:${start.character}-${end.line}:${end.character}`),
      );
      assert.deepEqual(found, wanted);
    });
  }
});
