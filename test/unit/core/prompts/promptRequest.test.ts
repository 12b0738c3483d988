import assert from 'node:assert/strict';
import { readPromptFile } from '../../../../src/core/prompts/promptFile.ts';
import { checkPath, filesOf, rangesOfFields } from '../../../../src/core/prompts/promptRequest.ts';

const TEXT = `model: a/b
modelParameters:
  topP: 0.5
  max_tokens: 10
messages:
  - role: system
    content: '😀 {{file:docs/a b.md}}'
  - role: user
    content: Hi
rolecall:
  tools: [look_up, weather]
  images: ['{{picture}}.png']
  cases: data/more.csv
`;

describe('an error of the service', () => {
  const rows: readonly [param: string | undefined, places: readonly string[]][] = [
    ['top_p', ['0.5']],
    ['max_tokens, top_p', ['10', '0.5']],
    ['model', ['a/b']],
    ['messages', ["role: system\n    content: '😀 {{file:docs/a b.md}}'"]],
    ['messages[1].content', ['role: user\n    content: Hi']],
    ['messages.1.role', ['role: user\n    content: Hi']],
    ['messages[9]', ["role: system\n    content: '😀 {{file:docs/a b.md}}'"]],
    ['tools', ['look_up', 'weather']],
    ['temperature', []],
    ['constructor', []],
    ['', []],
    [undefined, []],
  ];
  for (const [param, places] of rows) {
    it(`about ${param} points at ${places.length} place(s) of the file`, () => {
      const found = rangesOfFields(readPromptFile(TEXT), param).map(({ start, end }) => TEXT.slice(start, end));
      assert.deepEqual(found, places);
    });
  }
});

describe('the files that a prompt file reads', () => {
  it('are told as the file names them', () => {
    assert.deepEqual(filesOf(readPromptFile(TEXT)), ['docs/a b.md', '{{picture}}.png', 'data/more.csv']);
  });

  it('are named by relative paths', () => {
    for (const [path, expected] of [
      ['a.md', 'a.md'],
      ['./a//b/../c.md', 'a/c.md'],
      ['docs\\a.md', 'docs/a.md'],
      // Whether this is still in the folder is for whoever reads it: the folder of the workspace may be further up.
      ['../a.md', '../a.md'],
    ] as const) {
      assert.equal(checkPath(path), expected);
    }
    for (const path of [
      '',
      ' ',
      '/a',
      '\\a',
      '\\\\host\\a',
      'C:\\a',
      'c:/a',
      'file:///a',
      'https://x',
      '~/a',
      'a\0b',
    ]) {
      assert.throws(() => checkPath(path), /must be a path relative to the prompt file/, JSON.stringify(path));
    }
  });
});
