import fs from 'node:fs';
import path from 'node:path';
import { npm } from './install.mjs';
import { at, root } from './paths.ts';

/** The members of the extension's manifest that the command line reads, and the package's own. */
interface Described {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly contributes: { readonly languageModelTools: unknown };
}

/** Writes the command line's package into `folder`, from its program in `dist`: one file without dependencies. */
export function layOutCommandLine(folder: string, dist = at('dist')): void {
  fs.mkdirSync(path.join(folder, 'dist'), { recursive: true });
  fs.copyFileSync(path.join(dist, 'cli.cjs'), path.join(folder, 'dist', 'cli.cjs'));
  fs.chmodSync(path.join(folder, 'dist', 'cli.cjs'), 0o755);
  for (const file of ['package.nls.json', 'README.md', 'LICENSE', path.join('dist', 'ThirdPartyNotices.txt')]) {
    if (fs.existsSync(at(file))) fs.copyFileSync(at(file), path.join(folder, file));
  }
  const { name, version, license, contributes } = JSON.parse(fs.readFileSync(at('package.json'), 'utf8')) as Described;
  const manifest = {
    name,
    version,
    description: 'Who can do what in your cloud, and its models, from a terminal.',
    license,
    bin: { rolecall: 'dist/cli.cjs' },
    engines: { node: '>=22.19' },
    files: ['dist', 'package.nls.json'],
    contributes: { languageModelTools: contributes.languageModelTools },
  };
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

/**
 * Packs out/rolecall-VERSION.tgz, for `npx`, from dist/ as it is, and gives its path. The root's own manifest would make npm
 * install everything that the bundles are made of.
 */
export async function packCommandLine(target = at('out'), dist = at('dist')): Promise<string> {
  const folder = path.join(target, 'package');
  fs.rmSync(folder, { recursive: true, force: true });
  layOutCommandLine(folder, dist);
  await npm(['pack', '--silent', '--pack-destination', path.relative(folder, target) || '.'], folder);
  const { name, version } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')) as Described;
  return path.relative(root, path.join(target, `${name}-${version}.tgz`));
}
