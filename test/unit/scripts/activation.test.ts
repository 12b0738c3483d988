import assert from 'node:assert/strict';
import fs from 'node:fs';
import { bundleExtension } from '../../../esbuild.mjs';
import { freshFolder } from '../../../scripts/paths.ts';
import { asRolecallError, RolecallError } from '../../../src/core/base/errors.ts';
import { type ActivationRun, activateInNode } from '../../bench/activate.ts';

/** Room for a feature or two, and less than half of what the editor's own authentication extension reads. */
const MAX_BYTES = 100_000;

describe('what every window reads when the extension is activated', function () {
  this.timeout(60_000);
  let folder: string;
  let bundle: Awaited<ReturnType<typeof bundleExtension>>;
  let run: ActivationRun;

  before(async () => {
    folder = freshFolder('activation');
    bundle = await bundleExtension(folder);
    run = await activateInNode(bundle.extension);
  });
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('is one file, also a while later, while nobody asks for anything', () => {
    assert.deepEqual(run.files, [bundle.extension]);
    assert.deepEqual(run.filesAfterwards, run.files);
  });

  it(`is less than ${MAX_BYTES / 1000} kB`, () => {
    assert.ok(run.bytes > 10_000 && run.bytes < MAX_BYTES, `${run.bytes} bytes`);
  });

  it('loads no module of Node’s but what every process has, and the editor’s interface once', () => {
    assert.deepEqual(run.builtins, []);
    for (const file of [bundle.extension, bundle.features]) {
      assert.equal(fs.readFileSync(file, 'utf8').match(/require\("vscode"\)/g)?.length, 1, file);
    }
  });
});

describe('an error that crosses from one bundle into the other', () => {
  it('is recognized there', async () => {
    const module = '../../../src/core/base/errors.ts';
    const { RolecallError: Theirs } = (await import(
      `${module}?other`
    )) as typeof import('../../../src/core/base/errors.ts');
    const error = new Theirs('offline', 'Could not reach it.');
    assert.notEqual(Theirs, RolecallError);
    assert.equal(asRolecallError(error), error);
    assert.ok(error instanceof RolecallError);
    assert.ok(!(new Error('offline') instanceof RolecallError));
    assert.ok(!(Object.create(null) instanceof RolecallError));
  });
});
