import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { step } from '../../../scripts/steps.mjs';

describe('a step of a command', () => {
  let printed: string;
  const stream = (isTTY: boolean) => ({
    isTTY,
    columns: 40,
    write: (text: string) => {
      printed += text;
    },
  });

  beforeEach(() => {
    printed = '';
    mock.timers.enable({ apis: ['setInterval'] });
  });
  afterEach(() => mock.timers.reset());

  /** Begins a step that ends when the returned function is called. */
  function begin(isTTY: boolean): { readonly done: Promise<string>; readonly finish: (error?: Error) => void } {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const done = step('Packages', () => promise, { stream: stream(isTTY), progress: () => '12 packages' });
    return { done, finish: (error) => (error ? reject(error) : resolve('result')) };
  }

  it('in a pipe is one line with its time, and gives what the work gave', async () => {
    const { done, finish } = begin(false);
    finish();
    assert.equal(await done, 'result');
    assert.match(printed, /^✔ Packages +\d+\.\d s\n$/);
  });

  it('in a pipe is heard of when it is long, in lines of their own', async () => {
    const { done, finish } = begin(false);
    mock.timers.tick(25_000);
    finish();
    await done;
    assert.match(printed, /^(?:… Packages +\d+\.\d s {2}12 packages\n){2}✔ Packages +\d+\.\d s\n$/);
  });

  it('on a terminal is one line that is written over, and never wraps', async () => {
    const { done, finish } = begin(true);
    mock.timers.tick(1000);
    assert.ok(!printed.includes('\n'));
    const lines = printed.split('\r\x1b[2K').slice(1);
    assert.equal(lines.length, 2);
    assert.ok(lines.every((line) => line.startsWith('… Packages') && line.length < 40));
    finish();
    await done;
    assert.match(printed.split('\r\x1b[2K').at(-1) ?? '', /^✔ Packages +\d+\.\d s\n$/);
  });

  it('that fails says so and passes the error on', async () => {
    const { done, finish } = begin(false);
    finish(new Error('no network'));
    await assert.rejects(done, /no network/);
    assert.match(printed, /^✖ Packages +\d+\.\d s\n$/);
  });
});
