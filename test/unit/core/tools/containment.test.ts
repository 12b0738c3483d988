import assert from 'node:assert/strict';
import { type ChildProcess, spawn as nodeSpawn, type StdioOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { at } from '../../../../scripts/paths.ts';
import { cancelled, isCancelled, RolecallError } from '../../../../src/core/base/errors.ts';
import { type Containment, findContainment, runPrepared } from '../../../../src/core/tools/containment.ts';
import type { ProcessResult } from '../../../../src/core/tools/output.ts';
import type { LaunchSpec, Spawn } from '../../../../src/core/tools/process.ts';
import { temporaryFolder } from './temporaryFolder.ts';

const signal = new AbortController().signal;

describe('findContainment', () => {
  const folder = temporaryFolder();
  before(() => writeFile(path.join(folder.path, 'bwrap'), ''));

  const result = (exitCode: number, stderr = ''): ProcessResult => ({
    ...{ exitCode, signal: null, stdout: '', stderr, timedOut: false },
  });
  const find = async (
    platform: NodeJS.Platform,
    { folders = [folder.path], answer = result(0), files = {} as Record<string, string> } = {},
  ) => {
    const started: LaunchSpec[] = [];
    const run = async (spec: LaunchSpec) => {
      started.push(spec);
      return answer;
    };
    const read = async (file: string) => files[file] ?? Promise.reject(new Error('ENOENT'));
    return { found: await findContainment({ platform, folders, run, read }, signal), started };
  };

  it('tries once what it finds', async () => {
    const { found, started } = await find('linux');
    assert.deepEqual(found, { kind: 'bubblewrap', program: path.join(folder.path, 'bwrap') });
    assert.deepEqual(
      started.map(({ file, args }) => [file, args.slice(-3)]),
      [[path.join(folder.path, 'bwrap'), ['/bin/sh', '-c', 'exit 0']]],
    );
    const mac = await find('darwin');
    assert.deepEqual([mac.found, mac.started[0]?.file], [{ kind: 'seatbelt' }, '/usr/bin/sandbox-exec']);
  });

  const installing: [release: string, remedy: string | undefined][] = [
    ['ID=debian\n', 'sudo apt install bubblewrap'],
    ['ID=linuxmint\nID_LIKE="ubuntu debian"\n', 'sudo apt install bubblewrap'],
    ['NAME="Rocky"\nID="rocky"\nID_LIKE="rhel centos fedora"\n', 'sudo dnf install bubblewrap'],
    ['ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', 'sudo zypper install bubblewrap'],
    ['ID=arch\n', 'sudo pacman -S bubblewrap'],
    ['ID=alpine\n', 'sudo apk add bubblewrap'],
    ['ID=other\n', undefined],
    ['', undefined],
  ];
  for (const [release, remedy] of installing) {
    it(`says how to install bubblewrap: ${remedy ?? 'not known'}`, async () => {
      const { found, started } = await find('linux', { folders: [], files: { '/etc/os-release': release } });
      assert.deepEqual(found, { kind: 'none', reason: 'bubblewrap is not installed.', remedy });
      assert.deepEqual(started, []);
    });
  }

  it('says that bubblewrap is too old to forbid user namespaces', async () => {
    const { found } = await find('linux', { answer: result(1, 'bwrap: Unknown option --disable-userns') });
    const reason = 'The installed bubblewrap is too old. Version 0.8 or later is needed.';
    assert.deepEqual(found, { kind: 'none', reason, remedy: undefined });
  });

  const allowing: [files: Record<string, string>, remedy: string | undefined][] = [
    [{ '/proc/sys/kernel/unprivileged_userns_clone': '0\n' }, 'sudo sysctl -w kernel.unprivileged_userns_clone=1'],
    [
      {
        '/proc/sys/kernel/unprivileged_userns_clone': '1\n',
        '/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1\n',
      },
      'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
    ],
    [{}, undefined],
  ];
  for (const [files, remedy] of allowing) {
    it(`says what forbids it, and what allows it: ${remedy ?? 'not known'}`, async () => {
      const { found } = await find('linux', { answer: result(1, 'bwrap: No\n permissions '), files });
      const reason = 'The system does not allow Rolecall to contain programs (bwrap: No permissions).';
      assert.deepEqual(found, { kind: 'none', reason, remedy });
    });
  }

  it('says so where it cannot be started, and goes on being stopped', async () => {
    const options = { platform: 'linux' as const, folders: [folder.path] };
    const failing = (error: Error) => ({ ...options, run: () => Promise.reject(error) });
    const { kind } = await findContainment(failing(new RolecallError('tool', 'EACCES')), signal);
    assert.equal(kind, 'none');
    await assert.rejects(findContainment(failing(cancelled()), signal), isCancelled);
  });

  it('knows that Windows cannot', async () => {
    const { found, started } = await find('win32');
    assert.deepEqual([found.kind, started], ['none', []]);
  });
});

describe('a contained program, really run', function () {
  // Real processes on a busy machine.
  this.timeout(20_000);
  const folder = temporaryFolder();
  let containment: Containment;
  before(async function () {
    containment = await findContainment({}, signal);
    if (containment.kind === 'none') this.skip();
  });
  afterEach(() => rm(inside(), { recursive: true, force: true }));

  const inside = (...parts: string[]) => path.join(folder.path, 'space', ...parts);
  const run = async (code: string, write: string[], read = ['.'], spawn: Spawn = nodeSpawn, stop = signal) => {
    const root = inside();
    await mkdir(root, { recursive: true });
    const spec = {
      ...{ executable: { path: '/bin/sh', realPath: '/bin/sh' }, args: ['-c', code], root, cwd: root, env: {} },
      ...{ stdin: '{"a":1}', timeoutMs: 20_000, outputLimit: 10_000 },
      permissions: {
        read: read.map((each) => inside(each)),
        write: write.map((each) => inside(each)),
        network: false,
        program: undefined,
        files: [],
        homes: [],
      },
    };
    return runPrepared(spec, containment, { signal: stop, spawn });
  };
  const made = async (file: string) => {
    while (!existsSync(inside(file))) await new Promise((resolve) => setImmediate(resolve));
  };
  const untilGo = 'touch out/ready; until [ -e out/go ]; do sleep 0.01; done';

  it('gets its input, writes where it may, also where nothing was, and says how it ended', async () => {
    const { stdout, exitCode } = await run('cat; echo x > out/new; exit 3', ['out']);
    assert.deepEqual([stdout, exitCode], ['{"a":1}', 3]);
    assert.deepEqual(await readdir(path.join(folder.path, 'space', 'out')), ['new'], 'nothing of ours is left');
  });

  it('that makes a repository has it renamed, and is told', async () => {
    const { leftovers } = await run('mkdir -p out/a/.git', ['out']);
    const { kind, path: renamed } = leftovers[0] ?? assert.fail();
    assert.deepEqual([leftovers.length, kind], [1, 'renamed']);
    assert.match(renamed, /\/out\/a\/\.git\.not-allowed-[0-9a-f]{8}$/);
    assert.deepEqual(await readdir(inside('out', 'a')), [path.basename(renamed)]);
  });

  it('that could move what another mounts is not run beside it; others are', async () => {
    const started: string[] = [];
    const spawning =
      (name: string): Spawn =>
      (...parameters) => {
        started.push(name);
        return nodeSpawn(...parameters);
      };
    await mkdir(inside('out', 'part'), { recursive: true });
    const first = run(untilGo, ['out'], ['.'], spawning('first'));
    await made('out/ready');
    const later = [
      run('true', ['out'], ['.'], spawning('writes the same')),
      run('true', ['out/part'], ['.'], spawning('writes a part')),
      run('true', [], ['out/part'], spawning('reads a part')),
      run('true', ['.'], ['.'], spawning('writes more')),
    ];
    await run('true', ['other'], ['.'], spawning('writes elsewhere'));
    await run('true', [], ['.'], spawning('reads'));
    assert.deepEqual(started, ['first', 'writes elsewhere', 'reads']);
    await writeFile(inside('out', 'go'), '');
    await Promise.all([first, ...later]);
    assert.equal(started.length, 7);
  });

  it('is not run when another has put a link in the place of what it reaches', async () => {
    await mkdir(path.join(folder.path, 'secrets'));
    await writeFile(path.join(folder.path, 'secrets', 'key'), 'canary');
    await mkdir(inside('out', 'docs'), { recursive: true });
    const first = run(`mv out/docs out/old; ln -s ../../secrets out/docs; ${untilGo}`, ['out']);
    await made('out/ready');
    const read = run('cat out/docs/key', [], ['out/docs']);
    const write = run('touch out/docs/new', ['out/docs/new']);
    await writeFile(inside('out', 'go'), '');
    await first;
    for (const [other, at] of [
      [read, 'out/docs'],
      [write, 'out/docs/new'],
    ] as const) {
      await assert.rejects(other, new RegExp(`"${inside(at)}" was moved`));
    }
    assert.deepEqual(await readdir(path.join(folder.path, 'secrets')), ['key']);
  });

  it('gets none of the files that are open where the editor was started', async () => {
    const key = path.join(folder.path, 'key');
    await writeFile(key, 'canary');
    const handle = await open(key);
    const modules = ['containment', 'prepare'].map((name) => JSON.stringify(at('src', 'core', 'tools', `${name}.ts`)));
    const script = `
      const [{ findContainment, runPrepared }, { prepareProcess }] = await Promise.all([${modules.map((each) => `import(${each})`)}]);
      const { signal } = new AbortController();
      const run = {
        command: ['cat', '/proc/self/fd/40', '/proc/self/fd/43'], cwd: '.', env: {}, stdin: 'none', timeoutSeconds: 20, outputLimit: 10000,
        access: { read: ['.'], write: [], network: false }, contained: process.argv[1] === 'contained',
      };
      const machine = { environment: process.env, homes: [], folders: [], contains: true };
      const spec = await prepareProcess({ folder: process.cwd(), run }, {}, machine);
      const { stdout } = await runPrepared(spec, await findContainment({}, signal), { signal });
      process.stdout.write('wrote ' + stdout);`;
    const ignored = Array.from({ length: 37 }, () => 'ignore' as const);
    const stdio: StdioOptions = ['ignore', 'pipe', 'inherit', ...ignored, handle.fd, 'ignore', 'ignore', handle.fd];
    for (const how of ['contained', 'not contained']) {
      const child: ChildProcess = nodeSpawn(process.execPath, ['--input-type=module', '-e', script, how], {
        cwd: folder.path,
        stdio,
      });
      assert.ok(child.stdout);
      assert.equal(await text(child.stdout), 'wrote ', how);
    }
    await handle.close();
  });

  it('does not wait once it is stopped', async () => {
    const first = run(untilGo, ['out']);
    await made('out/ready');
    const stop = new AbortController();
    const later = run('true', ['out'], ['.'], nodeSpawn, stop.signal);
    stop.abort();
    await assert.rejects(later, isCancelled);
    await writeFile(inside('out', 'go'), '');
    await first;
  });

  it('finds .git taken, whatever ran before', async () => {
    const code = 'mkdir out/.git; mkdir out/.vscode; touch out/.git/x; true';
    const both = await Promise.all([run(code, ['out']), run(code, ['out']), run(code, ['out'])]);
    assert.deepEqual(
      both.map(({ leftovers }) => leftovers),
      [[], [], []],
    );
    for (const { stderr } of both) assert.match(stderr, /\.git.*exists[\s\S]*Read-only/);
  });
});
