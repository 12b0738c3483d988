import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { at } from '../../../scripts/paths.ts';
import { spawnSupervised } from '../../../scripts/processes.ts';
import { eventually } from '../core/eventually.ts';

/** A command that ignores the polite signal is not waited for. */
const env = { ...process.env, ROLECALL_SUPERVISOR_GRACE_MS: '50' };

/** Starts a child that ignores SIGTERM, says both process ids, and waits: the worst an editor's server can be. */
const stubborn = `
process.on('SIGTERM', () => {});
const { spawn } = require('node:child_process');
const child = spawn(process.execPath, ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], { stdio: 'ignore' });
child.on('spawn', () => console.log(JSON.stringify([process.pid, child.pid])));
setInterval(() => {}, 1000);
`;

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie still has its id; it is gone for every purpose.
    return !/^State:\s+Z/m.test(fs.existsSync('/proc') ? fs.readFileSync(`/proc/${pid}/status`, 'utf8') : '');
  } catch {
    return false;
  }
}

const gone = (pids: readonly number[]) => eventually(() => !pids.some(lives));

async function pidsOf(child: ChildProcess): Promise<number[]> {
  assert.ok(child.stdout);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return JSON.parse(line.toString()) as number[];
}

describe('a supervised command', () => {
  before(function () {
    if (process.platform === 'win32') {
      this.skip();
    }
  });

  it('is ended by stop, with what it started, even if it ignores the polite signal', async () => {
    const supervised = spawnSupervised(process.execPath, ['-e', stubborn], { env });
    const pids = await pidsOf(supervised.process);
    assert.ok(pids.every(lives));
    await supervised.stop();
    await gone(pids);
  });

  it('is ended when the process that started it is killed', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rolecall-supervisor-'));
    const script = path.join(folder, 'starter.ts');
    fs.writeFileSync(
      script,
      `import { spawnSupervised } from ${JSON.stringify(at('scripts', 'processes.ts'))};
       const supervised = spawnSupervised(process.execPath, ['-e', ${JSON.stringify(stubborn)}], {});
       supervised.process.stdout?.pipe(process.stdout);`,
    );
    const starter = spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const pids = await pidsOf(starter);
    starter.kill('SIGKILL');
    await gone(pids);
    fs.rmSync(folder, { recursive: true, force: true });
  });

  it('leaves nothing behind when it ends by itself, and tells its exit code', async () => {
    const code = `
      const { spawn } = require('node:child_process');
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
      child.on('spawn', () => { console.log(JSON.stringify([child.pid])); process.exit(3); });`;
    const supervised = spawnSupervised(process.execPath, ['-e', code], {});
    let told = '';
    supervised.process.stderr?.on('data', (text: Buffer) => {
      told += text.toString();
    });
    const pids = await pidsOf(supervised.process);
    await supervised.exited;
    await gone(pids);
    assert.match(told, /exit code 3/);
  });
});
