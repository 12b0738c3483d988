import assert from 'node:assert/strict';
import { codeOf } from '../../../src/host/editor/rewriteText.ts';

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
    ['is nothing where there is nothing', '', 'x\n', ''],
  ];
  for (const [title, answer, original, code] of rows) {
    it(title, () => assert.equal(codeOf(answer, original), code));
  }
});
