import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { installOnce, npm } from '../install.mjs';

const folder = import.meta.dirname;
const modules = path.join(folder, 'node_modules');

/** The folder of the browser that comes from npm on Linux x64, with its libraries and fonts, after `installBrowser`. */
export const ownBrowser: string = path.join(modules, '.chromium');

/** Installs the browser on first use (270 MB). Quick afterwards; elsewhere than on Linux x64 it does nothing. */
export async function installBrowser(): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return;
  }
  const sources = ['package-lock.json', 'install.ts'].map((file) => path.join(folder, file));
  const stamp = path.join(modules, '.rolecall-browser');
  await installOnce({ stamp, sources, title: 'A browser for tests and pictures, once' }, async () => {
    await npm(['ci'], folder);
    unpackBrowser();
  });
  // Made again where the clone has been moved: it holds absolute paths, and without fonts the browser crashes.
  const file = path.join(ownBrowser, 'fonts', 'fonts.conf');
  const configuration = fontsConfiguration();
  if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== configuration) {
    const fresh = `${file}.${process.pid}`;
    fs.writeFileSync(fresh, configuration);
    fs.renameSync(fresh, file);
  }
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
