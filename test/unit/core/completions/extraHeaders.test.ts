import assert from 'node:assert/strict';
import { readExtraHeaders } from '../../../../src/core/completions/extraHeaders.ts';

describe('extra headers', () => {
  it('are sent as they are written, where they can be', () => {
    const headers = { 'X-Tenant': 'meridian', 'x-api-key': 'a b\tc=', 'User-Agent': 'me' };
    assert.deepEqual(readExtraHeaders(headers), { headers, problems: [] });
    for (const nothing of [undefined, null, {}]) {
      assert.deepEqual(readExtraHeaders(nothing), { headers: {}, problems: [] });
    }
  });

  const reserved = [
    ...['Authorization', 'authorization', 'Host', 'Cookie', 'COOKIE2', 'Content-Type', 'content-length', 'Content-X'],
    ...['Connection', 'Keep-Alive', 'Proxy-Authorization', 'Proxy-Connection', 'TE', 'Trailer', 'Transfer-Encoding'],
    ...['Upgrade', 'HTTP2-Settings', 'Expect', 'Accept', 'Sec-Fetch-Mode'],
  ];
  const wrong: readonly (readonly [string, unknown, RegExp])[] = [
    ...reserved.map((name) => [name, 'canary-value', /because Rolecall or the connection sets it/] as const),
    ['', 'canary-value', /name is not valid/],
    ['X Y', 'canary-value', /name is not valid/],
    ['X:', 'canary-value', /name is not valid/],
    ['X\r\nAuthorization', 'canary-value', /name is not valid/],
    ['Ä', 'canary-value', /name is not valid/],
    ...[
      '',
      ' ',
      ' canary-value',
      'canary-value ',
      'canary\r\nAuthorization: x',
      'canary\nx',
      'canary\0',
      'canary-ä',
    ].map((value) => ['X-A', value, /value is not text on one line/] as const),
    ['X-A', 7, /value is not text/],
    ['X-A', ['canary-value'], /value is not text/],
    ['X-A', `canary${'a'.repeat(8192)}`, /value is not text/],
  ];
  for (const [name, value, sentence] of wrong) {
    it(`are refused, the others not: ${JSON.stringify(name)}, ${JSON.stringify(value)?.slice(0, 40)}`, () => {
      const { headers, problems } = readExtraHeaders({ [name]: value, 'X-B': 'b' });
      assert.deepEqual(headers, { 'X-B': 'b' });
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', sentence);
      assert.doesNotMatch(problems.join(), /canary/);
    });
  }

  it('are taken once, whatever the case of their name', () => {
    const { headers, problems } = readExtraHeaders({ 'X-A': 'one', 'x-a': 'two' });
    assert.deepEqual(headers, { 'X-A': 'one' });
    assert.match(problems[0] ?? '', /"x-a" is not sent, because it is set twice/);
  });

  it('are an object', () => {
    for (const written of ['X-A: b', ['X-A'], 7, true]) {
      const { headers, problems } = readExtraHeaders(written);
      assert.deepEqual([headers, problems.length], [{}, 1]);
    }
  });
});
