import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { addTool } from '../../../../src/core/tools/newTool.ts';
import { readToolFile } from '../../../../src/core/tools/toolFile.ts';

function add(text: string): string {
  return addTool(text).edits.reduceRight(
    (now, { offset, length, text: inserted }) => now.slice(0, offset) + inserted + now.slice(offset + length),
    text,
  );
}
const names = (text: string) => {
  const { tools, problems } = readToolFile(text, { folder: '/' });
  assert.deepEqual(problems, [], text);
  return tools.map(({ name }) => name);
};
const one = '{ "name": "one", "description": "d", "run": { "kind": "process", "command": ["x"] } }';

describe('addTool', () => {
  it('makes a whole file of nothing', () => {
    for (const text of ['', ' \n', '\uFEFF']) {
      assert.deepEqual(names(add(text)), ['count_words']);
      assert.match(add(text), /^\{\n {2}\/\/ Tools of[\s\S]*\n {4}\{\n {6}"name": "count_words",\n {6}\/\/ The model/);
      assert.match(add(text), /\n {4}\}\n {2}\]\n\}\n$/);
    }
  });

  it('adds to a list, and keeps what stands there', () => {
    const text = `{\n  // mine\n  "tools": [\n    ${one} // last\n    // after\n  ]\n}\n`;
    const result = add(text);
    assert.deepEqual(names(result), ['one', 'count_words']);
    assert.ok(
      result.startsWith(`{\n  // mine\n  "tools": [\n    ${one}, // last\n    // after\n    {\n      "name"`),
      result,
    );
    assert.ok(result.endsWith('\n    }\n  ]\n}\n'), result);
  });

  it('finds another name, also the second time', () => {
    assert.deepEqual(names(add(add(add('')))), ['count_words', 'count_words_2', 'count_words_3']);
  });

  it('finds a name that no other file of the workspace has', () => {
    assert.equal(addTool('', ['count_words']).name, 'count_words_2');
    assert.equal(addTool('{ "other": 1 }', ['count_words']).name, 'count_words_2');
    assert.equal(addTool(add(''), ['count_words_2']).name, 'count_words_3');
  });

  it('keeps tabs and the line ends of Windows', () => {
    const result = add(`{\r\n\t"tools": [\r\n\t\t${one}\r\n\t]\r\n}\r\n`);
    assert.deepEqual(names(result), ['one', 'count_words']);
    assert.ok(result.includes('\r\n\t\t{\r\n\t\t\t"name": "count_words",\r\n'), result);
    assert.equal(/[^\r]\n/.test(result), false);
  });

  const layouts: [title: string, text: string, expected: string[]][] = [
    ['an empty object', '{}', ['count_words']],
    ['an object without a list', '{ "version": 1 // v\n}', ['count_words']],
    ['an object with a comma at its end', '{ "version": 1, }', ['count_words']],
    ['an empty list', '{"tools":[]}', ['count_words']],
    ['a list with a comma at its end', `{ "tools": [${one}, // c\n] }`, ['one', 'count_words']],
    ['a list with a comma behind a comment', `{ "tools": [${one} /* c */ ,] }`, ['one', 'count_words']],
    ['a list on one line', `{"tools":[${one}]}`, ['one', 'count_words']],
    ['a list that is not the last member', `{"tools":[${one}],"version":1}`, ['one', 'count_words']],
  ];
  for (const [title, text, expected] of layouts) {
    it(`adds to ${title}`, () => assert.deepEqual(names(add(text)), expected));
  }

  for (const text of ['{ "tools": [', '[]', '7', '{ "tools": {} }', '{ "tools": [] ] }']) {
    it(`leaves alone ${text}`, () => {
      assert.throws(
        () => addTool(text),
        (error) => error instanceof RolecallError && error.kind === 'configuration',
      );
    });
  }

  it('gives a file that is in order, whatever comments and blanks stand in it', () => {
    const gap = fc
      .array(fc.constantFrom(' ', '\n', '\t', '// ]},\n', '/* , */', '\r\n'), { maxLength: 4 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(gap, { minLength: 9, maxLength: 9 }), fc.boolean(), fc.nat(2), (gaps, comma, count) => {
        const [a, b, c, d, e, f, g, h, i] = gaps;
        const tools = Array.from({ length: count }, (_, at) => one.replace('one', `t${at}`)).join(`${d},${e}`);
        const text = `${a}{${b}"tools"${c}:[${f}${tools}${g}${comma && count > 0 ? ',' : ''}${h}]${i}}`;
        assert.deepEqual(names(add(text)), [...Array.from({ length: count }, (_, at) => `t${at}`), 'count_words']);
      }),
    );
  });
});
