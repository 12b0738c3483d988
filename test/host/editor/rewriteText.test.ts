import assert from 'node:assert/strict';
import { codeInAnswer, hasSeveralBlocks } from '../../../src/host/editor/rewriteText.ts';

describe('the code in an answer', () => {
  const rows: readonly (readonly [string, string, string, string])[] = [
    ['is the fenced block', 'Here:\n```ts\nlet a = 1;\n```\nDone.', 'x', 'let a = 1;'],
    ['is the first of several', '```\na\n```\n```\nb\n```', 'x', 'a'],
    ['is what has come of it', '```ts\nlet a', 'x', 'let a'],
    ['is nothing while only the fence has come', '```ts', 'x', ''],
    ['is all of an answer without a fence', '  let a = 1;\n', 'x', 'let a = 1;'],
    ['may hold shorter fences', '````md\n```\ninner\n```\n````', 'x', '```\ninner\n```'],
    ['may stand in tildes', '~~~py\na\n~~~', 'x', 'a'],
    ['ends as the original ends', '```\na\n```', 'x\n', 'a\n'],
    ['does not gain a line break', '```\na\n\n```', 'x', 'a'],
    ['keeps its indentation', '```\n    a\n  b\n```', 'x', '    a\n  b'],
    [
      'may hold fences as long that name a language',
      '```markdown\n# T\n```js\nx\n```\nTail\n```',
      'x',
      '# T\n```js\nx\n```\nTail',
    ],
    ['is nothing where there is nothing', '', 'x\n', ''],
  ];
  for (const [title, answer, original, code] of rows) {
    it(title, () => assert.equal(codeInAnswer(answer, original), code));
  }

  for (const [title, answer, several] of [
    ['is clear where there is one block', 'Here:\n```\na\n```\nDone.', false],
    ['is clear where there is none', 'a', false],
    ['is clear where fences within name their language', '```md\n```js\nx\n```\nTail\n```\nDone.', false],
    ['is not where fences follow', '```md\n# T\n```\nx\n```\nTail\n```', true],
    ['is not where a second block follows', '```\na\n```\nor\n~~~\nb\n~~~', true],
  ] as const) {
    it(title, () => assert.equal(hasSeveralBlocks(answer), several));
  }
});
