// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { OutputKeeper } from '../../../../src/core/tools/output.ts';

function keep(limit: number, ...chunks: Uint8Array[]) {
  const keeper = new OutputKeeper(limit);
  for (const chunk of chunks) keeper.push(chunk);
  return keeper.finish();
}

const note = /\n\[(\d+) bytes left out\]\n/;

describe('OutputKeeper', () => {
  it('keeps everything up to the limit', () => {
    assert.deepEqual(keep(4, Buffer.from('ab'), Buffer.from('cd')), { text: 'abcd', leftOutBytes: 0 });
    assert.deepEqual(keep(4), { text: '', leftOutBytes: 0 });
  });

  it('keeps head and tail and says how much is missing', () => {
    assert.deepEqual(keep(4, Buffer.from('ab123456cd')), { text: 'ab\n[6 bytes left out]\ncd', leftOutBytes: 6 });
    assert.deepEqual(keep(4, Buffer.from('abc'), Buffer.from('d'), Buffer.from('e')), {
      text: 'ab\n[1 bytes left out]\nde',
      leftOutBytes: 1,
    });
  });

  it('cuts no character in two and counts what that costs', () => {
    assert.deepEqual(keep(8, Buffer.from('aé€€€€éb')), { text: 'aé\n[12 bytes left out]\néb', leftOutBytes: 12 });
  });

  it('joins characters that come in pieces', () => {
    const bytes = [...Buffer.from('€😀é')].map((byte) => Uint8Array.of(byte));
    assert.equal(keep(100, ...bytes).text, '€😀é');
  });

  it('replaces what is no UTF-8', () => {
    assert.equal(keep(100, Uint8Array.of(0x61, 0xff, 0x62)).text, 'a\ufffdb');
  });

  it('however text is cut into pieces: head, count and tail make up the whole, and no character is broken', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀'), maxLength: 80 });
    fc.assert(
      fc.property(text, fc.integer({ min: 8, max: 64 }), fc.array(fc.nat(320)), (whole, limit, cuts) => {
        const bytes = Buffer.from(whole);
        const ends = [...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        const { text: kept, leftOutBytes } = keep(
          limit,
          ...ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end)),
        );
        assert.ok(!kept.includes('\ufffd'));
        if (bytes.length <= limit) {
          assert.deepEqual({ kept, leftOutBytes }, { kept: whole, leftOutBytes: 0 });
          return;
        }
        const [head = '', count, tail = ''] = kept.split(note);
        assert.equal(Number(count), leftOutBytes);
        assert.ok(whole.startsWith(head) && whole.endsWith(tail));
        const keptBytes = Buffer.byteLength(head) + Buffer.byteLength(tail);
        assert.equal(keptBytes + leftOutBytes, bytes.length);
        assert.ok(keptBytes <= limit && keptBytes > limit - 7, `${keptBytes} of ${limit}`);
      }),
      { numRuns: 400 },
    );
  });
});
