import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { FolderKey } from '../../../../../src/core/oauth/rotation/handshake.ts';
import { inspectSharedState } from '../../../../../src/core/oauth/rotation/inspect.ts';
import { claimLock, newestLock } from '../../../../../src/core/oauth/rotation/lockFiles.ts';
import { Mutex } from '../../../../../src/core/oauth/rotation/mutex.ts';
import { PROTOCOL } from '../../../../../src/core/oauth/rotation/protocol.ts';
import { silentLog } from '../../../../support/silentLog.ts';
import { connection, never, Setting, sharedStore } from './fixture.ts';

const isWindows = process.platform === 'win32';

describe('a look at what the windows share', () => {
  const setting = Setting.forEach();
  const look = (timeouts?: { peerSilence: number }) =>
    inspectSharedState({ state: setting.state, connection, ...(timeouts && { timeouts }) });
  /** Everything below the state, with what is in it. */
  const everything = async () => {
    const names = (await fs.readdir(setting.state, { recursive: true, withFileTypes: true })).filter((each) =>
      each.isFile(),
    );
    const files = names.map(({ parentPath, name }) => path.join(parentPath, name)).sort();
    return Promise.all(files.map(async (file) => [file, (await fs.readFile(file)).toString('base64')]));
  };

  it('makes nothing where there is nothing', async () => {
    assert.deepEqual(await look(), { path: setting.folder, windows: 0, holder: { kind: 'nobody' } });
    assert.deepEqual(await fs.readdir(setting.state), []);
  });

  it('tells generation and windows, and changes nothing', async () => {
    const store = sharedStore();
    const { tokenManager } = await setting.open(store());
    await setting.open(store());
    const fresh = await look();
    assert.deepEqual([fresh.generation, fresh.windows, fresh.isSignedOut], [undefined, 2, undefined]);
    await tokenManager.signIn(setting.signedIn());
    setting.expire();
    await tokenManager.accessToken(never);
    const before = await everything();
    assert.deepEqual(await look(), {
      path: setting.folder,
      folder: { isOurs: true, ...(!isWindows && { mode: '700' }) },
      generation: 2,
      isSignedOut: false,
      windows: 2,
      holder: { kind: 'nobody' },
    });
    assert.deepEqual(await everything(), before);
    await tokenManager.signOut();
    assert.deepEqual([(await look()).generation, (await look()).isSignedOut], [3, true]);
  });

  it('tells another store of the same user apart', async () => {
    const { tokenManager } = await setting.open(sharedStore()(), { storeName: 'vscode-insiders' });
    await tokenManager.signIn(setting.signedIn());
    assert.equal((await look()).generation, undefined);
    const other = await inspectSharedState({ state: setting.state, connection, storeName: 'vscode-insiders' });
    assert.equal(other.generation, 1);
  });

  (isWindows ? it.skip : it)('tells that others may look into the folder', async () => {
    await setting.open(sharedStore()());
    await fs.chmod(setting.folder, 0o755);
    assert.deepEqual((await look()).folder, { isOurs: true, mode: '755' });
  });

  it('tells that something else lies in its place', async () => {
    await fs.writeFile(setting.folder, 'a file');
    const { folder, holder } = await look();
    assert.deepEqual([folder?.isOurs, holder], [false, { kind: 'nobody' }]);
  });

  it('tells who holds, and asks for nothing', async () => {
    await setting.open(sharedStore()());
    const key = new FolderKey(setting.folder);
    const mutex = new Mutex({ folder: setting.folder, key, protocol: PROTOCOL, log: silentLog });
    const lease = await mutex.acquire(never);
    try {
      const current = { kind: 'held', pid: process.pid, isThisWindow: true, answers: true };
      assert.deepEqual((await look()).holder, current);
      assert.equal(await lease.isValid(), true);
      assert.deepEqual((await look()).holder, current);
    } finally {
      await lease.release();
    }
    assert.deepEqual((await look()).holder, { kind: 'nobody' });
    assert.equal((await newestLock(path.join(setting.folder, 'locks')))?.number, 1, 'the look took no turn');
  });

  it('does not wait for a holder that does not answer', async () => {
    await setting.open(sharedStore()());
    const address = isWindows ? `\\\\.\\pipe\\silent-${process.pid}` : path.join(setting.state, 's');
    const sockets: net.Socket[] = [];
    const server = net.createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => server.listen({ path: address }, resolve));
    try {
      await claimLock(path.join(setting.folder, 'locks'), 1, { address, pid: 4711 }, PROTOCOL);
      const { holder } = await look({ peerSilence: 20 });
      assert.deepEqual(holder, { kind: 'held', pid: 4711, isThisWindow: false, answers: false });
    } finally {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
