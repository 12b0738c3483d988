import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { installOnce, npm } from '../install.mjs';
import { replaceNatives } from './natives.ts';
import { makeStrict } from './strict.ts';

const folder = import.meta.dirname;
const modules = path.join(folder, 'node_modules');
const stamp = path.join(modules, '.rolecall-editor');
const codeServer = path.join(modules, 'code-server');

/** Where the served editor's program is, after `installEditor`. */
export const editorProgram: string = path.join(codeServer, 'out', 'node', 'entry.js');
/** The browser that comes with the served editor on Linux x64, with its libraries and fonts. */
export const ownBrowser: string = path.join(modules, '.chromium');

/** Installs the served editor on first use (about 25 s, 870 MB) and makes it enforce the stable API. Quick afterwards. */
export async function installEditor(): Promise<void> {
  const sources = ['package-lock.json', 'install.ts', 'natives.ts', 'strict.ts'].map((file) => path.join(folder, file));
  await installOnce(stamp, sources, async () => {
    console.log('Installing the served editor, once (npm ci in scripts/editor) …');
    npm(['ci'], folder);
    // Not `npm ci`: the editor's own shrinkwrap lacks an entry and npm refuses it.
    npm(['install', '--omit=dev'], path.join(codeServer, 'lib', 'vscode'));
    replaceNatives(codeServer);
    makeStrict(codeServer);
    if (process.platform === 'linux' && process.arch === 'x64') {
      unpackBrowser();
    }
  });
}

function unpackBrowser(): void {
  const fresh = `${ownBrowser}-unpacking`;
  fs.rmSync(fresh, { recursive: true, force: true });
  fs.mkdirSync(fresh, { recursive: true });
  // The package unpacks into the temporary folder; the variable makes it bring the libraries of a bare machine as well.
  execFileSync(
    process.execPath,
    ['--input-type=module', '-e', "import c from '@sparticuz/chromium'; await c.executablePath();"],
    { cwd: folder, env: { ...process.env, TMPDIR: fresh, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' } },
  );
  fs.writeFileSync(path.join(fresh, 'fonts', 'fonts.conf'), fontsConfiguration());
  fs.rmSync(ownBrowser, { recursive: true, force: true });
  fs.renameSync(fresh, ownBrowser);
}

/** The package's own configuration names folders that only its usual home has, and it has no monospaced font. */
function fontsConfiguration(): string {
  const prefer = (family: string, font: string): string =>
    `<alias binding="strong"><family>${family}</family><prefer><family>${font}</family></prefer></alias>`;
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${path.join(ownBrowser, 'fonts', 'fonts')}</dir>
  <dir>${path.join(modules, 'dejavu-fonts-ttf', 'ttf')}</dir>
  <cachedir>${path.join(ownBrowser, 'fonts', 'cache')}</cachedir>
  ${prefer('monospace', 'DejaVu Sans Mono')}
  ${prefer('sans-serif', 'Open Sans')}
  ${prefer('system-ui', 'Open Sans')}
  <config></config>
</fontconfig>
`;
}
