// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { prepareProcess } from '../../../../src/core/tools/prepare.ts';
import { type Clock, type LaunchSpec, runProcess, type Spawn } from '../../../../src/core/tools/process.ts';
import { runs } from '../../runs.ts';
import { temporaryFolder } from './temporaryFolder.ts';

/** The same time, eight times as fast: a grace of 1500 ms takes 190. */
const fast: Clock = {
  now: () => performance.now() * 8,
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms / 8);
    return () => clearTimeout(timer);
  },
};

/** False also for a process that ended and was not waited for yet. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  return !existsSync('/proc/self/stat') || (existsSync(stat) && !/\) [ZX] /.test(readFileSync(stat, 'utf8')));
}

async function until(condition: () => boolean): Promise<void> {
  for (const end = performance.now() + 50_000; !condition(); ) {
    assert.ok(performance.now() < end, 'waited too long');
    await sleep(5);
  }
}

(process.platform === 'win32' ? describe.skip : describe)('runProcess', function () {
  // Real processes on a busy machine.
  this.timeout(20_000);
  const folder = temporaryFolder();
  const spec = async (script: string, changes: Partial<LaunchSpec> = {}): Promise<LaunchSpec> => {
    const file = await folder.script(`s${Math.random()}`, `#!/bin/sh\n${script}\n`);
    return {
      file,
      args: [],
      cwd: folder.path,
      env: { PATH: '/usr/bin:/bin', GIVEN: 'yes' },
      stdin: undefined,
      timeoutMs: 60_000,
      outputLimit: 1000,
      ...changes,
    };
  };
  const run = async (script: string, changes: Partial<LaunchSpec> = {}, signal = new AbortController().signal) =>
    runProcess(await spec(script, changes), { signal, clock: fast });
  const pids = async (name: string): Promise<number[]> => {
    const file = path.join(folder.path, name);
    await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('.\n'));
    return [...(await readFile(file, 'utf8')).matchAll(/\d+/g)].map(Number);
  };

  (process.platform === 'linux' ? it : it.skip)('says when something of its namespace does not end', async () => {
    const script = `echo '{ "child-pid": ${process.pid} }' >&3`;
    await assert.rejects(run(script, { hasNamespace: true }), { kind: 'tool', message: /is still running/ });
  });

  it('gives output, errors and exit code', async () => {
    assert.deepEqual(await run('echo out; echo err >&2; exit 3'), {
      exitCode: 3,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
      timedOut: false,
    });
  });

  it('says which signal ended the program', async () => {
    const { exitCode, signal } = await run('kill -SEGV $$');
    assert.deepEqual([exitCode, signal], [null, 'SIGSEGV']);
  });

  it('gives the environment of the definition and nothing of its own', async () => {
    process.env.ROLECALL_TEST_SECRET = 'secret';
    try {
      const { stdout } = await run('exec /usr/bin/env');
      assert.deepEqual(
        stdout
          .trim()
          .split('\n')
          .filter((line) => !/^(PWD|SHLVL|_|OLDPWD)=/.test(line))
          .sort(),
        ['GIVEN=yes', 'PATH=/usr/bin:/bin'],
      );
    } finally {
      delete process.env.ROLECALL_TEST_SECRET;
    }
  });

  it('closes standard input, or writes to it and closes it', async () => {
    assert.equal((await run('cat; echo end')).stdout, 'end\n');
    assert.equal((await run('cat; echo end', { stdin: '{"a":"é"}' })).stdout, '{"a":"é"}end\n');
  });

  it('does not mind a program that leaves a large input unread', async () => {
    assert.equal((await run('echo end', { stdin: 'x'.repeat(1_000_000) })).stdout, 'end\n');
  });

  it('keeps head and tail of much output, and says so', async () => {
    const { stdout } = await run('echo first; yes 12345 | head -n 20000; echo last');
    assert.match(stdout, /^first\n12345\n/);
    assert.match(stdout, /\n12345\nlast\n$/);
    assert.equal(Number(/\[(\d+) bytes left out\]/.exec(stdout)?.[1]), 6 + 120_000 + 5 - 1000);
  });

  it('says why a program cannot be started', async () => {
    const missing = { file: '/nowhere/x' };
    const refused = (error: unknown) => error instanceof RolecallError && error.kind === 'tool';
    await assert.rejects(run('', missing), refused);
    await assert.rejects(run('', { args: ['x'.repeat(4_000_000)] }), refused);
    await assert.rejects(run('', { args: ['a\0b'] }), refused);
  });

  it('runs nothing after an abort', async () => {
    let spawned = false;
    const spy = (...args: Parameters<Spawn>) => {
      spawned = true;
      return spawn(...args);
    };
    await assert.rejects(
      runProcess(await spec('exit 0'), { signal: AbortSignal.abort(), spawn: spy }),
      (error) => error instanceof RolecallError && error.kind === 'cancelled',
    );
    assert.equal(spawned, false);
  });

  it('ends the program with its grandchildren on abort, also those that do not listen', async () => {
    const controller = new AbortController();
    const running = run(
      `(trap '' TERM; sleep 100 & echo $! >> a; wait) & sleep 100 & echo $! $$ >> a; sleep 0.1; echo . >> a; wait`,
      {},
      controller.signal,
    );
    const all = await pids('a');
    assert.equal(all.length, 3);
    assert.ok(all.every(isRunning));
    controller.abort();
    await assert.rejects(running, (error) => error instanceof RolecallError && error.kind === 'cancelled');
    assert.deepEqual(all.filter(isRunning), []);
  });

  it('ends a program that does not listen when its time is over, and keeps what it wrote', async () => {
    const result = await run(`trap '' TERM; echo begun; sleep 100 & echo $! . > b; while :; do sleep 100; done`, {
      timeoutMs: 1600,
    });
    assert.equal(result.timedOut, true);
    assert.equal(result.stdout, 'begun\n');
    assert.equal(result.signal, 'SIGKILL');
    assert.deepEqual((await pids('b')).filter(isRunning), []);
  });

  it('lets a program end by itself when it is asked to', async () => {
    const result = await run(`trap 'echo bye; exit 4' TERM; echo hello; while :; do sleep 0.02; done`, {
      timeoutMs: 1600,
    });
    assert.deepEqual([result.timedOut, result.exitCode, result.stdout], [true, 4, 'hello\nbye\n']);
  });

  it('leaves no background process behind, whether it holds the output or not', async () => {
    const result = await run('sleep 100 & echo $! > c; sleep 100 >/dev/null 2>&1 & echo $! . >> c; echo done');
    assert.deepEqual([result.exitCode, result.stdout, result.timedOut], [0, 'done\n', false]);
    assert.deepEqual((await pids('c')).filter(isRunning), []);
  });

  it('does not wait for a process that left the group and holds the output', async () => {
    const result = await run('setsid sleep 30 & echo $! . > d; echo done');
    assert.equal(result.stdout, 'done\n');
    for (const pid of await pids('d')) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  });

  it('ends everything when the editor ends', async () => {
    const { file: program } = await spec('sleep 100 & echo $! $$ . > e; wait');
    const source = `
      import { runProcess } from ${JSON.stringify(new URL('../../../../src/core/tools/process.ts', import.meta.url).href)};
      import { existsSync, readFileSync } from 'node:fs';
      const program = ${JSON.stringify(program)};
      const signal = new AbortController().signal;
      void runProcess({ file: program, args: [], cwd: ${JSON.stringify(folder.path)}, env: { PATH: '/usr/bin:/bin' }, stdin: undefined, timeoutMs: 60000, outputLimit: 1000 }, { signal });
      const file = ${JSON.stringify(path.join(folder.path, 'e'))};
      setInterval(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('.\\n') && process.exit(0), 5);`;
    const editor = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: 'ignore' });
    const code = await new Promise((resolve) => editor.once('exit', resolve));
    assert.equal(code, 0);
    const all = await pids('e');
    await until(() => !all.some(isRunning));
  });

  it('hands over every argument as it is, whatever it holds: no shell has seen it', async () => {
    const script = await folder.script('args', `#!/bin/sh\nprintf '%s\\0' "$@"\n`);
    // Starting a program costs more than many arguments.
    const names = Array.from({ length: 15 }, (_, at) => `p${at}`);
    const value = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({
        unit: fc.constantFrom(
          '$',
          '(',
          ')',
          '`',
          ';',
          '|',
          '&',
          '"',
          "'",
          '\\',
          '\n',
          '*',
          '~',
          '-',
          ' ',
          '!',
          '{',
          '}',
          '%',
          '^',
          'x',
        ),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.tuple(...names.map(() => value)), async (values) => {
        const args = Object.fromEntries(names.map((name, at) => [name, values[at]]));
        const prepared = await prepareProcess(
          {
            folder: folder.path,
            run: {
              kind: 'process',
              command: [script, '--x=${p0}', '--', ...names.map((name) => `\${${name}}`)],
              cwd: '.',
              env: {},
              timeoutSeconds: 10,
              outputLimit: 100_000,
              stdin: 'none',
              access: { read: ['.'], write: [], network: false },
              contained: true,
            },
          },
          args,
          { environment: { PATH: '/usr/bin:/bin' }, homes: [], folders: [], contains: false },
        );
        const { stdout } = await runProcess(
          { ...prepared, file: prepared.executable.path },
          { signal: new AbortController().signal },
        );
        assert.deepEqual(stdout.split('\0').slice(0, -1), [`--x=${values[0]}`, '--', ...values]);
      }),
      runs(8),
    );
  });
});
