import assert from 'node:assert/strict';
import fc from 'fast-check';
import { HIDDEN, Redactor, redact, redactValues } from '../../../../src/core/base/redact.ts';
import { runs } from '../../runs.ts';

type Write = (secret: string) => string;

const percent: Write = (text) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const json: Write = (text) => JSON.stringify(text).slice(1, -1);
const base64: Write = (text) => Buffer.from(text).toString('base64');
const wrapped =
  (width: number, by: string): Write =>
  (text) =>
    (text.match(new RegExp(`[\\s\\S]{1,${width}}`, 'gu')) ?? []).join(by);

const PIECE = 14;
/** What no encoding changes: a part of it this long would give the value away. */
const bare: Write = (text) => text.replace(/\\+(?:[nrtbf]|u00..|u\{\w+\})|%25|%..|&#\w+;|[^a-z\d]/gi, '');

/** How others write a value down, each with what it makes of one. */
const encodings: Readonly<Record<string, Write>> = {
  'as it is': (text) => text,
  'in a query': encodeURIComponent,
  'in a query in lower case': (text) => encodeURIComponent(text).replace(/%../g, (byte) => byte.toLowerCase()),
  'in a query, twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  'every byte in percent': percent,
  'in a form': (text) => new URLSearchParams({ x: text }).toString().slice(2),
  'in JSON': json,
  'in JSON in JSON': (text) => json(json(text)),
  'in JSON with numbers for characters': (text) =>
    text.replace(/[^a-z\d]/gi, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'in a query in JSON': (text) => json(encodeURIComponent(text)),
  'in JSON in a query': (text) => encodeURIComponent(json(text)),
  'in a page': (text) => text.replace(/[&<>"']/g, (unit) => `&#${unit.charCodeAt(0)};`),
  'in a page, with zeros': (text) => text.replace(/[&<>"']/g, (unit) => `&#x00${unit.charCodeAt(0).toString(16)};`),
  'in source text': (text) => text.replace(/[^a-z\d]/gi, (unit) => `\\u{${unit.charCodeAt(0).toString(16)}}`),
  'in capitals': (text) => text.toUpperCase(),
  'in hexadecimal': (text) => Buffer.from(text).toString('hex'),
  'in hexadecimal, as dumps have it': (text) => wrapped(2, ' ')(Buffer.from(text).toString('hex').toUpperCase()),
  'as a list of bytes': (text) => [...Buffer.from(text)].join(', '),
  'over several lines': wrapped(16, '\n'),
  'over several folded lines': wrapped(20, '\r\n    '),
  'over several lines in JSON': (text) => json(wrapped(16, '\n')(text)),
  'in base64': base64,
  'in base64 behind one byte': (text) => base64(`1${text}`),
  'in base64 behind two bytes, before others': (text) => base64(`ab${text}:more`),
  'in base64 of a form': (text) => base64(`client:${encodeURIComponent(text)}`),
  'in base64url': (text) => Buffer.from(`client:${text}`).toString('base64url'),
  'in base64 of lines': (text) => wrapped(24, '\r\n')(base64(`id:${text}`)),
  'in base64 in a query': (text) => encodeURIComponent(base64(text)),
  'without its end': (text) => `${partOf(text, 0.7, (length) => text.slice(0, length))}…`,
  'without its beginning': (text) => `…${partOf(text, 0.6, (length) => text.slice(-length))}`,
};

/** That share of a value, or more where too little of it would be what no encoding changes. */
function partOf(text: string, share: number, take: (length: number) => string): string {
  let length = Math.ceil(text.length * share);
  while (length < text.length && bare(take(length)).length < PIECE) length += 1;
  return take(length);
}

/** Where it stands; none of these gives it away by itself. */
const places: readonly (readonly [string, string])[] = [
  ['', ''],
  ['Server response: ', ' is not known.'],
  ['{"error_description":"Bad value ', '"}'],
  ['<p>', '</p>'],
  ['GET /x?y=', '&z=1'],
  ["curl -d 'q=", "' https://a.example"],
  ['first line\n', '\nlast line'],
];

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const letters = (minLength: number, maxLength: number, more = '') =>
  fc.string({ unit: fc.constantFrom(...ALPHABET, ...more), minLength, maxLength }).filter(isDrawnAtRandom);

/** What repeats itself, as "aaaaaa" does, is nobody's secret, and its parts cannot be told from each other. */
function isDrawnAtRandom(value: string): boolean {
  const parts = Array.from({ length: Math.max(0, value.length - 3) }, (_, at) => value.slice(at, at + 4));
  return new Set(parts).size === parts.length;
}
/** Opaque values as servers draw them, and passwords with all that an encoding changes. */
const secrets = fc.oneof(
  letters(20, 90),
  letters(20, 90, '-_'),
  letters(20, 60, '~ !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}é'),
);

function assertGone(output: string, written: string, given: string): void {
  const [left, sought] = [bare(output.replaceAll(HIDDEN, '\n')), bare(written)];
  for (let at = 0; at + PIECE <= sought.length; at += 1) {
    const piece = sought.slice(at, at + PIECE);
    assert.ok(!left.includes(piece), `${piece} of\n${given}\nis left in\n${output}`);
  }
}

describe('a secret that is known', () => {
  for (const [name, write] of Object.entries(encodings)) {
    it(`is hidden ${name}, wherever it stands`, () => {
      fc.assert(
        fc.property(secrets, fc.constantFrom(...places), fc.array(letters(8, 40), { maxLength: 3 }), (...drawn) => {
          const [secret, [before, after], others] = drawn;
          const redactor = new Redactor();
          for (const each of [...others, secret, ...others]) redactor.addSecret(each);
          const written = write(secret);
          const given = before + written + after;
          for (const output of [redactor.redact(given), redactValues(given, [secret])]) {
            assert.ok(output.includes(HIDDEN), `${given}\n${output}`);
            assertGone(output, written, given);
          }
        }),
        runs(20),
      );
    });
  }

  it('leaves everything else as it is', () => {
    fc.assert(
      fc.property(letters(12, 60), fc.constantFrom(...places), (secret, [before, after]) => {
        assert.equal(redactValues(before + secret + after, [secret]), before + HIDDEN + after);
        assert.equal(redactValues(before + after, [secret]), before + after);
      }),
    );
  });
});

/** What gives a value away, with the value's place; `q` is written in quotes and may hold blanks, commas and escapes. */
const tellingPlaces: readonly (readonly [kind: 'plain' | 'quoted', write: Write])[] = [
  ...['accessToken', 'refreshToken', 'clientSecret', 'codeVerifier', 'idToken', 'apiKey', 'inferenceToken'].flatMap(
    (name): (readonly ['plain' | 'quoted', Write])[] => [
      ['quoted', (value) => `{"a":1,"${name}":${JSON.stringify(value)},"b":2}`],
      ['quoted', (value) => JSON.stringify({ body: JSON.stringify({ [name]: value }) })],
      ['quoted', (value) => encodeURIComponent(JSON.stringify({ [name]: value }))],
      ['plain', (value) => `{ ${name}: '${value}' }`],
      ['plain', (value) => `${name}=${value}&x=1`],
    ],
  ),
  ...['access_token', 'refresh_token', 'client_secret', 'code_verifier', 'password', 'x-api-key'].flatMap(
    (name): (readonly ['plain' | 'quoted', Write])[] => [
      ['quoted', (value) => `"${name}" : ${JSON.stringify(value)}`],
      ['plain', (value) => `${name}: ${value}`],
      ['plain', (value) => `https://a.example/x?${name}=${value}`],
      ['plain', (value) => `${name}=${value.slice(0, 12)}\n  ${value.slice(12)}\n`],
    ],
  ),
  ['quoted', (value) => `Authorization: Digest username="me", response=${JSON.stringify(value)}\nnext`],
  ['quoted', (value) => `{"Authorization":${JSON.stringify(`Whatever ${value}`)}}`],
  ['quoted', (value) => `Cookie: theme=dark; session=${JSON.stringify(value)}\r\nHost: a`],
  ['plain', (value) => `set-cookie: sid=${value}; Path=/; HttpOnly`],
  ['plain', (value) => `{"set-cookie":["a=1","sid=${value}"]}`],
  ['plain', (value) => `Proxy-Authorization: Basic ${value}`],
  ['plain', (value) => `X-Api-Key: ${value}`],
  ['plain', (value) => `https://${value}@git.example/x.git`],
  ['plain', (value) => `https://a.example/x?X-Signature=${value}&sessionId=1`],
  ['plain', (value) => `JSESSIONID=${value}`],
  ['plain', (value) => JSON.stringify(`-----BEGIN PRIVATE KEY-----\nMII\n${value}\n-----END PRIVATE KEY-----\n`)],
  ['plain', (value) => `https://me:${value}@proxy.example:3128/`],
  ['quoted', (value) => `http://me:${encodeURIComponent(value)}@proxy.example`],
  ['plain', (value) => `the refresh token ${value} was used before`],
  ['plain', (value) => `unknown value ${value} (client secret)`],
];

describe('a secret that is not known', () => {
  const opaque = letters(21, 60).filter((value) => /\d/.test(value) && /[A-Z]/.test(value) && /[a-z]/.test(value));
  const passwords = letters(20, 60, ' ,;"\'\\\n{}&');

  it('is hidden wherever something gives it away', () => {
    fc.assert(
      fc.property(fc.constantFrom(...tellingPlaces), opaque, passwords, ([kind, write], plain, quoted) => {
        const value = kind === 'plain' ? plain : quoted;
        const given = write(value);
        const output = redact(given);
        assert.ok(output.includes(HIDDEN), `${given}\n${output}`);
        assertGone(output, value, given);
      }),
      runs(800),
    );
  });
});
