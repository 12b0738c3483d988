// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { fillJson, jsonFindings, jsonParameters } from '../../../../src/core/tools/jsonTemplate.ts';

describe('JSON templates', () => {
  const rows: [template: unknown, args: Record<string, unknown>, value: unknown][] = [
    ['${a}', { a: 7 }, 7],
    ['${a}', { a: { b: [true] } }, { b: [true] }],
    ['x ${a} y', { a: { b: 1 } }, 'x {"b":1} y'],
    ['${a}${b}', { a: 1, b: 2 }, '12'],
    ['$${a}', { a: 1 }, '${a}'],
    ['${a}', {}, undefined],
    ['<${a}>', {}, '<>'],
    [{ keep: 1, gone: '${a}', '${a}': 2 }, {}, { keep: 1, '${a}': 2 }],
    [['${a}', 'b'], {}, [null, 'b']],
    [[1, null, false], {}, [1, null, false]],
    ['${toString}', {}, undefined],
  ];
  for (const [template, args, value] of rows) {
    it(`${JSON.stringify(template)} with ${JSON.stringify(args)}`, () => {
      assert.deepEqual(fillJson(template, args), value);
    });
  }

  it('without placeholders are the value they are', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!JSON.stringify(value).includes('${') && !JSON.stringify(value).includes('__proto__'));
        assert.deepEqual(fillJson(value, { a: 1 }), value);
        assert.deepEqual(jsonParameters(value), []);
      }),
    );
  });

  it('do not read templates in values', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (a) => {
        fc.pre(a !== null);
        assert.deepEqual(fillJson({ x: ['${a}'] }, { a, b: 'secret' }), { x: [a] });
      }),
    );
    assert.deepEqual(fillJson(['${a}', '<${a}>'], { a: '${b}', b: 'secret' }), ['${b}', '<${b}>']);
  });

  it('name what is not declared or cannot be read, at its place', () => {
    const found = jsonFindings({ a: ['${x}', '${y}'], b: { c: '${' } }, ['run'], (name) => name === 'x');
    assert.deepEqual(
      found.map(({ path, message }) => [path.join('.'), message.slice(0, 20)]),
      [
        ['run.a.1', '"${y}" is not among '],
        ['run.b.c', 'This text has "${" w'],
      ],
    );
  });
});
