import assert from 'node:assert/strict';
import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { ServerSentEventReader } from '../../../../src/core/completions/serverSentEvents.ts';
import { runs } from '../../runs.ts';
import { bytes, play } from './playAnswer.ts';

/** Every event of a body that arrives in these pieces. */
function read(...pieces: readonly string[]) {
  const reader = new ServerSentEventReader();
  return [...pieces.flatMap((piece) => reader.read(piece)), ...reader.end()];
}

const event = (data: string, type?: string, atEnd = false) => ({
  ...(type === undefined ? {} : { type }),
  data,
  atEnd,
});
const dataOf = (...pieces: readonly string[]) => read(...pieces).map(({ data }) => data);

describe('server-sent events', () => {
  for (const [name, end] of [
    ['LF', '\n'],
    ['CR', '\r'],
    ['CRLF', '\r\n'],
  ] as const) {
    it(`end their lines at ${name}, in whatever two pieces they come`, () => {
      const text = ['event: one', 'data: first', 'data: second', '', ': said', 'data: third', '', ''].join(end);
      const expected = [
        ['one', 'first\nsecond'],
        [undefined, 'third'],
      ];
      for (let at = 0; at <= text.length; at++) {
        const events = read(text.slice(0, at), text.slice(at));
        assert.deepEqual(
          events.map(({ type, data }) => [type, data]),
          expected,
          `cut at ${at}`,
        );
      }
    });
  }

  it('take CR and LF in two packets for one line end', () => {
    assert.deepEqual(dataOf('data: a\r', '\ndata: b\r', '\n\r', '\n'), ['a\nb']);
  });

  it('end no line at U+2028, U+2029, U+0085, VT or FF', () => {
    const odd = 'a\u2028b\u2029c\u0085d\ve\ff';
    assert.deepEqual(dataOf(`data: ${odd}\n\n`), [odd]);
  });

  it('lose one space after the colon and no more', () => {
    assert.deepEqual(dataOf('data:a\n\ndata: b\n\ndata:  c\n\ndata:\td\n\n'), ['a', 'b', ' c', '\td']);
  });

  it('are given with their type; id, retry, comments and unknown fields say nothing', () => {
    const text =
      ': hello\n:\nid: 7\nretry: 10\nevent: error\nfoo: bar\ndata: x\n\ndata: y\n\nevent: lonely\n\n: end\n\n';
    assert.deepEqual(read(text), [event('x', 'error'), event('y')]);
  });

  it('come with the packet that completes them', () => {
    const reader = new ServerSentEventReader();
    assert.deepEqual(reader.read('data: a\n'), []);
    assert.deepEqual(reader.read('\ndata: b\n\nda'), [event('a'), event('b')]);
    assert.deepEqual(reader.read('ta: c\n\n'), [event('c')]);
    assert.deepEqual(reader.end(), []);
  });

  for (const [left, expected] of [
    ['', []],
    ['\n', []],
    ['data: [DONE]', [event('[DONE]', undefined, true)]],
    ['data: [DONE]\n', [event('[DONE]', undefined, true)]],
    ['data: [DONE]\r', [event('[DONE]', undefined, true)]],
    ['event: error\ndata: {"mess', [event('{"mess', 'error', true)]],
    ['event: error\nda', []],
    [': comment', []],
  ] as const) {
    it(`that the body ends with are marked: ${JSON.stringify(left)}`, () => {
      assert.deepEqual(read(`data: a\n\n${left}`), [event('a'), ...expected]);
    });
  }

  it('are refused when one of them is too long, also without any line end', () => {
    const tooLarge = (error: unknown) => error instanceof RolecallError && error.kind === 'protocol';
    const line = new ServerSentEventReader(100);
    assert.throws(() => {
      for (let at = 0; at < 20; at++) line.read('data: 789.');
    }, tooLarge);
    const event = new ServerSentEventReader(100);
    assert.throws(() => {
      for (let at = 0; at < 40; at++) event.read('data: 789.\n');
    }, tooLarge);
    const many = new ServerSentEventReader(100);
    for (let at = 0; at < 200; at++) assert.equal(many.read('data: 789.\n\n').length, 1);
  });

  it('are those that eventsource-parser reads, whatever lines come in whatever pieces', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '',
        '',
        'data: {"a":1}',
        'data:',
        'data',
        'data:  x',
        'event: error',
        'event:',
        'event',
        'id: 7',
        'retry: 9',
      ),
      fc.constantFrom(': said', ':', ' data: x', 'Data: x', 'data : x', 'data:data: x', 'foo: bar', 'é', '\u2028'),
      fc.string({ maxLength: 8 }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, '')}`),
    );
    const lines = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r', '\r\n')), { maxLength: 20 });
    fc.assert(
      fc.property(lines, fc.array(fc.nat(30), { maxLength: 30 }), (all, lengths) => {
        const text = all.flat().join('');
        const expected: [string | undefined, string][] = [];
        const parser = createParser({ onEvent: ({ event: type, data }) => expected.push([type || undefined, data]) });
        parser.feed(`${text.replaceAll(/\r\n?/g, '\n')}\n\n`);
        let rest = text;
        const pieces = lengths.map((length) => {
          const piece = rest.slice(0, length);
          rest = rest.slice(length);
          return piece;
        });
        const found = read(...pieces, rest);
        assert.deepEqual(
          found.map(({ type, data }) => [type, data]),
          expected,
        );
      }),
      runs(100),
    );
  });

  it('are also the lines of bare JSON and markup, in whatever two pieces they come', () => {
    const text = 'event: x\ndata: a\n{"error":1}\r\ndata: {b}\n <p>\n<html>\r\rdata: c\n<';
    const expected = [event('a', 'x'), event('{"error":1}'), event('{b}'), event('<html>'), event('c'), event('<')];
    for (let at = 0; at <= text.length; at++) {
      const events = read(text.slice(0, at), text.slice(at));
      assert.deepEqual(
        events.map(({ type, data }) => [type, data]),
        expected.map(({ type, data }) => [type, data]),
        `cut at ${at}`,
      );
    }
  });

  it('are decoded by one decoder: a character may be cut between packets, and broken bytes harm only themselves', async () => {
    const before = bytes('data: {"choices":[{"delta":{"content":"');
    const after = bytes('"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
    const text = async (...packets: Uint8Array[]) => (await play({ packets: [before, ...packets, after] })).completion;
    const [a = 0, b = 0, c = 0, d = 0] = bytes('😀');
    const whole = await text(Uint8Array.of(a), Uint8Array.of(b), Uint8Array.of(), Uint8Array.of(c), Uint8Array.of(d));
    assert.equal(whole?.choices[0]?.text, '😀');
    assert.equal((await text(Uint8Array.of(0x41, a, b), Uint8Array.of(0x42)))?.choices[0]?.text, 'A\uFFFDB');
    // A byte order mark is one only at the very beginning.
    assert.equal((await text(bytes('x\uFEFFy')))?.choices[0]?.text, 'x\uFEFFy');
  });
});
