// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { resolveExecutable } from '../../../../src/core/tools/executable.ts';
import { temporaryFolder } from './temporaryFolder.ts';

describe('resolveExecutable', () => {
  const folder = temporaryFolder();
  const at = (...parts: string[]): string => path.join(folder.path, ...parts);
  const find = (name: string, PATH: string, platform: NodeJS.Platform = 'linux') =>
    resolveExecutable(name, { cwd: at('work'), environment: { PATH }, platform });
  const refusedAs = (message: RegExp) => (error: unknown) =>
    error instanceof RolecallError && error.kind === 'tool' && message.test(error.message);

  before(async () => {
    for (const name of ['work', 'first', 'second']) await mkdir(at(name));
    for (const file of [
      'work/tool',
      'second/tool',
      'second/other',
      'work/x.CMD',
      'first/npm.cmd',
      'second/npm.exe',
      'second/git.exe',
    ]) {
      await writeFile(at(file), '#!/bin/sh\n', { mode: 0o755 });
    }
    await mkdir(at('first/other'));
    await writeFile(at('first/tool'), 'not executable');
    await chmod(at('first/tool'), 0o644);
    await symlink(at('second/tool'), at('work/link'));
  });

  it('takes the first of PATH that is a file and can be run', async () => {
    const PATH = `${at('first')}:${at('second')}`;
    assert.equal((await find('tool', PATH)).path, at('second/tool'));
    assert.equal((await find('other', PATH)).path, at('second/other'));
  });

  it('never looks in the current folder, nor in relative or empty parts of PATH', async () => {
    const relative = path.relative(process.cwd(), at('second'));
    for (const PATH of ['', ':', '.', relative, `${relative}:${at('first')}`]) {
      await assert.rejects(find('tool', PATH), refusedAs(/no program "tool" in the folders of PATH/));
    }
  });

  it('starts a relative path at the folder the tool runs in', async () => {
    assert.deepEqual(await find('./tool', ''), { path: at('work/tool'), realPath: at('work/tool') });
    assert.equal((await find('../second/other', '')).path, at('second/other'));
    await assert.rejects(find('./missing', ''), refusedAs(/no program ".\/missing" at /));
  });

  it('says where a link leads and starts it under its own name', async () => {
    assert.deepEqual(await find('./link', ''), { path: at('work/link'), realPath: at('second/tool') });
  });

  it('refuses batch files on Windows, by whatever name', async () => {
    for (const name of ['x.cmd', 'x.BAT', 'C:\\x.bat', 'x.cmd.', 'x.bat . ']) {
      await assert.rejects(find(name, at('second'), 'win32'), refusedAs(/batch file/), name);
    }
    await assert.rejects(find('npm', `${at('first')};${at('second')}`, 'win32'), refusedAs(/batch file/));
  });

  it('finds an .exe on Windows without its ending', async () => {
    assert.equal((await find('git', at('second'), 'win32')).path, at('second/git.exe'));
  });
});
