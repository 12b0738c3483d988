import assert from 'node:assert/strict';
import { isCancelled, RolecallError } from '../../../../src/core/base/errors.ts';
import { limited } from '../../../../src/core/tools/limited.ts';
import { shortened, valueResult } from '../../../../src/core/tools/valueResult.ts';

describe('limited', () => {
  const waits: (() => void)[] = [];
  let prevented = 0;
  const clock = {
    now: () => 0,
    after: (_: number, callback: () => void) => {
      waits.push(callback);
      return () => {
        prevented += 1;
      };
    },
  };
  beforeEach(() => {
    waits.length = 0;
    prevented = 0;
  });
  const never = new Promise<never>(() => {});
  const options = { timeoutMs: 1500, signal: new AbortController().signal, clock };

  it('passes on what the work gives or is rejected with, and forgets the clock', async () => {
    assert.equal(await limited(Promise.resolve(7), options), 7);
    await assert.rejects(limited(Promise.reject(new Error('no')), options), /no/);
    assert.equal(prevented, 2);
  });

  it('stops waiting when the time is over, and says that the work may go on', async () => {
    const result = limited(never, options);
    waits[0]?.();
    await assert.rejects(
      result,
      (error) =>
        error instanceof RolecallError && error.kind === 'timeout' && /1\.5 seconds.*may still/.test(error.message),
    );
  });

  it('stops waiting at an abort, before or after', async () => {
    const stop = new AbortController();
    const result = limited(never, { ...options, signal: stop.signal });
    stop.abort();
    await assert.rejects(result, isCancelled);
    await assert.rejects(limited(never, { ...options, signal: stop.signal }), isCancelled);
  });
});

describe('valueResult', () => {
  const ring: Record<string, unknown> = {};
  ring.self = ring;
  const rows: [title: string, value: unknown, text: string | RegExp][] = [
    ['nothing', undefined, 'It ended well and returned nothing.'],
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
    assert.match(shortened('a'.repeat(1000), 256), /^a{128}\n\[744 bytes left out\]\na{128}$/));
});
