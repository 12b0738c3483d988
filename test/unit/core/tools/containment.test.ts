import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cancelled, isCancelled, RolecallError } from '../../../../src/core/base/errors.ts';
import { type Containment, findContainment, runPrepared } from '../../../../src/core/tools/containment.ts';
import type { ProcessResult, RunSpec } from '../../../../src/core/tools/process.ts';
import { temporaryFolder } from './temporaryFolder.ts';

const signal = new AbortController().signal;

describe('findContainment', () => {
  const folder = temporaryFolder();
  before(() => writeFile(path.join(folder.path, 'bwrap'), ''));

  const result = (exitCode: number, stderr = ''): ProcessResult => ({
    ...{ exitCode, signal: null, stdout: '', stderr, timedOut: false, truncated: false, durationMs: 1 },
    leftOutBytes: { stdout: 0, stderr: 0 },
  });
  const find = async (
    platform: NodeJS.Platform,
    { folders = [folder.path], answer = result(0), files = {} as Record<string, string> } = {},
  ) => {
    const started: RunSpec[] = [];
    const run = async (spec: RunSpec) => {
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
      const reason = 'The system does not let Rolecall contain programs (bwrap: No permissions).';
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

describe('a contained program, really run', () => {
  const folder = temporaryFolder();
  let containment: Containment;
  before(async function () {
    containment = await findContainment({}, signal);
    if (containment.kind === 'none') this.skip();
  });

  const run = async (code: string, write: string[]) => {
    const root = path.join(folder.path, 'space');
    await mkdir(root, { recursive: true });
    const spec = {
      ...{ executable: { path: '/bin/sh', realPath: '/bin/sh' }, args: ['-c', code], root, cwd: root, env: {} },
      ...{ stdin: '{"a":1}', timeoutMs: 20_000, outputLimit: 10_000 },
      reach: {
        read: [root],
        write: write.map((each) => path.join(root, each)),
        network: false,
        program: undefined,
        files: [],
        homes: [],
      },
    };
    return runPrepared(spec, containment, { signal });
  };

  it('gets its input, writes where it may, also where nothing was, and says how it ended', async () => {
    const { stdout, exitCode } = await run('cat; echo x > out/new; exit 3', ['out']);
    assert.deepEqual([stdout, exitCode], ['{"a":1}', 3]);
    assert.deepEqual(await readdir(path.join(folder.path, 'space', 'out')), ['new'], 'nothing of ours is left');
  });

  it('that makes a repository has it renamed, and is told', async () => {
    const { removed } = await run('mkdir -p out/a/.git', ['out']);
    assert.equal(removed.length, 1);
    assert.match(removed[0] ?? '', /\/out\/a\/\.git\.not-allowed-[0-9a-f]{8}$/);
    assert.deepEqual(await readdir(path.join(folder.path, 'space', 'out', 'a')), [path.basename(removed[0] ?? '')]);
  });

  it('may run beside another in the same folder: each finds .git taken', async () => {
    const code = 'mkdir out/.git; mkdir out/.vscode; touch out/.git/x; true';
    const both = await Promise.all([run(code, ['out']), run(code, ['out']), run(code, ['out'])]);
    assert.deepEqual(
      both.map(({ removed }) => removed),
      [[], [], []],
    );
    for (const { stderr } of both) assert.match(stderr, /\.git.*exists[\s\S]*Read-only/);
  });
});
