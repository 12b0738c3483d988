import assert from 'node:assert/strict';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { withinDeadline } from '../../../../src/core/base/withinDeadline.ts';

describe('withinDeadline', () => {
  it('gives the result, and what was thrown as it was thrown', () => {
    assert.equal(
      withinDeadline(1000, () => 7),
      7,
    );
    assert.equal(
      withinDeadline(1000, () => undefined),
      undefined,
    );
    const mine = new Error('mine');
    assert.throws(
      () =>
        withinDeadline(1000, () => {
          throw mine;
        }),
      (error) => error === mine,
    );
  });

  it('interrupts a loop', () => {
    const forever = (): void => {
      for (;;);
    };
    assert.throws(
      () => withinDeadline(30, forever),
      (error) => error instanceof RolecallError && error.kind === 'timeout',
    );
  });

  it('begins anew when the machine gave this process no time', () => {
    const held = new Int32Array(new SharedArrayBuffer(4));
    let calls = 0;
    const work = (): number => {
      calls += 1;
      if (calls === 1) Atomics.wait(held, 0, 0, 1000);
      return calls;
    };
    assert.equal(withinDeadline(200, work), 2);
  });
});
