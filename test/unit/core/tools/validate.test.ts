// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compileParameters } from '../../../../src/core/tools/validate.ts';
import { runs } from '../../runs.ts';

type Properties = Record<string, Record<string, unknown>>;

function compiled(properties: Properties, more: Record<string, unknown> = {}) {
  const result = compileParameters({ type: 'object', properties, required: [], ...more });
  assert.equal(result.kind, 'ok', JSON.stringify(result));
  return result as Extract<typeof result, { kind: 'ok' }>;
}

function nested(depth: number): Record<string, unknown> {
  let schema: Record<string, unknown> = { type: 'string' };
  for (let count = 0; count < depth; count += 1) schema = { items: schema };
  return schema;
}

describe('compileParameters', () => {
  const rows: [
    title: string,
    properties: Properties,
    more: Record<string, unknown>,
    args: unknown,
    errors: string[],
  ][] = [
    ['good ones', { a: { type: 'string' } }, { required: ['a'] }, { a: 'x' }, []],
    ['a missing one', { a: { type: 'string' } }, { required: ['a'] }, {}, ['a is missing.']],
    ['a wrong type', { a: { type: 'integer' } }, {}, { a: '1' }, ['a must be integer.']],
    ['one nobody declared', { a: {} }, {}, { b: 1 }, ['b is not a parameter of this tool.']],
    ['one nobody declared, where allowed', { a: {} }, { additionalProperties: true }, { b: 1 }, []],
    ['__proto__', { a: {} }, {}, JSON.parse('{"__proto__":1}'), ['__proto__ is not a parameter of this tool.']],
    ['an inherited member is missing', { toString: {} }, { required: ['toString'] }, {}, ['toString is missing.']],
    ['a choice', { a: { enum: ['x', 2] } }, {}, { a: 'y' }, ['a must be equal to one of the allowed values: "x", 2.']],
    [
      'a long choice, cut between characters',
      { a: { enum: ['😀'.repeat(60)] } },
      {},
      { a: 'y' },
      [`a must be equal to one of the allowed values: "${'😀'.repeat(39)}….`],
    ],
    ['a constant', { a: { const: 1 } }, {}, { a: 2 }, ['a must be equal to constant: 1.']],
    [
      'something deep',
      { a: { type: 'array', items: { type: 'object', required: ['b'] } } },
      {},
      { a: [{ b: 1 }, {}] },
      ['a[1].b is missing.'],
    ],
    ['a bound', { a: { type: 'number', maximum: 3 } }, {}, { a: 4 }, ['a must be <= 3.']],
    ['a pattern', { a: { type: 'string', pattern: '^x$' } }, {}, { a: 'y' }, ['a must match pattern "^x$".']],
    ['a list', {}, {}, [], ['The object of arguments must be object.']],
    [
      'a reference inside',
      { a: { $ref: '#/$defs/n' } },
      { $defs: { n: { type: 'null' } } },
      { a: 1 },
      ['a must be null.'],
    ],
    [
      'a parameter that is called like a keyword',
      { $async: { type: 'null' } },
      {},
      { $async: 1 },
      ['$async must be null.'],
    ],
    ['a value that looks like a keyword', { a: { enum: [{ $async: true }] } }, {}, { a: { $async: true } }, []],
    ['a schema that names its draft', { a: {} }, { $schema: 'http://json-schema.org/draft-07/schema#' }, {}, []],
    ['a format is a remark', { a: { type: 'string', format: 'email' } }, {}, { a: 'y' }, []],
    ['a path inside the workspace folder', { a: { format: 'workspace-path' } }, {}, { a: 'src/..x/b c.md' }, []],
    ...['/etc/passwd', '../x', 'a/../../x', 'a\\..\\..', '..', '-rf', '~/.ssh', 'C:\\x', '', 'a\0b'].map(
      (path): [string, Properties, Record<string, unknown>, unknown, string[]] => [
        `no path inside the workspace folder: ${JSON.stringify(path)}`,
        { a: { type: 'string', format: 'workspace-path' } },
        {},
        { a: path },
        ['a must be a path inside the workspace folder: relative to it, without "..", not beginning with "-".'],
      ],
    ),
  ];
  for (const [title, properties, more, args, errors] of rows) {
    it(title, () => assert.deepEqual(compiled(properties, more).check(args), errors));
  }

  it('does not list a hundred errors', () => {
    const properties = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, {}]));
    const errors = compiled(properties, { required: Object.keys(properties) }).check({});
    assert.equal(errors.length, 9);
    assert.equal(errors.at(-1), 'And 92 more.');
  });

  it('stops a pattern that would backtrack for years', () => {
    const { check } = compiled({ a: { type: 'string', pattern: '^(a+)+$' } });
    const errors = check({ a: `${'a'.repeat(60)}!` });
    assert.match(errors.join(), /take too long to check/);
    assert.deepEqual(check({ a: 'aaa' }), [], 'the check still works afterwards');
  });

  const invalid: [title: string, schema: Record<string, unknown>, path: string, message: RegExp][] = [
    ['an unknown type', { properties: { a: { type: 'x' } } }, 'properties.a.type', /must be equal to one of/],
    [
      'a bad pattern',
      { properties: { a: { pattern: '[' } } },
      'properties.a.pattern',
      /not a valid regular expression/,
    ],
    ['a reference to nothing', { properties: { a: { $ref: '#/nope' } } }, '', /nothing is downloaded/],
    [
      'a reference to the network',
      { properties: { a: { $ref: 'https://x.test/s.json' } } },
      '',
      /nothing is downloaded/,
    ],
    ['a schema that refers to itself for ever', { properties: { a: { $ref: '#/properties/a' } } }, '', /endlessly/],
    ['another draft', { $schema: 'https://json-schema.org/draft/2020-12/schema' }, '$schema', /draft-07/],
    ['a promise for an answer', { $async: true, required: ['a'] }, '$async', /turn off checking/],
    [
      'a promise in a part',
      { properties: { a: { allOf: [{ $async: true }] } } },
      'properties.a.allOf.0.$async',
      /turn off checking/,
    ],
    [
      'a promise in a definition',
      { $defs: { $async: { items: { $async: false } } } },
      '$defs.$async.items.$async',
      /turn off checking/,
    ],
    [
      'a meta-schema that allows everything',
      { $schema: 'http://json-schema.org/draft-07/schema#/properties/default', properties: { a: { minimum: [] } } },
      '$schema',
      /draft-07/,
    ],
    [
      'a value that is told by the arguments',
      { properties: { a: { type: 'number', maximum: { $data: '1/b' } } } },
      'properties.a.maximum',
      /must be number/,
    ],
    ['what is too long', { description: 'x'.repeat(65_536) }, '', /longer than 65536 characters/],
    ['what is nested too deeply', { properties: { a: nested(3000) } }, '', /nested too deeply/],
  ];
  for (const [title, schema, path, message] of invalid) {
    it(`refuses ${title}`, () => {
      const result = compileParameters({ type: 'object', properties: {}, required: [], ...schema });
      assert.equal(result.kind, 'invalid');
      const fault = result.kind === 'invalid' ? result.faults[0] : undefined;
      assert.equal(fault?.path.join('.'), path);
      assert.match(fault?.message ?? '', message);
    });
  }

  it('stops a schema that grows without bound as it is checked', () => {
    const twice = (to: number) => ({ allOf: [{ $ref: `#/$defs/d${to}` }, { $ref: `#/$defs/d${to}` }] });
    const steps = Array.from({ length: 40 }, (_, index) => [`d${index}`, index === 39 ? {} : twice(index + 1)]);
    const { check } = compiled({ a: { $ref: '#/$defs/d0' } }, { $defs: Object.fromEntries(steps) });
    assert.match(check({ a: 1 }).join(), /take too long to check/);
  });

  it('does not let one tool see the names of another', () => {
    compiled({ a: { $id: 'https://x.test/name', type: 'string' } });
    compiled({ a: { $id: 'https://x.test/name', type: 'number' } });
    const result = compileParameters({
      type: 'object',
      properties: { a: { $ref: 'https://x.test/name' } },
      required: [],
    });
    assert.equal(result.kind, 'invalid');
  });

  it('names the keywords it does not know, but for those that begin with x-', () => {
    assert.deepEqual(compiled({ a: { prefixItems: [], 'x-mine': 1 } }).unknownKeywords, ['prefixItems']);
  });

  it('never throws, whatever the model sends', () => {
    const { check } = compiled(
      { a: { type: 'string' }, b: { type: 'array', items: { type: 'object' } } },
      { required: ['a'] },
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.ok(Array.isArray(check(value)));
      }),
      runs(30),
    );
  });
});
