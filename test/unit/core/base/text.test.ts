import assert from 'node:assert/strict';
import { cutText, serverWords, shortened } from '../../../../src/core/base/errors.ts';

describe('text that is cut', () => {
  it('ends with a whole character', () => {
    const text = 'a😀b😀';
    const whole = ['', 'a', 'a', 'a😀', 'a😀b', 'a😀b', text, text];
    for (const [length, expected] of whole.entries()) assert.equal(cutText(text, length), expected, `${length}`);
    assert.equal(shortened(text, 6), text);
    for (let length = 1; length < 6; length++) {
      const short = shortened(text, length);
      assert.ok(!/\p{Cs}/u.test(short) && short.endsWith('…') && short.length <= length, short);
    }
  });

  it('is that of a service too', () => {
    for (const before of ['', 'a']) assert.doesNotMatch(serverWords(before + '😀'.repeat(1000)), /\p{Cs}/u);
  });
});
