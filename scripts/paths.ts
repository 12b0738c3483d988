import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The project's root folder. */
export const root: string = path.resolve(import.meta.dirname, '..');

/** An absolute path inside the project. */
export function at(...parts: string[]): string {
  return path.join(root, ...parts);
}

/** What the scripts read of the extension's manifest. */
export interface Manifest {
  readonly name: string;
  readonly publisher: string;
  readonly version: string;
  readonly engines: { readonly vscode: string };
}

/** The extension's manifest, read anew at each call: tests and builds change it. */
export function readManifest(): Manifest {
  return JSON.parse(fs.readFileSync(at('package.json'), 'utf8')) as Manifest;
}

/** An empty folder of its own for one run, outside the project: an editor opened there must not find the project's git. */
export function freshFolder(name: string): string {
  return fs.mkdtempSync(path.join(os.tmpdir(), `rolecall-${name}-`));
}
