import assert from 'node:assert/strict';
import { parseDocument } from 'yaml';
import { MAX_YAML_LENGTH, mergeConflictIn, yamlRefusal, yamlSentence } from '../../../../src/core/base/yamlProblems.ts';

/** What the library says of a text is what it says at this version: these sentences fail when it changes its mind. */
const MISTAKES: Readonly<Record<string, string>> = {
  'rules:\n\t- id: a\n': 'Indent with spaces: YAML does not accept tabs here.',
  'a: 1\na: 2\n': 'This key appears more than once.',
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
  'why: a: b\n': 'A text that contains ": " needs quotation marks.',
  'a: @x\n': 'A text that begins with this character needs quotation marks.',
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

describe('a YAML text that must not be parsed', () => {
  it('is too long', () => {
    assert.match(yamlRefusal('x'.repeat(MAX_YAML_LENGTH + 1)) ?? '', /longer than 2000000 characters/);
    assert.equal(yamlRefusal('x'.repeat(MAX_YAML_LENGTH)), undefined);
  });

  const deep: Readonly<Record<string, string>> = {
    'brackets that nobody closes': `a: ${'['.repeat(20_000)}`,
    'brackets that are closed': `a: ${'{'.repeat(5000)}${'}'.repeat(5000)}`,
    'brackets after some that were closed before': `a: ${']'.repeat(500)}${'['.repeat(400)}`,
    'lists in one line': '- '.repeat(5000),
    'lists after a key': `a: ${'- '.repeat(5000)}`,
    'keys in one line': '? '.repeat(5000),
    'lines that are indented more and more': Array.from({ length: 400 }, (_, depth) => `${' '.repeat(depth)}a:`).join(
      '\n',
    ),
  };
  for (const [name, text] of Object.entries(deep)) {
    it(`is nested too deeply: ${name}`, () => {
      assert.equal(yamlRefusal(text), 'This file is nested too deeply, so it is not read.');
    });
  }

  it('is not one that people write', () => {
    const text = `a: |\n  ${'- '.repeat(60)}\n${'  b: [[1, [2]], {c: 3}]\n'.repeat(1000)}`;
    assert.equal(yamlRefusal(text), undefined);
  });
});
