import assert from 'node:assert/strict';
import fs from 'node:fs';
import { build } from 'esbuild';
import { optionalPackages } from '../../../esbuild.mjs';
import { at } from '../../../scripts/paths.ts';

interface Package {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly resolved?: string;
  readonly dev?: boolean;
}

/** `npm ci` refuses a lock file that is not whole, and a clone can then not even be built. */
for (const folder of ['.', 'scripts/editor', 'scripts/browser', 'scripts/publish', 'test/bench']) {
  describe(`the lock file of ${folder === '.' ? 'the root' : folder}`, () => {
    const read = (name: string): unknown => JSON.parse(fs.readFileSync(at(folder, name), 'utf8'));
    const manifest = read('package.json') as Package;
    const { packages } = read('package-lock.json') as { packages: Readonly<Record<string, Package>> };

    /** Where Node would look for a package from inside another. */
    function isLocked(name: string, from: string): boolean {
      const parts = from.split('/node_modules/');
      return (
        parts.some((_part, index) => {
          const inside = parts.slice(0, parts.length - index).join('/node_modules/');
          return packages[`${inside}/node_modules/${name}`] !== undefined;
        }) || packages[`node_modules/${name}`] !== undefined
      );
    }

    it('asks for what package.json asks for', () => {
      const { dependencies, devDependencies, optionalDependencies } = packages[''] ?? {};
      assert.deepEqual(
        { dependencies, devDependencies, optionalDependencies },
        {
          dependencies: manifest.dependencies,
          devDependencies: manifest.devDependencies,
          optionalDependencies: manifest.optionalDependencies,
        },
      );
    });

    it('holds every package that another one needs, those of other platforms too', () => {
      const needed = Object.entries(packages).flatMap(([from, { dependencies, optionalDependencies }]) =>
        Object.keys({ ...dependencies, ...optionalDependencies }).map((name) => ({ from, name })),
      );
      assert.notEqual(needed.length, 0);
      assert.deepEqual(
        needed.filter(({ from, name }) => !isLocked(name, from)),
        [],
      );
    });

    it('names no registry', () => {
      assert.deepEqual(
        Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined),
        [],
      );
    });
  });
}

describe('npm start', function () {
  this.timeout(60_000);

  const common = { bundle: true, write: false, metafile: true, platform: 'node', format: 'esm' } as const;
  const { packages } = JSON.parse(fs.readFileSync(at('package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, Package>>;
  };
  /** Whether the package of this folder is installed without those for tests. */
  const isThere = (folder: string): boolean => packages[folder] !== undefined && packages[folder].dev !== true;

  it('imports no package that is only installed for tests', async () => {
    const { metafile } = await build({ ...common, entryPoints: [at('scripts/start.ts')], packages: 'external' });
    const imported = Object.values(metafile.inputs)
      .flatMap(({ imports }) => imports)
      .filter(({ external, kind, path }) => external && kind === 'import-statement' && !path.startsWith('node:'));
    assert.ok(imported.length > 0);
    assert.deepEqual(
      imported.filter(({ path }) => !isThere(`node_modules/${path}`)),
      [],
    );
  });

  it('bundles none either', async () => {
    const entryPoints = [
      'src/extension.ts',
      'src/cli/main.ts',
      'src/sandbox/main.ts',
      'src/webview/matrix/main.ts',
    ].map((file) => at(file));
    const external = ['vscode', ...optionalPackages];
    const { metafile } = await build({ ...common, entryPoints, outdir: at('out'), external });
    const bundled = Object.keys(metafile.inputs).flatMap(
      (file) => file.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? [],
    );
    assert.ok(bundled.length > 0);
    assert.deepEqual(
      [...new Set(bundled)].filter((folder) => !isThere(folder)),
      [],
    );
  });
});
