import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { DeadlineSignal, defaultDeadlines, timeoutError } from '../../../../src/core/completions/deadlineSignal.ts';

const never = new AbortController().signal;
const kindOf = (reason: unknown): string => (reason instanceof RolecallError ? reason.kind : String(reason));

describe('completions: the watch', () => {
  it('has limits that are shorter than the 300 s of fetch', () => {
    for (const [name, ms] of Object.entries(defaultDeadlines)) assert.ok(ms > 0 && ms < 300_000, name);
  });

  it('aborts with the reason of the deadline that passed, which is the last that was armed', async () => {
    const watch = new DeadlineSignal(never);
    watch.arm({ ms: 1, reason: () => timeoutError('the first') });
    watch.arm({ ms: 10, reason: () => timeoutError('the second') });
    await sleep(40);
    assert.equal(kindOf(watch.signal.reason), 'timeout');
    assert.equal((watch.signal.reason as Error).message, 'the second');
    watch.dispose();
    assert.equal((watch.signal.reason as Error).message, 'the second', 'what happened first stays the reason');
  });

  it('does not count while nothing is awaited, and counts again from the restart', async () => {
    const watch = new DeadlineSignal(never);
    watch.arm({ ms: 100, reason: () => timeoutError('silence'), resetBy: 'byte' });
    watch.pause();
    await sleep(150);
    assert.equal(watch.signal.aborted, false);
    watch.restart();
    assert.equal(watch.signal.aborted, false);
    await sleep(200);
    assert.equal(watch.signal.aborted, true);
    watch.dispose();
  });

  for (const resetBy of [undefined, 'piece'] as const) {
    it(`passes whatever bytes come, unless they renew it: ${resetBy}`, async () => {
      const watch = new DeadlineSignal(never);
      watch.arm({ ms: 50, reason: () => timeoutError('late'), ...(resetBy && { resetBy }) });
      while (!watch.signal.aborted) {
        await sleep(5);
        watch.pause();
        watch.restart();
      }
      watch.dispose();
    });
  }

  it('counts the waiting alone, however often it is interrupted', async () => {
    const watch = new DeadlineSignal(never);
    watch.arm({ ms: 400, reason: () => timeoutError('late') });
    for (let at = 0; at < 3; at += 1) {
      watch.pause();
      await sleep(200);
      watch.restart();
    }
    assert.equal(watch.signal.aborted, false);
    await once(watch.signal, 'abort');
    watch.dispose();
  });

  it('tells which of two limits has passed', async () => {
    const watch = new DeadlineSignal(never);
    watch.arm({ ms: 60_000, reason: () => 'long' }, { ms: 5, reason: () => 'short' });
    await sleep(40);
    assert.equal(watch.signal.reason, 'short');
    watch.dispose();
  });

  it('starts again with every restart', async () => {
    const watch = new DeadlineSignal(never);
    watch.arm({ ms: 400, reason: () => timeoutError('silence'), resetBy: 'byte' });
    for (let at = 0; at < 5; at += 1) {
      await sleep(100);
      watch.restart();
    }
    assert.equal(watch.signal.aborted, false);
    watch.dispose();
  });

  it('follows the Stop of the person, also one that came before', () => {
    const early = new AbortController();
    early.abort();
    assert.equal(kindOf(new DeadlineSignal(early.signal).signal.reason), 'cancelled');
    const later = new AbortController();
    const watch = new DeadlineSignal(later.signal);
    assert.equal(watch.signal.aborted, false);
    later.abort('enough');
    assert.equal(kindOf(watch.signal.reason), 'cancelled');
    watch.dispose();
  });

  it('lets go of the timer and of the signal of the person', async () => {
    const user = new AbortController();
    const { signal } = user;
    const listeners = new Set<unknown>();
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (type: string, listener: never, options: never) => {
      listeners.add(listener);
      add(type, listener, options);
    };
    signal.removeEventListener = (type: string, listener: never) => {
      listeners.delete(listener);
      remove(type, listener);
    };
    const watch = new DeadlineSignal(signal);
    assert.equal(listeners.size, 1);
    watch.arm({ ms: 5, reason: () => timeoutError('too late') });
    watch.dispose();
    assert.equal(listeners.size, 0);
    await sleep(20);
    assert.equal(kindOf(watch.signal.reason), 'cancelled');
  });
});
