import assert from 'node:assert/strict';
import { sanitizeServerMessage } from '../../../../src/core/base/errors.ts';
import { joinSentences, truncate, truncateWithEllipsis } from '../../../../src/core/base/text.ts';

describe('text that is cut', () => {
  it('ends with a whole character', () => {
    const text = 'a😀b😀';
    const whole = ['', 'a', 'a', 'a😀', 'a😀b', 'a😀b', text, text];
    for (const [length, expected] of whole.entries()) assert.equal(truncate(text, length), expected, `${length}`);
    assert.equal(truncateWithEllipsis(text, 6), text);
    for (let length = 1; length < 6; length++) {
      const short = truncateWithEllipsis(text, length);
      assert.ok(!/\p{Cs}/u.test(short) && short.endsWith('…') && short.length <= length, short);
    }
  });

  it('is that of a service too', () => {
    for (const before of ['', 'a']) assert.doesNotMatch(sanitizeServerMessage(before + '😀'.repeat(1000)), /\p{Cs}/u);
  });
});

describe('sentences one after another', () => {
  it('get the period that a server left out', () => {
    assert.equal(
      joinSentences(['One.', 'Server response: no', 'Is "x"', 'Why?']),
      'One. Server response: no. Is "x". Why?',
    );
    assert.equal(joinSentences([]), '');
  });
});
