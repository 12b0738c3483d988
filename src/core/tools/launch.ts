import path from 'node:path';
import { isInside, type Permissions, systemFolders } from './permissions.ts';
import type { ProcessSpec } from './prepare.ts';

/** A command for the system to start: by `spawn`, without a shell. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The program gets a process namespace, whose first process is reported over {@link infoDescriptor}. */
  readonly hasNamespace?: boolean;
}

/** The descriptor to which bubblewrap writes about the namespaces that it makes. */
export const infoDescriptor = 3;

/** A program with what it reaches. */
export type ContainedProgram = Pick<ProcessSpec, 'executable' | 'args' | 'root' | 'cwd' | 'env'> & {
  readonly permissions: Permissions;
};

/**
 * The files of `/etc` that programs read: names, addresses, certificates, fonts, the time. None that only root may
 * read.
 */
const configuration = [
  ...['alternatives', 'crypto-policies', 'fonts', 'group', 'gai.conf', 'host.conf', 'hosts', 'inputrc', 'ld.so.cache'],
  ...['ld.so.conf', 'ld.so.conf.d', 'locale.alias', 'locale.conf', 'localtime', 'lsb-release', 'magic', 'mime.types'],
  ...['nsswitch.conf', 'os-release', 'passwd', 'protocols', 'resolv.conf', 'services', 'terminfo', 'timezone'],
  ...['ca-certificates', 'ssl/certs', 'ssl/cert.pem', 'ssl/openssl.cnf'],
  ...['pki/ca-trust/extracted', 'pki/tls/certs', 'pki/tls/cert.pem', 'pki/tls/openssl.cnf'],
].map((name) => `/etc/${name}`);

/**
 * The parts of a new `/proc` that root may write without any capability, including `core_pattern` (a program that the
 * kernel starts): `readonlyPaths` of the OCI runtimes' default, and `/proc/acpi` and `/proc/scsi`, which they hide.
 */
const kernel = ['acpi', 'bus', 'fs', 'irq', 'scsi', 'sys', 'sysrq-trigger'].map((name) => `/proc/${name}`);

/**
 * The arguments of bubblewrap (0.8 or later; see bwrap(1)). The root is an empty file system into which only what is
 * reached is mounted, so nothing has to be hidden. Later mounts cover earlier ones.
 *
 * @param readOnly the parts of the writable folders that cannot be written. A program with a user namespace of its own
 * could move these mounts away (rename(2) heeds only those of the caller's mount namespace), so none can be made.
 *
 * The environment is set by arguments, and bubblewrap itself starts without any: `LD_PRELOAD` of a definition would
 * otherwise be loaded into bubblewrap, before anything is contained.
 */
export function bubblewrap(bwrap: string, program: ContainedProgram, readOnly: readonly string[]): Launch {
  const { executable, permissions, root, cwd } = program;
  const system = systemFolders.linux;
  const visible = [
    ...system,
    ...permissions.read,
    ...permissions.write,
    ...(permissions.program === undefined ? [] : [permissions.program]),
  ];
  const isSeen = (file: string) => visible.some((folder) => isInside(folder, file));
  // A home of "/" or "/usr" is not a user's: emptying it would take the system away.
  const empty = permissions.homes.filter((home) => !system.some((folder) => isInside(home, folder)));
  const mount = (kind: string, paths: readonly string[]) => paths.flatMap((each) => [kind, each, each]);
  const args = [
    ...['--unshare-user', '--disable-userns', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
    ...['--unshare-cgroup-try', ...(permissions.network ? [] : ['--unshare-net'])],
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--info-fd', String(infoDescriptor)],
    ...mount('--ro-bind-try', [...system, ...configuration]),
    ...[
      '--proc',
      '/proc',
      ...mount('--ro-bind-try', kernel),
      '--dev',
      '/dev',
      '--tmpfs',
      '/tmp',
      '--tmpfs',
      '/var/tmp',
    ],
    ...empty.flatMap((home) => ['--tmpfs', home]),
    ...(permissions.program === undefined ? [] : mount('--ro-bind', [permissions.program])),
    ...(isSeen(executable.path) ? [] : ['--symlink', executable.realPath, executable.path]),
    ...['--dir', root, '--dir', cwd],
    ...mount('--ro-bind', permissions.read),
    ...mount('--bind', permissions.write),
    ...mount('--ro-bind', readOnly),
    ...['--remount-ro', '/', '--chdir', cwd],
    ...Object.entries({ HOME: empty[0] ?? '/tmp', ...program.env }).flatMap(([name, value]) => [
      '--setenv',
      name,
      value,
    ]),
    ...['--', executable.path, ...program.args],
  ];
  return { file: bwrap, args, cwd: '/', env: {}, hasNamespace: true };
}

/**
 * The same for macOS's Seatbelt (sandbox-exec(1)): a profile that denies everything and allows what is reached. The
 * environment is set inside, by env(1).
 *
 * @param temporary a folder made for this call: the home and the temporary files of the program.
 */
export function seatbelt(program: ContainedProgram, temporary: string): Launch {
  const { executable, args, cwd } = program;
  const env = { HOME: temporary, TMPDIR: temporary, ...program.env };
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return {
    file: '/usr/bin/sandbox-exec',
    args: [
      ...['-p', seatbeltProfile(program, temporary), '/usr/bin/env', '-i', ...assignments],
      // `env` would take a path with "=" for one more variable.
      ...(executable.path.includes('=') ? ['/bin/sh', '-c', 'exec "$@"', 'sh'] : []),
      ...[executable.path, ...args],
    ],
    cwd,
    env: {},
  };
}

function seatbeltProfile({ permissions, root, cwd, executable }: ContainedProgram, temporary: string): string {
  const own = permissions.program === undefined ? [] : [permissions.program];
  const read = [...systemFolders.darwin, ...own, ...permissions.read, ...permissions.write, temporary];
  const write = [...permissions.write, temporary];
  const named = [...read, root, cwd, executable.path];
  const above = [...new Set(named.flatMap(ancestors))];
  const subpaths = (paths: readonly string[]) => paths.map((each) => `(subpath ${quoted(each)})`).join(' ');
  const literals = (paths: readonly string[]) => paths.map((each) => `(literal ${quoted(each)})`).join(' ');
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-exec process-fork)',
    '(allow process-info* signal (target same-sandbox))',
    '(allow sysctl-read)',
    '(deny sysctl-read (sysctl-name-prefix "kern.proc"))',
    '(allow ipc-posix-sem)',
    `(allow mach-lookup ${services.map((name) => `(global-name "${name}")`).join(' ')})`,
    `(allow file-read-metadata ${literals(above)})`,
    `(allow file-read* (literal "/") ${literals([executable.path, ...devices])} ${subpaths(macConfiguration)} ${subpaths(read)})`,
    `(allow file-ioctl file-write-data ${literals(devices)})`,
    `(allow file-write* ${subpaths(write)})`,
    ...permissions.write.map((folder) => {
      const names = String.raw`(regex #"/\.([gG][iI][tT]|[vV][sS][cC][oO][dD][eE])(/|$)")`;
      return `(deny file-write* (require-all (subpath ${quoted(folder)}) ${names}))`;
    }),
    ...(permissions.network
      ? [
          '(allow system-socket)',
          '(allow network-outbound (remote ip) (literal "/private/var/run/mDNSResponder"))',
          '(allow network-bind network-inbound (local ip))',
          '(allow mach-lookup (global-name "com.apple.trustd.agent"))',
        ]
      : []),
  ].join('\n');
}

const devices = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom', '/dev/dtracehelper'];

/** The services for users' names and the system's messages; not the keychain, the pasteboard or the window server. */
const services = [
  'com.apple.logd',
  'com.apple.system.logger',
  'com.apple.system.notification_center',
  'com.apple.system.opendirectoryd.libinfo',
  'com.apple.system.opendirectoryd.membership',
];

const macConfiguration = [
  ...['group', 'hosts', 'localtime', 'passwd', 'protocols', 'resolv.conf', 'services', 'ssl'].map(
    (name) => `/private/etc/${name}`,
  ),
  ...['/private/var/db/timezone', '/private/var/select', '/private/var/db/xcode_select_link'],
];

function ancestors(file: string): string[] {
  const parent = path.dirname(file);
  return parent === file ? [] : [...ancestors(parent), parent];
}

/** A string of the profile's language. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
