// node desktop.ts WORKSPACE [--executable PATH | --version VERSION]: runs out/test/host/index.cjs inside a desktop VS
// Code, the given one or one that @vscode/test-electron downloads. Settings, extensions and state are of this run only.
// Not tested: the suite is known to run in the served editor.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { runTests } from '@vscode/test-electron';
import { at, freshFolder } from '../paths.ts';
import { bareSettings } from './quietSettings.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { executable: { type: 'string' }, version: { type: 'string' } },
});
const { executable, version } = values;
const [source] = positionals;
if (source === undefined) {
  console.error('Usage: node scripts/editor/desktop.ts WORKSPACE [--executable PATH | --version VERSION]');
  process.exit(2);
}

const folder = freshFolder('desktop');
try {
  const workspace = path.join(folder, 'workspace');
  const user = path.join(folder, 'user');
  fs.cpSync(source, workspace, { recursive: true });
  fs.mkdirSync(path.join(user, 'User'), { recursive: true });
  fs.writeFileSync(path.join(user, 'User', 'settings.json'), JSON.stringify(bareSettings));
  process.exitCode = await runTests({
    ...(executable === undefined ? {} : { vscodeExecutablePath: executable }),
    ...(version === undefined ? {} : { version }),
    extensionDevelopmentPath: at(),
    extensionTestsPath: at('out', 'test', 'host', 'index.cjs'),
    launchArgs: [
      workspace,
      ...['--user-data-dir', user, '--extensions-dir', path.join(folder, 'extensions')],
      ...['--disable-workspace-trust', '--disable-extensions', '--skip-welcome', '--disable-gpu'],
    ],
  });
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
