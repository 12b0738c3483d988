import assert from 'node:assert/strict';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { Lazy } from '../../../../src/core/base/lazy.ts';
import { deferred } from '../deferred.ts';
import { failure } from '../failure.ts';

/** Notes whether it was disposed of. */
class Part {
  isDisposed = false;

  dispose(): void {
    this.isDisposed = true;
  }
}

describe('what is made when it is needed', () => {
  it('is not made before, and once for all who ask, also while it is being made', async () => {
    const { promise, resolve } = deferred<Part>();
    let made = 0;
    const lazy = new Lazy(() => {
      made += 1;
      return promise;
    });
    assert.deepEqual([made, lazy.made], [0, undefined]);
    const asked = [lazy.get(), lazy.get()];
    assert.equal(lazy.made, undefined);
    const part = new Part();
    resolve(part);
    assert.deepEqual(await Promise.all([...asked, lazy.get()]), [part, part, part]);
    assert.deepEqual([made, lazy.made], [1, part]);
  });

  const failures: readonly (readonly [string, () => Promise<Part>])[] = [
    ['rejects', () => Promise.reject(new RolecallError('storage', 'The disk is full.'))],
    [
      'throws',
      () => {
        throw new RolecallError('storage', 'The disk is full.');
      },
    ],
  ];
  for (const [how, fail] of failures) {
    it(`says why it could not be made when that ${how}, and is tried again by whoever asks next`, async () => {
      const part = new Part();
      const outcomes = [fail, fail, async () => part];
      const lazy = new Lazy(() => (outcomes.shift() ?? assert.fail('it was made already'))());
      assert.equal((await failure(lazy.get())).message, 'The disk is full.');
      assert.equal((await failure(lazy.get())).message, 'The disk is full.');
      assert.equal(await lazy.get(), part);
      assert.equal(await lazy.get(), part);
    });
  }

  it('tells that its code is gone from the disk in words that help', async () => {
    const lazy = new Lazy(async () => {
      throw Object.assign(new Error("Cannot find module './lazy-ABC.cjs'"), { code: 'MODULE_NOT_FOUND' });
    });
    const error = await failure(lazy.get());
    assert.equal(error.kind, 'unexpected');
    assert.match(error.message, /updated or removed while this window was open\. Reload the window\.$/);
    assert.match(String(error.cause), /lazy-ABC/);
  });

  describe('is disposed of', () => {
    it('where it was made, and nobody gets it any more', async () => {
      const part = new Part();
      const lazy = new Lazy(async () => part);
      await lazy.get();
      lazy.dispose();
      assert.deepEqual([part.isDisposed, lazy.made], [true, undefined]);
      assert.equal((await failure(lazy.get())).kind, 'cancelled');
    });

    it('as soon as it is there, where it was being made', async () => {
      const { promise, resolve } = deferred<Part>();
      const lazy = new Lazy(() => promise);
      const asked = failure(lazy.get());
      lazy.dispose();
      const part = new Part();
      resolve(part);
      assert.equal((await asked).kind, 'cancelled');
      assert.deepEqual([part.isDisposed, lazy.made], [true, undefined]);
    });

    it('by never being made, where nobody asked; and where it has nothing to dispose of', async () => {
      const never = new Lazy(() => assert.fail('nobody asked'));
      never.dispose();
      assert.equal((await failure(never.get())).kind, 'cancelled');
      for (const value of [undefined, 7, 'text', {}, { dispose: 'not a function' }]) {
        const lazy = new Lazy(async () => value);
        assert.equal(await lazy.get(), value);
        lazy.dispose();
      }
    });
  });
});
