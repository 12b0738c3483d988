import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { FolderKey, handshakeAsServer } from '../../../../../src/core/oauth/rotation/handshake.ts';
import { statusOfConnectError } from '../../../../../src/core/oauth/rotation/holderConnection.ts';
import { startIpcServer } from '../../../../../src/core/oauth/rotation/ipc.ts';
import { claimLock, newestLock, removeOldLocks } from '../../../../../src/core/oauth/rotation/lockFiles.ts';
import { Mutex } from '../../../../../src/core/oauth/rotation/mutex.ts';
import { PROTOCOL, type Protocol } from '../../../../../src/core/oauth/rotation/protocol.ts';
import { silentLog } from '../../../../support/silentLog.ts';
import { deferred } from '../../deferred.ts';
import { eventually } from '../../eventually.ts';
import { never, PATIENT, Setting } from './fixture.ts';

describe('one process at a time', () => {
  const setting = Setting.forEach();
  const locks = () => path.join(setting.state, 'locks');
  const open: Mutex[] = [];
  const mutex = (
    protocol: Protocol = PROTOCOL,
    peerSilence = PATIENT.peerSilence,
    key = new FolderKey(setting.state),
  ) => {
    const made = new Mutex({ folder: setting.state, key, protocol, log: silentLog, timeouts: { peerSilence } });
    open.push(made);
    return made;
  };
  /** One that soon takes a holder for silent. */
  const impatient = () => mutex(PROTOCOL, 40);
  /** A holder, and a promise that somebody waits for it. */
  const holding = async () => {
    const watched = deferred<void>();
    class Key extends FolderKey {
      override get() {
        watched.resolve();
        return super.get();
      }
    }
    const lease = await mutex(PROTOCOL, PATIENT.peerSilence, new Key(setting.state)).acquire(never);
    return { hold: lease, watched: watched.promise };
  };
  beforeEach(() => fs.mkdir(locks()));
  afterEach(() => {
    for (const each of open.splice(0)) each.close();
  });

  it('never lets two in, whoever waits, and numbers them upwards', async () => {
    let inside = 0;
    const numbers: number[] = [];
    const visit = async (each: Mutex) => {
      for (let round = 0; round < 5; round += 1) {
        const lease = await each.acquire(never);
        inside += 1;
        assert.equal(inside, 1);
        assert.ok(await lease.isValid());
        numbers.push(lease.number);
        await turn();
        inside -= 1;
        await lease.release();
      }
    };
    await Promise.all(Array.from({ length: 6 }, () => visit(mutex())));
    assert.deepEqual(
      numbers,
      Array.from({ length: 30 }, (_, n) => n + 1),
    );
  });

  it('keeps a few old locks, for whoever is listing the folder right now', async () => {
    const each = mutex();
    for (let n = 0; n < 40; n += 1) await (await each.acquire(never)).release();
    const names = await fs.readdir(locks());
    assert.ok(names.includes('lock.40'));
    assert.ok(names.length > 8 && names.length <= 17, `${names.length} files`);
    assert.ok(names.every((name) => /^lock\.\d+$/.test(name)));
  });

  it('lets the next one in when the holder releases, and not before', async () => {
    const { hold: lease, watched } = await holding();
    const order: string[] = [];
    const next = mutex()
      .acquire(never)
      .then((entered) => {
        order.push('entered');
        return entered;
      });
    await watched;
    order.push('released');
    await lease.release();
    assert.equal((await next).number, 2);
    assert.deepEqual(order, ['released', 'entered']);
    await (await next).release();
  });

  it('stops waiting when told to, and can be asked again', async () => {
    const { hold: lease, watched } = await holding();
    const waiting = mutex();
    const stop = new AbortController();
    const first = waiting.acquire(stop.signal);
    void watched.then(() => stop.abort());
    await assert.rejects(first, { kind: 'cancelled' });
    const second = waiting.acquire(never);
    await lease.release();
    await (await second).release();
  });

  it('takes over from a process that was killed', async () => {
    const { child, watched } = await holdInChild(setting.state);
    const next = mutex().acquire(never);
    await watched;
    child.kill('SIGKILL');
    const lease = await next;
    assert.equal(lease.number, 2);
    await lease.release();
  });

  it('tells of a holder that stays silent, and waits on when it answers again', async () => {
    const goesOn = deferred<void>();
    let pings = 0;
    const holder = await startIpcServer(async (line, address) => {
      await goesOn.promise;
      const key = await new FolderKey(setting.state).get();
      await handshakeAsServer(line, { role: 'holder', address, key, protocol: PROTOCOL });
      while ((await line.next()) !== undefined) {
        pings += 1;
        line.send({ pong: true });
      }
    });
    await claimLock(locks(), 1, { address: holder.address, pid: process.pid }, PROTOCOL);
    const waiting = impatient();
    const silent = { kind: 'timeout', message: new RegExp(`process ID ${process.pid}\\) .*suspended or very busy`) };
    await assert.rejects(waiting.acquire(never), silent);
    await assert.rejects(waiting.acquire(never), silent);
    goesOn.resolve();
    let isIn = false;
    const third = waiting.acquire(never).finally(() => {
      isIn = true;
    });
    await eventually(() => pings > 12); // Three times as long as it took to give it up.
    assert.equal(isIn, false);
    await holder.close();
    await (await third).release();
  });

  /** A lock whose address somebody else answers. */
  async function squat(pid: number, answer: (socket: net.Socket) => void): Promise<() => Promise<void>> {
    const address =
      process.platform === 'win32' ? `\\\\.\\pipe\\squat-${process.pid}` : path.join(setting.state, 'squat');
    const sockets = new Set<net.Socket>();
    const server = net.createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      answer(socket);
    });
    await new Promise<void>((resolve) => server.listen({ path: address }, resolve));
    await claimLock(locks(), 1, { address, pid }, PROTOCOL);
    return async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    };
  }

  it('is not fooled by somebody who answers at the address of a living holder', async () => {
    const end = await squat(process.pid, (socket) =>
      socket.write(`${JSON.stringify({ version: 1, oldest: 1, nonce: 'n'.repeat(32) })}\n{"proof":"cHJvb2Y"}\n`),
    );
    await assert.rejects(mutex().acquire(never), { kind: 'timeout', message: /Another program responds in place/ });
    await end();
  });

  it('says so when somebody accepts and stays silent', async () => {
    const end = await squat(process.pid, () => {});
    await assert.rejects(impatient().acquire(never), { kind: 'timeout', message: /has not responded for 1 second:/ });
    await end();
  });

  it('says so when somebody accepts and hangs up again and again', async () => {
    const end = await squat(process.pid, (socket) => socket.destroy());
    await assert.rejects(impatient().acquire(never), { kind: 'timeout' });
    await end();
  });

  it('goes on where the process of the lock is no more, whoever answers at its address', async () => {
    const end = await squat(2 ** 30, () => {}); // No system gives such a process id.
    await (await impatient().acquire(never)).release();
    await end();
  });

  it('takes turns with a later version that speaks ours, and leaves one alone that does not', async () => {
    const later = await mutex({ version: 2, oldest: 1, extras: { colour: 'blue' } }).acquire(never);
    const next = mutex().acquire(never);
    await later.release();
    await (await next).release();
    const newer = await mutex({ version: 3, oldest: 2 }).acquire(never);
    await assert.rejects(mutex().acquire(never), { kind: 'storage', message: /Reload this window/ });
    await newer.release();
    await (await mutex().acquire(never)).release();
  });

  it('knows that a lock which a power cut emptied has no living holder', async () => {
    const file = path.join(locks(), 'lock.7');
    await fs.writeFile(file, '');
    const beforeStart = new Date(Date.now() - os.uptime() * 1000 - 60_000);
    await fs.utimes(file, beforeStart, beforeStart);
    assert.deepEqual(await newestLock(locks()), { number: 7, kind: 'leftover' });
    const lease = await mutex().acquire(never);
    assert.equal(lease.number, 8);
    await lease.release();
  });

  for (const [what, text, message] of [
    ['that is empty', '', /lock\.7 is damaged/],
    ['cut short', '{"version":1,"oldest":1,"addr', /lock\.7 is damaged/],
    ['of a version that it does not know', '{"version":9,"oldest":9,"where":"elsewhere"}', /newer version.*Reload/],
  ] as const) {
    it(`does not take the holder of a lock for gone ${what}`, async () => {
      await fs.writeFile(path.join(locks(), 'lock.7'), text);
      await assert.rejects(mutex().acquire(never), { kind: 'storage', message });
      assert.deepEqual(await fs.readdir(locks()), ['lock.7']);
    });
  }

  it('says which folder does not do', async () => {
    await fs.rm(locks(), { recursive: true });
    await assert.rejects(mutex().acquire(never), {
      kind: 'storage',
      message: new RegExp(path.basename(setting.state)),
    });
  });

  it('leaves no socket behind', async () => {
    const each = mutex();
    const lease = await each.acquire(never);
    const lock = await newestLock(locks());
    assert.ok(lock?.kind === 'readable');
    await lease.release();
    await assert.rejects(fs.lstat(path.dirname(lock.holder.address)), { code: 'ENOENT' });
  });

  it('whoever was let in by mistake of the system is told before it matters', async () => {
    const lease = await mutex().acquire(never);
    await claimLock(locks(), lease.number + 1, { address: '/nowhere', pid: 1 }, PROTOCOL);
    assert.equal(await lease.isValid(), false);
    await lease.release();
  });
});

describe('locks', () => {
  const setting = Setting.forEach();
  const holder = { address: '/tmp/rlc-x/s', pid: 1 };

  it('withdraws a number that was free again because it is old', async () => {
    for (let number = 1; number <= 20; number += 1) await claimLock(setting.state, number, holder, PROTOCOL);
    await removeOldLocks(setting.state, 20);
    assert.equal(await claimLock(setting.state, 3, holder, PROTOCOL), 'late');
    assert.equal((await newestLock(setting.state))?.number, 20);
    assert.ok(!(await fs.readdir(setting.state)).includes('lock.3'));
  });

  it('gives a number to one only', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => claimLock(setting.state, 1, holder, PROTOCOL)));
    assert.equal(all.filter((claim) => claim === 'ours').length, 1);
    assert.equal(await claimLock(setting.state, 1, holder, PROTOCOL), 'taken');
  });

  it('does not count other files, or numbers that are none', async () => {
    for (const name of ['lock.', 'lock.x', 'lock.-1', 'lock.1.tmp', 'other.9', 'lock.99999999999999999999']) {
      await fs.writeFile(path.join(setting.state, name), '');
    }
    assert.equal(await newestLock(setting.state), undefined);
  });

  const fates: [code: string | undefined, fate: string][] = [
    ['ENOENT', 'gone'],
    ['ECONNREFUSED', 'gone'],
    ['EAGAIN', 'busy'],
    ['EBUSY', 'busy'],
    ['ECONNRESET', 'busy'],
    ['EACCES', 'refused'],
    ['EMFILE', 'refused'],
    [undefined, 'busy'],
  ];
  for (const [code, fate] of fates) {
    it(`an address that answers ${code ?? 'nothing'} is ${fate}`, () => assert.equal(statusOfConnectError(code), fate));
  }
});

/** Another process that holds the mutex until it ends, and a promise that somebody waits for it. */
async function holdInChild(folder: string) {
  const source = (name: string) => new URL(`../../../../../src/core/oauth/rotation/${name}`, import.meta.url).href;
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { Mutex } from ${JSON.stringify(source('mutex.ts'))};
       import { FolderKey } from ${JSON.stringify(source('handshake.ts'))};
       import { PROTOCOL } from ${JSON.stringify(source('protocol.ts'))};
       const log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
       const folder = ${JSON.stringify(folder)};
       const key = new (class extends FolderKey {
         get() {
           console.log('watched');
           return super.get();
         }
       })(folder);
       const exclusion = new Mutex({ folder, key, protocol: PROTOCOL, log });
       await exclusion.acquire(new AbortController().signal);
       console.log('held');
       process.stdin.resume();
       process.stdin.on('end', () => process.exit());`,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  let told = '';
  child.stdout.on('data', (text: Buffer) => {
    told += text.toString();
  });
  await eventually(() => told.includes('held'));
  return { child, watched: eventually(() => told.includes('watched')) };
}
