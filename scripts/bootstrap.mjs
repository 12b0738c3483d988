// node scripts/bootstrap.mjs SCRIPT [arguments]: runs a script of the project in a bare clone.
//
// It installs the locked packages when they are missing or the lock file has changed, and runs the script under the Node
// that is locked with them, with node_modules/.bin first on PATH. Plain JavaScript that any Node from 20 on runs.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findDesktopCommand } from './find.mjs';
import { fetchEditorBeside, guessEditor, installPackages, lockedNodes, stopInstalling } from './install.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const modules = path.join(root, 'node_modules');
/** The oldest Node that runs TypeScript sources as they are, without a flag. */
const oldestNode = [22, 18];

const [script, ...parameters] = process.argv.slice(2);
if (script === undefined) {
  stopWith('Usage: node scripts/bootstrap.mjs SCRIPT [arguments]');
}

if (guessEditor(script, parameters, { platform: process.platform, hasDesktop: findDesktopCommand() !== undefined })) {
  // Nobody waits for it here; the script reports its failure, and tries again.
  fetchEditorBeside().catch(() => {});
}
try {
  await installPackages(script === 'scripts/start.ts');
} catch (error) {
  stopWith(error.message);
}
run(findNode());

function findNode() {
  const locked = lockedNodes(modules, process.platform, process.arch).find((file) => fs.existsSync(file));
  if (locked !== undefined) {
    return locked;
  }
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) {
    return process.execPath;
  }
  return stopWith(
    `Rolecall's scripts need Node ${oldestNode.join('.')} or later (24 is best) on ${process.platform}-${process.arch}; this is ${process.versions.node}.`,
  );
}

function run(node) {
  // On Windows the variable may be spelled Path.
  const pathName = Object.keys(process.env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  const searched = [path.dirname(node), path.join(modules, '.bin'), process.env[pathName] ?? ''];
  const child = spawn(node, [path.resolve(root, script), ...parameters], {
    cwd: root,
    env: { ...process.env, [pathName]: searched.join(path.delimiter) },
    // The channel closes when this process ends in any way: the script then ends what it started.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('error', (error) => stopWith(`${node} could not be started: ${error.message}`));
  child.on('exit', (code, signal) => {
    stopInstalling();
    if (signal !== null) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else {
      process.exitCode = code ?? 1;
    }
  });
}

function stopWith(sentence) {
  stopInstalling();
  console.error(sentence);
  process.exit(1);
}
