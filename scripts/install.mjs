// What installing takes, in plain JavaScript: bootstrap.mjs uses it before there is anything to run TypeScript with.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { step } from './steps.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const modules = path.join(root, 'node_modules');
const editorFolder = path.join(root, 'scripts', 'editor');
const workbenchFolder = path.join(editorFolder, 'node_modules', 'code-server', 'lib', 'vscode');
const running = new Set();

/**
 * Calls `install` unless the file `stamp` has the hash of the files `sources`, and writes that afterwards. `part` names
 * a subset of the work (`' start'`, `' fetched'`): the stamp then ends in it, and doing the whole work skips what the
 * part has done. Of commands started together, the second waits for the first and finds the work done. With a `title`
 * it prints a line for what it does or waits for.
 */
export async function installOnce({ stamp, sources, part = '', title, progress }, install) {
  const whole = hashOf(sources);
  const stamped = () => (fs.existsSync(stamp) ? fs.readFileSync(stamp, 'utf8') : '');
  const isDone = () => [whole, whole + part].includes(stamped());
  const work = () =>
    oneAtATime(stamp, async () => {
      if (!isDone()) {
        await install(stamped().startsWith(whole));
        fs.writeFileSync(stamp, whole + part);
      }
    });
  if (!isDone()) {
    await (title === undefined ? work() : step(title, work, { progress }));
  }
}

/** The packages of the root: `dependencies` is what `npm start` needs, `devDependencies` what checks and tests need besides. */
export async function installPackages(isStart) {
  const stamp = path.join(modules, '.rolecall-lock');
  const lock = path.join(root, 'package-lock.json');
  const title = isStart ? 'Packages' : 'Packages, with those for tests';
  const options = {
    stamp,
    sources: [lock],
    part: isStart ? ' start' : '',
    title,
    progress: () => `${installed(root, lock)} packages`,
  };
  await installOnce(options, async (isStartThere) => {
    // Added to what is there, nothing that runs loses its files; `npm ci` begins with deleting them.
    const how = isStartThere
      ? ['install', '--no-save', '--include=dev']
      : ['ci', isStart ? '--omit=dev' : '--include=dev'];
    await npm([...how, '--include=optional'], root);
  });
}

/** The folder and the sources of the served editor, for `installOnce`. Its part is fetching it. */
export const servedEditor = {
  stamp: path.join(editorFolder, 'node_modules', '.rolecall-editor'),
  sources: ['package-lock.json', 'install.ts', 'natives.ts', 'strict.ts'].map((file) => path.join(editorFolder, file)),
  progress: () => {
    const server = installed(editorFolder, path.join(editorFolder, 'package-lock.json'));
    return `${server + installed(workbenchFolder, path.join(workbenchFolder, 'npm-shrinkwrap.json'))} packages`;
  },
};

export async function fetchEditor() {
  await npm(['ci'], editorFolder);
  // Not `npm ci`: the editor's own shrinkwrap lacks an entry and npm refuses it.
  await npm(['install', '--omit=dev'], workbenchFolder);
}

/** Fetches the served editor silently, while something else is done: `installEditor` then waits for it. */
export async function fetchEditorBeside() {
  await installOnce({ ...servedEditor, part: ' fetched' }, fetchEditor);
}

/** The number of packages in a lock file. */
function installed(folder, lock) {
  if (!fs.existsSync(lock)) {
    return 0;
  }
  const all = Object.keys(JSON.parse(fs.readFileSync(lock, 'utf8')).packages).filter((name) => name !== '');
  return all.filter((name) => fs.existsSync(path.join(folder, name, 'package.json'))).length;
}

/**
 * Runs npm in `folder`, quietly unless it fails. Scripts of packages are never run: nothing here needs one, and none
 * can then fail without a network or a compiler.
 */
export async function npm(parameters, folder) {
  const flags = [...parameters, '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'];
  const { command, all, shell } = npmCommand(flags, process.env.npm_execpath, process.platform);
  const child = spawn(command, all, { cwd: folder, shell, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let told = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      told += text;
    });
  }
  const why = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : `exit code ${code ?? signal}`));
  });
  running.delete(child);
  if (why !== undefined) {
    throw new Error(`${told}\nnpm ${parameters[0]} failed in ${folder}: ${why}`);
  }
}

/** Ends every npm that still runs: nobody waits for it any more. */
export function stopInstalling() {
  for (const child of running) {
    child.kill();
  }
}

/** How npm is started: with the npm that started us, if one did. */
export function npmCommand(parameters, execPath, platform) {
  return execPath?.endsWith('.js')
    ? { command: process.execPath, all: [execPath, ...parameters], shell: false }
    : // npm is a .cmd file on Windows, which only a shell starts.
      { command: 'npm', all: [...parameters], shell: platform === 'win32' };
}

/** The possible places of the Node that is locked with the packages. */
export function lockedNodes(folder, platform, arch) {
  const { join } = platform === 'win32' ? path.win32 : path.posix;
  const [system, name] = platform === 'win32' ? ['win', 'node.exe'] : [platform, 'node'];
  return [join(folder, `node-${system}-${arch}`, 'bin', name), join(folder, '.bin', name)];
}

/**
 * Whether a command will probably need the served editor, which is then fetched at the same time as the packages. The
 * command itself decides, and installs what is missing.
 */
export function guessEditor(script, parameters, { platform, hasDesktop }) {
  if (platform === 'win32') {
    return false;
  }
  if (script.endsWith('start.ts')) {
    return parameters.includes('--served') || !(hasDesktop || parameters.includes('--editor'));
  }
  const isDesktop = parameters.some((parameter) => ['--desktop', '--vscode-version'].includes(parameter));
  const named = parameters.filter((parameter) => ['check', 'build', 'unit', 'host', 'e2e', 'deep'].includes(parameter));
  const needing = named.filter((name) => name === 'e2e' || (name === 'host' && !isDesktop));
  return script.endsWith('scripts/test.ts') && (named.length === 0 || needing.length > 0);
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) {
    hash.update(fs.readFileSync(file));
  }
  return hash.digest('hex');
}

async function oneAtATime(subject, work) {
  // Not beside the stamp: `npm ci` deletes that folder.
  const held = path.join(
    os.tmpdir(),
    `rolecall-install-${createHash('sha256').update(subject).digest('hex').slice(0, 16)}`,
  );
  while (!tryHold(held)) {
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  try {
    await work();
  } finally {
    fs.rmSync(held, { force: true });
  }
}

function tryHold(file) {
  try {
    fs.writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') {
      throw error;
    }
    if (!holderLives(file)) {
      fs.rmSync(file, { force: true });
    }
    return false;
  }
}

function holderLives(file) {
  try {
    const pid = Number(fs.readFileSync(file, 'utf8'));
    // An empty file was made a moment ago: its writer has not written its process ID yet.
    return pid === 0 ? Date.now() - fs.statSync(file).mtimeMs < 5000 : process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
