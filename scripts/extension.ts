import fs from 'node:fs';
import path from 'node:path';
import * as vsce from '@vscode/vsce';
import { at, readManifest, root } from './paths.ts';

/** What is shipped, relative to the root, in alphabetical order: .vscodeignore decides. */
export async function shippedFiles(): Promise<string[]> {
  const files = await vsce.listFiles({ cwd: root, packageManager: vsce.PackageManager.None });
  return files.sort();
}

/** Packs out/rolecall-VERSION.vsix from dist/ as it is, and gives its path. */
export async function packVsix(): Promise<string> {
  const { name, version } = readManifest();
  const vsix = at('out', `${name}-${version}.vsix`);
  fs.mkdirSync(path.dirname(vsix), { recursive: true });
  await vsce.createVSIX({
    cwd: root,
    packagePath: vsix,
    dependencies: false,
    allowMissingRepository: true,
    // Pictures of the README stay relative: a VSIX that was built locally has no address to point them at.
    rewriteRelativeLinks: false,
  });
  return vsix;
}

/** Puts what is shipped where an editor looks for an installed extension; without the seconds that a VSIX takes. */
export async function installUnpacked(extensionsDir: string): Promise<void> {
  const { publisher, name, version } = readManifest();
  const target = path.join(extensionsDir, `${publisher}.${name}-${version}`);
  for (const file of await shippedFiles()) {
    fs.mkdirSync(path.dirname(path.join(target, file)), { recursive: true });
    fs.copyFileSync(at(file), path.join(target, file));
  }
}
