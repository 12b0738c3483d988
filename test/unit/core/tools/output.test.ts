// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  headAndTail,
  OutputBuffer,
  type ProcessResult,
  processResultText,
  valueResult,
} from '../../../../src/core/tools/output.ts';
import { runs } from '../../runs.ts';

function keep(limit: number, ...chunks: Uint8Array[]) {
  const buffer = new OutputBuffer(limit);
  for (const chunk of chunks) buffer.push(chunk);
  return buffer.finish();
}

const note = /\n\[(\d+) bytes left out\]\n/;

describe('OutputKeeper', () => {
  it('keeps everything up to the limit', () => {
    assert.deepEqual(keep(4, Buffer.from('ab'), Buffer.from('cd')), 'abcd');
    assert.deepEqual(keep(4), '');
  });

  it('keeps head and tail and says how much is missing', () => {
    assert.deepEqual(keep(4, Buffer.from('ab123456cd')), 'ab\n[6 bytes left out]\ncd');
    assert.deepEqual(keep(4, Buffer.from('abc'), Buffer.from('d'), Buffer.from('e')), 'ab\n[1 bytes left out]\nde');
  });

  it('cuts no character in two and counts what that costs', () => {
    assert.deepEqual(keep(8, Buffer.from('aé€€€€éb')), 'aé\n[12 bytes left out]\néb');
  });

  it('joins characters that come in pieces', () => {
    const bytes = [...Buffer.from('€😀é')].map((byte) => Uint8Array.of(byte));
    assert.equal(keep(100, ...bytes), '€😀é');
  });

  it('replaces what is no UTF-8', () => {
    assert.equal(keep(100, Uint8Array.of(0x61, 0xff, 0x62)), 'a\ufffdb');
  });

  it('however text is cut into pieces: head, count and tail make up the whole, and no character is broken', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀'), maxLength: 80 });
    fc.assert(
      fc.property(text, fc.integer({ min: 8, max: 64 }), fc.array(fc.nat(320)), (whole, limit, cuts) => {
        const bytes = Buffer.from(whole);
        const ends = [...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        const kept = keep(limit, ...ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end)));
        assert.ok(!kept.includes('\ufffd'));
        if (bytes.length <= limit) {
          assert.equal(kept, whole);
          return;
        }
        const [head = '', count, tail = ''] = kept.split(note);
        assert.ok(whole.startsWith(head) && whole.endsWith(tail));
        const keptBytes = Buffer.byteLength(head) + Buffer.byteLength(tail);
        assert.equal(keptBytes + Number(count), bytes.length);
        assert.ok(keptBytes <= limit && keptBytes > limit - 7, `${keptBytes} of ${limit}`);
      }),
      runs(150),
    );
  });
});

const result: ProcessResult = {
  exitCode: 0,
  signal: null,
  stdout: 'out',
  stderr: '',
  timedOut: false,
};

describe('processResultText', () => {
  const rows: [title: string, changes: Partial<ProcessResult>, content: string, isError: boolean][] = [
    ['output alone stands alone', {}, 'out', false],
    ['no output is said', { stdout: '' }, 'The program succeeded and wrote nothing.', false],
    ['warnings are told apart', { stderr: 'warn' }, 'Standard output:\nout\nStandard error:\nwarn', false],
    [
      'a failure',
      { exitCode: 2, stdout: '', stderr: 'no' },
      'The program ended with exit code 2.\nIt wrote nothing to standard output.\nStandard error:\nno',
      true,
    ],
    [
      'a signal',
      { exitCode: null, signal: 'SIGSEGV' },
      'The program was ended by signal SIGSEGV.\nStandard output:\nout\nIt wrote nothing to standard error.',
      true,
    ],
    [
      'a time-out, although the program ended well on the signal',
      { timedOut: true },
      'Timed out after 5 seconds.\nStandard output:\nout\nIt wrote nothing to standard error.',
      true,
    ],
  ];
  for (const [title, changes, content, isError] of rows) {
    it(title, () => assert.deepEqual(processResultText({ ...result, ...changes }, 5000), { content, isError }));
  }
});

describe('valueResult', () => {
  const ring: Record<string, unknown> = {};
  ring.self = ring;
  const rows: [title: string, value: unknown, text: string | RegExp][] = [
    ['nothing', undefined, 'It succeeded and returned nothing.'],
    ['text', 'a "b"', 'a "b"'],
    ['a value', { a: [1, 2n] }, '{\n  "a": [\n    1,\n    "2"\n  ]\n}'],
    ['false', false, 'false'],
    ['a ring', ring, /cannot be shown/],
    ['a function', () => {}, /cannot be shown/],
    [
      'a hostile object',
      {
        toJSON: () => {
          throw new Error('x');
        },
      },
      /cannot be shown/,
    ],
  ];
  for (const [title, value, text] of rows) {
    it(`says ${title}`, () => {
      const result = valueResult(value, 1000);
      if (typeof text === 'string') assert.equal(result, text);
      else assert.match(result, text);
    });
  }

  it('is cut honestly', () =>
    assert.match(headAndTail('a'.repeat(1000), 256), /^a{128}\n\[744 bytes left out\]\na{128}$/));
});
