import assert from 'node:assert/strict';
import { parseDocument } from 'yaml';
import {
  duplicateKeys,
  MAX_YAML_LENGTH,
  mergeConflictIn,
  parseYamlText,
  yamlSentence,
} from '../../../../src/core/base/yaml.ts';

/** What the library says of a text is what it says at this version: these sentences fail when it changes its mind. */
const MISTAKES: Readonly<Record<string, string>> = {
  'rules:\n\t- id: a\n': 'Indent with spaces: YAML does not accept tabs here.',
  'a: [1, 2\nb: 1\n': 'A bracket that was opened before is not closed.',
  'a: { b: 1\nc: 2\n': 'A bracket that was opened before is not closed.',
  'a:\n    b: 1\n  c: 2\n': 'This line is not indented like the lines that it belongs to.',
  'why: "abc\nb: 1\n': 'The closing quotation mark is missing.',
  "why: 'abc\nb: 1\n": 'The closing quotation mark is missing.',
  'a: 1\nb 2\n': 'A colon and a space are missing after this key.',
  'a: 1\nb:2\n': 'A colon and a space are missing after this key.',
  'rules:\n  - id: a\n    kind: x\n   why: y\n': 'This line must begin with "- " or be indented differently.',
  'format rules\nversion: 1\n':
    'A colon and a space are missing after this key, or the next line is not indented as it should be.',
  'why: a: b\n': 'Text that contains ": " needs quotation marks.',
  'a: @x\n': 'Text that begins with this character needs quotation marks.',
  'a: "\\d"\n': 'Unknown escape sequence. Between "…", a backslash is written \\\\.',
  'a: [\n - b\n]\n': 'Between brackets, a list is written [a, b] and a mapping { a: b }.',
  'a: "b" c\n': 'This is not expected here. A quotation mark, a comma or a line break may be missing before it.',
  'a: !x y\n': 'Invalid YAML: Unresolved tag: !x.',
};

describe('mistakes in YAML', () => {
  it('a conflict that git left is one, where it begins', () => {
    const text = 'a:\n<<<<<<< ours\n  - b\n=======\n  - c\n>>>>>>> theirs\n';
    const conflict = mergeConflictIn(text.replaceAll('\n', '\r\n'));
    assert.equal(conflict?.message, 'This file has an unresolved merge conflict.');
    assert.deepEqual([mergeConflictIn(text)?.start, mergeConflictIn(text)?.end], [3, 15]);
    for (const other of ['a: |\n  <<<<<<< ours\n  =======\n', '<<<<<<< ours\n', '<<<<<<<<\n=======\n'])
      assert.equal(mergeConflictIn(other), undefined);
  });

  for (const [text, sentence] of Object.entries(MISTAKES)) {
    it(`${JSON.stringify(text)}: ${sentence}`, () => {
      const { errors, warnings } = parseDocument(text, { schema: 'failsafe', prettyErrors: false, logLevel: 'silent' });
      const [first] = [...errors, ...warnings];
      assert.equal(first && yamlSentence(first), sentence);
    });
  }
});

describe('parseYamlText', () => {
  const refusalOf = (text: string) => parseYamlText(text, {}).refusal;
  const tooDeep = 'This file is nested too deeply, so it is not read.';

  it('refuses a text that is too long', () => {
    assert.match(refusalOf('x'.repeat(MAX_YAML_LENGTH + 1)) ?? '', /longer than 2000000 characters/);
    assert.equal(refusalOf('x'.repeat(MAX_YAML_LENGTH)), undefined);
  });

  const deep: Readonly<Record<string, string>> = {
    'brackets that nobody closes': `a: ${'['.repeat(20_000)}`,
    'brackets that are closed': `a: ${'{'.repeat(5000)}${'}'.repeat(5000)}`,
    'brackets after some that are only text': `a: ["${']'.repeat(500)}", ${'['.repeat(20_000)}`,
    'lists in one line': '- '.repeat(20_000),
    'keys in one line': '? '.repeat(20_000),
    'lines that are indented more and more': Array.from({ length: 600 }, (_, at) => `${' '.repeat(at)}a:`).join('\n'),
    // The library’s parser throws at these two, and does not report them.
    'keys with a block at the end': `${'  a: '.repeat(4000)}|\n x\n`,
    'keys in one line and a line break': `${' a: '.repeat(6000)}\nb`,
    'one level more than is read': `${'['.repeat(500)}1${']'.repeat(500)}`,
  };
  for (const [name, text] of Object.entries(deep)) {
    it(`refuses ${name}`, () => {
      const { refusal, document } = parseYamlText(text, {});
      assert.deepEqual([refusal, document.contents === null], [tooDeep, true]);
    });
  }

  const honest: Readonly<Record<string, string>> = {
    'as many levels as are read': `${'['.repeat(499)}1${']'.repeat(499)}`,
    'log lines with colors': `a: |\n${'  \\e[31mERROR\\e[0m [worker\n'.repeat(300)}`,
    'half-open intervals': `a: |\n${'  [0, 1)\n'.repeat(300)}`,
    'JSON that is cut off': `a:\n${`  - '{"a": [1'\n`.repeat(300)}`,
    'a rule of dashes': `a: |\n  ${'- '.repeat(300)}\n`,
    'a text far to the right': `a: |\n  x\n${' '.repeat(400)}x\n`,
    'many short lists': `a:\n${'  - [[1, [2]], {c: 3}]\n'.repeat(5000)}`,
  };
  for (const [name, text] of Object.entries(honest)) {
    it(`reads ${name}`, () => {
      const { refusal, document } = parseYamlText(text, {});
      assert.deepEqual([refusal, document.errors], [undefined, []]);
    });
  }
});

describe('duplicateKeys', () => {
  it('are found in each mapping, and not between two', () => {
    const text = 'a: 1\nb: { c: 1, d: 1, c: 2 }\na: { c: 1 }\n"a": 3\n? [a]\n: 1\n';
    const { document } = parseYamlText(text, {});
    assert.deepEqual(document.errors, []);
    assert.deepEqual(
      duplicateKeys(document).map(({ range: [start, end] }) => [start, text.slice(start, end)]),
      [
        [29, 'a'],
        [41, '"a"'],
        [22, 'c'],
      ],
    );
  });
});
