import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as vsce from '@vscode/vsce';
import { shippedFiles } from '../../../scripts/extension.ts';
import { at, freshFolder } from '../../../scripts/paths.ts';

describe('what is shipped', () => {
  let folder: string;
  let shipped: string[];

  before(() => {
    folder = freshFolder('shipped');
    // What a built clone holds, and what must stay there.
    for (const file of ['.vscodeignore', 'package.json', 'package.nls.json', 'README.md', 'CHANGELOG.md', 'LICENSE']) {
      fs.copyFileSync(at(file), path.join(folder, file));
    }
    fs.cpSync(at('media'), path.join(folder, 'media'), { recursive: true });
    const made = [
      ...[
        'dist/extension.cjs',
        'dist/later.cjs',
        'dist/sandbox.js',
        'dist/matrix.js',
        'dist/matrix.css',
        'dist/old.js',
      ],
      ...[
        'dist/extension.cjs.map',
        'dist/ThirdPartyNotices.txt',
        'media/schemas/deep/er.json',
        'media/pictures/tree.png',
      ],
      ...['src/extension.ts', 'out/result.json', 'node_modules/zod/index.js', 'scripts/editor/node_modules/a/b.js'],
      ...['.github/workflows/ci.yml', '.env', 'README.txt', 'package-lock.json'],
    ];
    for (const file of made) {
      fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      fs.writeFileSync(path.join(folder, file), file);
    }
    shipped = shippedFiles(folder);
  });
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('is the same in a VSIX and where npm start and the tests copy it', async () => {
    const packed = await vsce.listFiles({ cwd: folder, packageManager: vsce.PackageManager.None });
    assert.ok(packed.includes('dist/sandbox.js') && packed.includes('dist/ThirdPartyNotices.txt'));
    assert.deepEqual(shipped, packed.sort());
  });

  it('is no package, no source and nothing of the tools: what is needed of them is bundled', () => {
    const foreign = shipped.filter(
      (file) => !/^(?:dist|media|l10n)\/|^[A-Z]+(?:\.md)?$|^package(?:\.nls)?\.json$/.test(file),
    );
    assert.deepEqual(foreign, []);
  });
});
