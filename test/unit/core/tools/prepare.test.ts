// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import type { ProcessRun } from '../../../../src/core/tools/definition.ts';
import { isInside, prepareProcess } from '../../../../src/core/tools/prepare.ts';
import { temporaryFolder } from './temporaryFolder.ts';

describe('prepareProcess', () => {
  const outer = temporaryFolder();
  const at = (...parts: string[]): string => path.join(outer.path, ...parts);
  const run: ProcessRun = {
    kind: 'process',
    command: ['/bin/sh', '$${x}', '--', '${a}'],
    cwd: '.',
    env: { ADDED: '1' },
    timeoutSeconds: 2.5,
    outputLimit: 1000,
    stdin: 'none',
  };
  const prepare = (
    changes: Partial<ProcessRun> = {},
    args: Record<string, unknown> = { a: '-x' },
    folder = at('space'),
  ) =>
    prepareProcess({ folder, run: { ...run, ...changes } }, args, {
      environment: { PATH: '/usr/bin:/bin', TOKEN: 's' },
    });
  const refusedAs = (message: RegExp) => (error: unknown) =>
    error instanceof RolecallError && error.kind === 'tool' && message.test(error.message);

  before(async () => {
    await mkdir(at('space', 'deep', 'er'), { recursive: true });
    await mkdir(at('space-not'));
    await mkdir(at('outside'));
    await writeFile(at('space', 'file'), '');
    await symlink(at('outside'), at('space', 'out'));
    await symlink(at('space', 'deep'), at('space', 'in'));
    await symlink(at('space'), at('link'));
  });

  it('says exactly what will run', async () => {
    const { executable, ...spec } = await prepare();
    assert.equal(executable.path, '/bin/sh');
    assert.deepEqual(spec, {
      args: ['${x}', '--', '-x'],
      root: at('space'),
      cwd: at('space'),
      env: { PATH: '/usr/bin:/bin', ADDED: '1' },
      stdin: undefined,
      timeoutMs: 2500,
      outputLimit: 1000,
    });
  });

  it('gives the arguments on standard input where asked to', async () => {
    assert.equal((await prepare({ stdin: 'json' }, { a: 'x', b: [1] })).stdin, '{"a":"x","b":[1]}');
  });

  it('searches with the PATH the definition gives', async () => {
    await writeFile(at('outside', 'mine'), '#!/bin/sh\n', { mode: 0o755 });
    const spec = await prepare({ command: ['mine'], env: { PATH: at('outside') } });
    assert.equal(spec.executable.path, at('outside', 'mine'));
  });

  const folders: [cwd: string, expected: string[] | RegExp][] = [
    ['deep/er', ['space', 'deep', 'er']],
    ['deep/../deep', ['space', 'deep']],
    ['in/er', ['space', 'deep', 'er']],
    ['..', /outside of the workspace folder/],
    ['../space-not', /outside of the workspace folder/],
    ['/', /outside of the workspace folder/],
    ['out', /outside of the workspace folder/],
    ['in/../../outside', /outside of the workspace folder/],
    ['missing', /does not exist/],
    ['file', /is not a folder/],
  ];
  for (const [cwd, expected] of folders) {
    it(`${expected instanceof RegExp ? 'refuses' : 'takes'} the folder ${cwd}`, async () => {
      if (expected instanceof RegExp) await assert.rejects(prepare({ cwd }), refusedAs(expected));
      else assert.equal((await prepare({ cwd })).cwd, at(...expected));
    });
  }

  it('takes a workspace folder that is itself a link', async () => {
    const spec = await prepare({ cwd: 'deep' }, {}, at('link'));
    assert.deepEqual([spec.root, spec.cwd], [at('space'), at('space', 'deep')]);
    assert.equal((await prepare({ cwd: at('link', 'deep') }, {}, at('link'))).cwd, at('space', 'deep'));
  });

  it('refuses an argument before it looks for anything', async () => {
    await assert.rejects(prepare({ command: ['/bin/sh', '${a}'] }), refusedAs(/may not begin/));
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
