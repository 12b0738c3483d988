import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { delay } from '../../../../../src/core/base/abort.ts';
import { FolderKey } from '../../../../../src/core/oauth/rotation/handshake.ts';
import { Peers } from '../../../../../src/core/oauth/rotation/peers.ts';
import { PROTOCOL, type Protocol } from '../../../../../src/core/oauth/rotation/protocol.ts';
import { silentLog } from '../../../../support/silentLog.ts';
import { never, PATIENT, Setting } from './fixture.ts';

describe('windows tell each other of a new generation', () => {
  const setting = Setting.forEach();
  const open: Peers[] = [];
  const registrations = () => fs.readdir(path.join(setting.state, 'peers'));

  beforeEach(() => fs.mkdir(path.join(setting.state, 'peers')));
  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.unregister()));
  });

  async function window(
    onGeneration: (generation: number) => Promise<void>,
    protocol: Protocol = PROTOCOL,
    acknowledgements = PATIENT.acknowledgements,
  ) {
    const key = new FolderKey(setting.state);
    const peers = new Peers({
      folder: setting.state,
      key,
      protocol,
      log: silentLog,
      onGeneration,
      timeouts: { ...PATIENT, acknowledgements },
    });
    open.push(peers);
    await peers.register();
    return peers;
  }
  const deaf = async () => {};

  it('tells all others, not itself, and waits until they have taken it', async () => {
    const taken: string[] = [];
    const listen = (name: string) => async (generation: number) => {
      await turn();
      taken.push(`${name} ${generation}`);
    };
    const [first] = await Promise.all([
      window(listen('first')),
      window(listen('second')),
      window(listen('third'), { version: 2, oldest: 1, extras: { colour: 'blue' } }),
    ]);
    assert.deepEqual(await first.broadcast(7), { acknowledged: 2, silent: 0, gone: 0 });
    assert.deepEqual(taken.sort(), ['second 7', 'third 7']);
  });

  it('tells the others although some are silent, and does not wait for these', async () => {
    const first = await window(deaf, PROTOCOL, 20);
    const silent = new Promise<void>(() => {});
    for (let n = 0; n < 5; n += 1) await window(() => silent);
    let heard = 0;
    await window(async (generation) => {
      heard = generation;
    });
    let pushed = await first.broadcast(7);
    while (pushed.acknowledged === 0) pushed = await first.broadcast(7); // A busy machine may take longer than the limit.
    assert.deepEqual(pushed, { acknowledged: 1, silent: 5, gone: 0 });
    assert.equal(heard, 7);
  });

  (process.platform === 'win32' ? it.skip : it)(
    'does not begin to wait for a silent window when the time for all has passed',
    async () => {
      const first = await window(deaf, PROTOCOL, 0);
      const mute = net.createServer(() => {}); // It accepts, and says nothing.
      const address = path.join(setting.state, 'mute');
      await new Promise<void>((resolve) => mute.listen(address, resolve));
      // A disk that takes longer than everybody waits: the registration is read when it is written, below.
      const registration = path.join(setting.state, 'peers', 'slow.json');
      execFileSync('mkfifo', [registration]);
      const broadcast = first.broadcast(7);
      const disk = await fs.open(registration, 'w'); // It is being read.
      await delay(10, never); // The time for all is over.
      await disk.writeFile(JSON.stringify({ version: 1, oldest: 1, address, pid: 1 }));
      await disk.close();
      assert.deepEqual(await broadcast, { acknowledged: 0, silent: 1, gone: 0 });
      mute.close();
    },
  );

  it('removes the registrations of windows that are no more', async () => {
    const first = await window(deaf);
    const text = JSON.stringify({ version: 1, oldest: 1, address: path.join(setting.state, 'rlc-dead', 's'), pid: 1 });
    await fs.writeFile(path.join(setting.state, 'peers', 'dead.json'), text);
    await fs.writeFile(path.join(setting.state, 'peers', 'rubbish.json'), '{');
    assert.equal((await first.broadcast(7)).gone, 2);
    assert.equal((await registrations()).includes('dead.json'), false);
  });

  (process.platform === 'win32' ? it.skip : it)(
    'removes the socket of a killed window, and nothing that is no socket',
    async () => {
      const first = await window(deaf);
      const [dead, precious] = [path.join(setting.state, 'rlc-dead'), path.join(setting.state, 'rlc-file')];
      await fs.mkdir(dead);
      await fs.mkdir(precious);
      await fs.writeFile(path.join(precious, 's'), 'mine');
      const server = net.createServer();
      await new Promise<void>((resolve) => server.listen(path.join(setting.state, 'alive'), resolve));
      await fs.rename(path.join(setting.state, 'alive'), path.join(dead, 's'));
      await new Promise((resolve) => server.close(resolve)); // Nobody listens; the socket's file has moved, as after a kill.
      for (const [name, folder] of [
        ['a', dead],
        ['b', precious],
      ] as const) {
        const text = JSON.stringify({ version: 1, oldest: 1, address: path.join(folder, 's'), pid: 1 });
        await fs.writeFile(path.join(setting.state, 'peers', `${name}.json`), text);
      }
      assert.equal((await first.broadcast(7)).gone, 2);
      await assert.rejects(fs.lstat(dead), { code: 'ENOENT' });
      assert.equal(await fs.readFile(path.join(precious, 's'), 'utf8'), 'mine');
    },
  );

  it('tells the others although one entry cannot be read', async () => {
    const first = await window(deaf);
    const heard: number[] = [];
    await window(async (generation) => void heard.push(generation));
    await fs.mkdir(path.join(setting.state, 'peers', '0.json'));
    assert.deepEqual(await first.broadcast(7), { acknowledged: 1, silent: 1, gone: 0 });
    assert.deepEqual(heard, [7]);
  });

  it('leaves windows alone that speak a newer version', async () => {
    const first = await window(deaf);
    let heard = 0;
    await window(
      async (generation) => {
        heard = generation;
      },
      { version: 3, oldest: 2 },
    );
    assert.deepEqual(await first.broadcast(7), { acknowledged: 0, silent: 1, gone: 0 });
    assert.equal(heard, 0);
    assert.equal((await registrations()).length, 2);
  });

  it('does not tell a stranger, and is not told by one', async () => {
    const first = await window(deaf);
    const heard: number[] = [];
    await window(async (generation) => void heard.push(generation));
    await first.broadcast(7);
    assert.deepEqual(heard.splice(0), [7]);
    // The folder is made anew: who still has the old key is a stranger, once.
    await fs.writeFile(path.join(setting.state, 'windows.key'), Buffer.alloc(32, 7));
    const stranger = await window(deaf);
    assert.equal((await stranger.broadcast(8)).acknowledged, 0);
    assert.deepEqual(heard, []);
    assert.equal((await stranger.broadcast(9)).acknowledged, 2);
    assert.deepEqual(heard, [9]);
    assert.equal((await first.broadcast(10)).acknowledged, 2);
  });

  it('notices when a cleaner of temporary files took its socket or registration', async () => {
    const first = await window(deaf);
    assert.equal(await first.isRegistered(), true);
    const [name] = await registrations();
    await fs.rm(path.join(setting.state, 'peers', name ?? ''));
    assert.equal(await first.isRegistered(), false);
    await first.register();
    assert.equal(await first.isRegistered(), true);
    assert.equal((await registrations()).length, 1);
  });

  it('writes nothing but an address and a number', async () => {
    await window(deaf);
    const [name] = await registrations();
    const text = await fs.readFile(path.join(setting.state, 'peers', name ?? ''), 'utf8');
    assert.deepEqual(Object.keys(JSON.parse(text)).sort(), ['address', 'oldest', 'pid', 'version']);
  });
});
