import assert from 'node:assert/strict';
import { type ErrorKind, RolecallError } from '../../../../src/core/base/errors.ts';
import { READ_RETRIES, type RetryPolicy, withRetries } from '../../../../src/core/base/retry.ts';

const { signal } = new AbortController();
const QUICK: RetryPolicy = { attempts: 4, baseMs: 4, maxMs: 20 };

/** Work that fails with these errors in turn, then succeeds. */
function failing(...errors: readonly unknown[]) {
  const left = [...errors];
  const work = {
    calls: 0,
    run: async (): Promise<string> => {
      work.calls += 1;
      if (left.length > 0) throw left.shift();
      return `after ${work.calls}`;
    },
  };
  return work;
}

const error = (kind: ErrorKind, retryAfterMs?: number) =>
  new RolecallError(kind, kind, retryAfterMs === undefined ? {} : { details: { retryAfterMs } });

describe('trying again', () => {
  it('a server failure and "slow down" may pass: twice refused, then served', async () => {
    const work = failing(error('server'), error('rateLimited'));
    assert.equal(await withRetries(work.run, QUICK, signal), 'after 3');
  });

  const finals: readonly ErrorKind[] = ['offline', 'timeout', 'sessionEnded', 'forbidden', 'protocol', 'cancelled'];
  for (const kind of finals) {
    it(`${kind} is final`, async () => {
      const first = error(kind);
      const work = failing(first);
      await assert.rejects(withRetries(work.run, QUICK, signal), (thrown) => thrown === first);
      assert.equal(work.calls, 1);
    });
  }

  it('a defect is final', async () => {
    const work = failing(new TypeError('x'));
    await assert.rejects(withRetries(work.run, QUICK, signal), TypeError);
    assert.equal(work.calls, 1);
  });

  it('gives up after as many tries as the policy says, with the last error', async () => {
    const errors = [1, 2, 3, 4, 5].map((n) => new RolecallError('server', `failure ${n}`));
    const work = failing(...errors);
    await assert.rejects(withRetries(work.run, QUICK, signal), /failure 4/);
    assert.equal(work.calls, 4);
  });

  it('pauses longer each time, spread at random below a limit, and tells why before each pause', async () => {
    const told: [string, number, number][] = [];
    const work = failing(error('server'), error('server'), error('server'));
    const policy = { attempts: 4, baseMs: 8, maxMs: 20 };
    await withRetries(
      work.run,
      policy,
      signal,
      (why, attempt, ms) => told.push([why.kind, attempt, ms]),
      () => 0.5,
    );
    assert.deepEqual(told, [
      ['server', 1, 4],
      ['server', 2, 8],
      ['server', 3, 10],
    ]);
  });

  it('waits as long as the service asks, not less', async () => {
    const waits: number[] = [];
    let isEarlierOver = false;
    setTimeout(() => {
      isEarlierOver = true;
    }, 5);
    const work = failing(error('rateLimited', 15), error('server', 0));
    await withRetries(
      work.run,
      QUICK,
      signal,
      (_error, _attempt, ms) => waits.push(ms),
      () => 0,
    );
    assert.deepEqual(waits, [15, 0]);
    assert.ok(isEarlierOver);
  });

  it('gives up at once where the service asks for more than anyone would wait', async () => {
    const asked = error('rateLimited', 21);
    const work = failing(asked);
    await assert.rejects(withRetries(work.run, QUICK, signal), (thrown) => thrown === asked);
    assert.equal(work.calls, 1);
  });

  it('Stop during a pause ends it at once', async () => {
    const stop = new AbortController();
    const work = failing(error('server'));
    const policy = { attempts: 2, baseMs: 3_600_000, maxMs: 3_600_000 };
    await assert.rejects(
      withRetries(
        work.run,
        policy,
        stop.signal,
        () => stop.abort(),
        () => 1,
      ),
      { kind: 'cancelled' },
    );
    assert.equal(work.calls, 1);
  });

  it('reading again takes seconds, not minutes', () => {
    const longest = [1, 2, 3].map((n) => Math.min(READ_RETRIES.maxMs, READ_RETRIES.baseMs * 2 ** (n - 1)));
    assert.equal(READ_RETRIES.attempts, 4);
    assert.ok(longest.reduce((sum, ms) => sum + ms) < 5000, String(longest));
  });
});
