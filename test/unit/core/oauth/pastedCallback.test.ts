import assert from 'node:assert/strict';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { readPastedCallback } from '../../../../src/core/oauth/pastedCallback.ts';

const REDIRECT = 'http://127.0.0.1:18155/callback';
const PENDING = { state: 'st4te', codeVerifier: 'v', redirectUri: REDIRECT };
const LONG = 'a'.repeat(2500);

describe('a pasted answer', () => {
  const taken: readonly [what: string, typed: string, query: Record<string, string>][] = [
    ['the last address', `${REDIRECT}?code=abc&state=st4te`, { code: 'abc', state: 'st4te' }],
    ['with what people copy along', `  <${REDIRECT}?code=abc&state=st4te>\n`, { code: 'abc', state: 'st4te' }],
    ['in quotes', `"${REDIRECT}?code=abc&state=st4te"`, { code: 'abc', state: 'st4te' }],
    ['form-encoded', `${REDIRECT}?code=a%2Bb+c&state=st4te`, { code: 'a+b c', state: 'st4te' }],
    [
      'with the issuer',
      `${REDIRECT}?code=a&state=st4te&iss=https%3A%2F%2Fx`,
      { code: 'a', state: 'st4te', iss: 'https://x' },
    ],
    ['a long code', `${REDIRECT}?code=${LONG}&state=st4te`, { code: LONG, state: 'st4te' }],
    ['a refusal', `${REDIRECT}?error=access_denied&state=st4te`, { error: 'access_denied', state: 'st4te' }],
    ['the query alone', '?code=abc&state=st4te', { code: 'abc', state: 'st4te' }],
    ['the query without its mark', 'state=st4te&code=abc', { code: 'abc', state: 'st4te' }],
    [
      'what an address bar shows, without the scheme',
      '127.0.0.1:18155/callback?code=a&state=st4te',
      { code: 'a', state: 'st4te' },
    ],
    ['from the path on', '/callback?code=a&state=st4te', { code: 'a', state: 'st4te' }],
    ['with other members first', 'scope=x&code=a&state=st4te', { scope: 'x', code: 'a', state: 'st4te' }],
    ['the bare code', 'abc-DEF_1.2~abc-DEF_1.2~', { code: 'abc-DEF_1.2~abc-DEF_1.2~', state: 'st4te' }],
    [
      'a bare code that looks like base64',
      'YWJjYWJjYWJjYWJjYWJj+/==',
      { code: 'YWJjYWJjYWJjYWJjYWJj+/==', state: 'st4te' },
    ],
  ];
  for (const [what, typed, query] of taken) {
    it(`is taken: ${what}`, () => {
      const callback = readPastedCallback(typed, PENDING);
      assert.equal(callback.origin + callback.pathname, REDIRECT);
      assert.deepEqual(Object.fromEntries(callback.searchParams), query);
    });
  }

  it('is taken as a link to the editor', () => {
    const redirectUri = 'vscode://rolecall.rolecall/callback';
    const callback = readPastedCallback(`${redirectUri}?code=a&state=st4te`, { ...PENDING, redirectUri });
    assert.equal(callback.href, `${redirectUri}?code=a&state=st4te`);
  });

  const refused: readonly [what: string, typed: string, sentence: RegExp][] = [
    ['nothing', '   ', /Paste the address/],
    ['a word', 'hello', /too short to be a code\. Paste the whole address/],
    ['a one-time password', '123456', /too short/],
    ['two words', 'my code', /spaces or line breaks/],
    ['two lines', 'abc\ndef', /spaces or line breaks/],
    ['another sign-in', `${REDIRECT}?code=abc&state=other`, /another sign-in/],
    ['without state', `${REDIRECT}?code=abc`, /not complete\. Paste the whole address/],
    ['the query of another sign-in', 'code=abc&state=other', /another sign-in/],
    ['another host', 'http://evil.example.com/callback?code=abc&state=st4te', /the last page\. It begins with/],
    ['another port', 'http://127.0.0.1:18156/callback?code=abc&state=st4te', /the last page\. It begins with/],
    ['another path', 'http://127.0.0.1:18155/other?code=abc&state=st4te', /the last page\. It begins with/],
    ['another sign-in without the scheme', '127.0.0.1:18155/callback?code=abc&state=other', /another sign-in/],
    ['a part of another sign-in', '/callback?code=abc&state=other', /another sign-in/],
    ['a query without a code', '?session_state=x', /contains no code/],
    ['no code', `${REDIRECT}?state=st4te`, /contains no code/],
    [
      'where it begins',
      `https://id.example.com/authorize?redirect_uri=${REDIRECT}&state=st4te`,
      /address of the sign-in page/,
    ],
    ['a novel', 'x'.repeat(20_000), /too long/],
  ];
  for (const [what, typed, sentence] of refused) {
    it(`is refused with a sentence: ${what}`, () => {
      assert.throws(
        () => readPastedCallback(typed, PENDING),
        (error) => error instanceof RolecallError && error.kind === 'invalidRequest' && sentence.test(error.message),
      );
    });
  }

  it('never repeats in its sentence what was pasted', () => {
    for (const typed of [
      's3cret-c0de x',
      `${REDIRECT}?code=s3cret-c0de&state=other`,
      'http://x.example/?code=s3cret-c0de',
    ]) {
      assert.throws(
        () => readPastedCallback(typed, PENDING),
        (error) => !String(error).includes('s3cret-c0de'),
      );
    }
  });
});
