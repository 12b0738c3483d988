// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { consentLines, visible } from '../../../../src/core/tools/consentText.ts';
import type { ProcessRun } from '../../../../src/core/tools/definition.ts';

const run: ProcessRun = {
  kind: 'process',
  command: ['git'],
  cwd: '.',
  env: { LANG: 'de', X: 'a\nb' },
  timeoutSeconds: 5,
  outputLimit: 1000,
  stdin: 'none',
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
  ];
  for (const [title, text, expected] of rows) {
    it(`shows ${title}`, () => assert.equal(visible(text), expected));
  }

  it('holds back nothing: different texts are shown differently, on one line', () => {
    const back = (shown: string): string =>
      shown
        .slice(1, -1)
        .replaceAll(/\\(?:u\{([0-9a-f]+)\}|(.))/gu, (_, code: string | undefined, letter: string) =>
          code !== undefined
            ? String.fromCodePoint(Number.parseInt(code, 16))
            : ({ n: '\n', r: '\r', t: '\t' }[letter] ?? letter),
        );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = visible(text);
        assert.equal(back(shown), text);
        assert.doesNotMatch(shown, /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
      }),
      { numRuns: 500 },
    );
  });
});
