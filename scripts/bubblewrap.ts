import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

/**
 * Makes sure that the tests of contained programs can run on this machine: installs bubblewrap if that needs no
 * question (root on a system with apt).
 *
 * @returns why they cannot run, for the report; undefined when they can.
 */
export function ensureBubblewrap(): string | undefined {
  if (process.platform === 'darwin') return undefined;
  if (process.platform !== 'linux') return 'the tests of contained programs did not run: this system has no bubblewrap';
  if (!isInstalled() && process.getuid?.() === 0 && fs.existsSync('/usr/bin/apt-get')) install();
  if (!isInstalled()) return 'the tests of contained programs did not run: bubblewrap is not installed';
  const tried = spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', 'true'], {
    encoding: 'utf8',
  });
  if (tried.status === 0) return undefined;
  return `the tests of contained programs did not run: ${tried.stderr.trim() || 'bubblewrap does not start'}`;
}

function isInstalled(): boolean {
  return spawnSync('bwrap', ['--version']).status === 0;
}

function install(): void {
  const apt = (...args: string[]) =>
    spawnSync('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: 'ignore',
    }).status === 0;
  // The lists of a fresh container are empty or old.
  if (!apt('install', '-y', '--no-install-recommends', 'bubblewrap') && apt('update')) {
    apt('install', '-y', '--no-install-recommends', 'bubblewrap');
  }
}
