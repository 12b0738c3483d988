import fs from 'node:fs';
import path from 'node:path';
import { at, readManifest, root } from './paths.ts';

/**
 * What is shipped, relative to `folder`, in alphabetical order: what .vscodeignore lets in, which ignores everything first.
 * Packing reads that file with its own rules; a unit test holds the two to each other.
 */
export function shippedFiles(folder: string = root): string[] {
  const letIn = fs.readFileSync(path.join(folder, '.vscodeignore'), 'utf8').match(/(?<=^!).+$/gm) ?? [];
  return letIn
    .flatMap((pattern) => fs.globSync(pattern, { cwd: folder, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
}

/** Packs out/rolecall-VERSION.vsix from dist/ as it is, and gives its path. */
export async function packVsix(): Promise<string> {
  const { name, version } = readManifest();
  const vsix = at('out', `${name}-${version}.vsix`);
  fs.mkdirSync(path.dirname(vsix), { recursive: true });
  // Not above: the packager is not installed where nothing is packed or tested.
  const { createVSIX } = await import('@vscode/vsce');
  await createVSIX({
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
export function installUnpacked(extensionsDir: string): void {
  const { publisher, name, version } = readManifest();
  const target = path.join(extensionsDir, `${publisher}.${name}-${version}`);
  for (const file of shippedFiles()) {
    fs.mkdirSync(path.dirname(path.join(target, file)), { recursive: true });
    fs.copyFileSync(at(file), path.join(target, file));
  }
}
