import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { guardWritableFolders } from '../../../../src/core/tools/writableFolders.ts';
import { temporaryFolder } from './temporaryFolder.ts';

describe('guardWritableFolders', () => {
  const outer = temporaryFolder();
  const at = (...parts: string[]): string => path.join(outer.path, 'space', ...parts);
  beforeEach(() => mkdir(at('out', 'deep'), { recursive: true }));
  // Not by Node: some paths here are longer than it can remove.
  afterEach(() => execFileSync('rm', ['-rf', at()]));

  /** What is mounted read-only, and what is left when `run` has done its work; all relative to the folder. */
  const guard = async (write: string[], run: () => unknown = () => {}) => {
    const mounted: string[] = [];
    const { leftovers } = await guardWritableFolders(
      at(),
      write.map((each) => at(each)),
      async (readOnly) => {
        mounted.push(...readOnly.map((each) => path.relative(at(), each)));
        await run();
      },
    );
    const shown = leftovers.map(({ kind, path: file }) => `${kind} ${path.relative(at(), file)}`);
    return { mounted: mounted.sort(), left: shown.map((each) => each.replace(/allowed-.*/, 'allowed')).sort() };
  };
  const sh = (code: string) => () => execFileSync('sh', ['-ec', code], { cwd: at() });

  it('mounts what exists at any depth, but nothing within it, and takes the place of what does not', async () => {
    await mkdir(at('out', 'deep', '.Git', 'modules', '.git'), { recursive: true });
    await mkdir(at('.git'));
    const places: boolean[] = [];
    const { mounted, left } = await guard(['out'], () => places.push(existsSync(at('out', '.vscode'))));
    assert.deepEqual(mounted, ['out/.git', 'out/.vscode', 'out/deep/.Git']);
    assert.deepEqual([places, left], [[true], []]);
    assert.deepEqual(await readdir(at('out')), ['deep'], 'nothing of ours is left');
  });

  it('leaves alone what another program put into the place', async () => {
    const { left } = await guard(['out'], sh('echo x > out/.git/HEAD'));
    assert.deepEqual([left, await readdir(at('out', '.git'))], [[], ['HEAD']]);
  });

  const made: [title: string, code: string, left: string[]][] = [
    [
      'a repository, and what is in it',
      'mkdir -p out/a/.git/b/.git',
      ['renamed out/a/.git.not-allowed', 'renamed out/a/.git.not-allowed'],
    ],
    ['a link, whatever its capitals', 'ln -s deep out/.VSCode', ['renamed out/.VSCode.not-allowed']],
    ['a file', 'echo gitdir: x > out/deep/.git', ['renamed out/deep/.git.not-allowed']],
    ['a FIFO', 'mkfifo out/deep/x', ['deleted out/deep/x']],
    ['a program for others', 'touch out/x; chmod 6755 out/x', ['modeCleared out/x']],
    [
      'what cannot be read',
      'mkdir -p out/a/b/.git; chmod 0311 out/a/b; chmod 0 out/a',
      ['renamed out/a/b/.git.not-allowed'],
    ],
    ['what cannot be renamed', 'mkdir -p out/a/.git; chmod 0555 out/a', ['renamed out/a/.git.not-allowed']],
    ['a folder with its group', 'mkdir out/x; chmod 2755 out/x', []],
  ];
  for (const [title, code, expected] of made) {
    it(`finds ${title}`, async () => {
      const { left } = await guard(['out'], sh(code));
      assert.deepEqual(left, expected);
      assert.deepEqual((await guard(['out'])).left, [], 'once');
    });
  }

  it('leaves alone a FIFO that was there, and clears a file that may be written', async () => {
    sh('mkfifo out/x; touch file')();
    assert.deepEqual((await guard(['out', 'file'], sh('chmod 4755 file'))).left, ['modeCleared file']);
    assert.ok(statSync(at('out', 'x')).isFIFO());
  });

  it('finds what was moved with the folder that it lies in', async () => {
    await mkdir(at('out', 'sub', '.git'), { recursive: true });
    const { left } = await guard(['out'], sh('mv out/sub out/old; mkdir -p out/sub/.git'));
    assert.deepEqual(left, ['renamed out/sub/.git.not-allowed']);
    assert.ok(existsSync(at('out', 'old', '.git')));
  });

  it('renames a file of git’s that was moved, since its relative path leads elsewhere', async () => {
    await mkdir(at('out', 'tree'));
    await writeFile(at('out', 'tree', '.git'), 'gitdir: ../../../bare\n');
    const { left } = await guard(['out'], sh('mkdir -p out/e out/bare; mv out/tree out/e'));
    assert.deepEqual(left, ['renamed out/e/tree/.git.not-allowed']);
  });

  it('finds nothing where the user has deleted the folder meanwhile', async () => {
    assert.deepEqual((await guard(['out'], sh('rm -r out'))).left, []);
  });

  it('says where it could not look', async () => {
    const long = Array(8).fill('x'.repeat(250)).join('/');
    const code = `mkdir -p out/${long} a/${long} b/${long}/.git; mv b a/${long}; mv a out/${long}`;
    const { left } = await guard(['out'], sh(code));
    assert.equal(left.length, 1);
    assert.match(left[0] ?? '', /^remains out\/x{250}\/x/);
  });

  it('says where a name is no UTF-8, and refuses a folder that has one before', async function () {
    if (process.platform !== 'linux') return this.skip(); // Others have no such names.
    const code = 'mkdir -p "out/$(printf \'\\377\')/.git"; touch "out/$(printf \'\\376\')"; chmod 4755 out/*';
    assert.deepEqual((await guard(['out'], sh(code))).left, ['remains out/\ufffd', 'remains out/\ufffd']);
    await assert.rejects(guard(['out']), /out\/\ufffd" cannot be read/);
  });

  it('searches after a failure too', async () => {
    const fail = () => {
      sh('mkdir out/deep/.git')();
      throw new Error('stopped');
    };
    await assert.rejects(guard(['out'], fail), /stopped/);
    assert.match((await readdir(at('out', 'deep')))[0] ?? '', /^\.git\.not-allowed-/);
    assert.deepEqual(await readdir(at('out')), ['deep']);
  });

  const refused: [title: string, files: Record<string, string>, write: string[], message: RegExp][] = [
    ['a link in a writable folder', { 'out/.vscode': '-> deep' }, ['out'], /"[^"]*out\/\.vscode" is a link/],
    ['a link into one', { '.vscode': '-> out/deep' }, ['out'], /\.vscode" leads to "[^"]*out\/deep"/],
    ['a link to what contains one', { 'a/.vscode': '-> ../out' }, ['out/deep'], /leads to "[^"]*out"/],
    ['a link to what does not exist yet', { '.vscode': '-> out/new' }, ['out'], /leads to "[^"]*out\/new"/],
    ['a link that leads to no end', { '.vscode': '-> x', x: '-> y' }, ['out'], /leads to "[^"]*x"/],
    ['a worktree of a repository in one', { 'w/.git': 'gitdir: ../out/deep\n' }, ['out'], /leads to "[^"]*out\/deep"/],
    [
      'a worktree that shares what is in one',
      { 'w/.git': 'gitdir: ../repo/w\n', 'repo/w/commondir': '../../out/deep\n' },
      ['out'],
      /leads to "[^"]*out\/deep"/,
    ],
  ];
  const write = async (name: string, text: string) => {
    await mkdir(path.dirname(at(name)), { recursive: true });
    await (text.startsWith('-> ') ? symlink(text.slice(3), at(name)) : writeFile(at(name), text));
  };
  for (const [title, files, folders, message] of refused) {
    it(`refuses ${title}`, async () => {
      for (const [name, text] of Object.entries(files)) await write(name, text);
      const isRefused = (error: unknown) =>
        error instanceof RolecallError && error.kind === 'tool' && message.test(error.message);
      await assert.rejects(
        guard(folders, () => assert.fail('it was run')),
        isRefused,
      );
      assert.equal(existsSync(at('out', '.git')), false, 'nothing of ours is left');
    });
  }

  it('takes a link and a worktree that lead elsewhere, and a submodule, whose repository is protected', async () => {
    await write('.vscode', '-> settings');
    await write('w/.git', 'gitdir: ../repo\n');
    sh('mkdir repo; mkfifo repo/commondir')(); // Reading it would wait for a writer.
    assert.deepEqual((await guard(['out'])).left, []);
    for (const each of ['.vscode', 'w']) await rm(at(each), { recursive: true });
    await mkdir(at('.git', 'modules', 'sub'), { recursive: true });
    await write('sub/.git', 'gitdir: ../.git/modules/sub\n');
    assert.deepEqual((await guard(['.'])).mounted, ['.git', '.vscode', 'sub/.git']);
  });
});
