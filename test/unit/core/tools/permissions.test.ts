import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import {
  checkWorkspacePaths,
  type Executable,
  isInside,
  resolvePermissions,
} from '../../../../src/core/tools/permissions.ts';
import { temporaryFolder } from './temporaryFolder.ts';

const refusedAs = (message: RegExp) => (error: unknown) =>
  error instanceof RolecallError && error.kind === 'tool' && message.test(error.message);
const system = { path: '/usr/bin/x', realPath: '/usr/bin/x' };

describe('resolvePermissions', () => {
  const outer = temporaryFolder();
  const at = (...parts: string[]): string => path.join(outer.path, ...parts);
  const resolve = (
    access: { read?: string[]; write?: string[] },
    executable: Executable = system,
    root = at('home', 'space'),
  ) =>
    resolvePermissions(
      { read: ['.'], write: [], network: false, ...access },
      {
        root,
        executable,
        homes: [at('home'), at('link-to-home')],
        folders: [at('link-to-home', 'space')],
        platform: 'linux',
      },
    );

  before(async () => {
    await mkdir(at('home', 'space', 'src', 'deep'), { recursive: true });
    await mkdir(at('home', 'space', '.git'));
    await mkdir(at('home', '.ssh'));
    await mkdir(at('home', 'code', 'team', 'project', '.git'), { recursive: true });
    await symlink(at('home'), at('link-to-home'));
    await symlink('src', at('home', 'space', 'in'));
    await symlink('../.ssh', at('home', 'space', 'away'));
    await symlink('../nowhere', at('home', 'space', 'dangling'));
    await symlink('.git', at('home', 'space', 'hidden'));
    await writeFile(at('home', 'space', 'file'), '');
  });

  it('reads the workspace folder unless it is told otherwise, and knows a home by one name', async () => {
    assert.deepEqual(await resolve({}), {
      read: [at('home', 'space')],
      write: [],
      files: [],
      network: false,
      program: undefined,
      homes: [at('home')],
    });
  });

  const paths: [given: string, expected: string[] | RegExp, toRead: boolean][] = [
    ['src/deep', ['src', 'deep'], true],
    ['in/deep', ['src', 'deep'], true],
    ['file', ['file'], true],
    ['src/new/er', ['src', 'new', 'er'], false],
    ['in/new', ['src', 'new'], false],
    ['away', /leads outside the workspace folder/, false],
    ['away/new', /leads outside the workspace folder/, false],
    ['in/../../x', /leads outside the workspace folder/, false],
    ['dangling', /leads outside the workspace folder/, false],
    ['dangling/new', /leads outside the workspace folder/, false],
    ['hidden', /are never writable/, false],
    ['src/.Git/x', /are never writable/, false],
  ];
  for (const [given, expected, toRead] of paths) {
    it(`${expected instanceof RegExp ? 'refuses' : 'takes'} ${given}`, async () => {
      const both = async (access: object) => (expected instanceof RegExp ? 'refused' : Object.values(access).flat());
      if (expected instanceof RegExp) await assert.rejects(resolve({ write: [given] }), refusedAs(expected));
      else {
        const real = at('home', 'space', ...expected);
        assert.deepEqual((await resolve({ write: [given] })).write, [real], String(await both({})));
        if (toRead) assert.deepEqual((await resolve({ read: [given] })).read, [real]);
        else await assert.rejects(resolve({ read: [given] }), refusedAs(/does not exist/));
      }
    });
  }

  it('writes no folder within another, so that none can be moved with what is above it', async () => {
    const { write } = await resolve({ write: ['src/deep', 'in', 'src', 'src/new', 'file'] });
    assert.deepEqual(write, [at('home', 'space', 'src'), at('home', 'space', 'file')]);
  });

  it('tells files from folders', async () => {
    const { files } = await resolve({ read: ['file', 'src'], write: ['new', 'file'] });
    assert.deepEqual(files, [at('home', 'space', 'file'), at('home', 'space', 'file')]);
  });

  it('never reads or writes the home folder, but a part of a workspace that is one', async () => {
    for (const root of [at('home'), outer.path]) {
      await assert.rejects(resolve({}, system, root), refusedAs(/contains your home folder/));
      await assert.rejects(resolve({ read: [], write: ['.'] }, system, root), refusedAs(/contains your home folder/));
    }
    assert.deepEqual((await resolve({ read: ['space'] }, system, at('home'))).read, [at('home', 'space')]);
  });

  const programs: [real: string, foundIn: string | undefined, expected: string | undefined][] = [
    ['/usr/lib/x', undefined, undefined],
    ['home/space/node_modules/.bin/x', undefined, undefined],
    ['home/.nvm/versions/node/v24/bin/node', 'home/.nvm/versions/node/v24/bin', 'home/.nvm/versions/node/v24'],
    ['home/.nvm/versions/node/v24/lib/npm/cli.js', 'home/.nvm/versions/node/v24/bin', 'home/.nvm/versions/node/v24'],
    ['home/.nvm/versions/node/v24/bin/node', undefined, 'home/.nvm/versions/node/v24/bin/node'],
    ['home/.local/pipx/venvs/x/bin/x', 'home/.local/bin', 'home/.local/pipx/venvs/x'],
    ['home/.pyenv/shims/python3', 'home/.pyenv/shims', 'home/.pyenv'],
    ['home/.local/bin/x', 'home/.local/bin', 'home/.local/bin/x'],
    ['home/.cargo/bin/cargo', 'home/.cargo/bin', 'home/.cargo/bin/cargo'],
    ['home/bin/x', 'home/bin', 'home/bin/x'],
    ['home/shims/x', 'home/shims', 'home/shims/x'],
    ['home/tools/a/b/x', 'home/tools/a/b', 'home/tools/a/b/x'],
    ['home/project/shims/x', 'home/project/shims', 'home/project/shims/x'],
    ['home/code/team/project/bin/x', 'home/code/team/project/bin', 'home/code/team/project/bin/x'],
    ['other/tools/bin/x', 'other/tools/bin', 'other/tools'],
    ['other/tools/bin/x', 'home/space/bin', 'other/tools/bin/x'],
    ['bin/x', 'bin', 'bin/x'],
  ];
  for (const [real, foundIn, expected] of programs) {
    it(`gives the program ${real}, found in ${foundIn ?? 'no PATH'}, ${expected ?? 'nothing more'}`, async () => {
      const file = path.isAbsolute(real) ? real : at(real);
      if (foundIn) await mkdir(at(foundIn), { recursive: true });
      const { program } = await resolve({}, { path: file, realPath: file, ...(foundIn && { foundIn: at(foundIn) }) });
      assert.equal(program, expected === undefined ? undefined : at(expected));
    });
  }

  it('gives the file alone where an open folder lies in the prefix', async () => {
    const root = at('home', 'code', 'team', 'whole', 'packages', 'a');
    const bin = at('home', 'code', 'team', 'whole', 'bin');
    for (const folder of [root, bin]) await mkdir(folder, { recursive: true });
    const found = { path: path.join(bin, 'x'), realPath: path.join(bin, 'x'), foundIn: bin };
    const programOf = async (folders: string[]) => {
      const { program } = await resolvePermissions(
        { read: ['.'], write: [], network: false },
        { root, executable: found, homes: [at('home')], folders, platform: 'linux' },
      );
      return program;
    };
    assert.equal(await programOf([root]), found.path);
    assert.equal(await programOf([]), path.dirname(bin));
  });
});

describe('checkWorkspacePaths', () => {
  const outer = temporaryFolder();
  const format = { type: 'string', format: 'workspace-path' };
  const parameters = {
    type: 'object' as const,
    properties: { file: format, files: { type: 'array', items: format }, free: { type: 'string' } },
    required: [],
  };
  before(async () => {
    await mkdir(path.join(outer.path, 'space', 'deep'), { recursive: true });
    await symlink('..', path.join(outer.path, 'space', 'out'));
  });
  const check = (args: Record<string, unknown>, cwd = '.') =>
    checkWorkspacePaths(parameters, args, { folder: path.join(outer.path, 'space'), cwd });

  it('takes what lies in the workspace folder, whether it exists or not', async () => {
    await check({ file: 'deep', files: ['new/x', '.'], free: '../../etc' });
    await check({ file: 'x' }, 'deep');
    await check({ file: 7, files: [7, null] });
  });

  it('refuses what leads out, also by a link and in a list', async () => {
    for (const args of [{ file: 'out' }, { file: 'out/x' }, { file: 'deep/../../x' }, { files: ['deep', 'out/x'] }]) {
      await assert.rejects(check(args), refusedAs(/leads outside the workspace folder/), JSON.stringify(args));
    }
  });
});

describe('isInside', () => {
  const rows: [folder: string, file: string, expected: boolean][] = [
    ['/a', '/a', true],
    ['/a', '/a/b', true],
    ['/a', '/a/..b', true],
    ['/a', '/ab', false],
    ['/a/b', '/a', false],
    ['/', '/a', true],
  ];
  for (const [folder, file, expected] of rows) {
    it(`${file} ${expected ? 'is' : 'is not'} in ${folder}`, () => assert.equal(isInside(folder, file), expected));
  }
});
