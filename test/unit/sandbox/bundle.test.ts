import assert from 'node:assert/strict';
import { bundleSandbox } from '../../../esbuild.mjs';

/** Bytes of the demo cloud at most; it was 861,000 with a general OpenID provider and the remote control of the tests. */
const BUDGET = 120_000;

describe('the sandbox that ships', function () {
  this.timeout(30_000);
  let bundle: Awaited<ReturnType<typeof bundleSandbox>>;
  before(async () => {
    bundle = await bundleSandbox();
  });

  it('holds nothing of the test build: no faults, no counters, no way to read secrets', () => {
    assert.ok(bundle.modules.includes('src/sandbox/sandbox.ts'));
    assert.deepEqual(
      bundle.modules.filter((name) => name.startsWith('src/sandbox/testing/')),
      [],
    );
  });

  it('holds no package', () => {
    assert.deepEqual(
      bundle.modules.filter((name) => name.includes('node_modules')),
      [],
    );
  });

  it(`is small: ${BUDGET} bytes at most`, () => {
    const bytes = Buffer.byteLength(bundle.text);
    assert.ok(bytes <= BUDGET, String(bytes));
  });
});
