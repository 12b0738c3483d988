// What installing takes, in plain JavaScript: bootstrap.mjs uses it before there is anything to run TypeScript with.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/**
 * Calls `install` unless `stamp` holds the hash of `sources`, and writes it afterwards. Commands started together do not
 * install together: the second waits for the first and finds the work done.
 */
export async function installOnce(stamp, sources, install) {
  const wanted = hashOf(sources);
  if (isStamped(stamp, wanted)) {
    return;
  }
  await oneAtATime(stamp, async () => {
    if (!isStamped(stamp, wanted)) {
      await install();
      fs.writeFileSync(stamp, wanted);
    }
  });
}

/**
 * Runs npm in `folder`, quietly unless it fails. Scripts of packages are never run: nothing here needs one, and none can
 * then fail for want of a network or a compiler.
 */
export function npm(parameters, folder) {
  const flags = [...parameters, '--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'];
  const cli = process.env.npm_execpath;
  const [command, all] = cli?.endsWith('.js') ? [process.execPath, [cli, ...flags]] : ['npm', flags];
  const result = spawnSync(command, all, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    // npm is a .cmd file on Windows, which only a shell starts.
    shell: process.platform === 'win32' && command === 'npm',
  });
  if (result.error !== undefined || result.status !== 0) {
    const why = result.error?.message ?? `exit code ${result.status ?? result.signal}`;
    throw new Error(`${result.stdout ?? ''}${result.stderr ?? ''}\nnpm ${parameters[0]} failed in ${folder}: ${why}`);
  }
}

function isStamped(stamp, wanted) {
  return fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === wanted;
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
    // An empty file was made a moment ago: its writer has not yet said who it is.
    return pid === 0 ? Date.now() - fs.statSync(file).mtimeMs < 5000 : process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
