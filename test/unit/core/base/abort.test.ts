import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { createSerialQueue, delay, raceWithSignal } from '../../../../src/core/base/abort.ts';
import { RolecallError } from '../../../../src/core/base/errors.ts';

const isCancelled = (error: unknown) => error instanceof RolecallError && error.kind === 'cancelled';
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

/** What nobody caught while `action` ran: mocha's own listeners stand aside for that long. */
async function unhandledIn(action: () => Promise<void>): Promise<unknown[]> {
  const listeners = process.listeners('unhandledRejection');
  const found: unknown[] = [];
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (reason) => found.push(reason));
  try {
    await action();
    await turn();
    await turn();
  } finally {
    process.removeAllListeners('unhandledRejection');
    for (const listener of listeners) process.on('unhandledRejection', listener);
  }
  return found;
}

describe('waiting that can be given up', () => {
  it('gives what the work gives, and lets go of the signal', async () => {
    const { signal } = new AbortController();
    assert.equal(await raceWithSignal(Promise.resolve(7), signal), 7);
    await assert.rejects(raceWithSignal(Promise.reject(new Error('as it is')), signal), /^Error: as it is$/);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  it('ends with `cancelled` at once, carries the reason, and leaves the work running for others', async () => {
    const stop = new AbortController();
    let finish: (value: string) => void = () => {};
    const work = new Promise<string>((resolve) => {
      finish = resolve;
    });
    const waiting = raceWithSignal(work, stop.signal);
    const another = raceWithSignal(work, new AbortController().signal);
    stop.abort('the user closed it');
    await assert.rejects(waiting, (error) => isCancelled(error) && (error as Error).cause === 'the user closed it');
    finish('done');
    assert.equal(await another, 'done');
    assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
  });

  it('does not wait at all when it was given up before, and work that fails later is nobody’s crash', async () => {
    const unhandled = await unhandledIn(async () => {
      const work = turn().then(() => {
        throw new Error('failed with nobody listening');
      });
      await assert.rejects(raceWithSignal(work, AbortSignal.abort()), isCancelled);
    });
    assert.deepEqual(unhandled, []);
  });

  it('work that fails after the waiter has gone is nobody’s crash either', async () => {
    const unhandled = await unhandledIn(async () => {
      const stop = new AbortController();
      const work = turn().then(() => {
        throw new Error('failed with nobody listening');
      });
      const waiting = raceWithSignal(work, stop.signal);
      stop.abort();
      await assert.rejects(waiting, isCancelled);
    });
    assert.deepEqual(unhandled, []);
  });

  it('pauses, and a pause that is given up leaves no timer behind', async () => {
    const order: string[] = [];
    setTimeout(() => order.push('an earlier timer'), 5);
    await delay(15, new AbortController().signal);
    assert.deepEqual(order, ['an earlier timer']);
    const before = timers();
    const stop = new AbortController();
    const pausing = delay(60_000, stop.signal);
    assert.equal(timers(), before + 1);
    stop.abort();
    await assert.rejects(pausing, isCancelled);
    await assert.rejects(delay(60_000, AbortSignal.abort()), isCancelled);
    assert.equal(timers(), before);
  });
});

describe('one at a time', () => {
  it('runs in the order of the calls, also after a failure', async () => {
    const inTurn = createSerialQueue();
    const seen: string[] = [];
    const step = (name: string, turns: number, fails = false) =>
      inTurn(async () => {
        seen.push(`${name} begins`);
        for (let left = turns; left > 0; left -= 1) await turn();
        seen.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      });
    const results = await Promise.allSettled([step('slow', 3), step('failing', 1, true), step('quick', 0)]);
    assert.deepEqual(seen, [
      'slow begins',
      'slow ends',
      'failing begins',
      'failing ends',
      'quick begins',
      'quick ends',
    ]);
    assert.deepEqual(
      results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.message)),
      ['slow', 'failing', 'quick'],
    );
  });
});
