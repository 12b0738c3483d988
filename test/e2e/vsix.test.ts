import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { at, readManifest } from '../../scripts/paths.ts';
import { visibleText } from '../harness/actions.ts';
import { openView, waitForExtension } from '../harness/views.ts';
import { openWorkbench, type Workbench } from '../harness/workbench.ts';

describe('the VSIX', () => {
  let workbench: Workbench;

  before(async () => {
    workbench = await openWorkbench({ folder: at('examples', 'workspace'), extension: 'vsix' });
  });

  after(() => workbench?.stop());

  function installedFiles(): string[] {
    const { publisher, name, version } = readManifest();
    const installed = `${publisher}.${name}-${version}`;
    const folder = fs.readdirSync(workbench.extensionsDir).find((entry) => entry.startsWith(installed));
    assert.ok(folder, `${installed} is installed`);
    const full = path.join(workbench.extensionsDir, folder);
    return fs
      .readdirSync(full, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(full, path.join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
  }

  it('holds the manifest, its strings, the bundles, the documents and media, and nothing else', () => {
    const files = installedFiles();
    const needed = [
      'package.json',
      'package.nls.json',
      'dist/extension.cjs',
      'dist/features.cjs',
      'dist/sandbox.js',
      'dist/matrix.js',
      'dist/matrix.css',
      'dist/answer.js',
      'dist/answer.css',
      'readme.md',
      'changelog.md',
      'LICENSE.txt',
    ];
    assert.deepEqual(
      needed.filter((file) => !files.includes(file)),
      [],
    );
    // .vsixmanifest is the editor's own.
    const others = files.filter((file) => !needed.includes(file) && file !== '.vsixmanifest');
    assert.deepEqual(
      others.filter((file) => !/^(?:media|l10n)\//.test(file)),
      [],
    );
    assert.deepEqual(
      files.filter((file) => /\.(?:ts|map|test\.js)$/.test(file)),
      [],
    );
  });

  it('works when it is installed in an editor that never saw the sources', async () => {
    const { page } = workbench;
    await waitForExtension(page);
    assert.match(await visibleText(await openView(page)), /Try the Sandbox/);
  });
});
