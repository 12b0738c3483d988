// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  canonicalJson,
  consentLines,
  definitionHash,
  escapeInvisible,
  shownPermissions,
} from '../../../../src/core/tools/consent.ts';
import type { ProcessRun } from '../../../../src/core/tools/definition.ts';
import { runs } from '../../runs.ts';

const run: ProcessRun = {
  kind: 'process',
  command: ['git'],
  cwd: '.',
  env: { LANG: 'de', X: 'a\nb' },
  timeoutSeconds: 5,
  outputLimit: 1000,
  stdin: 'none',
  access: { read: ['.'], write: [], network: false },
  contained: true,
};
const spec = {
  executable: { path: '/usr/bin/git', realPath: '/opt/git' },
  args: ['log', 'a b', '', '\u202egpj.exe'],
  root: '/space',
  cwd: '/space/in',
  env: { PATH: '/bin', LANG: 'de', X: 'a\nb' },
  stdin: undefined,
  timeoutMs: 5000,
  outputLimit: 1000,
  permissions: undefined,
};

describe('consentLines', () => {
  it('says what runs, with what, where, with which additions and for how long', () => {
    assert.deepEqual(
      consentLines(spec, { run }).map(({ kind, text }) => `${kind} ${text}`),
      [
        'executable "/usr/bin/git"',
        'executableTarget "/opt/git"',
        'argument "log"',
        'argument "a b"',
        'argument ""',
        'argument "\\u{202e}gpj.exe"',
        'folder "/space/in"',
        'variable LANG="de"',
        'variable X="a\\nb"',
        'timeout 5 s',
      ],
    );
  });

  it('says what is written to standard input, and leaves out a target that is the program itself', () => {
    const lines = consentLines({ ...spec, executable: { path: '/g', realPath: '/g' }, stdin: '{"a":1}' }, { run });
    assert.ok(!lines.some(({ kind }) => kind === 'executableTarget'));
    assert.deepEqual(lines.find(({ kind }) => kind === 'stdin')?.text, '"{\\"a\\":1}"');
  });
});

describe('visible', () => {
  const rows: [title: string, text: string, expected: string][] = [
    ['plain text', "a 'b' $x é 漢 😀", `"a 'b' $x é 漢 😀"`],
    ['quotes and backslashes', 'a"b\\c', '"a\\"b\\\\c"'],
    ['an escape that was typed', '\\u{202e}', '"\\\\u{202e}"'],
    ['line breaks and tabs', '\r\n\t', '"\\r\\n\\t"'],
    ['control characters', '\0\x1b[31m\x7f\x9b', '"\\u{0}\\u{1b}[31m\\u{7f}\\u{9b}"'],
    [
      'bidirectional characters',
      '\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c',
      '"\\u{202a}\\u{202b}\\u{202c}\\u{202d}\\u{202e}\\u{2066}\\u{2067}\\u{2068}\\u{2069}\\u{200e}\\u{200f}\\u{61c}"',
    ],
    [
      'nothing to see',
      '\u200b\u200d\u2060\ufeff\u00ad\u034f\u115f\u3164\u2800\ufe0f\u{e0041}\u{e0100}',
      '"\\u{200b}\\u{200d}\\u{2060}\\u{feff}\\u{ad}\\u{34f}\\u{115f}\\u{3164}\\u{2800}\\u{fe0f}\\u{e0041}\\u{e0100}"',
    ],
    ['other blanks', '\u00a0\u2003\u3000', '"\\u{a0}\\u{2003}\\u{3000}"'],
    ['other line breaks', '\u2028\u2029\u0085', '"\\u{2028}\\u{2029}\\u{85}"'],
    ['half a character', '\ud800', '"\\u{d800}"'],
    ['private use', '\ue000', '"\\u{e000}"'],
    ['marks over and under a letter', 'e\u0301\u0330', '"e\\u{301}\\u{330}"'],
    ['a few blanks', 'a   b', '"a   b"'],
    ['a run of blanks', `a${' '.repeat(400)}b`, '"a\\{400 spaces}b"'],
    ['what looks like a run of blanks', 'a\\{400 spaces}b', '"a\\\\{400 spaces}b"'],
  ];
  for (const [title, text, expected] of rows) {
    it(`shows ${title}`, () => assert.equal(escapeInvisible(text), expected));
  }

  it('holds back nothing: different texts are shown differently, on one line', () => {
    const back = (shown: string): string =>
      shown
        .slice(1, -1)
        .replaceAll(
          /\\(?:u\{([0-9a-f]+)\}|\{(\d+) spaces\}|(.))/gu,
          (_, code: string | undefined, count: string | undefined, letter: string) =>
            code !== undefined
              ? String.fromCodePoint(Number.parseInt(code, 16))
              : count !== undefined
                ? ' '.repeat(Number(count))
                : ({ n: '\n', r: '\r', t: '\t' }[letter] ?? letter),
        );
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(' ', '\\', '{', '4', 'a') })),
        (text) => {
          const shown = escapeInvisible(text);
          assert.equal(back(shown), text);
          assert.doesNotMatch(shown, / {4}|[\p{C}\p{M}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
        },
      ),
      runs(150),
    );
  });
});

describe('shownPermissions', () => {
  const reach = {
    read: ['/w'],
    write: ['/w/out', '/w/a b', '/w/nothing'],
    network: false,
    program: '/h/x/bin/p\u202e',
    files: ['/w/a b', '/w/nothing'],
    homes: ['/h'],
  };

  it('names what lies in the workspace by its place there, and shows what is hidden in a name', () => {
    assert.deepEqual(shownPermissions(reach, '/w'), {
      reads: ['.'],
      writes: ['out/', '"a b"', '"nothing"'],
      program: '"/h/x/bin/p\\u{202e}"',
      network: false,
    });
  });
});

describe('definitionHash', () => {
  const definition = {
    name: 'x',
    description: 'd',
    parameters: { type: 'object' as const, properties: { file: { type: 'string' } }, required: [] },
    run,
    folder: '/space',
  };
  const target = {
    executable: { path: '/g', realPath: '/g' },
    permissions: { read: ['/w'], write: [], network: false },
  };
  const plain = definitionHash(definition, target);
  const withRun = (changes: Partial<ProcessRun>) =>
    definitionHash({ ...definition, run: { ...run, ...changes } }, target);

  it('is the same for the same, whatever the order of members', () => {
    assert.match(plain, /^[0-9a-f]{64}$/);
    assert.equal(
      definitionHash(Object.fromEntries(Object.entries(definition).reverse()) as typeof definition, target),
      plain,
    );
  });

  const changes: [title: string, hash: string][] = [
    ['the name', definitionHash({ ...definition, name: 'y' }, target)],
    ['the description', definitionHash({ ...definition, description: 'e' }, target)],
    [
      'the parameters',
      definitionHash({ ...definition, parameters: { ...definition.parameters, required: ['file'] } }, target),
    ],
    ['the folder', definitionHash({ ...definition, folder: '/other' }, target)],
    ['an argument', withRun({ command: ['git', 'x'] })],
    ['the working folder', withRun({ cwd: 'a' })],
    ['a variable', withRun({ env: { LANG: 'de' } })],
    ['the time limit', withRun({ timeoutSeconds: 6 })],
    ['the input', withRun({ stdin: 'json' })],
    ['what it may write', withRun({ access: { ...run.access, write: ['out'] } })],
    ['that it is contained', withRun({ contained: false })],
    ['the program found', definitionHash(definition, { ...target, executable: { path: '/g', realPath: '/h' } })],
    [
      'what it reaches here',
      definitionHash(definition, { ...target, permissions: { ...target.permissions, network: true } }),
    ],
    ['that nothing bounds it here', definitionHash(definition, { executable: target.executable })],
  ];
  for (const [title, changed] of changes) it(`is another with ${title} changed`, () => assert.notEqual(changed, plain));
});

describe('canonicalJson', () => {
  it('is the same for equal values, whatever the order, and reads back', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
        const turned = JSON.parse(JSON.stringify(value), (_, member: unknown) =>
          typeof member === 'object' && member !== null && !Array.isArray(member)
            ? Object.fromEntries(Object.entries(member).reverse())
            : member,
        );
        assert.equal(canonicalJson(turned), text);
      }),
    );
  });
});
