import assert from 'node:assert/strict';
import { bubblewrap, type ContainedProgram, seatbelt } from '../../../../src/core/tools/launch.ts';
import type { Permissions } from '../../../../src/core/tools/permissions.ts';

const reach: Permissions = {
  read: ['/home/u/w'],
  write: [],
  files: [],
  network: false,
  program: undefined,
  homes: ['/home/u'],
};
const program = (
  changes: Omit<Partial<ContainedProgram>, 'permissions'> & { readonly permissions?: Partial<Permissions> } = {},
): ContainedProgram => ({
  executable: { path: '/usr/bin/x', realPath: '/usr/bin/x' },
  args: ['--bind', '/', '$HOME', ''],
  root: '/home/u/w',
  cwd: '/home/u/w',
  env: { PATH: '/usr/bin', LD_PRELOAD: './x.so' },
  ...changes,
  permissions: { ...reach, ...changes.permissions },
});

describe('the arguments of bubblewrap', () => {
  const launch = (changes: Parameters<typeof program>[0] = {}, readOnly: readonly string[] = []) =>
    bubblewrap('/usr/bin/bwrap', program(changes), readOnly);
  const text = (...args: Parameters<typeof launch>) => launch(...args).args.join(' ');

  it('are everything: bubblewrap itself gets no environment and no folder of the workspace', () => {
    const { file, cwd, env } = launch();
    assert.deepEqual([file, cwd, env], ['/usr/bin/bwrap', '/', {}]);
  });

  it('share nothing, end with their parent and give no right, and say which process all others end with', () => {
    const { args, hasNamespace } = launch();
    assert.deepEqual([args[args.indexOf('--info-fd') + 1], hasNamespace], ['3', true]);
    for (const each of ['user', 'pid', 'ipc', 'uts', 'net', 'cgroup-try'])
      assert.ok(args.includes(`--unshare-${each}`));
    for (const each of ['--disable-userns', '--die-with-parent', '--new-session']) assert.ok(args.includes(each));
    assert.match(args.join(' '), /--cap-drop ALL/);
  });

  it('end before the program, whose own arguments stand as they are', () => {
    const { args } = launch();
    assert.deepEqual(args.slice(args.indexOf('--')), ['--', '/usr/bin/x', '--bind', '/', '$HOME', '']);
  });

  it('mount only what there is to reach, and write nothing but temporary files', () => {
    const { args } = launch();
    const binds = args.flatMap((each, index) => (/^--(?:dev-)?bind/.test(each) ? [args[index + 1]] : []));
    assert.deepEqual(binds.slice(0, -1), [], 'the last is an argument of the program');
    const mounted = args.flatMap((each, index) => (each.startsWith('--ro-bind') ? [args[index + 1] ?? ''] : []));
    const others = mounted.filter(
      (each) => !/^\/(?:usr|s?bin|lib\w*|nix|gnu|etc|proc|run\/current|home\/linuxbrew)/.test(each),
    );
    assert.deepEqual(others, ['/home/u/w']);
    assert.deepEqual(
      mounted.filter((each) => /shadow|private|gshadow|sudoers|^\/etc$|^\/run$/.test(each)),
      [],
    );
  });

  const rows: [title: string, args: Parameters<typeof launch>, expected: RegExp][] = [
    ['an empty home before the workspace in it', [], /--tmpfs \/home\/u .*--ro-bind \/home\/u\/w \/home\/u\/w/],
    ['an empty home as HOME', [], /--setenv HOME \/home\/u --setenv PATH \/usr\/bin/],
    ['a HOME of the definition', [{ env: { HOME: 'cfg' } }], /--setenv HOME cfg(?! --setenv HOME)/],
    ['two homes', [{ permissions: { homes: ['/home/u', '/opt/u'] } }], /--tmpfs \/home\/u --tmpfs \/opt\/u/],
    ['a network', [{ permissions: { network: true } }], /^(?!.*--unshare-net)/],
    [
      'what may be written over what may be read',
      [{ permissions: { write: ['/home/u/w/out'] } }],
      /--ro-bind \/home\/u\/w \/home\/u\/w --bind \/home\/u\/w\/out \/home\/u\/w\/out/,
    ],
    [
      'what is protected over what may be written',
      [{ permissions: { write: ['/home/u/w'] } }, ['/home/u/w/.git']],
      /--bind \/home\/u\/w \/home\/u\/w --ro-bind \/home\/u\/w\/.git \/home\/u\/w\/.git /,
    ],
    [
      'a folder of the program',
      [{ permissions: { program: '/home/u/.nvm/v1' } }],
      /--tmpfs \/home\/u --ro-bind \/home\/u\/.nvm\/v1/,
    ],
    [
      'a link to the program that would not be seen',
      [{ executable: { path: '/home/u/.local/bin/x', realPath: '/usr/bin/x' } }],
      /--symlink \/usr\/bin\/x \/home\/u\/.local\/bin\/x .*-- \/home\/u\/.local\/bin\/x/,
    ],
    ['a root that cannot be written', [], /--remount-ro \/ --chdir \/home\/u\/w/],
    [
      'a folder to run in that is not read',
      [{ cwd: '/home/u/w/a', permissions: { read: [] } }],
      /--dir \/home\/u\/w --dir \/home\/u\/w\/a .*--chdir \/home\/u\/w\/a/,
    ],
    ['settings of the kernel, read-only', [], /--proc \/proc .*--ro-bind-try \/proc\/sys \/proc\/sys .*--dev \/dev/],
  ];
  for (const [title, args, expected] of rows) it(`give ${title}`, () => assert.match(text(...args), expected));

  it('do not empty a home that the system lies in', () => {
    for (const home of ['/', '/usr']) {
      const given = text({ permissions: { homes: [home] } });
      assert.doesNotMatch(given, new RegExp(`--tmpfs ${home} `));
      assert.match(given, /--setenv HOME \/tmp /);
    }
  });
});

describe('the profile of Seatbelt', () => {
  const launch = (changes: Parameters<typeof program>[0] = {}) => seatbelt(program(changes), '/private/tmp/t');
  const profile = (changes: Parameters<typeof program>[0] = {}) => launch(changes).args[1] ?? '';

  it('is started without an environment, which is set within', () => {
    const { file, args, env } = launch();
    assert.deepEqual([file, args[0], env], ['/usr/bin/sandbox-exec', '-p', {}]);
    assert.deepEqual(args.slice(2), [
      ...['/usr/bin/env', '-i', 'HOME=/private/tmp/t', 'TMPDIR=/private/tmp/t', 'PATH=/usr/bin', 'LD_PRELOAD=./x.so'],
      ...['/usr/bin/x', '--bind', '/', '$HOME', ''],
    ]);
  });

  it('keeps a program with "=" in its path from being taken for a variable', () => {
    const { args } = launch({ executable: { path: '/a=b/x', realPath: '/a=b/x' } });
    assert.deepEqual(args.slice(-10, -4), ['LD_PRELOAD=./x.so', '/bin/sh', '-c', 'exec "$@"', 'sh', '/a=b/x']);
  });

  it('denies everything first', () => assert.match(profile(), /^\(version 1\)\n\(deny default\)\n/));

  const rows: [title: string, changes: Parameters<typeof program>[0], expected: RegExp][] = [
    ['reads the workspace', {}, /\(allow file-read\* .*\(subpath "\/home\/u\/w"\)/],
    ['reads no home', {}, /^(?![\s\S]*\(subpath "\/home\/u"\))/],
    ['sees the folders above, not what is in them', {}, /\(allow file-read-metadata .*\(literal "\/home\/u"\)/],
    ['writes temporary files only', {}, /\n\(allow file-write\* \(subpath "\/private\/tmp\/t"\)\)$/],
    [
      'writes what is declared',
      { permissions: { write: ['/home/u/w/out'] } },
      /\(allow file-write\* \(subpath "\/home\/u\/w\/out"\) /,
    ],
    [
      'never .git and .vscode, whatever the capitals',
      { permissions: { write: ['/home/u/w'] } },
      /\(allow file-write\* [^\n]*\n\(deny file-write\* \(require-all \(subpath "\/home\/u\/w"\) \(regex #"\/\\\.\(\[gG\]\[iI\]\[tT\]\|/,
    ],
    ['has no network', {}, /^(?![\s\S]*network)/],
    [
      'has a network of addresses, not of sockets',
      { permissions: { network: true } },
      /\(allow network-outbound \(remote ip\) \(literal "\/private\/var\/run\/mDNSResponder"\)\)/,
    ],
    ['signals itself only', {}, /\(allow process-info\* signal \(target same-sandbox\)\)/],
    ['does not reach the keychain', {}, /^(?![\s\S]*(?:SecurityServer|securityd))/],
    ['quotes what stands in a path', { permissions: { read: ['/a"b\\c)'] } }, /\(subpath "\/a\\"b\\\\c\)"\)/],
  ];
  for (const [title, changes, expected] of rows) it(title, () => assert.match(profile(changes), expected));
});
