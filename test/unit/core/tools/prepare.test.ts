// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import type { ProcessRun } from '../../../../src/core/tools/definition.ts';
import {
  environmentVariable,
  prepareProcess,
  resolveExecutable,
  toolEnvironment,
} from '../../../../src/core/tools/prepare.ts';
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
    access: { read: ['.'], write: [], network: false },
    contained: true,
  };
  const prepare = (
    changes: Partial<ProcessRun> = {},
    args: Record<string, unknown> = { a: '-x' },
    folder = at('space'),
    contains = false,
  ) =>
    prepareProcess({ folder, run: { ...run, ...changes } }, args, {
      environment: { PATH: '/usr/bin:/bin', HOME: '/h', TMPDIR: '/h/t', TOKEN: 's' },
      homes: [at('home')],
      folders: [folder],
      contains,
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
      env: { PATH: '/usr/bin:/bin', HOME: '/h', TMPDIR: '/h/t', ADDED: '1' },
      stdin: undefined,
      timeoutMs: 2500,
      outputLimit: 1000,
      permissions: undefined,
    });
  });

  it('says what a contained program reaches; it gets another home and another temporary folder', async () => {
    const { permissions, env } = await prepare({}, { a: 'x' }, at('space'), true);
    assert.deepEqual(permissions, {
      read: [at('space')],
      write: [],
      files: [],
      network: false,
      program: undefined,
      homes: [at('home')],
    });
    assert.deepEqual(env, { PATH: '/usr/bin:/bin', ADDED: '1' });
    const own = await prepare({ env: { HOME: 'cfg' } }, { a: 'x' }, at('space'), true);
    assert.equal(own.env.HOME, 'cfg');
    const never = await prepare({ contained: false }, { a: 'x' }, at('space'), true);
    assert.equal(never.permissions, undefined);
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
    ['..', /outside the workspace folder/],
    ['../space-not', /outside the workspace folder/],
    ['/', /outside the workspace folder/],
    ['out', /outside the workspace folder/],
    ['in/../../outside', /outside the workspace folder/],
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

  it('says which folder of the user’s own PATH a name led to; not of a path, nor of a PATH of the definition', async () => {
    const foundIn = async (command: string, env: Record<string, string> = {}) =>
      (await prepare({ command: [command], env })).executable.foundIn;
    assert.match((await foundIn('sh')) ?? '', /^(?:\/usr)?\/bin$/);
    assert.deepEqual([await foundIn('/bin/sh'), await foundIn('sh', { PATH: '/bin' })], [undefined, undefined]);
  });

  it('refuses an argument before it looks for anything', async () => {
    await assert.rejects(prepare({ command: ['/bin/sh', '${a}'] }), refusedAs(/may not begin/));
  });
});

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
      await assert.rejects(find('tool', PATH), refusedAs(/"tool" was not found in PATH/));
    }
  });

  it('starts a relative path at the folder the tool runs in', async () => {
    assert.deepEqual(await find('./tool', ''), { path: at('work/tool'), realPath: at('work/tool') });
    assert.equal((await find('../second/other', '')).path, at('second/other'));
    await assert.rejects(find('./missing', ''), refusedAs(/No executable program was found at ".*missing"/));
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

const posix = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TMPDIR', 'TZ'];
const secrets = [
  'GITHUB_TOKEN',
  'AWS_SECRET_ACCESS_KEY',
  'NPM_TOKEN',
  'SSH_AUTH_SOCK',
  'HTTPS_PROXY',
  'ELECTRON_RUN_AS_NODE',
  'VSCODE_IPC_HOOK',
  'NODE_OPTIONS',
  'LD_PRELOAD',
  'DYLD_INSERT_LIBRARIES',
  'PATH_TOKEN',
  'LC_',
  'LC_token',
  'path',
];

describe('toolEnvironment', () => {
  it('hands on what programs need and nothing else', () => {
    const inherited = Object.fromEntries([...posix, 'LC_ALL', ...secrets].map((name) => [name, `value of ${name}`]));
    assert.deepEqual(Object.keys(toolEnvironment(inherited, {}, 'linux')).sort(), [...posix, 'LC_ALL'].sort());
  });

  it('adds what the definition says, which wins', () => {
    assert.deepEqual(toolEnvironment({ PATH: '/a', HOME: '/h' }, { PATH: '/b', GITHUB_TOKEN: 'x' }, 'darwin'), {
      PATH: '/b',
      HOME: '/h',
      GITHUB_TOKEN: 'x',
    });
  });

  it('does not tell capitals apart on Windows', () => {
    const environment = toolEnvironment({ Path: 'a', systemroot: 'C', secret: 's' }, { PATH: 'b' }, 'win32');
    assert.deepEqual(environment, { systemroot: 'C', PATH: 'b' });
    assert.equal(environmentVariable({ Path: 'a' }, 'PATH', 'win32'), 'a');
    assert.equal(environmentVariable({ Path: 'a' }, 'PATH', 'linux'), undefined);
  });

  it('whatever is inherited: a variable is allowed or was added, and nothing is changed', () => {
    const name = fc.oneof(fc.string(), fc.constantFrom(...posix, ...secrets, 'LC_ALL', '__proto__'));
    const variables = fc.array(fc.tuple(name, fc.string())).map((entries) => Object.fromEntries(entries));
    fc.assert(
      fc.property(variables, variables, (inherited, additions) => {
        for (const [key, value] of Object.entries(toolEnvironment(inherited, additions, 'linux'))) {
          if (Object.hasOwn(additions, key)) assert.equal(value, additions[key]);
          else {
            assert.ok(posix.includes(key) || /^LC_[A-Z]+$/.test(key), key);
            assert.equal(value, inherited[key]);
          }
        }
      }),
    );
  });
});
