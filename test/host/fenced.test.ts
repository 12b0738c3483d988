import assert from 'node:assert/strict';
import { fenceFor } from '../../src/core/completions/request.ts';
import { closingFence, fenced } from '../../src/host/markdown.ts';

describe('fences', () => {
  it('are longer than any within', () => {
    assert.equal(fenceFor('a'), '```');
    assert.equal(fenceFor('```` ` ``'), '`````');
    assert.equal(fenced('t', '```', 'md'), 't:\n````md\n```\n````');
  });

  it('hold no half of a character where the text was cut', () => {
    for (const before of ['', 'a']) assert.doesNotMatch(fenced('t', before + '😀'.repeat(40_000), ''), /\p{Cs}/u);
  });

  const rows: readonly (readonly [string, string, string])[] = [
    ['of nothing', '', ''],
    ['of words', 'a `b` c', ''],
    ['that is closed', '```js\nx\n```\nend', ''],
    ['that is open', 'a\n```js\nx', '\n```'],
    ['that is open, with a shorter one within', '````md\n```\nx\n```', '\n````'],
    ['that is open after a closed one', '```\na\n```\n~~~\nb', '\n~~~'],
    ['that another kind does not close', '~~~\nb\n```', '\n~~~'],
    ['that a fence with a language does not close', '```\na\n```js', '\n```'],
    ['that a longer one closes', '```\na\n`````', ''],
    ['that is indented and closed', 'a\n  ```js\n  x\n```', ''],
    ['that is indented and open', 'a\n  ```js\n  x', '\n```'],
    ['within a list, which ends with the list', '- a\n  ```js\n  x', ''],
    ['within a quotation', '> ```js\n> x', ''],
    ['that is code in a line', '```a``` b', ''],
  ];
  for (const [title, markdown, closing] of rows) {
    it(`closing one ${title}`, () => assert.equal(closingFence(markdown), closing));
  }
});
