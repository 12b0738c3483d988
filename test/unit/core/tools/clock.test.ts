import assert from 'node:assert/strict';
import { isCancelled, RolecallError } from '../../../../src/core/base/errors.ts';
import { withTimeLimit } from '../../../../src/core/tools/clock.ts';

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
    assert.equal(await withTimeLimit(Promise.resolve(7), options), 7);
    await assert.rejects(withTimeLimit(Promise.reject(new Error('no')), options), /no/);
    assert.equal(prevented, 2);
  });

  it('stops waiting when the time is over, and says that the work may go on', async () => {
    const result = withTimeLimit(never, options);
    waits[0]?.();
    await assert.rejects(
      result,
      (error) =>
        error instanceof RolecallError && error.kind === 'timeout' && /1\.5 seconds.*may still/.test(error.message),
    );
  });

  it('stops waiting at an abort, before or after', async () => {
    const stop = new AbortController();
    const result = withTimeLimit(never, { ...options, signal: stop.signal });
    stop.abort();
    await assert.rejects(result, isCancelled);
    await assert.rejects(withTimeLimit(never, { ...options, signal: stop.signal }), isCancelled);
  });
});
