// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import {
  fillArgv,
  fillJson,
  jsonDiagnostics,
  jsonParameters,
  parseTemplate,
} from '../../../../src/core/tools/templates.ts';
import { runs } from '../../runs.ts';

const fill = (templates: string[], args: Record<string, unknown>, platform: NodeJS.Platform = 'linux') =>
  fillArgv(templates, args, platform);
const refusedAs = (message: RegExp) => (error: unknown) =>
  error instanceof RolecallError && error.kind === 'tool' && message.test(error.message);

describe('fillArgv', () => {
  const rows: [title: string, templates: string[], args: Record<string, unknown>, expected: string[]][] = [
    ['text', ['${a}'], { a: 'x y' }, ['x y']],
    [
      'nothing a shell would read',
      ['${a}'],
      { a: '$(rm -rf /); `x` | "q" \'s\' * ~ && \n' },
      ['$(rm -rf /); `x` | "q" \'s\' * ~ && \n'],
    ],
    ['a placeholder in a value is no placeholder', ['${a}', '${b}'], { a: '${b}', b: 'x' }, ['${b}', 'x']],
    ['replacement patterns mean nothing', ['a${a}b'], { a: '$& $1 $$' }, ['a$& $1 $$b']],
    ['numbers and booleans', ['${a}', '${b}', '${c}'], { a: 1.5, b: true, c: 0 }, ['1.5', 'true', '0']],
    ['a list as JSON text', ['${a}'], { a: ['x', '-y', 1] }, ['["x","-y",1]']],
    ['an object as JSON text', ['--data=${a}'], { a: { b: 'c d' } }, ['--data={"b":"c d"}']],
    ['a NUL inside of JSON is escaped', ['${a}'], { a: ['\0'] }, ['["\\u0000"]']],
    ['empty text stays an argument', ['${a}', 'z'], { a: '' }, ['', 'z']],
    ['a missing one is dropped', ['x', '${a}', 'z'], {}, ['x', 'z']],
    ['null is missing', ['x', '${a}', 'z'], { a: null }, ['x', 'z']],
    ['a missing one inside is empty', ['--a=${a}', '${a}${a}', ' ${a}'], {}, ['--a=', '', ' ']],
    ['an escaped placeholder', ['$${a}', 'x$${', '$$${a}'], { a: 'A' }, ['${a}', 'x${', '$${a}']],
    ['a lone dollar', ['$', '$a', '$$', '{a}'], { a: 'A' }, ['$', '$a', '$$', '{a}']],
    ['a hyphen after --', ['x', '--', '${a}'], { a: '-rf' }, ['x', '--', '-rf']],
    ['a hyphen inside of an argument', ['--a=${a}', 'x${a}'], { a: '-rf' }, ['--a=-rf', 'x-rf']],
    ['a slash on POSIX', ['${a}'], { a: '/etc' }, ['/etc']],
    ['what every object inherits is missing', ['${toString}', '${constructor}'], {}, []],
  ];
  for (const [title, templates, args, expected] of rows) {
    it(title, () => assert.deepEqual(fill(templates, args), expected));
  }

  const refused: [
    title: string,
    templates: string[],
    args: Record<string, unknown>,
    message: RegExp,
    platform?: NodeJS.Platform,
  ][] = [
    ['an option', ['${a}'], { a: '-rf' }, /"a" may not begin with "-"/],
    ['a long option', ['${a}'], { a: '--exec=x' }, /"a" may not begin with "-"/],
    ['a hyphen alone', ['${a}'], { a: '-' }, /may not begin/],
    ['the end of options', ['${a}'], { a: '--' }, /may not begin/],
    ['a negative number', ['${a}'], { a: -1 }, /may not begin/],
    ['an option put together', ['${a}${b}'], { a: '-', b: 'x' }, /may not begin/],
    ['an option after an empty beginning', ['${a}${b}'], { b: '-x' }, /may not begin/],
    ['an option with text behind it', ['${a}.txt'], { a: '-x' }, /may not begin/],
    ['an option although -- follows', ['${a}', '--'], { a: '-x' }, /may not begin/],
    ['an option after a -- the model wrote', ['x${a}', '${b}'], { a: '--', b: '-x' }, /may not begin/],
    ['an option after a -- the model completed', ['-${a}', '${b}'], { a: '-', b: '-x' }, /may not begin/],
    ['an option of Windows', ['${a}'], { a: '/c' }, /may not begin with "\/"/, 'win32'],
    ['NUL', ['x${a}'], { a: 'a\0b' }, /NUL/],
    ['half a character', ['x${a}'], { a: '\ud800' }, /surrogate/],
  ];
  for (const [title, templates, args, message, platform] of refused) {
    it(`refuses ${title}`, () => assert.throws(() => fill(templates, args, platform), refusedAs(message)));
  }

  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('-', '$', '{', '}', 'a', '"', "'", ' ', ';', '/', '\0', '`', '\n') }),
    fc.double(),
    fc.boolean(),
    fc.jsonValue(),
  );
  const template = fc
    .array(fc.constantFrom('${a}', '${b}', '${c}', '-', '--', 'x', '=', '$${', '$', ' '), {
      minLength: 1,
      maxLength: 4,
    })
    .map((parts) => parts.join(''));
  const templates = fc.array(template, { maxLength: 6 });
  const given = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value);

  it('whatever the values: one template, one argument, in its place; fixed text is never changed', () => {
    fc.assert(
      fc.property(templates, given, (list, args) => {
        let filled: string[];
        try {
          filled = fill(list, args);
        } catch (error) {
          assert.ok(error instanceof RolecallError && error.kind === 'tool');
          return;
        }
        const kept = list.filter((each) => {
          const only = /^\$\{([abc])\}$/.exec(each)?.[1];
          return only === undefined || (args[only] ?? undefined) !== undefined;
        });
        assert.equal(filled.length, kept.length);
        kept.forEach((each, index) => {
          const parsed = parseTemplate(each);
          assert.equal(parsed.kind, 'ok');
          const parts = parsed.kind === 'ok' ? parsed.parts : [];
          const [first] = parts;
          const argument = filled[index] ?? '';
          if (first?.kind === 'text') assert.ok(argument.startsWith(first.text));
          if (parts.every((part) => part.kind === 'text')) assert.equal(argument, each.replaceAll('$${', '${'));
          assert.ok(!argument.includes('\0'));
        });
      }),
      runs(150),
    );
  });

  it('whatever the values: an argument that begins with a value begins with "-" only after "--"', () => {
    let seen = 0;
    fc.assert(
      fc.property(templates, given, fc.boolean(), (list, args, ended) => {
        const all = ended ? ['--', ...list] : list.filter((each) => each !== '--');
        const attempt = (): string[] =>
          fill(
            all.filter((each) => each.startsWith('${')),
            args,
          );
        try {
          const filled = ended
            ? fill(['--', ...all.filter((each) => each.startsWith('${'))], args).slice(1)
            : attempt();
          const options = filled.filter((each) => each.startsWith('-'));
          if (ended) seen += options.length;
          else assert.deepEqual(options, []);
        } catch (error) {
          assert.ok(error instanceof RolecallError && error.kind === 'tool');
          if (ended) assert.doesNotMatch(error.message, /may not begin/);
        }
      }),
      runs(150),
    );
    assert.ok(seen > 0, 'no value with a hyphen was generated');
  });
});

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
    const found = jsonDiagnostics({ a: ['${x}', '${y}'], b: { c: '${' } }, ['run'], (name) => name === 'x');
    assert.deepEqual(
      found.map(({ path, message }) => [path.join('.'), message.slice(0, 20)]),
      [
        ['run.a.1', '"${y}" is not a decl'],
        ['run.b.c', '"${" has no closing '],
      ],
    );
  });
});
