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
  const folder = at('out', 'vsix');
  fs.rmSync(folder, { recursive: true, force: true });
  copyShipped(folder);
  fs.copyFileSync(at('.vscodeignore'), path.join(folder, '.vscodeignore'));
  const address = repositoryAddress();
  if (address === undefined) {
    fs.writeFileSync(path.join(folder, 'README.md'), withoutRelativeLinks(fs.readFileSync(at('README.md'), 'utf8')));
  }
  // Not above: the packager is not installed where nothing is packed or tested.
  const { createVSIX } = await import('@vscode/vsce');
  await createVSIX({
    cwd: folder,
    packagePath: vsix,
    dependencies: false,
    allowMissingRepository: true,
    rewriteRelativeLinks: address !== undefined,
    ...(address !== undefined && {
      baseContentUrl: `${address}/blob/HEAD`,
      baseImagesUrl: `${address}/raw/HEAD`,
    }),
  });
  return vsix;
}

/** Where the repository can be read, when GitHub runs this. */
function repositoryAddress(): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env;
  return server && repository ? `${server}/${repository}` : undefined;
}

/**
 * The README of a VSIX that knows no address to point at. VS Code's page of an extension shows only https pictures (its
 * sanitizer takes data: away too) and follows no relative link, so pictures are left out instead of broken, and relative links become plain words.
 */
export function withoutRelativeLinks(markdown: string): string {
  return markdown.replace(/^!\[[^\]]*\]\((?!\w+:)[^)]+\)\n+/gm, '').replace(/\[([^\]]*)\]\((?!\w+:|#)[^)]+\)/g, '$1');
}

/** Puts what is shipped where an editor looks for an installed extension; without the seconds that a VSIX takes. */
export function installUnpacked(extensionsDir: string): void {
  const { publisher, name, version } = readManifest();
  copyShipped(path.join(extensionsDir, `${publisher}.${name}-${version}`));
}

function copyShipped(target: string): void {
  for (const file of shippedFiles()) {
    fs.mkdirSync(path.dirname(path.join(target, file)), { recursive: true });
    fs.copyFileSync(at(file), path.join(target, file));
  }
}
