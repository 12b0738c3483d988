import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { bundleCommandLine } from '../../../esbuild.mjs';
import { packCommandLine } from '../../../scripts/commandLine.ts';
import { npmCommand } from '../../../scripts/install.mjs';
import { at, freshFolder, readManifest } from '../../../scripts/paths.ts';

describe('the package of the command line', function () {
  this.timeout(120_000);
  let folder: string;
  let tarball: string;

  before(async () => {
    folder = freshFolder('package');
    await bundleCommandLine(path.join(folder, 'dist'));
    tarball = at(await packCommandLine(folder, path.join(folder, 'dist')));
  });
  after(() => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

  it('runs by npx in an empty folder, without a registry', async () => {
    const empty = path.join(folder, 'empty');
    fs.mkdirSync(empty);
    const parameters = ['exec', '--offline', '--yes', '--package', tarball, '--', 'rolecall', '--version'];
    const { command, all, shell } = npmCommand(parameters, process.env.npm_execpath, process.platform);
    const env = { PATH: process.env.PATH, npm_config_cache: path.join(folder, 'cache'), HOME: empty };
    const { stdout } = await promisify(execFile)(command, [...all], { cwd: empty, shell, env });
    assert.equal(stdout.trim(), readManifest().version);
  });

  it('needs no other package, and holds no source', () => {
    const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'package', 'package.json'), 'utf8'));
    assert.deepEqual(
      ['dependencies', 'optionalDependencies', 'peerDependencies', 'scripts'].filter((member) => member in manifest),
      [],
    );
    const packed = fs.readdirSync(path.join(folder, 'package'), { recursive: true, encoding: 'utf8' }).sort();
    assert.deepEqual(
      packed.filter(
        (file) =>
          !/^(dist|dist\/(cli\.cjs|ThirdPartyNotices\.txt)|LICENSE|README\.md|package(\.nls)?\.json)$/.test(file),
      ),
      [],
    );
  });
});
